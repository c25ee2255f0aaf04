"""`/v1`, spoken to by OpenAI's own client library over a real connection, on both databases."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
from openai import APIError, AsyncOpenAI, AuthenticationError, BadRequestError, NotFoundError, PermissionDeniedError
from pydantic import SecretStr

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as variables
from headgate.foundation.settings import Settings
from tests.integration.http.asking import listening
from tests.support.openai_server import OpenAIServer
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import LOOPBACK, add_key, running
from tests.support.team import FLOW, Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, http=LOOPBACK) as found:
        yield found


@pytest.fixture
async def address(us: Team) -> AsyncIterator[str]:
    async with listening(us.app) as found:
        yield found


@pytest.fixture
def provider(us: Team) -> Iterator[OpenAIServer]:
    with OpenAIServer() as found:
        yield found


class Clients:
    """Clients of OpenAI's library; they are closed with the test."""

    def __init__(self, address: str, us: Team | None = None) -> None:
        self._address = address
        self._us = us
        self.opened: list[AsyncOpenAI] = []

    def keyed(self, key: str) -> AsyncOpenAI:
        """One with this key."""
        self.opened.append(AsyncOpenAI(base_url=f"{self._address}/v1", api_key=key, max_retries=0))
        return self.opened[-1]

    async def of(self, who: str = "runner", **key: Any) -> AsyncOpenAI:
        """One with a key of one of the team."""
        assert self._us is not None
        return self.keyed(await add_key(self._us.database, self._us.people[who], **key))


@pytest.fixture
async def clients(us: Team, address: str) -> AsyncIterator[Clients]:
    found = Clients(address, us)
    yield found
    for one in found.opened:
        await one.close()


async def published(us: Team, spec: str = FLOW) -> str:
    flow_id = str((await us.make("editor", "/flows", spec=spec))["id"])
    await us.make("publisher", f"/flows/{flow_id}/publish")
    return flow_id


SAY: list[Any] = [{"role": "user", "content": "hello"}]


class TestModels:
    async def test_are_the_published_flows_that_the_caller_may_run(self, us: Team, clients: Clients) -> None:
        flow_id = await published(us)
        await us.make("editor", "/flows", spec=FLOW.replace("Talk", "Never published"))
        mine = await clients.of()
        assert [one.id async for one in mine.models.list()] == ["Talk"]
        assert (await mine.models.retrieve(flow_id)).owned_by == "headgate"
        await published(us)
        assert len({one.id async for one in mine.models.list()} - {"Talk"}) == 2, "two of one name go by their ids"
        for who in ("viewer", "stranger"):
            theirs = await clients.of(who)
            assert [one.id async for one in theirs.models.list()] == []

    async def test_of_others_are_not_there(self, us: Team, clients: Clients) -> None:
        flow_id = await published(us)
        theirs = await clients.of("stranger")
        for model in (flow_id, "Talk"):
            with pytest.raises(NotFoundError) as error:
                await theirs.models.retrieve(model)
            assert error.value.code == "model_not_found"

    async def test_of_names_that_no_database_stores_are_not_there(self, clients: Clients) -> None:
        mine = await clients.of()
        with pytest.raises(NotFoundError):
            await mine.models.retrieve("a\0b")


class TestHostileBodies:
    @pytest.mark.parametrize(
        "body",
        [
            '{"model": "a\\u0000", "messages": [{"role": "user", "content": "x"}]}',
            '{"model": "Talk", "messages": [{"role": "user", "content": "\\ud800"}]}',
            '{"model": "Talk", "messages": [{"role": "user", "content": [{"type": "\\u0000"}]}]}',
            '{"model": "Talk", "messages": ' + "[" * 100_000,
            '{"model": "Talk", "n": ' + "9" * 5_000 + "}",
            "[]",
        ],
    )
    async def test_are_refused_in_the_shape_of_openai_without_the_inside(
        self, us: Team, address: str, body: str
    ) -> None:
        key = await add_key(us.database, us.people["runner"])
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            answer = await http.post(f"{address}/v1/chat/completions", content=body, headers=headers)
        assert answer.status_code == 400
        assert answer.json()["error"]["type"] == "invalid_request_error"
        assert not [word for word in ("function", "0x", "partial") if word in answer.text]


