"""Answers to what an MCP server asks: a model that is paid is heard out, whatever the server does meanwhile."""

import asyncio
from typing import cast

import pytest

from headgate.features.mcptools.errors import McpSamplingRefused
from headgate.features.mcptools.sampling import ModelReply, ModelRequest, Sampling
from headgate.features.runs.steps.server_answers import ServerAnswers, answering, raised_by
from headgate.foundation.errors import UpstreamFailed
from headgate.sdk import Model
from headgate.sdk.approvals import ApprovalAnswer, ApprovalRequest

REQUEST = ModelRequest((("user", "Summarize: a story"),), 100)
UNASKED = Sampling(model="openai/gpt-5-mini", ask=False)


class Slow:
    """A model that answers when it is free."""

    def __init__(self) -> None:
        self.began, self.free = asyncio.Event(), asyncio.Event()
        self.models: list[Model] = []
        self.stored: list[str] = []
        self.problem: Exception | None = None

    async def approval(self, request: ApprovalRequest, *, place: str) -> ApprovalAnswer:
        return ApprovalAnswer("reject", comment="Too long.")

    async def model(self, server: str, model: Model, request: ModelRequest) -> ModelReply:
        self.models.append(model)
        self.began.set()
        await self.free.wait()
        if self.problem is not None:
            raise self.problem
        self.stored.append(server)
        return ModelReply("Short.", str(model))


def answers_of(asked: Slow, sampling: Sampling | None = UNASKED) -> ServerAnswers:
    return ServerAnswers("helper", sampling, {"tool": "helper.summarize"}, asked)


class TestServerAnswers:
    async def test_hear_a_model_out_whose_request_the_server_withdrew(self) -> None:
        asked = Slow()
        answers = answers_of(asked)

        async def call() -> None:
            request = asyncio.create_task(answers.sample(REQUEST))
            await asked.began.wait()
            request.cancel()  # as the session does for a request that its server cancels
            await asyncio.gather(request, return_exceptions=True)
            raise UpstreamFailed("The server is gone.")

        task = asyncio.create_task(answering(cast("asyncio.Future[None]", call()), answers))
        await asked.began.wait()
        await asyncio.sleep(0.05)
        assert not task.done()
        asked.free.set()
        with pytest.raises(UpstreamFailed):
            await task
        assert asked.stored == ["helper"]

    async def test_stop_with_the_step(self) -> None:
        asked = Slow()
        answers = answers_of(asked)
        task = asyncio.create_task(answering(cast("asyncio.Future[None]", answers.sample(REQUEST)), answers))
        await asked.began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        asked.free.set()
        await asyncio.sleep(0)
        assert asked.stored == []

    async def test_have_errors_that_are_not_the_servers(self) -> None:
        asked = Slow()
        asked.problem = UpstreamFailed("The model is gone.")
        asked.free.set()
        answers = answers_of(asked)
        with pytest.raises(UpstreamFailed) as raised:
            await answers.sample(REQUEST)
        assert raised_by(answers)(raised.value)
        assert not raised_by(answers)(UpstreamFailed("The server is gone."))
        assert not raised_by(None)(raised.value)

    async def test_bound_the_answer_by_what_the_messages_leave(self) -> None:
        asked = Slow()
        asked.free.set()
        await answers_of(asked, Sampling(model="openai/gpt-5-mini", ask=False, max_tokens=50)).sample(REQUEST)
        [model] = asked.models
        assert (str(model), model.fallback) == ("openai/gpt-5-mini", ())
        most = model.params["max_tokens"]
        assert isinstance(most, int)
        assert 0 < most < 50

    @pytest.mark.parametrize("sampling", [None, Sampling(model="openai/gpt-5-mini")])
    async def test_ask_no_model_without_settings_or_permission(self, sampling: Sampling | None) -> None:
        asked = Slow()
        with pytest.raises(McpSamplingRefused):
            await answers_of(asked, sampling).sample(REQUEST)
        assert asked.models == []
