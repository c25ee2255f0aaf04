"""A trigger that has fired many times: what decides whether it may start a run reads the runs that have not ended."""

import pytest
from sqlalchemy import insert, text

from headgate.features.runs.transitions import clock
from headgate.features.triggers import repository
from headgate.features.triggers.occurrences import Occurrence, companions
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.settings import Policies, TriggerInput
from headgate.features.triggers.tables import OccurrenceRow, TriggerRow
from headgate.foundation.ids import new_id
from tests.integration.features.triggers.conftest import add, published
from tests.support.plans import plan_of
from tests.support.team import Team

OCCURRENCES = 3_000


@pytest.fixture
async def trigger(us: Team) -> TriggerRow:
    """A trigger that has started many runs, all of which have been deleted since."""
    stored = await add(us, await published(us), config={"kind": "schedule", "cron": "0 0 1 1 *"})
    tenant_id, started = us.people["viewer"].tenant_id, {"status": "started", "reason": "", "message": ""}
    rows = [
        {"id": new_id(), "tenant_id": tenant_id, "trigger_id": stored["id"], "occurrence_key": new_id()}
        | started
        | {"created_at": clock(), "flow_run_id": new_id()}
        for _ in range(OCCURRENCES)
    ]
    async with us.database.writing() as session:
        await session.execute(insert(OccurrenceRow), rows)
        if us.database.dialect == "postgresql":
            await session.execute(text("ANALYZE trigger_occurrences"))
            await session.execute(text("ANALYZE flow_runs"))
    async with us.database.reading() as session:
        listed = await repository.find_trigger(session, stored["id"], tenant_id=tenant_id)
    assert isinstance(listed, Listed)
    return listed.row


@pytest.mark.parametrize("is_queued", [False, True])
async def test_a_start_reads_no_occurrences_of_ended_runs(us: Team, trigger: TriggerRow, is_queued: bool) -> None:
    occurrence = Occurrence("key", TriggerInput(), is_queued=is_queued)
    *_, started = companions(trigger, occurrence, Policies(), None, clock())
    values = {**started.values, "run_id": new_id()}
    plan = await plan_of(us.database, lambda session: session.execute(text(started.sql), values))
    assert "ix_trigger_occurrences_flow_run_id" in plan


async def test_runs_to_cancel_are_found_among_those_that_have_not_ended(us: Team, trigger: TriggerRow) -> None:
    plan = await plan_of(us.database, lambda session: repository.live_runs(session, trigger))
    assert "ix_trigger_occurrences_flow_run_id" in plan


async def test_the_last_outcomes_are_read_from_the_newest_on(us: Team, trigger: TriggerRow) -> None:
    plan = await plan_of(us.database, lambda session: repository.last_outcomes(session, trigger, 3))
    if us.database.dialect == "sqlite":  # the planner of PostgreSQL sees that there are no runs
        assert "ix_trigger_occurrences_trigger_id_created_at" in plan
