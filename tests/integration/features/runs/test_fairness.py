"""Nobody waits for the long runs of others, and a flood of runs takes turns with those of everybody else."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL, Principal
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from tests.integration.features.runs.conformance import appears, over
from tests.integration.features.runs.priorities import runs_in_order_of_priority
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.people import add_space_row
from tests.support.rows import run_row
from tests.support.tenants import add_colleague, add_tenant

pytestmark = pytest.mark.both_databases

Other = Callable[[Database], Awaitable[Principal]]


async def _other_tenant(database: Database) -> Principal:
    return await add_tenant(database)


async def _other_space(database: Database) -> Principal:
    space_id = await add_space_row(database, "Other")
    return await add_colleague(database, "bob", Role.OWNER, space_id=space_id)


async def _other_user(database: Database) -> Principal:
    return await add_colleague(database, "bob", Role.EDITOR)


async def _start(engine: ExecutionBackend, version: RunKey, count: int, user: Principal) -> list[str]:
    requests = [new_run(version, user_id=user.user_id) for _ in range(count)]
    for request in requests:
        await engine.start(request)
    return [request.key.run_id for request in requests]


async def _gates(database: Database, folder: Path) -> RunKey:
    return await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(folder)}))


class TestLongRuns:
    @pytest.mark.parametrize("other", [_other_tenant, _other_space, _other_user])
    async def test_hold_up_nobody_else(
        self, make_engine: Any, database: Database, tmp_path: Path, other: Other
    ) -> None:
        bob = await other(database)
        gate, short = await _gates(database, tmp_path), await store_flow(database, make_chain(3), principal=bob)
        engine = await make_engine(max_concurrent_runs=4)
        long = await _start(engine, gate, 40, LOCAL)
        await appears(tmp_path / "gate.started")
        for run_id in await _start(engine, short, 5, bob):
            await over(engine, run_id)
            assert (await run_row(database, run_id)).status == "completed"
        assert {(await run_row(database, run_id)).status for run_id in long} == {"running", "queued"}
        (tmp_path / "gate.open").touch()
        await asyncio.gather(*(over(engine, run_id) for run_id in long))

    async def test_left_by_a_server_hold_up_nobody_else_after_it_is_recovered(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        bob = await add_tenant(database)
        gate, short = await _gates(database, tmp_path), await store_flow(database, make_chain(3), principal=bob)
        first = await make_engine(max_concurrent_runs=1, spare_concurrent_runs=0)
        long = await _start(first, gate, 6, LOCAL)
        waiting = await _start(first, short, 2, bob)
        await first.close(grace_seconds=0)
        engine = await make_engine(max_concurrent_runs=2, lease_seconds=0.5)
        for run_id in waiting:
            await over(engine, run_id)
        assert {(await run_row(database, run_id)).status for run_id in long} <= {"running", "queued"}
        (tmp_path / "gate.open").touch()
        await asyncio.gather(*(over(engine, run_id) for run_id in long))


class TestFlood:
    async def test_takes_turns_with_others(self, make_engine: Any, database: Database, tmp_path: Path) -> None:
        bob = await add_tenant(database)
        gate, chain = await _gates(database, tmp_path), await store_flow(database, make_chain(3))
        short = await store_flow(database, make_chain(3), principal=bob)
        engine = await make_engine(max_concurrent_runs=1, spare_concurrent_runs=0)
        (held,) = await _start(engine, gate, 1, LOCAL)
        flood = await _start(engine, chain, 8, LOCAL)
        few = await _start(engine, short, 2, bob)
        (tmp_path / "gate.open").touch()
        await asyncio.gather(*(over(engine, run_id) for run_id in [held, *flood, *few]))
        began = {run_id: (await run_row(database, run_id)).started_at for run_id in [*flood, *few]}
        order = sorted(began, key=lambda run_id: began[run_id])
        assert {order.index(run_id) for run_id in few} <= {0, 1, 2, 3}


class TestPriorities:
    async def test_order_the_runs_that_wait_for_a_place_also_after_a_change(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1, spare_concurrent_runs=0)
        order = await runs_in_order_of_priority(engine, database, tmp_path)
        assert order == ["raised", "high", "normal", "low"]

    async def test_are_kept_when_a_server_recovers_what_another_left(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        gate, short = await _gates(database, tmp_path), await store_flow(database, make_chain(1))
        first = await make_engine(max_concurrent_runs=1, spare_concurrent_runs=0)
        await _start(first, gate, 1, LOCAL)
        low, high = (new_run(short, priority=priority, user_id=LOCAL.user_id) for priority in (-9, 9))
        for request in (low, high):
            await first.start(request)
        await first.close(grace_seconds=0)
        (tmp_path / "gate.open").touch()
        engine = await make_engine(max_concurrent_runs=1, spare_concurrent_runs=0, lease_seconds=0.5)
        rows = []
        for request in (low, high):
            await over(engine, request.key.run_id)
            rows.append(await run_row(database, request.key.run_id))
        assert rows[1].started_at < rows[0].started_at
