"""What every execution backend must do with events that steps send and wait for: see `conformance`."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

from headgate.features.access.principal import LOCAL
from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.sent_events import service
from headgate.features.runs.sent_events.schemas import EventIn, SentEventOut
from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database
from headgate.graph.model import Flow
from tests.integration.features.runs.conformance import appears, finish, over, until
from tests.integration.features.runs.conformance_waits import waits
from tests.support.engine import PlainSealer, make_flow, new_run, store_flow
from tests.support.rows import attempts, execute, run_row, statuses, step_rows

EVENT = "payment_received"


def waiting_flow(timeout_hours: float = 0, correlation: str = "{{start.text}}") -> Flow:
    """A step that waits for an event, and one for each of its outcomes."""
    return make_flow(
        {"start": "Start", "wait": "WaitForEvent", "paid": "Echo", "late": "Echo"},
        ["start.text -> wait.value", "wait.data -> paid.input", "wait.timeout -> late.input"],
        wait={"event": EVENT, "correlation": correlation, "timeout_hours": timeout_hours},
    )


async def send(database: Database, correlation: str, **more: Any) -> SentEventOut:
    """Send an event as a user does."""
    event_in = EventIn(name=EVENT, correlation=correlation, **{"data": {"sum": 40}, **more})
    async with database.writing() as session:
        return await service.send_event(session, LOCAL, event_in, box=PlainSealer())


async def begun(engine: ExecutionBackend, database: Database, correlation: str, **more: Any) -> RunRequest:
    """Start a run and wait until it waits for its event."""
    request = new_run(await store_flow(database, waiting_flow(**more)), correlation)
    await engine.start(request)
    await waits(database, request)
    return request


async def outcome(database: Database, request: RunRequest) -> tuple[str, str]:
    """The steps after the wait: `paid` and `late`."""
    states = await statuses(database, request.key.run_id)
    return states["paid"], states["late"]


PAID, LATE = ("completed", "skipped"), ("skipped", "completed")


class EventConformance:
    """An event wakes what waits for it, once, whichever of the two comes first."""

    async def test_an_event_wakes_the_step_that_waits_for_it(self, make_engine: Any, database: Database) -> None:
        engine = await make_engine(max_concurrent_runs=1, spare_concurrent_runs=0)
        request = await begun(engine, database, "order 7")
        step = (await step_rows(database, request.key.run_id))["wait"]
        assert (step.status, step.waits_for, step.due_at, step.worker_id) == ("waiting", "event", None, None)
        assert (await send(database, "order 8")).status == "kept"
        assert (await send(database, "order 7")).status == "delivered"
        await over(engine, request.key.run_id)
        assert await outcome(database, request) == PAID
        assert json.loads((await run_row(database, request.key.run_id)).output_payload["text"]) == {"sum": 40}
        assert [row for row in await attempts(database, request.key.run_id) if row[0] == "wait"] == [
            ("wait", 1, "suspended"),
            ("wait", 2, "completed"),
        ]

    async def test_an_event_that_comes_early_is_received_without_waiting(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        assert (await send(database, "early")).status == "kept"
        version = await store_flow(database, waiting_flow())
        request = new_run(version, "early")
        await finish(engine, request)
        assert await outcome(database, request) == PAID
        assert ("wait", 1, "completed") in await attempts(database, request.key.run_id)
        second = new_run(version, "early")
        await engine.start(second)
        await waits(database, second)

    async def test_an_event_that_is_no_longer_kept_is_not_received(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        assert (await send(database, "old", keep_hours=0)).status == "expired"
        await begun(engine, database, "old")

    async def test_one_event_wakes_the_step_that_has_waited_longest_and_all_wakes_every_one(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        requests = [await begun(engine, database, "shared") for _ in range(3)]
        assert (await send(database, "shared")).deliveries == 1
        await over(engine, requests[0].key.run_id)
        assert [(await run_row(database, one.key.run_id)).status for one in requests[1:]] == ["waiting", "waiting"]
        event = await send(database, "shared", deliver="all")
        assert (event.deliveries, event.status) == (2, "kept")
        late = new_run(requests[0].key, "shared")
        await finish(engine, late)
        for request in (*requests, late):
            await over(engine, request.key.run_id)
            assert await outcome(database, request) == PAID

    async def test_the_second_of_two_events_stays(self, engine: ExecutionBackend, database: Database) -> None:
        request = await begun(engine, database, "twice")
        first = await send(database, "twice", data=1)
        assert (first.status, (await send(database, "twice", data=2)).status) == ("delivered", "kept")
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == "1"
        again = new_run(request.key, "twice")
        await finish(engine, again)
        assert (await run_row(database, again.key.run_id)).output_payload["text"] == "2"

    async def test_a_hundred_posts_of_one_event_wake_one_step_once(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        requests = [await begun(engine, database, "same") for _ in range(2)]
        sent = await asyncio.gather(*(send(database, "same", key="payment-7") for _ in range(100)))
        assert len({event.id for event in sent}) == 1
        assert [event.duplicate for event in sent].count(False) == 1
        await over(engine, requests[0].key.run_id)
        assert [row[2] for row in await attempts(database, requests[0].key.run_id) if row[0] == "wait"] == [
            "suspended",
            "completed",
        ]
        assert (await run_row(database, requests[1].key.run_id)).status == "waiting"

    async def test_the_timeout_branch_is_taken_without_an_event(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        request = new_run(await store_flow(database, waiting_flow(timeout_hours=0.0001)), "late")
        await finish(engine, request)
        assert await outcome(database, request) == LATE
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == "late"
        assert (await send(database, "late")).status == "kept"

    async def test_an_event_at_the_moment_of_the_timeout_has_one_outcome(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        requests = [await begun(engine, database, f"edge {number}", timeout_hours=24) for number in range(8)]
        due_at = clock() + 400_000
        await execute(database, "UPDATE event_waits SET due_at = :at", at=due_at)
        await execute(database, "UPDATE flow_step_results SET due_at = :at WHERE status = 'waiting'", at=due_at)
        states = []
        for number in range(len(requests)):
            await asyncio.sleep(0.1)
            states.append((await send(database, f"edge {number}")).status)
        for request, state in zip(requests, states, strict=True):
            await over(engine, request.key.run_id)
            assert await outcome(database, request) == (PAID if state == "delivered" else LATE)

    async def test_an_event_beside_the_beginning_of_a_wait_is_not_lost(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        version = await store_flow(database, waiting_flow())
        requests = [new_run(version, f"race {number}") for number in range(10)]
        for number, request in enumerate(requests):
            await asyncio.gather(engine.start(request), send(database, f"race {number}"))
        for request in requests:
            await over(engine, request.key.run_id)
            assert await outcome(database, request) == PAID

    async def test_a_step_sends_an_event_to_a_step_of_another_run(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        request = await begun(engine, database, "order 9")
        flow = make_flow(
            {"start": "Start", "send": "SendEvent", "end": "Echo"},
            ["start.text -> send.data", "send.value -> end.input"],
            send={"event": EVENT, "correlation": "{{start.text}}"},
        )
        sender = new_run(await store_flow(database, flow), "order 9")
        await finish(engine, sender)
        await over(engine, request.key.run_id)
        assert await outcome(database, request) == PAID
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == "order 9"
        (event,) = await sent_events(database)
        assert (event.sender.kind, event.sender.run_id, event.sender.step_id) == ("flow", sender.key.run_id, "send")

    async def test_a_cancelled_run_leaves_its_event_to_the_next(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        first, second = [await begun(engine, database, "next") for _ in range(2)]
        await engine.cancel(first.key.run_id, first.key.tenant_id)
        assert (await send(database, "next")).deliveries == 1
        await over(engine, second.key.run_id)
        assert await outcome(database, second) == PAID


class EventDeathConformance:
    """Deaths of processes lose no event."""

    async def test_an_event_that_was_sent_while_no_process_ran_wakes_its_step(
        self, processes: Any, make_engine: Any, database: Database
    ) -> None:
        process, run_id = await processes.start(await store_flow(database, waiting_flow()), "killed")

        async def is_waiting() -> bool:
            return bool((await run_row(database, run_id)).status == "waiting")

        await until(is_waiting)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (await send(database, "killed")).status == "delivered"
        await over(await make_engine(), run_id)
        assert json.loads((await run_row(database, run_id)).output_payload["text"]) == {"sum": 40}

    async def test_a_step_that_died_after_its_event_was_stored_sends_it_once(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow(
            {"start": "Start", "send": "SendAndGate"},
            ["start.text -> send.data"],
            send={"event": EVENT, "correlation": "{{start.text}}", "folder": str(tmp_path)},
        )
        process, run_id = await processes.start(await store_flow(database, flow), "once")
        await appears(tmp_path / "gate.started")
        process.send_signal(signal.SIGKILL)
        process.wait()
        (tmp_path / "gate.open").touch()
        await over(await make_engine(), run_id)
        assert ("send", 2, "completed") in await attempts(database, run_id)
        assert len(await sent_events(database)) == 1


async def sent_events(database: Database) -> list[SentEventOut]:
    """Every event."""
    async with database.reading() as session:
        return list(await service.list_events(session, LOCAL, limit=200))
