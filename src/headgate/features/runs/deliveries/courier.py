"""Sends what steps left to be delivered: at once after the step, and again later, by whichever process is there.

A delivery is tried up to four times in a row, 1, 2 and 4 seconds apart (seed 002), and when that fails again after 1
minute, 5 minutes, half an hour and 2 hours; then it has failed. A request to deliver it again begins a new series. Each
attempt is a row that is written before the request goes out, under a lease: when the worker dies, another one tries
again with the same `Idempotency-Key`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import orjson

from headgate.features.runs.deliveries import repository
from headgate.features.runs.deliveries.attempt import Outcome, Sender
from headgate.features.runs.deliveries.states import DeliveryStatus
from headgate.features.runs.deliveries.target import Target, open_target, seal_delivery
from headgate.features.runs.events import DeliveryEvents
from headgate.features.runs.ports import Origin
from headgate.features.runs.transitions import Delivery, clock
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.events import EventSink
from headgate.foundation.guarded_http import PAUSES, spread
from headgate.foundation.ids import new_id
from headgate.foundation.log import get_logger
from headgate.foundation.telemetry import SILENT, Instruments

MICROSECONDS = 1_000_000
LATER_SECONDS = (60, 300, 1800, 7200)
"""Waits after each failed round of attempts."""
LEASE_SECONDS = 60.0
"""How long an attempt is left to its worker: more than a request may take."""
MOST_AT_ONCE = 16
GRACE_SECONDS = 8.0
"""How long a process that ends waits for what it is sending: about one round of attempts."""
log = get_logger(__name__)


class Courier:
    """Makes the deliveries of one process. Close it before the database.

    Args:
        database: Where they are written down.
        box: Seals and opens their targets.
        sender: Makes one attempt.
        bus: Where the runs' events go.
        pauses: Seconds before each further attempt of a round.
        lease_seconds: How long an attempt is left to its worker.
        sleep: Waits; tests put their own here.
        metrics: Counts attempts.
    """

    def __init__(
        self,
        database: Database,
        box: SecretBox,
        sender: Sender,
        bus: EventSink,
        *,
        pauses: Sequence[float] = PAUSES,
        lease_seconds: float = LEASE_SECONDS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        metrics: Instruments = SILENT.metrics,
    ) -> None:
        self._database = database
        self._box = box
        self._sender = sender
        self._bus = bus
        self._pauses = tuple(pauses)
        self._lease = int(lease_seconds * MICROSECONDS)
        self._sleep = sleep
        self._metrics = metrics
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    def seal(self, origin: Origin, target: Target) -> Delivery:
        """The delivery of a step, to be written down with the step's result."""
        return seal_delivery(target, self._box, run_id=origin.key.run_id, step_id=origin.step_id)

    def send_soon(self, delivery_id: str) -> None:
        """Begin a round of attempts and return; nothing happens when this process is at it already."""
        if self._closed or delivery_id in self._under_way:
            return
        task = asyncio.create_task(self._round(delivery_id))
        self._under_way[delivery_id] = task
        task.add_done_callback(lambda _: self._under_way.pop(delivery_id, None))

    async def deliver_due(self, limit: int = 100) -> int:
        """Begin everything that is due: never tried, to be tried again, or left by a worker that died. How many.

        Call it every few seconds from any number of processes; `settle` waits for what it began.
        """
        async with self._database.reading() as session:
            due = await repository.find_due(session, at=clock(), limit=limit)
        for delivery_id in due:
            self.send_soon(delivery_id)
        return len(due)

    async def settle(self) -> None:
        """Return when nothing is under way here."""
        while self._under_way:
            await asyncio.wait(list(self._under_way.values()))

    async def close(self, grace_seconds: float = GRACE_SECONDS) -> None:
        """Give attempts under way a moment; what is left then is taken up when its lease has run out."""
        self._closed = True
        tasks = list(self._under_way.values())
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=grace_seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _round(self, delivery_id: str) -> None:
        """Attempts in a row, until one decides or the pauses are used up."""
        worker_id = new_id()
        try:
            async with self._places:
                for pause in (*self._pauses, None):
                    if await self._attempt(delivery_id, worker_id, pause) or pause is None:
                        return
                    await self._sleep(spread(pause))
        except HeadgateError as error:  # the database is away: the lease runs out and it is taken up again
            log.warning("delivery left for later", delivery_id=delivery_id, problem=error.detail)
        except Exception:
            log.exception("delivery left for later", delivery_id=delivery_id)

    async def _attempt(self, delivery_id: str, worker_id: str, pause: float | None) -> bool:
        """One attempt; whether the round is over."""
        began = clock()
        async with self._database.writing() as session:
            row = await repository.open_attempt(
                session, delivery_id, worker_id=worker_id, at=began, lease_until=began + self._lease
            )
            payload = await repository.find_output(session, row) if row is not None else None
        if row is None:
            return True
        events = DeliveryEvents(self._bus, row.flow_run_id, row.step_id, delivery_id)
        events.started(row.attempts)
        try:
            target = open_target(row.target, self._box)
        except HeadgateError as error:
            outcome = Outcome(delivered=False, final=True, code=error.code, message=str(error))
        else:
            stored = None if payload is None else orjson.dumps(payload).decode()
            outcome = await self._sender.attempt(target, row, stored)
        at = clock()
        change = self._change(row.attempts - row.earlier_attempts, outcome, at, pause)
        ended = {
            "finished_at": at,
            "status_code": outcome.status,
            "error_code": outcome.code,
            "error_message": outcome.message,
        }
        async with self._database.writing() as session:
            kept = await repository.close_attempt(session, row, attempt=ended, change=change)
        if kept:
            failed = change["status"] == DeliveryStatus.FAILED
            self._metrics.delivered("delivered" if outcome.delivered else "failed" if failed else "to_be_retried")
            self._tell(events, row.attempts, outcome, change, milliseconds=(at - began) / 1000)
        return not kept or change["status"] != DeliveryStatus.DELIVERING

    def _change(self, attempts: int, outcome: Outcome, at: int, pause: float | None) -> dict[str, Any]:
        """The delivery's columns after that many attempts of the current series."""
        told: dict[str, Any] = {
            "last_status": outcome.status,
            "error_code": outcome.code,
            "error_message": outcome.message,
        }
        if not (outcome.delivered or outcome.final) and pause is not None:
            until = at + self._lease + int(pause * 2 * MICROSECONDS)
            return told | {"status": DeliveryStatus.DELIVERING, "lease_until": until, "next_attempt_at": until}
        told |= {"worker_id": None, "lease_until": None, "next_attempt_at": None}
        if outcome.delivered:
            return told | {"status": DeliveryStatus.DELIVERED, "delivered_at": at}
        later = self._later(attempts)
        if outcome.final or later is None:
            return told | {"status": DeliveryStatus.FAILED}
        return told | {"status": DeliveryStatus.PENDING, "next_attempt_at": at + int(spread(later) * MICROSECONDS)}

    def _later(self, attempts: int) -> float | None:
        """Seconds until the next round, by the attempts of the current series; None after the last round."""
        rounds = -(-attempts // (len(self._pauses) + 1))
        return LATER_SECONDS[rounds - 1] if rounds <= len(LATER_SECONDS) else None

    def _tell(
        self, events: DeliveryEvents, attempts: int, outcome: Outcome, change: dict[str, Any], *, milliseconds: float
    ) -> None:
        if outcome.delivered:
            events.completed(attempts, outcome.status, milliseconds)
        else:
            again = change["status"] != DeliveryStatus.FAILED
            events.failed(attempts, outcome.code, outcome.message, again=again)
