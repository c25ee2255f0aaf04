"""What clients that wait for a result get of a run that waits for an approval, on both databases."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from headgate.foundation.settings import Settings
from tests.integration.features.runs.approvals.test_approvals import decide, ended
from tests.integration.features.runs.approvals.test_tool_calls import agent_spec
from tests.integration.features.runs.test_widget import Visitor
from tests.integration.http.asking import listening
from tests.support.openai_server import OpenAIServer
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import BASE, LOOPBACK
from tests.support.team import Team, team

LIVE = {"version": "published"}
ROOT = BASE.removesuffix("/api/v1")
FLOW: dict[str, Any] = {
    "name": "Letters",
    "nodes": [
        {"id": "heard", "type": "ChatInput"},
        {"id": "check", "type": "Approval", "params": {"question": "Send the secret letter?"}},
        {"id": "said", "type": "ChatOutput"},
    ],
    "edges": [
        {"source": "heard", "output": "text", "target": "check", "input": "value"},
        {"source": "check", "output": "approve", "target": "said", "input": "input"},
    ],
    "settings": {"widget": {"enabled": True, "kind": "chat", "origins": ["*"]}},
}


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, http=LOOPBACK) as people:
        yield people


@pytest.fixture
async def flow_id(us: Team) -> str:
    found: str = (await us.make("editor", "/flows", definition=FLOW))["id"]
    await us.make("publisher", f"/flows/{found}/publish")
    return found


async def completion(us: Team, *, stream: bool, key: str = "", text: str = "Dear Eva") -> httpx2.Response:
    body = {"model": "Letters", "stream": stream, "messages": [{"role": "user", "content": text}]}
    headers = {"Idempotency-Key": key} if key else {}
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await us.clients["runner"].post(f"{ROOT}/v1/chat/completions", json=body, headers=headers)


async def pending(us: Team, run_id: str) -> dict[str, Any]:
    (item,) = (await us.get("runner", "/approvals", params={"run_id": run_id, "status": "pending"}))["items"]
    approval: dict[str, Any] = item
    return approval


def chunks_of(answer: httpx2.Response) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


@pytest.mark.usefixtures("flow_id")
class TestCompletion:
    async def test_says_that_the_run_waits_and_the_run_continues(self, us: Team) -> None:
        answer = await completion(us, stream=False, key="letter-1")
        assert answer.status_code == 200, answer.text
        found, run_id = answer.json(), answer.headers["X-Headgate-Run-Id"]
        assert found["headgate"] == {"run_id": run_id, "status": "waiting", "waits_for": "approval"}
        (choice,) = found["choices"]
        assert choice["finish_reason"] == "stop"
        assert choice["message"]["content"].startswith("Waiting for approval.")
        assert "secret" not in answer.text
        assert await decide(us, "owner", await pending(us, run_id)) == 200
        assert (await ended(us, run_id))["text"] == "Dear Eva"
        again = (await completion(us, stream=False, key="letter-1")).json()
        assert again["choices"][0]["message"]["content"] == "Dear Eva"
        assert "headgate" not in again

    async def test_says_so_in_a_stream_which_ends_and_cancels_nothing(self, us: Team) -> None:
        answer = await completion(us, stream=True, key="letter-2")
        chunks, run_id = chunks_of(answer), answer.headers["X-Headgate-Run-Id"]
        text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        assert text.startswith("Waiting for approval.")
        assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
        assert chunks[-1]["headgate"]["waits_for"] == "approval"
        assert (await us.get("runner", f"/flow-runs/{run_id}"))["status"] == "waiting"
        assert await decide(us, "owner", await pending(us, run_id)) == 200
        await ended(us, run_id)
        again = chunks_of(await completion(us, stream=True, key="letter-2"))
        assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in again) == "Dear Eva"


HOSTILE = (
    '<img src=x onerror="alert(1)"><script>alert(2)</script> [go](javascript:alert(3)) \u202egnp.exe\u2066 \x1b[31m'
    "\r\nevent: done\r\ndata: {}\r\n\r\ndata: [DONE]\n\n" + "x" * 20_000
)


async def decided_in(us: Team, answer: httpx2.Response, **decision: Any) -> list[str]:
    """Follow the events of a visitor's run; when it waits, a user approves. Returns the lines."""
    lines: list[str] = []
    async for line in answer.aiter_lines():
        lines.append(line)
        if line == "event: waiting":
            (item,) = (await us.get("runner", "/approvals", params={"mine": True}))["items"]
            assert item["starter_id"] is None
            assert await decide(us, "runner", item, **decision) == 200
    return lines


def kinds_of(lines: list[str]) -> list[str]:
    return [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]


