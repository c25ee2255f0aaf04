"""Answers what an MCP server asks during a call of its tool: users decide, and the model of the server's settings.

A request for a model is a model call of the step: the same budgets, slots, circuit breakers, classifications, evidence
and stored answers. What the server writes is content from outside; the model gets nothing else, and no tools.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import JsonValue

from headgate.components.chat import failed, message_kinds, record_answer_usage
from headgate.features.knowledge.passages.chunking import count_tokens
from headgate.features.mcptools.errors import McpSamplingRefused
from headgate.features.mcptools.sampling import METHOD, ModelReply, ModelRequest, Sampling
from headgate.features.runs.steps.calls import StepCalls
from headgate.foundation.canonical import digest
from headgate.foundation.errors import Cancelled, UpstreamFailed
from headgate.foundation.secret_values import without_secrets
from headgate.graph.model import FormField
from headgate.sdk import Model
from headgate.sdk.answers import is_cut
from headgate.sdk.approvals import ApprovalAnswer, ApprovalRequest
from headgate.sdk.calls import REPLAYED
from headgate.sdk.waiting import StepWaits

if TYPE_CHECKING:
    from headgate.features.runs.steps.context import StepContext


class Asked(Protocol):
    """Users and models that a step can ask."""

    def approval(self, request: ApprovalRequest, *, place: str) -> Coroutine[None, None, ApprovalAnswer]:
        """Return the decision of users. Raises `Suspended` until there is one."""

    def model(self, server: str, model: Model, request: ModelRequest) -> Coroutine[None, None, ModelReply]:
        """Return the answer of a model. Raises as a step's own call."""


