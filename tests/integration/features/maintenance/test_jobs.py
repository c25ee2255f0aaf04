"""Retention, the sweep of orphans and the schedule, on both databases and a real folder of contents."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import ColumnElement, or_, select, text

from headgate.features.access.principal import LOCAL
from headgate.features.audit import service as audit
from headgate.features.audit.recorder import record
from headgate.features.audit.tables import AuditEvent
from headgate.features.files import service as files
from headgate.features.files.local_storage import LocalStorage
from headgate.features.files.tables import StoredFile
from headgate.features.flows.service import create_flow
from headgate.features.jobs.errors import JobBusy
from headgate.features.jobs.leases import Leases, clock
from headgate.features.jobs.runner import JobRunner
from headgate.features.jobs.worker import Worker
from headgate.features.knowledge import service
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.schemas import DocumentIn
from headgate.features.maintenance import statistics
from headgate.features.maintenance.outcome import Outcome
from headgate.features.maintenance.repository import expired_runs
from headgate.features.maintenance.service import JOBS, JobNotFound, Maintenance
from headgate.features.maintenance.tables import scheduled_jobs
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine
from headgate.features.runs.transitions import Reuse, RunKey
from headgate.features.testing import results
from headgate.features.testing.judging import Judge
from headgate.features.testing.runner import TestRuns
from headgate.features.testing.service import replace_cases
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import RetentionSettings, Settings
from headgate.graph.cases import TestCase
from headgate.graph.model import FlowSettings
from tests.integration.features.runs.conformance import finish
from tests.support.asking import ScriptedAsker
from tests.support.engine import make_chain, make_flow, make_services, new_run, on_disk, store_flow
from tests.support.jobs import open_jobs
from tests.support.knowledge import Shelf, open_shelf
from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_SECONDS
from tests.support.plans import plan_of
from tests.support.rows import execute, run_row, step_rows
from tests.support.tenants import add_tenant

pytestmark = pytest.mark.both_databases

DAY = 86_400 * 1_000_000


@pytest.fixture
def storage(settings: Settings) -> LocalStorage:
    return LocalStorage(settings.data_dir / "files")


@pytest.fixture
async def engine(database: Database, settings: Settings) -> Any:
    found = build_engine(settings, database, make_services(database, files=on_disk(database, settings)))
    await found.open()
    yield found
    await found.close()


RUNNERS: list[JobRunner] = []


@pytest.fixture(autouse=True)
async def runners_closed(database: Database) -> AsyncIterator[None]:
    """Before their database."""
    assert database
    yield
    while RUNNERS:
        await RUNNERS.pop().close()


def maintenance(database: Database, storage: LocalStorage, *, scans: bool = False, **settings: Any) -> Maintenance:
    """The maintenance of one process."""
    leases = Leases(Worker(storage._root.parent / "workers"), 30.0)
    RUNNERS.append(JobRunner(database, leases, scans=scans, poll_seconds=0.02))
    return Maintenance(database, storage, RetentionSettings(**settings), RUNNERS[-1])


async def run_due(database: Database, storage: LocalStorage, processes: int = 1) -> list[str]:
    """Open processes, let them run every task that is due, and end them. The tasks in the order of their starts."""
    several = [maintenance(database, storage, scans=True) for _ in range(processes)]
    await asyncio.gather(*(one.schedule() for one in several))
    due = or_(scheduled_jobs.c.due_at <= clock(), scheduled_jobs.c.worker_id.is_not(None))
    before = {one.name: one.started_at or "" for one in await several[0].status()}
    for runner in RUNNERS[-processes:]:
        runner.open()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await rows_where(database, due):  # noqa: ASYNC110 - the rows are written by other processes
            await asyncio.sleep(0.01)
    for runner in RUNNERS[-processes:]:
        await runner.close()
    ran = [one for one in await several[0].status() if (one.started_at or "") != before[one.name]]
    return [one.name for one in sorted(ran, key=lambda one: one.started_at or "")]


async def rows_where(database: Database, condition: ColumnElement[bool]) -> list[str]:
    async with database.reading() as session:
        return list((await session.execute(select(scheduled_jobs.c.name).where(condition))).scalars())


async def ids(database: Database, table: str) -> set[str]:
    async with database.reading() as session:
        return set((await session.execute(text(f"SELECT id FROM {table}"))).scalars())


async def make_old(database: Database, run_id: str, days: int = 100) -> None:
    at = time.time_ns() // 1000 - days * DAY
    await execute(database, "UPDATE flow_runs SET finished_at = :at WHERE id = :id", at=at, id=run_id)


async def age_files(database: Database, storage: LocalStorage) -> None:
    """Every file was made long ago."""
    at = (time.time_ns() // 1000) - DAY
    await execute(database, "UPDATE files SET created_at = :at", at=at)
    for path in (storage._root).rglob("*"):
        if path.is_file():
            os.utime(path, (time.time() - 86_400,) * 2)


async def kept_file(engine: ExecutionBackend, database: Database, **flow: Any) -> RunKey:
    """A finished run with one artifact."""
    made = make_flow({"start": "Start", "keep": "Keep"}, ["start.text -> keep.input"])
    if flow:
        made = made.model_copy(update={"settings": FlowSettings(**flow)})
    request = new_run(await store_flow(database, made), "content")
    await finish(engine, request)
    return request.key


async def artifact(database: Database, storage: LocalStorage, key: RunKey, step: str = "keep") -> StoredFile:
    return await files.store_artifact(
        database,
        storage,
        tenant_id=key.tenant_id,
        space_id=LOCAL.space_id,
        flow_id=key.flow_id,
        run_id=key.run_id,
        step_id=step,
        name="left.txt",
        content=b"left",
    )


def contents(storage: LocalStorage) -> set[str]:
    return {path.name for path in storage._root.rglob("*") if path.is_file()}


async def audited(database: Database) -> list[tuple[str, str, str, str | None]]:
    """What the audit log says of Headgate's own doings: whose, what, of which, in which space."""
    async with database.reading() as session:
        rows = (await session.execute(select(AuditEvent).order_by(AuditEvent.seq))).scalars().all()
    return [(row.actor_kind, row.action, row.resource_id, row.space_id) for row in rows if row.actor_kind == "system"]


