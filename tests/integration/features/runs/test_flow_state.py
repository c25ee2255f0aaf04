"""State of flows as runs write it: nothing is lost between concurrent runs, and nothing counted twice after a kill."""

import asyncio
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from headgate.features.access.principal import LOCAL
from headgate.features.flows.state import repository
from headgate.features.flows.state.changes import MOST_NAMES, MOST_VALUES
from headgate.features.flows.state.errors import StateChanged, StateInvalid
from headgate.features.runs.engine.build import build_engine
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.step_state import FlowState
from headgate.features.runs.transitions import RunKey
from headgate.features.runs.waking import wake_step
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import NotFound
from headgate.foundation.ids import new_id
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import EngineSettings, Settings
from headgate.sdk.state import StateChange
from tests.integration.features.runs.conformance import over, until, value_of
from tests.support.engine import make_chain, make_flow, make_services, new_run, on_disk, publish, store_flow
from tests.support.rows import attempts, step_rows


@pytest.fixture
def flow_state(database: Database, settings: Settings) -> FlowState:
    return FlowState(database, SecretBox(new_ring(settings)))


@pytest.fixture
async def key(database: Database) -> RunKey:
    return await publish(database, await store_flow(database, make_chain(2)))


def step(key: RunKey, run_id: str = "", step_id: str = "write") -> Origin:
    """A step of a run; of another one each time when no run is given."""
    return Origin(replace(key, run_id=run_id or new_id()), step_id)


async def history(database: Database, key: RunKey, name: str = "n") -> list[int]:
    async with database.reading() as session:
        rows = await repository.list_values(
            session, key.flow_id, name, draft=False, tenant_id=key.tenant_id, limit=1000
        )
    return [row.version for row in rows]


class TestTypes:
    async def test_a_value_of_another_type_is_refused_and_nothing_written(
        self, flow_state: FlowState, key: RunKey
    ) -> None:
        await flow_state.write(step(key), StateChange("n", "set", 1, type="number"), outside=())
        for change in (
            StateChange("n", "set", "two", type="number"),
            StateChange("n", "set", "two"),
            StateChange("new", "append", 1, type="table"),
        ):
            with pytest.raises(StateInvalid, match="its declared type is"):
                await flow_state.write(step(key), change, outside=())
        read = (await flow_state.read(step(key), "n")).value
        assert (read.value, read.version, (await flow_state.read(step(key), "new")).value.version) == (1, 1, 0)
        written = await flow_state.write(step(key), StateChange("n", "increment", 1), outside=())
        assert written.value.value == 2
        await flow_state.write(step(key), StateChange("n", "set", "two", type="text"), outside=())
        with pytest.raises(StateInvalid):
            await flow_state.write(step(key), StateChange("n", "set", 3), outside=())


class TestConcurrency:
    async def test_a_hundred_runs_at_once_count_to_a_hundred(self, flow_state: FlowState, key: RunKey) -> None:
        change = StateChange("n", "increment", 1)
        written = await asyncio.gather(*(flow_state.write(step(key), change, outside=()) for _ in range(100)))
        assert {one.value.value for one in written} == set(range(1, 101))
        assert sorted(one.value.version for one in written) == list(range(1, 101))
        assert (await flow_state.read(step(key), "n")).value.value == 100

    async def test_no_appended_item_is_lost(self, flow_state: FlowState, key: RunKey) -> None:
        changes = [StateChange("n", "append", number, most=1000) for number in range(50)]
        await asyncio.gather(*(flow_state.write(step(key), change, outside=()) for change in changes))
        items = (await flow_state.read(step(key), "n")).value.value
        assert isinstance(items, list)
        assert sorted(items, key=str) == sorted(range(50), key=str)

    async def test_one_of_many_that_expect_the_same_version_wins(self, flow_state: FlowState, key: RunKey) -> None:
        changes = [StateChange("n", "set", number, expected_version=0) for number in range(20)]
        outcomes = await asyncio.gather(
            *(flow_state.write(step(key), change, outside=()) for change in changes), return_exceptions=True
        )
        refused = [one for one in outcomes if isinstance(one, StateChanged)]
        assert len(refused) == 19
        assert all("has version 1, not 0" in one.detail for one in refused)

    async def test_attempts_at_one_step_at_once_write_once(self, flow_state: FlowState, key: RunKey) -> None:
        origin, change = step(key), StateChange("n", "increment", 1)
        written = await asyncio.gather(*(flow_state.write(origin, change, outside=()) for _ in range(10)))
        assert {(one.value.value, one.value.version, one.value.previous) for one in written} == {(1, 1, None)}
        assert (await flow_state.read(origin, "n")).value.value == 1