class ServerAnswers:
    """Answers the questions of one call; see `mcptools.sampling.Answers`.

    A question can arrive in the task of the session, which knows nothing of the call: it is answered in the context of
    the call, by a task that outlives the session. A model that was asked is paid, so its answer is stored in any case.

    Args:
        server: Name of the server.
        sampling: The model that answers its requests; None for none.
        called: The tool and its arguments, as users see them.
        asked: Who is asked.
    """

    def __init__(self, server: str, sampling: Sampling | None, called: Mapping[str, JsonValue], asked: Asked) -> None:
        self._server = server
        self._sampling = sampling
        self._called = called
        self._asked = asked
        self._context = copy_context()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.raised: Exception | None = None
        """What the last question raised."""

    async def ask(self, message: str, fields: Sequence[FormField]) -> Mapping[str, JsonValue] | None:
        """Return the answers of users; None when they declined."""
        question = f"The MCP server '{self._server}' asks: {message}"
        place = digest([question, *(field.model_dump(mode="json") for field in fields)])
        request = ApprovalRequest(question=question, value=dict(self._called), questions=tuple(fields))
        answer: ApprovalAnswer = await self._apart(self._asked.approval(request, place=place))
        return answer.answers if answer.outcome == "approve" else None

    async def sample(self, request: ModelRequest) -> ModelReply:
        """Return the answer of the model, where users allow it."""
        reply: ModelReply = await self._apart(self._sample(request))
        return reply

    async def finish(self) -> None:
        """Wait for models that were asked and whose answer nobody awaits any more."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    def stop(self) -> None:
        """Stop asking: the run was cancelled, or the time of the step is over."""
        for task in self._tasks:
            task.cancel()

    async def _apart(self, work: Coroutine[None, None, Any]) -> Any:  # noqa: ANN401 - the result of the work
        task = asyncio.create_task(work, context=self._context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may await it any more
        try:
            return await asyncio.shield(task)
        except Exception as error:
            self.raised = error
            raise

    async def _sample(self, request: ModelRequest) -> ModelReply:
        sampling = self._sampling
        if sampling is None:
            raise McpSamplingRefused(f"The MCP server '{self._server}' asks for a language model, and it has none.")
        request = self._bounded(request, sampling)
        model = Model.model_validate(sampling.model)
        model = model.model_copy(update={"params": {"max_tokens": request.max_tokens}})
        if sampling.ask:
            await self._allowed(request, sampling)
        return await self._asked.model(self._server, model, request)

    def _bounded(self, request: ModelRequest, sampling: Sampling) -> ModelRequest:
        """Return the request without secrets and within the limit of tokens. Raises `McpSamplingRefused`."""
        messages = tuple((role, str(without_secrets(text))) for role, text in request.messages)
        system = str(without_secrets(request.system))
        left = sampling.max_tokens - count_tokens(system) - sum(count_tokens(text) for _, text in messages)
        if left < 1:
            raise McpSamplingRefused(
                f"The MCP server '{self._server}' sends the model more than {sampling.max_tokens:,} tokens. The model "
                "was not called.",
                remedy="Raise the number of tokens in its settings, if you trust it.",
            )
        return replace(request, messages=messages, system=system, max_tokens=min(request.max_tokens, left))

    async def _allowed(self, request: ModelRequest, sampling: Sampling) -> None:
        """Raise `McpSamplingRefused` when users reject the request, and `Suspended` until they have decided."""
        value = {**self._called, "model": sampling.model, **_shown(request)}
        question = f"The MCP server '{self._server}' asks {sampling.model} for an answer. Send it these messages?"
        answer = await self._asked.approval(
            ApprovalRequest(question=question, value=value), place=digest([METHOD, value])
        )
        if answer.outcome != "approve":
            comment = f" Their comment: {answer.comment}" if answer.comment else ""
            raise McpSamplingRefused(
                f"The request of the MCP server '{self._server}' for {sampling.model} was not allowed.{comment}"
            )


async def answering(call: Awaitable[JsonValue], answers: ServerAnswers | None) -> JsonValue:
    """Return the result of a call, after the answers that it asked for."""
    try:
        return await call
    except (asyncio.CancelledError, Cancelled):
        if answers is not None:
            answers.stop()
        raise
    finally:
        if answers is not None:
            await answers.finish()


def raised_by(answers: ServerAnswers | None) -> Callable[[Exception], bool]:
    """Return whether an error of a call is one of its answers, not of its server."""
    return lambda error: answers is not None and error is answers.raised


@dataclass(frozen=True, slots=True)
class AskedByServers:
    """Asks in the name of a step; see `Asked`."""

    ctx: "StepContext"
    calls: StepCalls | None

    async def approval(self, request: ApprovalRequest, *, place: str) -> ApprovalAnswer:
        """Return the decision of users."""
        return await self.ctx.approval(request, place=place)

    async def model(self, server: str, model: Model, request: ModelRequest) -> ModelReply:
        """Return the answer of a model, once across attempts, and record the call in the evidence."""
        kinds = message_kinds()
        system = f"[Request of the MCP server '{server}', in its own words] {request.system}".strip()
        made = {"user": kinds.HumanMessage, "assistant": kinds.AIMessage}
        messages = [kinds.SystemMessage(system), *(made[role](text) for role, text in request.messages)]
        chat = await self.ctx.chat_model(model)
        self.ctx.record_prompt("\n\n".join(f"{message.type}: {message.content}" for message in messages))
        started = time.perf_counter()

        def record(reply: JsonValue, error: str = "", *, replayed: bool = False) -> None:
            ms = round((time.perf_counter() - started) * 1000, 1)
            shown: dict[str, JsonValue] = {"model": str(model), **_shown(request)}
            name = f"{server}.{METHOD}"
            self.ctx.record_tool_call(name, shown, reply, server=server, error=error, ms=ms, replayed=replayed)

        try:
            output = await chat.ainvoke(messages)
            record_answer_usage(self.ctx, model, output)
            reply = _reply(model, request, output)
        except StepWaits:
            raise
        except Exception as error:
            problem = failed(model, error)
            record(None, str(problem))
            raise problem from error
        if self.calls is not None:
            self.calls.use()
        record(reply.text, replayed=REPLAYED in output.response_metadata)
        return reply


def _reply(model: Model, request: ModelRequest, output: Any) -> ModelReply:  # noqa: ANN401 - a LangChain message
    """Return the answer for the server. Raises `UpstreamFailed` for an empty one."""
    text = str(output.text)
    if not text.strip():
        raise UpstreamFailed(f"{model} returned an empty answer.", remedy="Try another model, or more tokens.")
    ends = [place for place in map(text.find, request.stop) if place >= 0]
    if ends:
        return ModelReply(text[: min(ends)], str(model), "stopSequence")
    return ModelReply(text, str(model), "maxTokens" if is_cut(output) else "endTurn")


def _shown(request: ModelRequest) -> dict[str, JsonValue]:
    """Return what users see of a request."""
    messages: list[JsonValue] = [{"role": role, "text": text} for role, text in request.messages]
    system: dict[str, JsonValue] = {"system": request.system} if request.system else {}
    return {**system, "messages": messages, "max_tokens": request.max_tokens}
