"""State of flows keeps the classification of the runs that wrote it, on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text

from headgate.foundation.settings import ClassificationSettings, Settings
from tests.support.people import LOOPBACK
from tests.support.team import Team, team
from tests.support.web_server import WebServer, answer, web_server

WRITE = """name: Writer
nodes:
  in: ChatInput
  kept: WriteState
    name: note
    operation: {operation}
  out: ChatOutput
edges:
  in.text -> kept.value
  kept.version -> out.input
settings:
  input_classification: {level}
"""
READ = """name: Writer
nodes:
  kept: ReadState
    name: note
{policy}  out: ChatOutput
edges:
  kept.text -> out.input
settings:
  input_classification: 0
"""
SEND = """name: Writer
nodes:
  kept: ReadState
    name: note
{policy}  send: HTTPRequest
    method: POST
    url: {url}
  out: ChatOutput
edges:
  kept.text -> send.body
  send.text -> out.input
settings:
  input_classification: 0
"""
LOWER = "    policy:\n      output_classification_override: 1\n"


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    classification = ClassificationSettings(enabled=True)
    async with team(settings, http=LOOPBACK, classification=classification) as people:
        yield people


@pytest.fixture
async def receiver() -> AsyncIterator[WebServer]:
    async with web_server() as server:
        server.on("/in", answer(200, "thanks", content_type="text/plain"))
        yield server


async def run(us: Team, flow_id: str, spec: str) -> dict[str, Any]:
    """Save a text as the draft of the flow and run it."""
    definition = (await us.make("editor", "/flows", spec=spec))["definition"]
    revision = (await us.get("editor", f"/flows/{flow_id}"))["revision"]
    body = {"revision": revision, "definition": definition}
    saved = await us.ask("editor", "PATCH", f"/flows/{flow_id}/draft", json=body)
    assert saved.is_success, saved.text
    outcome: dict[str, Any] = await us.make(
        "editor", f"/flows/{flow_id}/runs", text="Ann is ill", version="draft", wait=True
    )
    return outcome


async def written(us: Team, level: int, operation: str = "set") -> str:
    """Create a flow whose run has written a value of that classification."""
    flow: dict[str, Any] = await us.make("editor", "/flows", spec=WRITE.format(level=level, operation=operation))
    outcome = await us.make("editor", f"/flows/{flow['id']}/runs", text="Ann is ill", version="draft", wait=True)
    assert outcome["status"] == "completed", outcome
    return str(flow["id"])


async def classes(us: Team, run_id: str) -> dict[str, int]:
    """The recorded classification of the output of each step."""
    query = text("SELECT step_id, classification FROM flow_step_results WHERE flow_run_id = :run")
    async with us.database.reading() as session:
        return {row.step_id: row.classification for row in await session.execute(query, {"run": run_id})}


class TestState:
    async def test_raises_the_run_that_reads_it(self, us: Team) -> None:
        flow = await written(us, 2)
        outcome = await run(us, flow, READ.format(policy=""))
        assert outcome["status"] == "completed", outcome
        assert await classes(us, outcome["id"]) == {"kept": 2, "out": 2}

    async def test_is_not_sent_out_by_a_later_step(self, us: Team, receiver: WebServer) -> None:
        flow = await written(us, 2)
        outcome = await run(us, flow, SEND.format(policy="", url=receiver.url("/in")))
        assert outcome["status"] == "failed"
        assert outcome["error"]["code"] == "classification_refused", outcome["error"]
        assert "'kept' brings" in outcome["error"]["message"]
        assert receiver.requests == []

    async def test_of_a_class_that_may_leave_is_sent(self, us: Team, receiver: WebServer) -> None:
        flow = await written(us, 1)
        outcome = await run(us, flow, SEND.format(policy="", url=receiver.url("/in")))
        assert outcome["status"] == "completed", outcome
        assert len(receiver.requests) == 1

    async def test_is_lowered_where_the_policy_of_the_step_says_so(self, us: Team, receiver: WebServer) -> None:
        flow = await written(us, 2)
        outcome = await run(us, flow, SEND.format(policy=LOWER, url=receiver.url("/in")))
        assert outcome["status"] == "completed", outcome
        assert len(receiver.requests) == 1

    async def test_keeps_the_classes_of_its_history(self, us: Team) -> None:
        flow = await written(us, 2)
        outcome = await run(us, flow, WRITE.format(level=0, operation="set"))
        assert outcome["status"] == "completed", outcome
        assert (await classes(us, outcome["id"]))["kept"] == 2, "it outputs the value before"
        place = {"draft": True}
        state = await us.get("viewer", f"/flows/{flow}/state/note", params=place)
        assert (state["classification"], [one["classification"] for one in state["history"]]) == (0, [0, 2])
        assert [
            one["classification"] for one in (await us.get("viewer", f"/flows/{flow}/state", params=place))["items"]
        ]

    async def test_that_is_appended_to_keeps_the_higher_class(self, us: Team) -> None:
        flow = await written(us, 2, "append")
        await run(us, flow, WRITE.format(level=0, operation="append"))
        assert (await us.get("viewer", f"/flows/{flow}/state/note", params={"draft": True}))["classification"] == 2

    async def test_that_a_user_sets_keeps_its_class(self, us: Team) -> None:
        flow = await written(us, 2)
        path = f"/flows/{flow}/state/note"
        changed = await us.ask("editor", "PUT", path, json={"value": "Bo"}, params={"draft": True})
        assert changed.json()["classification"] == 2
