"""Stores the outcome of an attempt at a notice: delivered, failed, or due again later."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.jobs.leases import MICROSECONDS
from headgate.features.jobs.queue import Job, Queue
from headgate.features.runs.deliveries.attempt import Outcome
from headgate.foundation.guarded_http import spread


async def settle(
    session: AsyncSession,
    queue: Queue,
    job: Job,
    outcome: Outcome,
    at: int,
    *,
    later_seconds: Sequence[float],
    finish: Callable[..., Awaitable[object]] | None = None,
) -> None:
    """Store the outcome of an attempt at a time (microseconds); nothing when the claim was lost.

    Args:
        session: The transaction.
        queue: The notices; their table has the columns of `Outcome`, `status` and `sent_at`.
        job: The notice.
        outcome: What the attempt returned.
        at: When.
        later_seconds: Waits before each further attempt.
        finish: Finishes the job instead of `Queue.finish`.
    """
    change: dict[str, Any] = {
        "last_status": outcome.status,
        "error_code": outcome.code,
        "error_message": outcome.message,
    }
    if outcome.delivered or outcome.final or job.attempt > len(later_seconds):
        change |= {"status": "delivered", "sent_at": at} if outcome.delivered else {"status": "failed"}
        await (finish or queue.finish)(session, job, **change)
    else:
        due_at = at + int(spread(later_seconds[job.attempt - 1]) * MICROSECONDS)
        await queue.release(session, job, due_at=due_at, **change)
