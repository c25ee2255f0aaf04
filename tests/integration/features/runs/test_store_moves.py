"""Every state with every transition: the stores make the moves that `states` draws, and no other."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from headgate.features.runs.states import (
    ATTEMPT_MOVES,
    RUN_CONTINUES,
    RUN_MOVES,
    RUN_RESUMES,
    STEP_MOVES,
    STEP_RESUMES,
    AttemptStatus,
    RunStatus,
    StepStatus,
)
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import (
    Claim,
    Failed,
    Finished,
    Held,
    Lease,
    NewRun,
    Onward,
    RunKey,
    Seed,
    StepRecord,
    clock,
)
from headgate.features.runs.waiting import Suspension, WaitReason
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.engine import make_chain, store_flow
from tests.support.rows import attempt_rows, execute, run_row, statuses, tamper

Transition = Callable[[RunStore, RunKey], Awaitable[object]]
ME = Claim("s1", 1)
DONE = StepRecord(output_payload='{"outputs": {}}')


def _lease() -> Lease:
    now = clock()
    return Lease("w1", now, now + 60_000_000)


async def _take_over(store: RunStore, key: RunKey, attempt: int | None = None) -> tuple[Claim, ...]:
    stored = await store.load(key.run_id)
    assert stored is not None
    seen = stored.steps["s1"].holder
    return await store.take_over(key, [replace(seen, attempt=attempt or seen.attempt)], _lease())


TRANSITIONS: dict[str, Transition] = {
    "finish": lambda store, key: store.advance(key, Onward({"s2": 1}), _lease(), Finished(ME, DONE)),
    "finish and go on": lambda store, key: store.advance(
        key, Onward({"s2": 1}, claim=("s2",)), _lease(), Finished(ME, DONE)
    ),
    "claim": lambda store, key: store.advance(key, Onward(claim=("s1",)), _lease()),
    "skip": lambda store, key: store.advance(key, Onward(skip=("s1",)), _lease()),
    "fail": lambda store, key: store.fail(key, Failed(ME, "invalid", "no"), clock()),
    "take over": _take_over,
    "end": lambda store, key: store.end(key, "run_stale", "too long", clock()),
    "cancel": lambda store, key: store.cancel(key.run_id, key.tenant_id, clock()),
    "renew": lambda store, key: store.renew([Held(key.run_id, "s1", 1)], _lease()),
    "suspend": lambda store, key: store.suspend(key, Suspension(ME, WaitReason.TIME, clock()), _lease()),
    "rest": lambda store, key: store.rest(key, clock()),
    "wake": lambda store, key: store.wake(clock(), 10),
    "resume": lambda store, key: store.resume(key, clock()),
    "pause": lambda store, key: store.pause(key, clock()),
    "unpause": lambda store, key: store.unpause(key, clock()),
}
REFUSED_BY_A_FINISHED_RUN = frozenset(TRANSITIONS) - {"fail"}


def _allowed(name: str) -> tuple[set[Any], set[Any], set[Any]]:
    """Moves of runs, steps and attempts that a transition may make."""
    if name == "resume":
        return set(RUN_RESUMES), set(STEP_RESUMES), set()
    if name == "unpause":
        return {*RUN_CONTINUES, (RunStatus.PAUSED, RunStatus.WAITING)}, set(), set()
    return set(RUN_MOVES), set(STEP_MOVES), set(ATTEMPT_MOVES)


@pytest.fixture
async def key(store: RunStore, database: Database) -> RunKey:
    """A run of two steps, the first being worked on."""
    version = await store_flow(database, make_chain(2))
    made = replace(version, run_id=new_id())
    await store.create(NewRun(made, "{}", (Seed("s1", 1, 0), Seed("s2", 2, 1)), claim=("s1",)), _lease())
    return made


class TestEveryMove:
    @pytest.mark.parametrize("name", TRANSITIONS)
    async def test_is_one_that_the_state_machines_draw(
        self, store: RunStore, key: RunKey, database: Database, name: str
    ) -> None:
        runs, steps, attempts = _allowed(name)
        made = set()
        for before in _states():
            await _put(database, key, *before)
            await TRANSITIONS[name](store, key)
            after = await _look(database, key)
            for kind, allowed, old, new in zip(
                ("run", "step", "attempt"), (runs, steps, attempts), before, after, strict=True
            ):
                assert old == new or (old, new) in allowed, f"{name} from {before} made {kind} {old} -> {new}"
                if old != new:
                    made.add((kind, old, new))
            await tamper(database, "DELETE FROM flow_step_attempts WHERE attempt_no > 1 OR step_id <> 's1'")
        assert made or name == "renew"

    @pytest.mark.parametrize("run", [RunStatus.COMPLETED, RunStatus.CANCELLED])
    async def test_of_a_run_leads_out_of_completed_and_cancelled_by_no_transition(
        self, store: RunStore, key: RunKey, database: Database, run: RunStatus
    ) -> None:
        ended = (StepStatus.PENDING, StepStatus.FAILED, StepStatus.CANCELLED, StepStatus.COMPLETED)
        for name, step in product(sorted(REFUSED_BY_A_FINISHED_RUN), ended):
            before = (run, step, AttemptStatus.FAILED)
            await _put(database, key, *before)
            await TRANSITIONS[name](store, key)
            assert await _look(database, key) == before, name

    async def test_of_a_step_needs_the_attempt_it_belongs_to(
        self, store: RunStore, key: RunKey, database: Database
    ) -> None:
        late = [Claim("s1", 1), Claim("s1", 3)]
        await _put(database, key, RunStatus.RUNNING, StepStatus.RUNNING, AttemptStatus.STARTED)
        await execute(database, "UPDATE flow_step_results SET attempts = 2 WHERE step_id = 's1'")
        for claim in late:
            assert not (await store.advance(key, Onward({"s2": 1}), _lease(), Finished(claim, DONE))).recorded
            assert not (await store.fail(key, Failed(claim, "x", "y"), clock())).recorded
            assert await _take_over(store, key, claim.attempt) == ()
            assert await store.renew([Held(key.run_id, "s1", claim.attempt)], _lease()) == frozenset()
        assert await _look(database, key) == (RunStatus.RUNNING, StepStatus.RUNNING, AttemptStatus.STARTED)


def _states() -> Iterator[tuple[RunStatus, StepStatus, AttemptStatus]]:
    """Every combination; an attempt that is over belongs to a step that no longer works."""
    for run, step in product(RunStatus, StepStatus):
        ended = {StepStatus.RUNNING: AttemptStatus.STARTED, StepStatus.COMPLETED: AttemptStatus.COMPLETED}
        yield run, step, ended.get(step, AttemptStatus.FAILED)
    for attempt in AttemptStatus:
        yield RunStatus.RUNNING, StepStatus.RUNNING, attempt


async def _put(database: Database, key: RunKey, run: RunStatus, step: StepStatus, attempt: AttemptStatus) -> None:
    await execute(database, "UPDATE flow_runs SET status = :to, unfinished = 2 WHERE id = :id", to=run, id=key.run_id)
    await execute(
        database,
        "UPDATE flow_step_results SET waiting = step_order - 1, attempts = 2 - step_order, lease_until = 1,"
        " worker_id = 'w1', due_at = 1, waits_for = 'time',"
        " status = CASE WHEN step_id = 's1' THEN :to ELSE 'pending' END",
        to=step,
    )
    await tamper(database, "UPDATE flow_step_attempts SET status = :to, record = NULL", to=attempt)


async def _look(database: Database, key: RunKey) -> tuple[RunStatus, StepStatus, AttemptStatus]:
    run = await run_row(database, key.run_id)
    first = next(row for row in await attempt_rows(database, key.run_id) if row.attempt_no == 1 and row.step_id == "s1")
    step = (await statuses(database, key.run_id))["s1"]
    return RunStatus(run.status), StepStatus(step), AttemptStatus(first.status)
