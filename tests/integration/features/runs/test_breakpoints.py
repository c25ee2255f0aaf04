"""Breakpoints of runs in a team: who may continue a stopped run, and what is recorded."""

from collections.abc import AsyncIterator

import pytest

from headgate.foundation.settings import Settings
from tests.integration.features.runs.conformance_breakpoints import stopped
from tests.support.team import FLOW, Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def test_a_stopped_run_is_continued_by_those_who_may_start_runs_and_recorded(us: Team) -> None:
    flow_id = (await us.make("editor", "/flows", spec=FLOW))["id"]
    run_id = (await us.make("editor", f"/flows/{flow_id}/runs", text="hello", step_through=True))["id"]
    (step,) = (await us.get("viewer", f"/flow-runs/{run_id}"))["steps"][:1]
    await stopped(us.database, run_id, step["step_id"])
    path = f"/flow-runs/{run_id}/breakpoints/continue"
    for who in ("viewer", "stranger"):
        assert (await us.ask(who, "POST", path)).status_code in {403, 404}
    await stopped(us.database, run_id, step["step_id"])
    assert (await us.make("runner", path, then="end"))["steps"] == [step["step_id"]]
    (entry,) = (await us.get("admin", "/audit", params={"action": "run.breakpoint_continued"}))["items"]
    payload = {"flow_id": flow_id, "version": 1, "steps": [step["step_id"]], "then": "end"}
    assert entry["payload"] == payload
    assert run_id in str(entry)
