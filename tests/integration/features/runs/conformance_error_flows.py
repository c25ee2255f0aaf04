"""What every execution backend must do with flows that handle the failures of others: see `conformance`."""

import asyncio
from typing import Any

from sqlalchemy import select, text

from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.engine.failure_handling import start_handlers
from headgate.features.runs.failure_handlers.tables import failure_handlers
from headgate.features.runs.states import RunStatus
from headgate.foundation.database import Database
from headgate.graph.model import Flow, FlowSettings
from tests.integration.features.runs.conformance import over, until
from tests.integration.features.runs.conformance_subflows import calling, published
from tests.support.engine import make_flow, new_run, store_flow
from tests.support.rows import run_row


def failing(handler: str) -> Flow:
    """A flow whose second step fails, and that names a handler."""
    flow = make_flow({"s": "Start", "bad": "Broken"}, ["s.text -> bad.input"])
    return flow.model_copy(update={"name": "Orders", "settings": FlowSettings(error_flow=handler)})


def handler_flow(type_: str = "Start", **settings: Any) -> Flow:
    """A flow that handles failures."""
    flow = make_flow({"s": "Start"}) if type_ == "Start" else failing("")
    return flow.model_copy(update={"name": "On failure", "settings": FlowSettings(**settings)})


async def handler_row(database: Database, request: RunRequest) -> Any:
    """The row of the handler of a run; None before there is one."""
    async with database.reading() as session:
        query = select(failure_handlers).where(failure_handlers.c.failed_run_id == request.key.run_id)
        return (await session.execute(query)).one_or_none()


async def handled(database: Database, request: RunRequest) -> Any:
    """Wait until the handler of a run is settled. Returns its row."""

    async def is_settled() -> bool:
        row = await handler_row(database, request)
        return row is not None and row.status != "due"

    await until(is_settled)
    return await handler_row(database, request)


async def failed(engine: ExecutionBackend, database: Database, flow: Flow) -> RunRequest:
    """Run a flow that fails."""
    request = new_run(await store_flow(database, flow), "hi")
    await engine.start(request)
    await over(engine, request.key.run_id)
    assert (await run_row(database, request.key.run_id)).status == "failed"
    return request


class ErrorFlowConformance:
    """A failed run starts the handler of its flow once, and a handler is never handled itself."""

    async def test_the_handler_is_started_with_the_facts_of_the_failure(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        target = await published(database, handler_flow())
        request = await failed(engine, database, failing("On failure"))
        row = await handled(database, request)
        await over(engine, row.handler_run_id)
        run = await run_row(database, row.handler_run_id)
        assert (run.flow_id, run.status, run.user_id, row.status) == (target, "completed", request.user_id, "started")
        error = await run_row(database, request.key.run_id)
        facts = run.input_payload["form_data"]
        assert facts == {
            "run_id": request.key.run_id,
            "flow_id": request.key.flow_id,
            "flow": "Orders",
            "version": request.key.version,
            "step": "bad",
            "code": error.error_code,
            "message": error.error_message,
            "attempt": 1,
            "link": f"https://headgate.example/flows/{request.key.flow_id}/runs/{request.key.run_id}",
        }
        assert run.output_payload["text"].startswith(f"Run {request.key.run_id} of 'Orders' failed in step 'bad'")

    async def test_it_is_started_once_whoever_looks_and_however_often(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        target = await published(database, handler_flow())
        request = await failed(engine, database, failing("On failure"))
        await asyncio.gather(*(start_handlers(engine) for _ in range(8)))
        await handled(database, request)
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        await start_handlers(engine)
        async with database.reading() as session:
            query = "SELECT count(*) FROM flow_runs WHERE flow_id = :flow_id"
            assert (await session.execute(text(query), {"flow_id": target})).scalar_one() == 1

    async def test_the_failure_of_a_handler_and_of_runs_below_it_is_not_handled(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        await published(database, handler_flow("Broken", error_flow="On failure"))
        request = await failed(engine, database, failing("On failure"))
        row = await handled(database, request)
        await over(engine, row.handler_run_id)
        run = await run_row(database, row.handler_run_id)
        assert (run.status, run.error_flow) == ("failed", None)

    async def test_a_handler_that_may_not_start_is_recorded_with_the_reason(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        request = await failed(engine, database, failing("No such flow"))
        row = await handled(database, request)
        assert row.status == "refused"
        assert "There is no published flow 'No such flow'" in row.problem
        assert await engine.store.status(row.handler_run_id) is None

    async def test_a_failed_sub_flow_has_its_own_handler(self, engine: ExecutionBackend, database: Database) -> None:
        await published(database, handler_flow())
        child = await published(database, failing("On failure"))
        request = await failed(engine, database, calling("RunFlow", "text", child))
        async with database.reading() as session:
            below = (
                await session.execute(
                    text("SELECT id FROM flow_runs WHERE parent_run_id = :id"), {"id": request.key.run_id}
                )
            ).scalar_one()

        async def is_started() -> bool:
            async with database.reading() as session:
                rows = (await session.execute(select(failure_handlers))).all()
            return [(row.failed_run_id, row.status) for row in rows] == [(below, "started")]

        await until(is_started)
        assert await engine.store.status(request.key.run_id) is RunStatus.FAILED