class TestCompletions:
    async def test_answer_by_name_and_by_id_with_a_real_run_behind_them(self, us: Team, clients: Clients) -> None:
        flow_id = await published(us)
        mine = await clients.of()
        for model in ("Talk", flow_id):
            raw = await mine.chat.completions.with_raw_response.create(model=model, messages=SAY)
            found = raw.parse()
            assert (found.object, found.choices[0].message.content) == ("chat.completion", "hello")
            assert found.choices[0].finish_reason == "stop"
            assert found.usage is not None
            run = await us.get("owner", f"/flow-runs/{raw.headers['x-headgate-run-id']}")
            assert (run["status"], run["input"]["text"]) == ("completed", "hello")
            assert found.id == f"chatcmpl-{run['id']}"

    async def test_stream_chunks_and_usage(self, us: Team, clients: Clients) -> None:
        await published(us)
        mine = await clients.of()
        stream = await mine.chat.completions.create(
            model="Talk", messages=SAY, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
        assert chunks[0].choices[0].delta.role == "assistant"
        assert "".join(one.choices[0].delta.content or "" for one in chunks if one.choices) == "hello"
        assert [one.choices[0].finish_reason for one in chunks if one.choices][-1] == "stop"
        assert chunks[-1].choices == []
        assert chunks[-1].usage is not None
        assert {one.object for one in chunks} == {"chat.completion.chunk"}

    async def test_ignore_what_clients_of_openai_send_beside_the_messages(self, us: Team, address: str) -> None:
        await published(us)
        key = await add_key(us.database, us.people["runner"])
        beside = {"temperature": 0.1, "user": "me", "pins": {"said": {"text": "not mine"}}, "version": 1, "odd": [1]}
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            asked = {"model": "Talk", "messages": SAY, **beside}
            answer = await http.post(f"{address}/v1/chat/completions", json=asked, headers={"x-api-key": key})
        assert answer.json()["choices"][0]["message"]["content"] == "hello"
        run = await us.get("owner", f"/flow-runs/{answer.headers['x-headgate-run-id']}")
        assert run["part"] is None, "nothing stood in for a step"

    async def test_on_the_wire_are_as_openai_writes_them(self, us: Team, address: str) -> None:
        await published(us)
        key = await add_key(us.database, us.people["runner"])
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            asked = {"model": "Talk", "messages": SAY, "stream": True}
            answer = await http.post(f"{address}/v1/chat/completions", json=asked, headers={"x-api-key": key})
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in answer.text.split("\n") if line]
        assert all(line.startswith("data: ") for line in lines)
        assert lines[-1] == "data: [DONE]"

    async def test_give_the_chat_before_the_last_message_as_history(
        self, us: Team, clients: Clients, provider: OpenAIServer
    ) -> None:
        spec = "name: Past\nnodes:\n  past: MessageHistory\n  said: ChatOutput\nedges:\n  past.text -> said.input\n"
        await published(us, spec)
        mine = await clients.of()
        chat: list[Any] = [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": [{"type": "text", "text": "first"}]},
            {"role": "assistant", "content": "second"},
            {"role": "user", "content": "third"},
        ]
        found = await mine.chat.completions.create(model="Past", messages=chat)
        told = found.choices[0].message.content or ""
        assert [told.find(word) >= 0 for word in ("Be short.", "first", "second", "third")] == [True, True, True, False]

    async def test_of_a_flow_with_a_form_take_its_answers(self, us: Team, clients: Clients) -> None:
        definition = {
            "name": "Form",
            "form": [{"id": "who", "required": True}],
            "nodes": [
                {"id": "hi", "type": "TextInput", "params": {"text": "Hi {{flow_input.who}}"}},
                {"id": "said", "type": "ChatOutput"},
            ],
            "edges": [{"source": "hi", "output": "text", "target": "said", "input": "input"}],
        }
        flow_id = (await us.make("editor", "/flows", definition=definition))["id"]
        await us.make("publisher", f"/flows/{flow_id}/publish")
        mine = await clients.of()
        with pytest.raises(BadRequestError, match="who"):
            await mine.chat.completions.create(model="Form", messages=SAY)
        found = await mine.chat.completions.create(model="Form", messages=SAY, extra_body={"form_data": {"who": "Åsa"}})
        assert found.choices[0].message.content == "Hi Åsa"

    async def test_that_fail_say_so_in_openais_shape(self, us: Team, clients: Clients) -> None:
        failing = {
            "name": "Failing",
            "nodes": [
                {"id": "heard", "type": "ChatInput", "policy": {"output_type": "json"}},
                {"id": "said", "type": "ChatOutput"},
            ],
            "edges": [{"source": "heard", "output": "text", "target": "said", "input": "input"}],
        }
        flow_id = (await us.make("editor", "/flows", definition=failing))["id"]
        await us.make("publisher", f"/flows/{flow_id}/publish")
        mine = await clients.of()
        with pytest.raises(APIError, match="failed"):
            await mine.chat.completions.create(model="Failing", messages=SAY)
        with pytest.raises(APIError, match="failed"):
            async for _ in await mine.chat.completions.create(model="Failing", messages=SAY, stream=True):
                pass

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"model": "Talk"},
            {"model": "Talk", "messages": []},
            {"model": "Talk", "messages": [{"role": "assistant", "content": "only"}]},
            {"model": "Talk", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            {"model": "Talk", "messages": SAY, "n": 3},
            {"model": "Talk", "messages": [{"role": "user", "content": 7}]},
            {"model": "x" * 400, "messages": SAY},
        ],
    )
    async def test_refuse_what_they_cannot_answer(self, us: Team, address: str, body: Any) -> None:
        await published(us)
        key = await add_key(us.database, us.people["runner"])
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            url = f"{address}/v1/chat/completions"
            answer = await http.post(url, json=body, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 400, answer.text
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


class TestKeys:
    async def test_need_the_right_to_run_in_the_flows_space(self, us: Team, clients: Clients) -> None:
        await published(us)
        with pytest.raises(PermissionDeniedError):
            await (await clients.of("viewer")).chat.completions.create(model="Talk", messages=SAY)
        with pytest.raises(NotFoundError):
            await (await clients.of("stranger")).chat.completions.create(model="Talk", messages=SAY)
        narrow = await clients.of("owner", scopes=[Permission.FLOWS_VIEW])
        with pytest.raises(PermissionDeniedError):
            await narrow.chat.completions.create(model="Talk", messages=SAY)

    async def test_that_are_wrong_open_nothing(self, us: Team, clients: Clients) -> None:
        for key in ("hg_wrong", "sk-none", "x"):
            with pytest.raises(AuthenticationError):
                await clients.keyed(key).models.list()

    async def test_are_made_up_where_nobody_signs_in(self, settings: Settings) -> None:
        async with running(settings) as app, listening(app) as address:
            mine = Clients(address).keyed("not-needed")
            assert [one.id async for one in mine.models.list()] == []
            await mine.close()


class TestGone:
    @pytest.mark.parametrize("stream", [True, False])
    async def test_clients_leave_no_run_behind(
        self,
        us: Team,
        clients: Clients,
        provider: OpenAIServer,
        stream: bool,
    ) -> None:
        values = {"OPENAI_API_KEY": "sk-test-0123456789abcdef", "OPENAI_BASE_URL": provider.base_url}
        async with us.database.writing() as session:
            for name, value in values.items():
                await variables.set_variable(
                    session, LOCAL, us.app.state.box, name=name, value=SecretStr(value), organisation=True
                )
        provider.script(provider.slow(30))
        definition = {
            "name": "Slow",
            "nodes": [
                {"id": "heard", "type": "ChatInput"},
                {"id": "answer", "type": "LanguageModel", "params": {"model": "openai/gpt-5-mini"}},
                {"id": "said", "type": "ChatOutput"},
            ],
            "edges": [
                {"source": "heard", "output": "text", "target": "answer", "input": "input"},
                {"source": "answer", "output": "text", "target": "said", "input": "input"},
            ],
        }
        flow_id = (await us.make("editor", "/flows", definition=definition))["id"]
        await us.make("publisher", f"/flows/{flow_id}/publish")
        mine = await clients.of()

        async def ask() -> None:
            answer: Any = await mine.chat.completions.create(model="Slow", messages=SAY, stream=stream)
            if stream:
                async for _ in answer:
                    pass

        asking = asyncio.create_task(ask())
        await us_run(us, flow_id, {"running"})
        asking.cancel()
        await asyncio.wait([asking])
        assert await us_run(us, flow_id, {"cancelled"}) == "cancelled"


async def us_run(us: Team, flow_id: str, wanted: set[str]) -> str:
    """The status of the flow's newest run, once it is one of these."""
    for _ in range(200):
        runs = (await us.get("owner", "/flow-runs", params={"flow_id": flow_id}))["items"]
        if runs and runs[0]["status"] in wanted:
            return str(runs[0]["status"])
        await asyncio.sleep(0.05)
    raise AssertionError(runs)