class TestWidget:
    async def test_tells_a_visitor_that_it_waits_and_then_the_result(self, us: Team, flow_id: str) -> None:
        async with listening(us.app) as address, httpx2.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS) as http:
            visitor = Visitor(http, flow_id)
            await visitor.load()
            run = await visitor.run(text="Dear Eva")
            async with http.stream("GET", f"/w/{flow_id}/runs/{run}/events", headers={"origin": "null"}) as answer:
                lines = await decided_in(us, answer)
        kinds = kinds_of(lines)
        assert kinds.count("waiting") == 1
        assert kinds[-1] == "done"
        assert "secret" not in "".join(lines)
        assert "Dear Eva" in "".join(lines[-3:])

    @pytest.mark.parametrize(("decision", "result"), [("approve", "42"), ("reject", "The call was not made")])
    async def test_tells_a_visitor_that_a_call_of_an_agent_waits_and_the_agent_continues(
        self, us: Team, decision: str, result: str
    ) -> None:
        with OpenAIServer() as openai:
            for name, value in (("OPENAI_API_KEY", "sk-test-0123456789abcdef"), ("OPENAI_BASE_URL", openai.base_url)):
                assert (await us.ask("admin", "PUT", f"/variables/{name}", json={"value": value})).is_success
            openai.script(openai.tool_call("calculator", {"expression": "6 * 7"}), openai.text("Here you are."))
            widget = f"settings:\n  widget: {json.dumps(FLOW['settings']['widget'])}\n"
            flow_id = await published(us, agent_spec({"tools": ["calculator"]}) + widget)
            async with (
                listening(us.app) as address,
                httpx2.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS) as http,
            ):
                visitor = Visitor(http, flow_id)
                await visitor.load()
                run = await visitor.run(text="What is 6 times 7?")
                events = http.stream("GET", f"/w/{flow_id}/runs/{run}/events", headers={"origin": "null"})
                async with events as answer:
                    lines = await decided_in(us, answer, decision=decision)
            assert len(openai.asked) == 2, "the answer before the approval was paid once"
            (message,) = [one["content"] for one in openai.asked[-1].body["messages"] if one["role"] == "tool"]
        kinds = kinds_of(lines)
        assert (kinds.count("waiting"), kinds[-1]) == (1, "done")
        assert "Here you are." in "".join(lines[-3:])
        assert not any(word in "".join(lines) for word in ("calculator", "6 * 7"))
        assert result in message


class TestHostileTexts:
    """What a flow asks and passes on is data: of a JSON answer, or of one event of a stream."""

    @pytest.fixture
    async def hostile_id(self, us: Team) -> str:
        nodes = [
            node | {"params": {"question": HOSTILE[:1_000]}} if node["id"] == "check" else node
            for node in FLOW["nodes"]
        ]
        flow_id: str = (await us.make("editor", "/flows", definition=FLOW | {"nodes": nodes}))["id"]
        await us.make("publisher", f"/flows/{flow_id}/publish")
        return flow_id

    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.usefixtures("hostile_id")
    async def test_of_an_approval_stay_inside_it_and_come_back_as_text(self, us: Team, stream: bool) -> None:
        first = await completion(us, stream=stream, key="hostile", text=HOSTILE)
        assert not any(part in first.text for part in ("<img", "javascript:", "event: done"))
        approval = await pending(us, first.headers["X-Headgate-Run-Id"])
        assert approval["question"] == HOSTILE[:1_000].strip()
        shown = await us.ask("runner", "GET", f"/approvals/{approval['id']}")
        assert shown.json()["value"] == HOSTILE
        for answer in (first, shown):
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "html" not in answer.headers["content-type"]
        assert await decide(us, "owner", approval, comment=HOSTILE[:1_000]) == 200
        await ended(us, approval["run_id"])
        again = await completion(us, stream=stream, key="hostile", text=HOSTILE)
        if stream:
            content = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks_of(again))
        else:
            content = again.json()["choices"][0]["message"]["content"]
        assert content == HOSTILE

    async def test_reach_a_visitor_as_one_event(self, us: Team, hostile_id: str) -> None:
        async with listening(us.app) as address, httpx2.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS) as http:
            visitor = Visitor(http, hostile_id)
            await visitor.load()
            run = await visitor.run(text=HOSTILE[:19_000])
            events = http.stream("GET", f"/w/{hostile_id}/runs/{run}/events", headers={"origin": "null"})
            async with events as answer:
                lines = await decided_in(us, answer)
        assert (kinds_of(lines).count("waiting"), kinds_of(lines).count("done")) == (1, 1)
        (data,) = [line for line in lines if line.startswith("data: ") and "onerror" in line and "files" in line]
        assert json.loads(data.removeprefix("data: "))["text"] == HOSTILE[:19_000]


