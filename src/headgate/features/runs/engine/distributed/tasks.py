"""The Celery tasks. Each takes ids, runs the work on the child's loop, and reports the outcome to Celery."""

import concurrent.futures
import math
import os
import time
from collections.abc import Awaitable
from typing import Any, Protocol, TypeVar

from billiard.exceptions import SoftTimeLimitExceeded, TimeLimitExceeded
from celery import Celery, Task
from celery.signals import worker_process_init, worker_process_shutdown
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from headgate.features.runs.engine.distributed.child import Child
from headgate.features.runs.engine.distributed.orders import END, JOIN, RECOVER, SEGMENT, Order, Queues
from headgate.features.runs.engine.distributed.segment_worker import Outcome, SegmentWorker
from headgate.features.runs.errors import INTERNAL, STEP_TIMEOUT
from headgate.features.runs.transitions import RunKey
from headgate.foundation.errors import Unavailable
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

LONGEST_PAUSE_SECONDS = 60
T = TypeVar("T")
QUEUE_AWAY = (OperationalError, RedisError)
"""Errors of the broker or the result database, not of the step or its run."""
log = get_logger(__name__)


class WorkerParts(Protocol):
    """The opened parts of a child."""

    @property
    def segments(self) -> SegmentWorker:
        """Executes segments."""

    async def recover(self) -> int:
        """Recover runs without a worker. Returns how many there were."""

    async def settle(self) -> None:
        """Send the buffered events."""

    def retried(self) -> None:
        """Count a retry of a task."""

    def renew_from_outside(self) -> None:
        """Renew the leases of running steps from a thread other than the loop's; see `LeaseHeartbeat`."""

    def time_out_from_outside(self, run_id: str, seconds: float) -> None:
        """Fail the steps of a run whose loop does not respond, from such a thread. Raises nothing."""


class SegmentFailed(Exception):
    """A step and its run failed, or the step waits without a worker: the rest of the canvas is not sent."""


def register(app: Celery, child: Child[WorkerParts], queue: str, lease_seconds: float) -> None:
    """Register the tasks with an application, and the loop with its children.

    Args:
        app: The application.
        child: The loop of the child that this process becomes.
        queue: The name of the installation's queues.
        lease_seconds: Duration of a claim that is not renewed.
    """
    worker_process_init.connect(lambda **_: child.start(), weak=False)
    worker_process_shutdown.connect(lambda **_: child.stop(), weak=False)
    upkeep = Queues(queue).upkeep
    base = _base(child, upkeep)

    @app.task(bind=True, base=base, name=SEGMENT, max_retries=None, throws=(SegmentFailed,))  # type: ignore[untyped-decorator]
    def segment(self: Any, **ids: Any) -> str:  # noqa: ANN401 - Celery's task
        return _execute(self, child, Order(**ids), lease_seconds / 3)

    @app.task(name=JOIN)  # type: ignore[untyped-decorator]
    def join() -> None:
        """Do nothing: this task separates two groups."""

    @app.task(bind=True, name=END, max_retries=None)  # type: ignore[untyped-decorator]
    def end(self: Any, *, code: str, message: str, **ids: Any) -> bool:  # noqa: ANN401
        key = RunKey(**ids)
        work: concurrent.futures.Future[bool] = child.submit(
            lambda parts: _then_settle(parts, parts.segments.end(key, code, message))
        )
        return _patiently(self, work)

    outage = Outage(log, "database of sweeps")

    @app.task(name=RECOVER, ignore_result=True)  # type: ignore[untyped-decorator]
    def recover() -> int:
        work: concurrent.futures.Future[int] = child.submit(lambda parts: _then_settle(parts, parts.recover()))
        try:
            count = work.result()
        except Unavailable as error:
            outage.failed(error.detail)
            return 0
        outage.answered()
        return count


async def _then_settle(parts: WorkerParts, work: Awaitable[T]) -> T:
    try:
        return await work
    finally:
        await parts.settle()