class TestRetention:
    async def test_keeps_everything_unless_it_is_told_otherwise(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage
    ) -> None:
        key = await kept_file(engine, database)
        await make_old(database, key.run_id, 10_000)
        assert (await maintenance(database, storage).run_job("retention")).runs == 0
        assert key.run_id in await ids(database, "flow_runs")

    async def test_deletes_old_runs_with_what_they_made_and_counts_them(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage
    ) -> None:
        old, young = await kept_file(engine, database), await kept_file(engine, database)
        await make_old(database, old.run_id, 31)
        await make_old(database, young.run_id, 29)
        job = maintenance(database, storage, run_days=30)
        dry = await job.run_job("retention", dry=True)
        assert len(await ids(database, "flow_runs")) == len(contents(storage)) == 2
        found = await job.run_job("retention")
        assert dry.as_json() == found.as_json()
        assert (found.runs, found.artifacts, found.bytes) == (1, 1, len("content"))
        assert found.tenants == {LOCAL.tenant_id: {"runs": 1, "sessions": 0, "artifacts": 1}}
        assert await ids(database, "flow_runs") == {young.run_id}
        assert await step_rows(database, old.run_id) == {}
        assert contents(storage) == await ids(database, "files")
        assert len(contents(storage)) == 1
        assert await audited(database) == [("system", "run.expired", old.run_id, LOCAL.space_id)]

    async def test_takes_what_a_run_answered_out_of_test_results_too(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage
    ) -> None:
        cases = [TestCase(name="holds", text="secret"), TestCase(name="faulty", form={"no such field": "x"})]
        async with database.writing() as session:
            flow = await create_flow(session, LOCAL, engine.services.components, definition=make_chain(1))
            await replace_cases(session, LOCAL, flow.id, cases)
        async with open_jobs(database, storage._root.parent) as jobs:
            tests = TestRuns(database, engine, jobs, Judge(database, ScriptedAsker()))
            result_id = await tests.begin(LOCAL, flow.id, trials=2)
            await tests.wait(result_id)
        old, young = sorted(await ids(database, "flow_runs"))
        await make_old(database, old, 31)
        await maintenance(database, storage, run_days=30).run_job("retention")
        async with database.reading() as session:
            found = await results.read_result(session, LOCAL, flow.id, result_id)
        assert found.status == "failed"
        assert {(line.run_id, line.answer, line.passed) for line in found.lines if line.name == "holds"} == {
            ("", "", True),
            (young, "secret", True),
        }
        assert all("no such field" in line.error for line in found.lines if line.name == "faulty")

    async def test_leaves_the_files_that_tests_give(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage
    ) -> None:
        kept, dropped = await kept_file(engine, database), await kept_file(engine, database)
        given, other = await artifact(database, storage, kept), await artifact(database, storage, dropped)
        async with database.writing() as session:
            case = TestCase(name="reads", file_ids=[given.id])
            await replace_cases(session, LOCAL, kept.flow_id, [case])
        for key in (kept, dropped):
            await make_old(database, key.run_id)
        await age_files(database, storage)
        for job in ("retention", "orphan_sweep"):
            await maintenance(database, storage, run_days=30).run_job(job)
        left = await ids(database, "files")
        assert (given.id in left, other.id in left) == (True, False)
        assert given.id in contents(storage)
        async with database.writing() as session:
            await replace_cases(session, LOCAL, kept.flow_id, [])
        await maintenance(database, storage, run_days=30).run_job("orphan_sweep")
        assert given.id not in await ids(database, "files")

    async def test_goes_by_the_flow_s_own_setting_before_the_installation_s(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage
    ) -> None:
        short = await kept_file(engine, database, data_retention_days=5)
        long = await kept_file(engine, database, data_retention_days=500)
        plain = await kept_file(engine, database)
        for key in (short, long, plain):
            await make_old(database, key.run_id, 50)
        await maintenance(database, storage).run_job("retention")
        assert await ids(database, "flow_runs") == {long.run_id, plain.run_id}
        await maintenance(database, storage, run_days=30).run_job("retention")
        assert await ids(database, "flow_runs") == {long.run_id}

    async def test_never_deletes_a_run_that_is_under_way(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await engine.start(request)
        await make_old(database, request.key.run_id, 1000)
        await maintenance(database, storage, run_days=1).run_job("retention")
        assert (await run_row(database, request.key.run_id)).status == "running"
        (tmp_path / "gate.open").touch()

    async def test_keeps_a_run_as_long_as_one_that_took_its_results_over(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage
    ) -> None:
        paid = await kept_file(engine, database)
        request = replace(new_run(paid, "content"), reuse=Reuse(paid.run_id, ("start", "keep"), None))
        await finish(engine, request)
        await make_old(database, paid.run_id, 50)
        job = maintenance(database, storage, run_days=30)
        await job.run_job("retention")
        assert paid.run_id in await ids(database, "flow_runs")
        output = (await step_rows(database, request.key.run_id))["keep"].output_payload
        content = await engine.services.files.read(paid.tenant_id, output["file_ids"][0])
        assert content == b"content"
        await make_old(database, request.key.run_id, 50)
        await job.run_job("retention")
        await job.run_job("retention")
        assert await ids(database, "flow_runs") == set()
        assert contents(storage) == set()

    async def test_keeps_an_artifact_that_a_kept_run_was_started_with(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage
    ) -> None:
        old = await kept_file(engine, database)
        (file_id,) = await ids(database, "files")
        given = (await engine.services.files.given(LOCAL, [file_id])).files
        await finish(engine, new_run(await store_flow(database, make_chain(1)), input={"files": given}))
        await make_old(database, old.run_id)
        found = await maintenance(database, storage, run_days=30).run_job("retention")
        assert (found.runs, found.artifacts) == (1, 0)
        assert contents(storage) == {file_id}

    async def test_goes_through_many_runs_in_batches(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("headgate.features.maintenance.retention.BATCH", 3)
        version = await store_flow(database, make_chain(1))
        requests = [new_run(version) for _ in range(10)]
        await asyncio.gather(*(finish(engine, request) for request in requests))
        for request in requests[:8]:
            await make_old(database, request.key.run_id)
        assert (await maintenance(database, storage, run_days=30).run_job("retention")).runs == 8
        assert await ids(database, "flow_runs") == {request.key.run_id for request in requests[8:]}


class TestOrphanSweep:
    @pytest.mark.parametrize(
        ("status", "goes"),
        [("completed", False), ("running", False), ("queued", False), ("failed", True), ("cancelled", True)],
    )
    async def test_deletes_what_no_result_names_of_runs_that_were_given_up(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage, status: str, goes: bool
    ) -> None:
        key = await kept_file(engine, database)
        (evidence,) = await ids(database, "files")
        left = await artifact(database, storage, key)
        await execute(database, "UPDATE flow_runs SET status = :status", status=status)
        await age_files(database, storage)
        job = maintenance(database, storage)
        assert (await job.run_job("orphan_sweep", dry=True)).artifacts == int(goes)
        assert (await job.run_job("orphan_sweep")).artifacts == int(goes)
        assert await ids(database, "files") == ({evidence} if goes else {evidence, left.id})
        assert contents(storage) == await ids(database, "files")
        expected = [("system", "file.deleted", left.id, LOCAL.space_id)] if goes else []
        assert await audited(database) == expected
        await execute(database, "UPDATE flow_runs SET status = 'completed'")

    async def test_leaves_what_is_younger_than_the_grace_time(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage
    ) -> None:
        key = await kept_file(engine, database)
        await artifact(database, storage, key)
        await execute(database, "UPDATE flow_runs SET status = 'failed'")
        assert (await maintenance(database, storage).run_job("orphan_sweep")).artifacts == 0

    async def test_deletes_artifacts_of_runs_that_are_gone_unless_a_result_names_them(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage
    ) -> None:
        key = await kept_file(engine, database)
        gone = replace(key, run_id=new_id())
        named, left = await artifact(database, storage, gone), await artifact(database, storage, gone)
        payload = json.dumps({"outputs": {"data": {"type": "Data", "value": [{"id": named.id}]}}})
        bound = payload.replace(":", "\\:")
        await execute(database, f"UPDATE flow_step_results SET output_payload = '{bound}' WHERE step_id = 'start'")
        await age_files(database, storage)
        await maintenance(database, storage).run_job("orphan_sweep")
        found = await ids(database, "files")
        assert named.id in found
        assert left.id not in found

    async def test_never_touches_uploads_or_another_tenant_s_files(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage
    ) -> None:
        key = await kept_file(engine, database)
        upload = await files.store_upload(database, storage, LOCAL, name="mine.txt", content=b"mine")
        other = await add_tenant(database)
        theirs = await files.store_upload(database, storage, other, name="theirs.txt", content=b"theirs")
        await execute(database, "UPDATE flow_runs SET status = 'failed' WHERE id = :id", id=key.run_id)
        await execute(database, "UPDATE flow_step_results SET status = 'failed'")
        await age_files(database, storage)
        found = await maintenance(database, storage).run_job("orphan_sweep")
        assert found.tenants == {LOCAL.tenant_id: {"runs": 0, "sessions": 0, "artifacts": 1}}
        assert await ids(database, "files") == {upload.id, theirs.id} == contents(storage)

    async def test_deletes_contents_without_a_record_once_they_are_old(
        self, database: Database, storage: LocalStorage
    ) -> None:
        known = await files.store_upload(database, storage, LOCAL, name="mine.txt", content=b"mine")
        stray = await files.store_upload(database, storage, LOCAL, name="stray.txt", content=b"stray")
        await execute(database, "DELETE FROM files WHERE id = :id", id=stray.id)
        (storage._root / "notes.txt").write_text("not ours")
        job = maintenance(database, storage)
        assert (await job.run_job("orphan_sweep")).contents == 0
        await age_files(database, storage)
        assert (await job.run_job("orphan_sweep")).contents == 1
        assert contents(storage) == {known.id, "notes.txt"}


async def shelf_of(database: Database, storage: LocalStorage) -> Shelf:
    """A knowledge base whose files are in the storage, without an index."""
    shelf = open_shelf(database, storage._root.parent)
    await shelf.jobs.close()
    await shelf.make_base()
    return shelf


class TestFilesOfKnowledge:
    async def test_are_kept_as_long_as_a_document_has_them(
        self, engine: ExecutionBackend, database: Database, storage: LocalStorage
    ) -> None:
        expired, failed = await kept_file(engine, database), await kept_file(engine, database)
        rows = [await artifact(database, storage, expired), await artifact(database, storage, failed)]
        shelf = await shelf_of(database, storage)
        added = []
        for row in rows:
            async with database.writing() as session:
                body = DocumentIn(file_id=row.id, name=row.id)
                added.append(await documents.add_document(session, LOCAL, shelf.base_id, body))
        await make_old(database, expired.run_id, 50)
        await execute(database, "UPDATE flow_runs SET status = 'failed' WHERE id = :id", id=failed.run_id)
        await age_files(database, storage)
        for job in ("retention", "orphan_sweep"):
            await maintenance(database, storage, run_days=30).run_job(job)
        assert {row.id for row in rows} <= await ids(database, "files") & contents(storage)
        for document in added:
            async with database.writing() as session:
                await documents.delete_document(session, LOCAL, shelf.base_id, document.id)
        await maintenance(database, storage).run_job("orphan_sweep")
        assert not {row.id for row in rows} & (await ids(database, "files") | contents(storage))

    async def test_are_deleted_with_their_document_in_one_transaction(
        self, database: Database, storage: LocalStorage
    ) -> None:
        shelf = await shelf_of(database, storage)
        document, other = await shelf.add("a", "one"), await shelf.add("b", "two")
        async with database.writing() as session:
            file_id = (await documents.describe_document(session, LOCAL, shelf.base_id, other)).file_id
            body = DocumentIn(file_id=file_id, name="the same file")
            await documents.add_document(session, LOCAL, shelf.base_id, body)
        async with database.writing() as session:
            await documents.delete_document(session, LOCAL, shelf.base_id, document)
            await documents.delete_document(session, LOCAL, shelf.base_id, other)
        # the process ends here: nobody deletes the contents
        assert await ids(database, "files") == {file_id}
        await age_files(database, storage)
        await maintenance(database, storage).run_job("orphan_sweep")
        assert contents(storage) == {file_id}
        async with database.writing() as session:
            await service.delete_base(session, LOCAL, shelf.base_id)
        assert await ids(database, "files") == set()


class TestStatistics:
    async def test_large_tables_are_analyzed(
        self, database: Database, storage: LocalStorage, engine: ExecutionBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await kept_file(engine, database)
        monkeypatch.setattr(statistics, "LARGE", 1)
        assert (await maintenance(database, storage).run_job("statistics")).as_json() == Outcome().as_json()
        if database.dialect == "sqlite":
            async with database.reading() as session:
                analyzed = set((await session.execute(text("SELECT tbl FROM sqlite_stat1"))).scalars())
            assert "flow_step_results" in analyzed  # two rows
            assert "flow_runs" not in analyzed  # one row


async def test_a_page_of_expired_runs_reads_no_steps_of_all_runs(database: Database) -> None:
    page = partial(expired_runs, before=1, flow_id=None, after="", limit=100)
    plan = await plan_of(database, page)
    if database.dialect == "sqlite":
        assert "SCAN flow_step_results" not in plan


class TestAuditHeads:
    async def test_are_logged_as_verify_takes_them(self, database: Database, storage: LocalStorage) -> None:
        other = await add_tenant(database)
        async with database.writing() as session:
            await record(session, LOCAL, "flow.created", id="f1")
            await record(session, other, "flow.created", id="f2")
        with captured_logs() as logs:
            await maintenance(database, storage).run_job("audit_heads")
        told = {line["tenant_id"]: line["noted"] for line in logs if line["event"] == "audit log heads"}
        for who in (LOCAL, other):
            seq, _, hash_ = told[who.tenant_id].partition(":")
            assert (await audit.verify_chain(database, who, audit.Place(int(seq), hash_))).good


async def test_a_job_with_nothing_to_do_tells_nothing_that_an_operator_reads(
    database: Database, storage: LocalStorage
) -> None:
    with captured_logs() as logs:
        await maintenance(database, storage).run_job("retention")
    (line,) = [line for line in logs if line["event"] == "maintenance"]
    assert (line["log_level"], "runs" in line) == ("debug", False)


class TestSchedule:
    @pytest.fixture(autouse=True)
    async def no_jobs(self, database: Database) -> None:
        """Jobs belong to no tenant, so they outlive one test's rows."""
        await execute(database, "DELETE FROM scheduled_jobs")

    async def test_lets_one_of_several_processes_run_each(self, database: Database, storage: LocalStorage) -> None:
        assert sorted(await run_due(database, storage, processes=5)) == sorted(JOBS)
        async with database.reading() as session:
            attempts = (await session.execute(select(scheduled_jobs.c.attempts))).scalars().all()
        assert attempts == [1] * len(JOBS)
        assert await run_due(database, storage) == []
        state = {one.name: one for one in await maintenance(database, storage).status()}
        assert state["retention"].outcome == {
            **dict.fromkeys(("runs", "sessions", "artifacts", "contents", "bytes", "keys", "flows", "events"), 0),
            **dict.fromkeys(("occurrences", "alerts", "documents", "vectors"), 0),
            "tenants": {},
        }
        assert state["retention"].finished_at is not None

    async def test_runs_a_job_again_when_its_time_has_come(self, database: Database, storage: LocalStorage) -> None:
        await run_due(database, storage)
        await execute(database, "UPDATE scheduled_jobs SET due_at = 1 WHERE name = 'retention'")
        assert await run_due(database, storage) == ["retention"]

    async def test_is_not_stopped_by_a_clock_that_was_set_back(self, database: Database, storage: LocalStorage) -> None:
        await run_due(database, storage)
        await execute(database, "UPDATE scheduled_jobs SET due_at = due_at + 86400000000")
        assert sorted(await run_due(database, storage)) == sorted(JOBS)

    async def test_writes_down_that_a_job_failed_and_runs_the_others(
        self, database: Database, storage: LocalStorage
    ) -> None:
        storage._root.mkdir(parents=True)
        (storage._root / LOCAL.tenant_id).write_text("a file where a folder belongs")
        assert sorted(await run_due(database, storage)) == sorted(JOBS)
        state = {one.name: one for one in await maintenance(database, storage).status()}
        assert "error" not in (state["retention"].outcome or {})
        assert (state["orphan_sweep"].outcome or {})["error"] == "storage_failed"

    async def test_finishes_what_runs_when_the_server_stops(self, database: Database, storage: LocalStorage) -> None:
        job = maintenance(database, storage, scans=True)
        RUNNERS[-1].open()
        while not [one for one in await job.status() if one.started_at]:  # noqa: ASYNC110
            await asyncio.sleep(0)
        await RUNNERS[-1].close()
        assert all(one.finished_at for one in await job.status() if one.started_at)
        assert await rows_where(database, scheduled_jobs.c.worker_id.is_not(None)) == []

    async def test_a_request_is_in_the_status_and_leaves_the_next_time_as_it_is(
        self, database: Database, storage: LocalStorage
    ) -> None:
        await run_due(database, storage)
        job = maintenance(database, storage)
        before = {one.name: one for one in await job.status()}["retention"]
        await job.run_job("retention")
        after = {one.name: one for one in await job.status()}["retention"]
        assert (after.started_at or "") > (before.started_at or "")
        assert after.outcome is not None
        assert after.due_at == before.due_at

    async def test_a_request_waits_for_no_other_process(self, database: Database, storage: LocalStorage) -> None:
        first, second = maintenance(database, storage), maintenance(database, storage)
        await first.schedule()
        async with RUNNERS[-2].hold("maintenance", "retention"):
            with pytest.raises(JobBusy):
                await second.run_job("retention")
            assert (await second.run_job("retention", dry=True)).runs == 0

    async def test_knows_no_other_job(self, database: Database, storage: LocalStorage) -> None:
        with pytest.raises(JobNotFound, match="retention"):
            await maintenance(database, storage).run_job("vacuum")