async def published(us: Team, spec: str) -> str:
    """A flow that is published."""
    flow_id: str = (await us.make("editor", "/flows", spec=spec))["id"]
    await us.make("publisher", f"/flows/{flow_id}/publish")
    return flow_id


async def calling(us: Team, flow_id: str, name: str = "Outer") -> str:
    """A published flow that calls another one."""
    return await published(
        us,
        f"name: {name}\nnodes:\n  heard: ChatInput\n  inner: RunFlow\n    flow: {flow_id}\n  out: ChatOutput\n"
        "edges:\n  heard.text -> inner.text\n  inner.text -> out.input\n",
    )


class TestWaitingRequest:
    """`wait: true` answers at once when a user or an event has to come first."""

    async def test_answers_202_with_what_it_waits_for(self, us: Team, flow_id: str) -> None:
        answer = await us.ask(
            "runner", "POST", f"/flows/{flow_id}/runs", json={"text": "Dear Eva", "wait": True, **LIVE}
        )
        assert answer.status_code == 202, answer.text
        run = answer.json()
        assert run["status"] == "waiting"
        waits = run["waits_for"]
        assert (waits["reason"], waits["run_id"], waits["step_id"]) == ("approval", run["id"], "check")
        assert "headgate approvals" in waits["remedy"]
        assert await decide(us, "owner", await pending(us, run["id"])) == 200
        assert (await ended(us, run["id"]))["text"] == "Dear Eva"

    async def test_answers_for_an_approval_in_a_called_flow(self, us: Team, flow_id: str) -> None:
        outer = await calling(us, await calling(us, flow_id, "Middle"))
        answer = await us.ask("runner", "POST", f"/flows/{outer}/runs", json={"text": "Hi", "wait": True, **LIVE})
        assert answer.status_code == 202, answer.text
        waits = answer.json()["waits_for"]
        assert (waits["flow_id"], waits["step_id"]) == (flow_id, "check")
        assert waits["run_id"] != answer.json()["id"]
        assert await decide(us, "owner", await pending(us, waits["run_id"])) == 200
        assert (await ended(us, answer.json()["id"]))["text"] == "Hi"

    async def test_answers_for_an_event_in_a_called_flow(self, us: Team) -> None:
        inner = await published(
            us,
            "name: Paid\nnodes:\n  heard: ChatInput\n  paid: WaitForEvent\n    event: paid\n  out: ChatOutput\n"
            "edges:\n  heard.text -> paid.value\n  paid.data -> out.input\n",
        )
        outer = await calling(us, inner)
        answer = await us.ask("runner", "POST", f"/flows/{outer}/runs", json={"text": "Hi", "wait": True, **LIVE})
        assert (answer.status_code, answer.json()["waits_for"]["reason"]) == (202, "event")
        assert "headgate events send" in answer.json()["waits_for"]["remedy"]

    async def test_answers_a_rerun_and_a_short_wait_as_before(self, us: Team, flow_id: str) -> None:
        first = (
            await us.ask("runner", "POST", f"/flows/{flow_id}/runs", json={"text": "x", "wait": True, **LIVE})
        ).json()
        assert await decide(us, "owner", await pending(us, first["id"])) == 200
        await ended(us, first["id"])
        again = await us.ask("runner", "POST", f"/flow-runs/{first['id']}/rerun", json={"wait": True})
        assert again.json()["waits_for"]["reason"] == "approval"
        plain = await published(
            us,
            "name: Nap\nnodes:\n  heard: ChatInput\n  nap: Wait\n    seconds: 3\n  out: ChatOutput\n"
            "edges:\n  heard.text -> nap.value\n  nap.value -> out.input\n",
        )
        answer = await us.ask("runner", "POST", f"/flows/{plain}/runs", json={"text": "x", "wait": True, **LIVE})
        assert (answer.status_code, answer.json()["status"], answer.json()["waits_for"]) == (201, "completed", None)


class TestCompletionOfACallingFlow:
    @pytest.mark.parametrize("stream", [False, True])
    async def test_says_that_the_called_flow_waits(self, us: Team, flow_id: str, stream: bool) -> None:
        await calling(us, flow_id)
        body = {"model": "Outer", "stream": stream, "messages": [{"role": "user", "content": "Dear Eva"}]}
        async with asyncio.timeout(PATIENCE_SECONDS):
            answer = await us.clients["runner"].post(f"{ROOT}/v1/chat/completions", json=body)
        state = chunks_of(answer)[-1]["headgate"] if stream else answer.json()["headgate"]
        assert (state["status"], state["waits_for"]) == ("waiting", "approval")