def _base(child: Child[WorkerParts], upkeep: str) -> type[Any]:
    """Return the class of tasks that execute runs."""

    class RunTask(Task):  # type: ignore[misc]
        """Reports retries, and ends the run of a task that failed for a reason outside its steps."""

        abstract = True

        def on_retry(self, exc: Exception, task_id: str, args: Any, kwargs: Any, einfo: Any) -> None:  # noqa: ANN401, ARG002
            log.warning("task retried", task_id=task_id, retries=self.request.retries, problem=str(exc))
            parts = child.parts
            if parts is not None:
                parts.retried()

        def on_failure(self, exc: Exception, task_id: str, args: Any, kwargs: Any, einfo: Any) -> None:  # noqa: ANN401, ARG002
            if isinstance(exc, SegmentFailed):
                return
            if isinstance(exc, QUEUE_AWAY):
                # The outcome of the segment is in the rows; the sweep dispatches the rest.
                log.warning("queue unavailable at the end of a task", task_id=task_id, problem=str(exc))
                return
            key = Order(**kwargs).key
            code, message = _describe_error(exc, kwargs["head"])
            log.error("task failed", task_id=task_id, code=code, problem=str(exc))
            ids = {"run_id": key.run_id, "tenant_id": key.tenant_id, "flow_id": key.flow_id, "version": key.version}
            # The main process, which sees hard limits, has no loop; a child whose loop hangs cannot use it.
            self.app.send_task(END, kwargs={**ids, "code": code, "message": message}, queue=upkeep)

    return RunTask


def _describe_error(error: Exception, head: str) -> tuple[str, str]:
    if isinstance(error, SoftTimeLimitExceeded | TimeLimitExceeded):
        return STEP_TIMEOUT, (
            f"A task that started with step '{head}' did not finish within its time limit; its process was terminated."
        )
    return INTERNAL, f"The task of step '{head}' failed: {type(error).__name__}."


def _execute(task: Any, child: Child[WorkerParts], order: Order, beat: float) -> str:  # noqa: ANN401 - Celery's task
    """Execute a segment. Returns its outcome; raises `SegmentFailed` to stop the rest of the canvas."""
    again = _may_have_reached_a_worker(task.request, order)
    work = child.submit(lambda parts: _then_settle(parts, parts.segments.execute(order, again=again)))
    try:
        outcome = _watched(child, work, beat)
    except SoftTimeLimitExceeded:
        outcome = _stopped(task, child, order, work, beat)
    except Unavailable as error:
        raise _again(task, error) from error
    if outcome in {Outcome.FAILED, Outcome.SUSPENDED}:
        raise SegmentFailed(order.run_id)
    return outcome.value


def _may_have_reached_a_worker(request: Any, order: Order) -> bool:  # noqa: ANN401 - Celery's
    """Whether a worker may have died with this run: the broker redelivers the message, or it replaces a lost one.

    A message that a live worker postponed itself is neither.
    """
    redelivered = bool((request.delivery_info or {}).get("redelivered"))
    return redelivered or (order.dispatch > 1 and request.retries == 0)


def _watched(
    child: Child[WorkerParts], work: "concurrent.futures.Future[Outcome]", beat: float, limit: float = math.inf
) -> Outcome:
    """Wait for the result. Renew leases from this thread while the loop is blocked.

    Raises `TimeoutError` after `most` seconds.
    """
    until = time.monotonic() + limit
    while True:
        try:
            return work.result(max(0.0, min(beat, until - time.monotonic())))
        except concurrent.futures.TimeoutError:
            if work.done() or time.monotonic() >= until:
                raise
            parts = child.parts
            if parts is not None:
                parts.renew_from_outside()


def _stopped(
    task: Any,  # noqa: ANN401 - Celery's task
    child: Child[WorkerParts],
    order: Order,
    work: "concurrent.futures.Future[Outcome]",
    beat: float,
) -> Outcome:
    """Handle the soft limit: end the step, or the process if its loop does not respond, before the hard limit."""
    hard, soft = task.request.timelimit
    child.submit(lambda parts: parts.segments.time_out(order.run_id, soft))
    try:
        return _watched(child, work, beat, (hard - soft) / 2)
    except concurrent.futures.TimeoutError:
        log.error("step blocks its process, which is terminated", run_id=order.run_id, head=order.head)  # noqa: TRY400
        if child.parts is not None:
            child.parts.time_out_from_outside(order.run_id, soft)
        os._exit(os.EX_SOFTWARE)


def _patiently(task: Any, work: "concurrent.futures.Future[T]") -> T:  # noqa: ANN401
    try:
        return work.result()
    except Unavailable as error:
        raise _again(task, error) from error


def _again(task: Any, error: Exception) -> Exception:  # noqa: ANN401
    """Send the same message again later: after 1, 2, 4 ... seconds."""
    pause = min(2**task.request.retries, LONGEST_PAUSE_SECONDS)
    retry: Exception = task.retry(exc=error, countdown=pause, throw=False)
    return retry
