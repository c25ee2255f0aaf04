"""What every engine leaves in the audit log: what people do to a run, once each, and nothing that it does by itself."""

from dataclasses import replace
from pathlib import Path

from sqlalchemy import select

from headgate.features.access.principal import LOCAL
from headgate.features.audit import service
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import entry_of
from headgate.features.audit.tables import AuditEvent
from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.transitions import Reuse
from headgate.foundation.database import Database
from tests.integration.features.runs.conformance import appears, finish, over
from tests.integration.features.runs.conformance_resume import mendable
from tests.support.engine import make_chain, make_flow, new_run, store_flow


def audited(request: RunRequest, action: Action = "run.started") -> RunRequest:
    """The request, as somebody makes it."""
    return replace(request, entry=entry_of(LOCAL, action, id=request.key.run_id))


async def actions(database: Database, *requests: RunRequest) -> list[str]:
    """What the log says of these runs, oldest first. The chain must hold."""
    assert (await service.verify_chain(database, LOCAL)).good
    async with database.reading() as session:
        ids = [request.key.run_id for request in requests]
        query = select(AuditEvent.action).where(AuditEvent.resource_id.in_(ids)).order_by(AuditEvent.seq)
        return list(await session.scalars(query))


class AuditConformance:
    """Entries of a run's start, cancelling, resuming and rerunning."""

    async def test_writes_down_who_began_a_run_and_not_its_end(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        request = audited(new_run(await store_flow(database, make_chain(3))))
        await finish(engine, request)
        assert await actions(database, request) == ["run.started"]

    async def test_writes_down_each_resume_and_no_cancel_that_came_too_late(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = audited(new_run(await store_flow(database, mendable(tmp_path)), "x"))
        await finish(engine, request)
        key, entry = request.key, audited(request, "run.cancelled").entry
        assert await engine.resume(key, audited(request, "run.resumed").entry) is not None
        await over(engine, key.run_id)
        await engine.cancel(key.run_id, key.tenant_id, entry)
        assert await actions(database, request) == ["run.started", "run.resumed"]
        (tmp_path / "mended").touch()
        await engine.resume(key, audited(request, "run.resumed").entry)
        await over(engine, key.run_id)
        assert await actions(database, request) == ["run.started", "run.resumed", "run.resumed"]

    async def test_writes_down_a_pause_and_its_end_once(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        gated = make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})
        request = audited(new_run(await store_flow(database, gated)))
        await engine.start(request)
        await appears(tmp_path / "gate.started")
        for _ in range(2):
            await engine.pause(request.key, audited(request, "run.paused").entry)
        for _ in range(2):
            await engine.unpause(request.key, audited(request, "run.continued").entry)
        (tmp_path / "gate.open").touch()
        await over(engine, request.key.run_id)
        assert await actions(database, request) == ["run.started", "run.paused", "run.continued"]

    async def test_writes_down_a_rerun(self, engine: ExecutionBackend, database: Database) -> None:
        version = await store_flow(database, make_chain(3))
        first, again = audited(new_run(version)), audited(new_run(version), "run.rerun")
        await finish(engine, first)
        await finish(engine, replace(again, reuse=Reuse(first.key.run_id, ("s1",), "s2")))
        assert await actions(database, first, again) == ["run.started", "run.rerun"]
