"""What clients that wait for a result get of a run that waits for an approval, on both databases."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from headgate.foundation.settings import RateLimitSettings, Settings
from tests.integration.features.runs.approvals.test_approvals import decide, ended
from tests.integration.features.runs.test_widget import Visitor
from tests.integration.http.asking import listening
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import BASE, LOOPBACK
from tests.support.team import Team, team

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
    async with team(settings, rate_limits=RateLimitSettings(enabled=False), http=LOOPBACK) as people:
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