class TestOnce:
    async def test_a_step_whose_process_was_killed_counts_once(
        self, database: Database, settings: Settings, processes: Any, flow_state: FlowState, tmp_path: Path
    ) -> None:
        flow = make_flow(
            {"start": "Start", "count": "CountAndHold"},
            ["start.text -> count.input"],
            count={"folder": str(tmp_path)},
        )
        version = await store_flow(database, flow)
        process, run_id = await processes.start(version, "hi")
        await until(lambda: asyncio.sleep(0, (tmp_path / "counted").exists()))
        process.send_signal(signal.SIGKILL)
        process.wait()
        (tmp_path / "open").touch()
        services = make_services(database, engine=EngineSettings(), files=on_disk(database, settings))
        engine = build_engine(settings, database, replace(services, flow_state=flow_state))
        await engine.open()
        await over(engine, run_id)
        await engine.close()
        assert [attempt[1:] for attempt in await attempts(database, run_id) if attempt[0] == "count"][-1] == (
            2,
            "completed",
        )
        assert value_of((await step_rows(database, run_id))["count"]) == "None, then 1"
        assert (await flow_state.read(Origin(version, "count"), "count")).value.version == 1

    async def test_a_later_run_reads_what_an_earlier_one_wrote(
        self, database: Database, settings: Settings, flow_state: FlowState
    ) -> None:
        flow = make_flow(
            {"start": "Start", "before": "ReadState", "write": "WriteState", "end": "Echo"},
            ["start.text -> write.value", "before.text -> end.input"],
            before={"name": "last", "default": "nothing"},
            write={"name": "last"},
        )
        version = await store_flow(database, flow)
        services = make_services(database, engine=EngineSettings(), files=on_disk(database, settings))
        engine = build_engine(settings, database, replace(services, flow_state=flow_state))
        await engine.open()
        seen = []
        for said in ("one", "two"):
            request = new_run(version, said)
            await engine.start(request)
            await over(engine, request.key.run_id)
            rows = await step_rows(database, request.key.run_id)
            assert rows["write"].status == "completed", rows["write"].error_message
            seen.append(value_of(rows["before"]))
        await engine.close()
        assert seen[0] == "nothing"
        assert seen[1] in {"one", "two"}, "the steps have no edge between them"


class TestWaitForState:
    async def test_holds_no_worker_until_another_run_writes_the_value(
        self, database: Database, settings: Settings, flow_state: FlowState
    ) -> None:
        flow = make_flow(
            {"start": "Start", "ready": "WaitForState", "end": "Echo"},
            ["start.text -> ready.value", "ready.value -> end.input"],
            ready={"name": "stock", "until": "counted == `true`", "interval_seconds": 86_400},
        )
        version = await store_flow(database, flow)
        services = make_services(database, engine=EngineSettings(), files=on_disk(database, settings))
        engine = build_engine(settings, database, replace(services, flow_state=flow_state))
        await engine.open()
        request = new_run(version, "go")
        await engine.start(request)

        async def status() -> str:
            return str((await step_rows(database, request.key.run_id))["ready"].status)

        async def waits() -> bool:
            return await status() == "waiting"

        async def wake() -> None:
            async with database.writing() as session:
                at = int(time.time() * 1_000_000)
                await wake_step(session, request.key.run_id, "ready", tenant_id=version.tenant_id, at=at)

        async def checked_again() -> bool:
            tries = [attempt for attempt in await attempts(database, request.key.run_id) if attempt[0] == "ready"]
            return len(tries) > 1 and await waits()

        await until(waits)
        await flow_state.write(step(version), StateChange("stock", "set", {"counted": False}), outside=("url:a",))
        await wake()
        await until(checked_again)
        await flow_state.write(step(version), StateChange("stock", "set", {"counted": True}), outside=("url:a",))
        await wake()
        await over(engine, request.key.run_id)
        rows = await step_rows(database, request.key.run_id)
        await engine.close()
        assert rows["ready"].status == "completed", rows["ready"].error_message
        assert value_of(rows["ready"], "value") == {"counted": True}


class TestBounds:
    async def test_history_has_the_last_values_and_those_of_active_runs(
        self, flow_state: FlowState, key: RunKey, database: Database
    ) -> None:
        run_id = new_id()
        async with database.writing() as session:
            await session.execute(
                text(
                    "INSERT INTO flow_runs (id, flow_id, version, tenant_id, status, input_payload, created_at,"
                    " unfinished) VALUES (:id, :flow, :version, :tenant, 'running', '{}', 1, 1)"
                ),
                {"id": run_id, "flow": key.flow_id, "version": key.version, "tenant": key.tenant_id},
            )
        change = StateChange("n", "increment", 1)
        await flow_state.write(step(key, run_id), change, outside=())
        for _ in range(MOST_VALUES + 5):
            await flow_state.write(step(key), change, outside=())
        versions = await history(database, key)
        assert versions == [*range(MOST_VALUES + 6, 6, -1), 1]
        assert (await flow_state.write(step(key, run_id), change, outside=())).value.version == 1

    async def test_a_flow_has_a_limited_number_of_names(self, flow_state: FlowState, key: RunKey) -> None:
        for number in range(MOST_NAMES):
            await flow_state.write(step(key), StateChange(f"n{number}", "set", 1), outside=())
        with pytest.raises(StateInvalid, match="at most 100"):
            await flow_state.write(step(key), StateChange("more", "set", 1), outside=())
        await flow_state.write(step(key), StateChange("n0", "set", 2), outside=())

    async def test_versions_that_were_never_published_have_values_of_their_own(
        self, flow_state: FlowState, database: Database
    ) -> None:
        draft = await store_flow(database, make_chain(2))
        await flow_state.write(step(draft), StateChange("n", "set", "draft"), outside=())
        published = await publish(database, draft)
        assert (await flow_state.read(step(published), "n")).value.version == 0

    async def test_of_another_tenant_is_not_there(self, flow_state: FlowState, key: RunKey) -> None:
        await flow_state.write(step(key), StateChange("n", "set", 1), outside=())
        other = replace(key, tenant_id=new_id())
        assert (await flow_state.read(step(other), "n")).value.version == 0
        with pytest.raises(NotFound):
            await flow_state.write(step(other), StateChange("n", "set", 1), outside=())
        assert LOCAL.tenant_id == key.tenant_id

    async def test_marks_of_outside_content_stay_with_the_value(self, flow_state: FlowState, key: RunKey) -> None:
        await flow_state.write(step(key), StateChange("n", "append", "a"), outside=("url:a",))
        appended = await flow_state.write(step(key), StateChange("n", "append", "b"), outside=("url:b",))
        assert appended.outside == ("url:a", "url:b")
        replaced = await flow_state.write(step(key), StateChange("n", "set", "b"), outside=())
        assert (replaced.outside, (await flow_state.read(step(key), "n")).outside) == ((), ())
