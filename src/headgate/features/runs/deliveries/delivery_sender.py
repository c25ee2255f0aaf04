"""Sends the outputs of steps to web addresses: directly after the step, and retries later in any process.

A round is up to four attempts, 1, 2 and 4 seconds apart (seed 002). Further rounds follow after 1 minute, 5 minutes,
half an hour and 2 hours; then the delivery has failed. A request to redeliver begins a new series of rounds. Each
attempt is a row that is written before the request is sent, under a lease: when the worker dies, another one retries
with the same `Idempotency-Key`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import orjson
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.jobs.errors import LeaseLost
from headgate.features.jobs.leases import MICROSECONDS
from headgate.features.jobs.queue import Job
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.runs.deliveries import repository
from headgate.features.runs.deliveries.attempt import Outcome, Sender
from headgate.features.runs.deliveries.states import DeliveryStatus
from headgate.features.runs.deliveries.target import Target, open_target, seal_delivery
from headgate.features.runs.events import topic_of
from headgate.features.runs.patience import patiently
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.transitions import Delivery, RunKey, clock
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.events import EventSink
from headgate.foundation.guarded_http import PAUSES, spread
from headgate.foundation.log import get_logger
from headgate.foundation.telemetry import SILENT, Instruments

KIND = "deliveries"
LATER_SECONDS = (60, 300, 1800, 7200)
"""Waits after each failed round of attempts."""
MOST_AT_ONCE = 16
log = get_logger(__name__)


class DeliverySender:
    """Sends deliveries, as one kind of job.

    Args:
        database: Holds the deliveries.
        box: Encrypts and decrypts their targets.
        sender: Makes one attempt.
        bus: Wakes readers of a run.
        jobs: Runs due deliveries.
        pauses: Seconds before each further attempt of a round.
        sleep: Sleeps; replaced in tests.
        metrics: Counts attempts.
    """

    def __init__(
        self,
        database: Database,
        secret_box: SecretBox,
        sender: Sender,
        bus: EventSink,
        jobs: JobRunner,
        *,
        pauses: Sequence[float] = PAUSES,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        metrics: Instruments = SILENT.metrics,
    ) -> None:
        self._database = database
        self._box = secret_box
        self._sender = sender
        self._bus = bus
        self._jobs = jobs
        self._pauses = tuple(pauses)
        self._sleep = sleep
        self._metrics = metrics
        jobs.register(JobKind(KIND, repository.QUEUE, self._round, MOST_AT_ONCE, retry_seconds=LATER_SECONDS[0]))

    def seal(self, origin: Origin, target: Target) -> Delivery:
        """Encrypt the delivery of a step, to be stored with the step's result."""
        return seal_delivery(target, self._box, run_id=origin.key.run_id, step_id=origin.step_id)

    def send_soon(self, delivery_id: str) -> None:
        """Queue a round of attempts and return. Has no effect while this process is sending the delivery."""
        self._jobs.enqueue(KIND, delivery_id)

    async def settle(self) -> None:
        """Wait until this process sends nothing."""
        await self._jobs.settle(KIND)

    async def _round(self, job: Job) -> None:
        """Run one round: attempts until one is final or the pauses are used up."""
        for number, pause in enumerate((*self._pauses, None)):
            await self._attempt(job, pause, again=number > 0)
            if job.settled or pause is None:
                return
            await self._sleep(spread(pause))

    async def _attempt(self, job: Job, pause: float | None, *, again: bool) -> None:
        """Make one attempt; settle the job when the round is over. Raises `LeaseLost`."""
        began = clock()
        async with self._database.writing() as session:
            if not await repository.open_attempt(session, job, began, again=again):
                return
            output = await repository.find_output(session, job.row)
            await repository.append_event(session, job, "delivery_started", {}, began)
        self._bus.wake(topic_of(job.row.flow_run_id))
        outcome, now = await self._send(job, output), clock()
        status = await patiently(lambda: self._store(job, outcome, now, pause, began=began))
        self._bus.wake(topic_of(job.row.flow_run_id))
        failed = status is DeliveryStatus.FAILED
        self._metrics.delivered("delivered" if outcome.delivered else "failed" if failed else "to_be_retried")

    async def _send(self, job: Job, output: Any) -> Outcome:  # noqa: ANN401 - a row, or None
        try:
            target = open_target(job.row.target, self._box)
        except HeadgateError as error:
            return Outcome(delivered=False, final=True, code=error.code, message=str(error))
        row, payload, version = job.row, None, 0
        if output is not None:
            version, payload = output.version, output.output_payload
        stored = None if payload is None else orjson.dumps(payload).decode()
        origin = Origin(RunKey(row.flow_run_id, row.tenant_id, row.flow_id, version), row.step_id)
        return await self._sender.attempt(target, row, origin, stored)

    async def _store(self, job: Job, outcome: Outcome, now: int, pause: float | None, *, began: int) -> DeliveryStatus:
        """Store an attempt and its event. Returns the delivery's new status. Raises `LeaseLost`."""
        async with self._database.writing() as session:
            await repository.close_attempt(
                session,
                job,
                finished_at=now,
                status_code=outcome.status,
                error_code=outcome.code,
                error_message=outcome.message,
            )
            status = await self._write_outcome(session, job, outcome, now, pause)
            await repository.append_event(session, job, *_event(outcome, status, now - began), now)
        return status

    async def _write_outcome(
        self, session: AsyncSession, job: Job, outcome: Outcome, at: int, pause: float | None
    ) -> DeliveryStatus:
        """Store the outcome of an attempt. Returns the delivery's new status. Raises `LeaseLost`."""
        change: dict[str, Any] = {"last_status": outcome.status, "error_code": outcome.code}
        change["error_message"] = outcome.message
        later = self._later(job.attempt - job.row.earlier_attempts)
        queue = repository.QUEUE
        if outcome.delivered:
            status = DeliveryStatus.DELIVERED
            is_claimed = await queue.finish(session, job, status=status, delivered_at=at, **change)
        elif outcome.final or (pause is None and later is None):
            status = DeliveryStatus.FAILED
            is_claimed = await queue.finish(session, job, status=status, **change)
        elif pause is None:
            status = DeliveryStatus.PENDING
            due_at = at + int(spread(later or 0) * MICROSECONDS)
            is_claimed = await queue.release(session, job, due_at=due_at, status=status, **change)
        else:
            status = DeliveryStatus.DELIVERING
            is_claimed = await repository.update_claimed(session, job, **change)
        if not is_claimed:
            raise LeaseLost(f"Delivery {job.id} was claimed by another worker.")
        return status

    def _later(self, attempts: int) -> float | None:
        """Return the seconds until the next round, by the attempts of the current series; None after the last round."""
        rounds = -(-attempts // (len(self._pauses) + 1))
        return LATER_SECONDS[rounds - 1] if rounds <= len(LATER_SECONDS) else None


def _event(outcome: Outcome, status: DeliveryStatus, took: int) -> tuple[str, dict[str, JsonValue]]:
    """Return kind and data of the event that ends an attempt. `took` is in microseconds."""
    if outcome.delivered:
        return "delivery_completed", {"status": outcome.status, "ms": took / 1000}
    again = status is not DeliveryStatus.FAILED
    return "delivery_failed", {"code": outcome.code, "message": outcome.message, "again": again}
