"""The embedded engine keeps the conformance suite, on both databases; and what only it does."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from headgate.features.runs.engine import run_registry
from headgate.features.runs.views.stream import RunStream
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.features.runs.conformance import BackendConformance, DeathConformance, appears, over
from tests.integration.features.runs.conformance_approvals import ApprovalConformance, ApprovalDeathConformance
from tests.integration.features.runs.conformance_breakpoints import BreakpointConformance, BreakpointDeathConformance
from tests.integration.features.runs.conformance_deadlines import DeadlineConformance
from tests.integration.features.runs.conformance_error_flows import ErrorFlowConformance
from tests.integration.features.runs.conformance_events import EventConformance, EventDeathConformance
from tests.integration.features.runs.conformance_maps import MapConformance
from tests.integration.features.runs.conformance_pauses import PauseConformance
from tests.integration.features.runs.conformance_retries import RetryConformance, RetryDeathConformance
from tests.integration.features.runs.conformance_slots import SlotConformance
from tests.integration.features.runs.conformance_subflows import SubflowConformance
from tests.integration.features.runs.conformance_waits import WaitConformance
from tests.support.databases import SqliteFiles, make_settings
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.rows import attempts, run_row

pytestmark = pytest.mark.both_databases


class TestEmbeddedBackend(BackendConformance):
    pass


class TestEmbeddedSubflows(SubflowConformance):
    """Flows that run flows."""


class TestEmbeddedSlots(SlotConformance):
    """Slots of flows, keys and models in this process."""


class TestEmbeddedErrorFlows(ErrorFlowConformance):
    """Handlers of failures in this process."""


class TestEmbeddedMaps(MapConformance):
    """Tools that are called for each item, in this process."""


class TestEmbeddedDeadlines(DeadlineConformance):
    """Deadlines of runs in this process."""


class TestEmbeddedPauses(PauseConformance):
    """Paused runs in this process."""


class TestEmbeddedBreakpoints(BreakpointConformance):
    """Runs that stop at breakpoints, in this process."""


class TestEmbeddedBreakpointsAfterDeaths(BreakpointDeathConformance):
    """Stopped runs whose worker is killed."""


class TestEmbeddedWaits(WaitConformance):
    """Waiting in this process."""


class TestEmbeddedApprovals(ApprovalConformance):
    """Tool calls that wait for approval."""


class TestEmbeddedApprovalsAfterDeaths(ApprovalDeathConformance):
    """Tool calls that wait for approval while their worker is killed."""


class TestEmbeddedEvents(EventConformance):
    """Events that steps wait for."""


class TestEmbeddedEventsAfterDeaths(EventDeathConformance):
    """Events after the death of a process."""


class TestEmbeddedRetries(RetryConformance):
    """Retries and what follows a failure."""


class TestEmbeddedRetriesAfterDeaths(RetryDeathConformance):
    """Retries of steps whose worker died."""


class TestEmbeddedBackendAfterDeaths(DeathConformance):
    pass


class TestQueue:
    async def test_longer_than_memory_keeps_is_read_back_in_order(
        self, make_engine: Any, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(run_registry, "MOST_KEPT", 2)
        engine = await make_engine(max_concurrent_runs=1)
        gate = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await engine.start(gate)
        version = await store_flow(database, make_chain(3, s3={"mark": "!"}))
        queued = [new_run(version, f"run {number}") for number in range(6)]
        for request in queued:
            await engine.start(request)
        await engine.cancel(queued[1].key.run_id, queued[1].key.tenant_id)
        await engine.cancel(queued[4].key.run_id, queued[4].key.tenant_id)
        (tmp_path / "gate.open").touch()
        await asyncio.gather(*(over(engine, request.key.run_id) for request in queued))
        rows = [await run_row(database, request.key.run_id) for request in queued]
        left = [row for number, row in enumerate(rows) if number not in {1, 4}]
        assert [row.output_payload["text"] for row in left] == ["run 0!", "run 2!", "run 3!", "run 5!"]
        assert [row.started_at for row in left] == sorted(row.started_at for row in left)
        for number in (1, 4):
            assert rows[number].status == "cancelled"
            assert await attempts(database, queued[number].key.run_id) == []


class TestSweep:
    async def test_finds_what_others_left_while_it_runs(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        sweeping = await make_engine(lease_seconds=0.15)
        command = await make_engine(recover_on_start=False)
        request = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await command.start(request)
        await appears(tmp_path / "gate.started")
        await command.close(grace_seconds=0)
        (tmp_path / "gate.open").touch()
        await over(sweeping, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"

    async def test_is_not_made_by_a_command_beside_a_server(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        server = await make_engine(max_concurrent_runs=1)
        gate = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await server.start(gate)
        queued = new_run(await store_flow(database, make_chain(1)))
        await server.start(queued)
        await make_engine(recover_on_start=False, lease_seconds=0.06)
        await asyncio.sleep(0.15)
        assert (await run_row(database, queued.key.run_id)).status == "queued"
        (tmp_path / "gate.open").touch()
        await over(server, queued.key.run_id)


class TestStorage:
    @pytest.fixture
    def settings(self, sqlite_files: SqliteFiles, tmp_path: Path) -> Settings:
        sqlite_files.fresh(tmp_path)
        return make_settings(tmp_path)

    async def test_takes_less_than_4_kb_for_a_trivial_run(self, make_engine: Any, database: Database) -> None:
        engine = await make_engine()
        version = await store_flow(database, make_chain(3))
        before = await _pages_in_use(database)
        requests = [new_run(version) for _ in range(300)]
        for request in requests:
            await engine.start(request)
        await asyncio.gather(*(over(engine, request.key.run_id) for request in requests))
        assert (await _pages_in_use(database) - before) * 4096 / 300 < 4096


class TestEvents:
    async def test_end_exactly_once(self, make_engine: Any, database: Database) -> None:
        engine = await make_engine()
        version = await store_flow(database, make_chain(3))
        bad = make_flow({"start": "Start", "bad": "Broken"}, ["start.text -> bad.input"])
        for flow, last in ((version, "run_completed"), (await store_flow(database, bad), "run_failed")):
            request = new_run(flow)
            await engine.start(request)
            stream = RunStream(engine, request.key.tenant_id, request.key.run_id)
            events = [event async for event in stream.events()]
            kinds = [event.kind for event in events]
            assert kinds[-1] == last
            assert sum(kind.startswith("run_") and kind != "run_started" for kind in kinds) == 1
            assert [int(event.id) for event in events] == list(range(1, len(events) + 1))


async def _pages_in_use(database: Database) -> int:
    async with database.reading() as session:
        pages, free = [
            (await session.execute(text(f"PRAGMA {name}"))).scalar_one() for name in ("page_count", "freelist_count")
        ]
    return int(pages) - int(free)
