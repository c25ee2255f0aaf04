"""Retention over HTTP, on both databases."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from headgate.features.jobs.leases import clock
from headgate.foundation.settings import RetentionSettings, Settings
from tests.support.rows import execute
from tests.support.team import FLOW, Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, retention=RetentionSettings(run_days=1)) as client:
        yield client


async def _run_when_free(us: Team) -> None:
    """Run retention once the server's own first run of it, due at the start, is over."""
    for _ in range(500):
        if (answer := await us.ask("admin", "POST", "/maintenance/retention/run")).status_code != 409:
            break
        await asyncio.sleep(0.05)
    assert answer.status_code == 200, answer.text


class TestMaintenance:
    async def test_is_seen_and_run_by_admins_alone(self, us: Team) -> None:
        assert {who for who, status in (await us.answers("GET", "/maintenance")).items() if status == 200} == {"admin"}
        runs = await us.answers("POST", "/maintenance/retention/run?dry_run=true")
        assert {who for who, status in runs.items() if status == 200} == {"admin"}
        assert (await us.ask("admin", "POST", "/maintenance/nothing/run")).status_code == 404

    async def test_runs_retention_and_status_shows_it(self, us: Team) -> None:
        await _run_when_free(us)
        # The server's own schedule would replace the outcome that is looked at below.
        await execute(us.database, "UPDATE scheduled_jobs SET due_at = :at", at=clock() + 3_600_000_000)
        flow_id = str((await us.make("editor", "/flows", spec=FLOW))["id"])
        run = await us.make("editor", f"/flows/{flow_id}/runs", text="hi", wait=True)
        await execute(us.database, "UPDATE flow_runs SET finished_at = finished_at - 200000000000")
        counted = (await us.ask("admin", "POST", "/maintenance/retention/run?dry_run=true")).json()
        assert (counted["dry_run"], counted["deleted"]["runs"]) == (True, 1)
        assert (await us.ask("editor", "GET", f"/flow-runs/{run['id']}")).status_code == 200
        done = (await us.ask("admin", "POST", "/maintenance/retention/run")).json()
        assert done["deleted"]["runs"] == 1
        assert (await us.ask("editor", "GET", f"/flow-runs/{run['id']}")).status_code == 404
        state = await us.get("admin", "/maintenance")
        assert (state["run_days"], state["session_days"], state["waiting_session_days"]) == (1, 90, 365)
        (job,) = [one for one in state["jobs"] if one["name"] == "retention"]
        assert job["finished_at"] is not None
        assert job["deleted"]["runs"] == 1

    async def test_answers_409_while_another_process_runs_the_job(self, us: Team) -> None:
        await _run_when_free(us)
        await execute(
            us.database,
            "UPDATE scheduled_jobs SET worker_id = 'elsewhere:1:a', lease_until = :until WHERE name = 'retention'",
            until=clock() + 60_000_000,
        )
        answer = await us.ask("admin", "POST", "/maintenance/retention/run")
        assert (answer.status_code, answer.json()["code"]) == (409, "job_busy")
