"""Slots of flows that run each other: no run waits for ever for one that waits for it, on both databases."""

import pytest
from sqlalchemy import insert

from headgate.features.access.principal import LOCAL
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.slots.service import Slots
from headgate.features.runs.tables import flow_runs, flow_step_results
from headgate.features.runs.transitions import RunKey, clock
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.sdk import Model
from tests.support.engine import make_flow, store_flow


class NoLimits:
    """Models without limits."""

    async def most(self, _origin: Origin, _model: Model) -> int | None:
        return None


async def waiting_run(database: Database, flow: RunKey, reason: str, parent: RunKey | None = None) -> RunKey:
    """A run whose only step waits."""
    key = RunKey(new_id(), flow.tenant_id, flow.flow_id, flow.version)
    common = {"flow_id": flow.flow_id, "version": flow.version, "tenant_id": LOCAL.tenant_id, "status": "waiting"}
    above = {} if parent is None else {"parent_run_id": parent.run_id, "parent_step_id": "s", "parent_iteration": 0}
    run = {"id": key.run_id, "unfinished": 1, "input_payload": {"text": ""}, "created_at": clock()}
    step = {"flow_run_id": key.run_id, "step_id": "s", "step_order": 0, "waiting": 0, "attempts": 1}
    async with database.writing() as session:
        await session.execute(insert(flow_runs).values(**common, **run, **above))
        await session.execute(insert(flow_step_results).values(**common, **step, waits_for=reason))
    return key


@pytest.mark.parametrize("between", [0, 2])
async def test_runs_that_wait_for_each_other_continue(database: Database, between: int) -> None:
    """A run of A waits for its run of B, which is queued behind a run of B that waits for its run of A."""
    one, other, third = [await store_flow(database, make_flow({"s": "Start"})) for _ in range(3)]
    slots = Slots(database, NoLimits())
    outer = await waiting_run(database, one, "run")
    assert await slots.take_flow(Origin(outer, "s"), 1)
    rival = await waiting_run(database, other, "run")
    assert await slots.take_flow(Origin(rival, "s"), 1)
    above = outer
    for _ in range(between):
        above = await waiting_run(database, third, "run", above)
    inner = await waiting_run(database, other, "slot", above)
    assert not await slots.take_flow(Origin(inner, "s"), 1)
    of_rival = await waiting_run(database, one, "slot", rival)
    assert await slots.take_flow(Origin(of_rival, "s"), 1), "the slot of a run that only waits for a queued one"
    assert not await slots.take_flow(Origin(outer, "s"), 1), "it takes its slot again when it continues"
    assert not await slots.take_flow(Origin(inner, "s"), 1), "the rival runs"


async def test_a_run_that_waits_for_a_running_one_keeps_its_slot(database: Database) -> None:
    one, other = [await store_flow(database, make_flow({"s": "Start"})) for _ in range(2)]
    slots = Slots(database, NoLimits())
    outer = await waiting_run(database, one, "run")
    assert await slots.take_flow(Origin(outer, "s"), 1)
    inner = await waiting_run(database, other, "retry", outer)
    assert await slots.take_flow(Origin(inner, "s"), 1)
    assert not await slots.take_flow(Origin(await waiting_run(database, one, "slot"), "s"), 1)
