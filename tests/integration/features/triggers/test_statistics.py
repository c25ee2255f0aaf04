"""Statistics of a trigger, and the runs that it started."""

from typing import Any

import pytest
from sqlalchemy import insert

from headgate.features.runs.transitions import clock
from headgate.features.triggers.tables import OccurrenceRow
from headgate.foundation.ids import new_id
from tests.integration.features.triggers.conftest import add, published
from tests.support.rows import execute
from tests.support.team import Team

SECOND, DAY = 1_000_000, 86_400_000_000
YEARLY = {"kind": "schedule", "cron": "0 0 1 1 *"}


async def occurrence(us: Team, trigger: dict[str, Any], status: str = "skipped", **columns: Any) -> None:
    values = {"reason": "", "message": "", "created_at": clock(), "occurrence_key": new_id(), **columns}
    async with us.database.writing() as session:
        tenant_id = us.people["viewer"].tenant_id
        row = {"id": new_id(), "trigger_id": trigger["id"], "tenant_id": tenant_id, "status": status, **values}
        await session.execute(insert(OccurrenceRow).values(**row))


class TestStatistics:
    async def test_count_occurrences_reasons_runs_and_how_late_they_were(self, us: Team) -> None:
        trigger = await add(us, await published(us), config=YEARLY)
        fired = [(await us.make("publisher", f"/triggers/{trigger['id']}/fire"))["occurrence"] for _ in range(2)]
        run_ids = [one["run_id"] for one in fired]
        for status, run_id in zip(("completed", "failed"), run_ids, strict=True):
            await execute(us.database, "UPDATE flow_runs SET status = :s WHERE id = :id", s=status, id=run_id)
        for reason in ("overlap", "overlap", "not_published"):
            await occurrence(us, trigger, reason=reason)
        at = clock()
        for late in range(1, 21):
            await occurrence(us, trigger, "started", due_at=at - late * SECOND, created_at=at)
        await occurrence(us, trigger, "started", due_at=at - DAY, created_at=at, backfill_id=new_id())
        await occurrence(us, trigger, reason="overlap", created_at=at - 8 * DAY)
        found = await us.get("viewer", f"/triggers/{trigger['id']}/statistics")
        lateness = found.pop("lateness")
        assert found == {
            "days": 7,
            "started": 23,
            "queued": 0,
            "cancelled": 0,
            "completed": 1,
            "failed": 1,
            "skipped": [{"reason": "overlap", "occurrences": 2}, {"reason": "not_published", "occurrences": 1}],
        }
        assert lateness == {"occurrences": 20, "p50_seconds": 10, "p95_seconds": 19, "max_seconds": 20}
        longer = await us.get("viewer", f"/triggers/{trigger['id']}/statistics", params={"days": 30})
        assert longer["skipped"][0] == {"reason": "overlap", "occurrences": 3}

    async def test_without_occurrences_are_zero_and_a_stranger_sees_none(self, us: Team) -> None:
        trigger = await add(us, await published(us), config=YEARLY)
        found = await us.get("viewer", f"/triggers/{trigger['id']}/statistics")
        assert (found["started"], found["skipped"], found["lateness"]) == (0, [], None)
        answer = await us.ask("stranger", "GET", f"/triggers/{trigger['id']}/statistics")
        assert answer.status_code == 404

    @pytest.mark.parametrize("path", ["/flow-runs", "/flow-runs/export?format=jsonl"])
    async def test_runs_are_filtered_by_the_trigger_that_started_them(self, us: Team, path: str) -> None:
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=YEARLY)
        other = await add(us, flow_id, name="Other", config=YEARLY)
        run_id = (await us.make("publisher", f"/triggers/{trigger['id']}/fire"))["occurrence"]["run_id"]
        by_hand = (await us.make("publisher", f"/flows/{flow_id}/runs", text="hello", wait=True))["id"]
        answer = await us.ask("viewer", "GET", path, params={"trigger_id": trigger["id"]})
        assert answer.is_success
        assert run_id in answer.text
        assert by_hand not in answer.text
        answer = await us.ask("viewer", "GET", path, params={"trigger_id": other["id"]})
        assert answer.is_success
        assert run_id not in answer.text
