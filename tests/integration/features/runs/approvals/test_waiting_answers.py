"""What clients that wait for a result get of a run that waits for an approval, on both databases."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from headgate.foundation.settings import Settings
from tests.integration.features.runs.approvals.test_approvals import decide, ended
from tests.integration.features.runs.test_widget import Visitor
from tests.integration.http.asking import listening
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


async def completion(us: Team, *, stream: bool, key: str = "") -> httpx2.Response:
    body = {"model": "Letters", "stream": stream, "messages": [{"role": "user", "content": "Dear Eva"}]}
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


class TestWidget:
    async def test_tells_a_visitor_that_it_waits_and_then_the_result(self, us: Team, flow_id: str) -> None:
        async with listening(us.app) as address, httpx2.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS) as http:
            visitor = Visitor(http, flow_id)
            await visitor.load()
            run = await visitor.run(text="Dear Eva")
            told: list[str] = []
            async with http.stream("GET", f"/w/{flow_id}/runs/{run}/events", headers={"origin": "null"}) as answer:
                async for line in answer.aiter_lines():
                    told.append(line)
                    if line == "event: waiting":
                        (item,) = (await us.get("runner", "/approvals", params={"mine": True}))["items"]
                        assert item["starter_id"] is None
                        assert await decide(us, "runner", item) == 200
        kinds = [line.removeprefix("event: ") for line in told if line.startswith("event: ")]
        assert kinds.count("waiting") == 1
        assert kinds[-1] == "done"
        assert "secret" not in "".join(told)
        assert "Dear Eva" in told[-2] + told[-1] + told[-3]


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
