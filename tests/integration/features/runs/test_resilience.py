"""The database locked, full or away while runs are under way: a clear answer, and nothing lost."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.features.runs import patience
from headgate.features.runs.approvals.asking import StepApprovals
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.embedded import EmbeddedBackend
from headgate.features.runs.engine.subflows import Subflows
from headgate.features.runs.routes import router as runs_router
from headgate.features.runs.sent_events.of_steps import StepSentEvents
from headgate.features.runs.slots.service import Slots
from headgate.foundation.database import Database
from headgate.foundation.errors import DatabaseAway, DatabaseUnavailable, Unavailable
from headgate.foundation.settings import Settings
from headgate.graph.model import Flow, FlowSettings
from tests.integration.features.runs.conformance import appears, over, until
from tests.integration.features.runs.conformance_subflows import published
from tests.support.api import api
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.patience import PATIENCE_SECONDS
from tests.support.rows import attempts, run_row, statuses

Fail = Callable[[int], None]
SOON = {"timeout_hours": 0.0001}
STORING: list[tuple[type[Any], str, Flow]] = [
    (Slots, "take_flow", make_chain(1).model_copy(update={"settings": FlowSettings(max_concurrent_runs=1)})),
    (StepApprovals, "ask", make_flow({"s": "Start", "it": "Approval"}, ["s.text -> it.value"], it=SOON)),
    (StepSentEvents, "wait", make_flow({"it": "WaitForEvent"}, it={"event": "paid", **SOON})),
    (StepSentEvents, "send", make_flow({"it": "SendEvent"}, it={"event": "paid"})),
    (Subflows, "prepare", make_flow({"it": "RunFlow"})),
    (Subflows, "start", make_flow({"it": "RunFlow"})),
]
"""What a step waits for is stored by these methods; each with a flow that does."""


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PAUSES_SECONDS", (0.01,) * 5)


@pytest.fixture
def failing(engine: ExecutionBackend, monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Makes the next so many transitions fail as they do when the database is away."""
    assert isinstance(engine, EmbeddedBackend)
    store = engine._store
    left = 0
    advance = store.advance

    async def shaky(*args: Any, **kwargs: Any) -> Any:
        nonlocal left
        if left > 0:
            left -= 1
            raise Unavailable("The database does not answer.")
        return await advance(*args, **kwargs)

    monkeypatch.setattr(store, "advance", shaky)

    def fail(times: int) -> None:
        nonlocal left
        left = times

    return fail


class TestDatabaseAway:
    async def test_for_a_moment_loses_no_result(
        self, engine: ExecutionBackend, database: Database, failing: Fail, quick_retries: None, tmp_path: Path
    ) -> None:
        flow = make_flow({"t": "Tally", "end": "Echo"}, ["t.text -> end.input"], t={"path": str(tmp_path / "tally")})
        request = new_run(await store_flow(database, flow))
        failing(3)
        await engine.start(request)
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"
        assert (tmp_path / "tally").read_text().split() == ["t"]
        assert await attempts(database, request.key.run_id) == [("t", 1, "completed"), ("end", 1, "completed")]

    async def test_while_a_step_asks_whether_it_is_cancelled_fails_no_step(
        self, engine: ExecutionBackend, database: Database, quick_retries: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert isinstance(engine, EmbeddedBackend)
        is_cancelled, failures = engine._store.is_cancelled, iter(range(3))

        async def shaky(run_id: str) -> bool:
            if next(failures, None) is not None:
                raise Unavailable("The database does not answer.")
            return await is_cancelled(run_id)

        monkeypatch.setattr(engine._store, "is_cancelled", shaky)
        request = new_run(await store_flow(database, make_flow({"w": "Wait"}, w={"seconds": 0})))
        await engine.start(request)
        await over(engine, request.key.run_id)
        assert next(failures, None) is None
        assert await attempts(database, request.key.run_id) == [("w", 1, "completed")]

    @pytest.mark.parametrize("problem", [DatabaseAway, DatabaseUnavailable])
    async def test_while_a_step_reads_or_writes_it_fails_no_step(
        self,
        make_engine: Any,
        database: Database,
        monkeypatch: pytest.MonkeyPatch,
        problem: type[DatabaseUnavailable],
    ) -> None:
        """The attempt is left, and the next one completes the run, also where a disk is full for over a minute."""
        engine = await make_engine(lease_seconds=0.5)
        execute, failures = engine._conductor._executor.execute, iter(range(1))

        async def shaky(*args: Any, **more: Any) -> Any:
            if next(failures, None) is not None:
                raise problem("The database cannot be reached.")
            return await execute(*args, **more)

        monkeypatch.setattr(engine._conductor._executor, "execute", shaky)
        request = new_run(await store_flow(database, make_chain(1)))
        await engine.start(request)
        await over(engine, request.key.run_id)
        assert await attempts(database, request.key.run_id) == [("s1", 1, "retried"), ("s1", 2, "completed")]

    @pytest.mark.parametrize("storing", STORING, ids=[method for _, method, _ in STORING])
    async def test_for_a_moment_fails_no_step_that_stores_what_it_waits_for(
        self,
        engine: ExecutionBackend,
        database: Database,
        monkeypatch: pytest.MonkeyPatch,
        quick_retries: None,
        storing: tuple[type[Any], str, Flow],
    ) -> None:
        """Found by the simulator: a full disk failed runs that only wanted a slot."""
        owner, method, flow = storing
        child = await published(database, make_chain(1))
        whole, failures = getattr(owner, method), iter(range(2))

        async def shaky(*args: Any, **more: Any) -> Any:
            if next(failures, None) is not None:
                raise Unavailable("The disk is full.")
            return await whole(*args, **more)

        monkeypatch.setattr(owner, method, shaky)
        nodes = tuple(
            node.model_copy(update={"params": node.params | {"flow": child}}) if node.type == "RunFlow" else node
            for node in flow.nodes
        )
        request = new_run(await store_flow(database, flow.model_copy(update={"nodes": nodes})))
        await engine.start(request)
        await over(engine, request.key.run_id)
        assert next(failures, None) is None
        assert (await run_row(database, request.key.run_id)).status == "completed"

    async def test_for_good_leaves_the_run_to_be_recovered(
        self, engine: ExecutionBackend, make_engine: Any, database: Database, failing: Fail, quick_retries: None
    ) -> None:
        request = new_run(await store_flow(database, make_chain(3)))
        failing(100)
        await engine.start(request)
        await until(lambda: _idle(engine))
        assert (await statuses(database, request.key.run_id))["s1"] == "running"
        await engine.close()
        await over(await make_engine(), request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"

    async def test_for_good_is_told_where_nobody_would_take_the_run_up(
        self, make_engine: Any, database: Database, monkeypatch: pytest.MonkeyPatch, quick_retries: None
    ) -> None:
        command = await make_engine(recover_on_start=False)
        request = new_run(await store_flow(database, make_chain(3)))

        async def full(*_args: Any, **_more: Any) -> Any:
            raise Unavailable("The disk is full.")

        with monkeypatch.context() as broken:
            broken.setattr(command._store, "advance", full)
            await command.start(request)
            async with asyncio.timeout(PATIENCE_SECONDS):
                with pytest.raises(Unavailable, match=r"was interrupted because.* The disk is full\.") as told:
                    await command.wait(request.key.run_id)
        assert "headgate serve" in told.value.remedy
        await command.close()
        await over(await make_engine(), request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"


class TestLockedDatabase:
    @pytest.fixture
    def settings(self, sqlite_files: Any, tmp_path: Path) -> Settings:
        sqlite_files.fresh(tmp_path)
        from tests.support.databases import make_settings

        return make_settings(tmp_path, database={"busy_timeout_seconds": 0.1})

    @pytest.fixture
    async def other(self, settings: Settings) -> AsyncIterator[sqlite3.Connection]:
        connection = sqlite3.connect(settings.data_dir / "headgate.db", isolation_level=None)
        yield connection
        connection.close()

    async def test_answers_503_and_starts_nothing(
        self, engine: ExecutionBackend, database: Database, other: sqlite3.Connection
    ) -> None:
        version = await store_flow(database, make_chain(2))
        async with api(runs_router, database=database, engine=engine) as client:
            other.execute("BEGIN IMMEDIATE")
            answer = await client.post(f"/flows/{version.flow_id}/runs", json={})
            other.execute("ROLLBACK")
            _is_locked_problem(answer)
            assert (await client.get("/flow-runs")).json()["items"] == []
            assert (await client.post(f"/flows/{version.flow_id}/runs", json={})).status_code == 201

    async def test_for_longer_than_the_timeout_loses_no_result(
        self,
        engine: ExecutionBackend,
        database: Database,
        other: sqlite3.Connection,
        tmp_path: Path,
        quick_retries: None,
    ) -> None:
        flow = make_flow({"g": "Gate", "end": "Echo"}, ["g.text -> end.input"], g={"folder": str(tmp_path)})
        request = new_run(await store_flow(database, flow))
        await engine.start(request)
        await appears(tmp_path / "gate.started")
        other.execute("BEGIN IMMEDIATE")
        (tmp_path / "gate.open").touch()
        await asyncio.sleep(0.25)
        other.execute("ROLLBACK")
        await over(engine, request.key.run_id)
        assert await attempts(database, request.key.run_id) == [("g", 1, "completed"), ("end", 1, "completed")]


def _is_locked_problem(answer: httpx2.Response) -> None:
    assert answer.status_code == 503, answer.text
    assert answer.json()["code"] == "unavailable"
    assert "locked" in answer.json()["detail"]
    assert answer.json()["remedy"]


async def _idle(engine: ExecutionBackend) -> bool:
    assert isinstance(engine, EmbeddedBackend)
    return not list(engine._runs)
