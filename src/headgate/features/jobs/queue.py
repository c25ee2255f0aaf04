"""Statements on a table of jobs: the same on SQLite and PostgreSQL, each inside the caller's transaction.

waiting ──due──► claimed ─┬─ finish ──► over
   ▲                      │
   ├───── release ────────┤
   └───── recover ────────┘  its holder ended, or its lease expired

A job is claimed by compare-and-swap: of several workers one gets it. Every later write of the holder names the worker
and the attempt, so that a holder who lost the claim changes nothing.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Table, and_, case, func, select, true, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.jobs.leases import Lease, clock

AnyRow = Row[*tuple[Any, ...]]
Pick = Callable[[ColumnElement[bool], int], Select[Any]]
"""Order of due jobs: a query of keys, from the condition that they are due and the time."""
_FREE: dict[str, Any] = {"worker_id": None, "lease_until": None}
_QUIET = {"synchronize_session": False}


@dataclass(slots=True)
class Job:
    """A claimed job."""

    id: str
    attempt: int
    worker_id: str
    row: Any
    """The row at the time of the claim; None for a job that was created claimed."""
    settled: bool = False
    """Whether its handler finished or released it."""


class Queue:
    """The jobs of one table.

    Args:
        table: A table with `job_columns`.
        key: Name of its primary key, a string.
        only: Condition of the rows that this process may run; by default all. A running job that no longer matches is
            cancelled at the next heartbeat.
        pick: Order of due jobs; by default the longest due first.
    """

    def __init__(
        self, table: Table, *, key: str = "id", only: ColumnElement[bool] | None = None, pick: Pick | None = None
    ) -> None:
        self.table = table
        self._only = true() if only is None else only
        self._free = and_(table.c.worker_id.is_(None), self._only)
        self._c = table.c
        self._key = table.c[key]
        self._pick = pick

    async def claim(
        self,
        session: AsyncSession,
        lease: Lease,
        *,
        limit: int,
        ids: Collection[str] | None = None,
        but: Collection[str] = (),
    ) -> list[Job]:
        """Claim due jobs, of these ids or except some; each belongs to this worker until its lease ends."""
        due = and_(self._free, self._c.due_at <= lease.at, self._key.not_in(but))
        if ids is not None:
            due = and_(due, self._key.in_(ids))
        if self._pick is not None:
            due_keys = self._pick(due, lease.at).limit(limit)
        else:
            due_keys = select(self._key).where(due).order_by(self._c.due_at, self._key).limit(limit)
            due_keys = due_keys.with_for_update(skip_locked=True)
        # In a CTE, so that PostgreSQL selects them once and claims at most the limit.
        keys = select(due_keys.cte("wanted").c[self._key.name])
        return await self._take(session, lease, self._key.in_(keys), due, due_at=None)

    async def take(self, session: AsyncSession, job_id: str, lease: Lease, *only: ColumnElement[bool]) -> Job | None:
        """Claim one unclaimed job, due or not; None when it is claimed or does not match `only`."""
        jobs = await self._take(session, lease, self._key == job_id, self._c.worker_id.is_(None), *only)
        return jobs[0] if jobs else None

    async def _take(self, session: AsyncSession, lease: Lease, *where: ColumnElement[bool], **more: Any) -> list[Job]:  # noqa: ANN401
        change = update(self.table).where(*where)
        change = change.values(
            worker_id=lease.worker_id, lease_until=lease.until, attempts=self._c.attempts + 1, **more
        )
        rows = (await session.execute(change.returning(self.table), execution_options=_QUIET)).all()
        return [self._job(row) for row in rows]

    def born(self, lease: Lease) -> dict[str, Any]:
        """Return the job columns of a new row that is created claimed."""
        return {"worker_id": lease.worker_id, "lease_until": lease.until, "attempts": 1}

    def held(self, job: Job) -> ColumnElement[bool]:
        """Return the condition that a job still belongs to its holder, for the owner's own statements."""
        return and_(self._key == job.id, self._c.worker_id == job.worker_id, self._c.attempts == job.attempt)

    async def attempt_again(self, session: AsyncSession, job: Job, **values: Any) -> bool:  # noqa: ANN401
        """Count another attempt under the same claim; False when the claim is lost."""
        change = update(self.table).where(self.held(job)).values(attempts=self._c.attempts + 1, **values)
        row = (await session.execute(change.returning(self.table), execution_options=_QUIET)).one_or_none()
        if row is not None:
            job.attempt, job.row = row.attempts, row
        return row is not None

    async def renew(self, session: AsyncSession, ids: Collection[str], lease: Lease) -> dict[str, bool]:
        """Renew this worker's claims, in one statement. It locks them by id, as others do that lock several.

        Returns the ids of those that still belong to it, and whether each still matches `only`.
        """
        is_own = and_(self._key.in_(ids), self._c.worker_id == lease.worker_id)
        locked = select(self._key).where(is_own).order_by(self._key).with_for_update()
        change = update(self.table).where(self._key.in_(locked)).values(lease_until=lease.until)
        change = change.returning(self._key, self._only.label("runs"))
        return {row[0]: bool(row[1]) for row in await session.execute(change, execution_options=_QUIET)}

    async def finish(self, session: AsyncSession, job: Job, **values: Any) -> bool:  # noqa: ANN401
        """End a job: it is never due again. Returns False, without writing, when the claim is lost."""
        return await self._settle(session, job, {"due_at": None, "event": None} | values)

    async def release(
        self,
        session: AsyncSession,
        job: Job,
        *,
        due_at: int | None = None,
        event: str | None = None,
        **values: Any,  # noqa: ANN401
    ) -> bool:
        """Release a job until a time or an event. Returns False, without writing, when the claim is lost.

        A job that was woken while it was claimed stays due: an event that precedes the wait is not lost when the row
        already had the event's key. Without a new `event` the row keeps its current one.
        """
        later = self._c.due_at if due_at is None else case((self._c.due_at < due_at, self._c.due_at), else_=due_at)
        waits = {} if event is None else {"event": event}
        return await self._settle(session, job, {"due_at": later} | waits | values)

    async def _settle(self, session: AsyncSession, job: Job, values: dict[str, Any]) -> bool:
        change = update(self.table).where(self.held(job)).values(_FREE | values).returning(self._key)
        changed = (await session.execute(change, execution_options=_QUIET)).one_or_none() is not None
        job.settled = job.settled or changed
        return changed

    async def wake(self, session: AsyncSession, event: str) -> Sequence[str]:
        """Make every job that waits for an event due, once each. Returns their ids."""
        change = update(self.table).where(self._c.event == event)
        change = change.values(due_at=clock(), event=None).returning(self._key)
        woken_ids: Sequence[str] = (await session.execute(change, execution_options=_QUIET)).scalars().all()
        return woken_ids

    async def claimed(self, session: AsyncSession) -> Sequence[Job]:
        """Return the claimed jobs of every worker, for `Leases.is_lost`."""
        query = select(self.table).where(self._c.worker_id.is_not(None))
        return [self._job(row) for row in await session.execute(query)]

    async def recover(self, session: AsyncSession, lost_jobs: Sequence[Job]) -> int:
        """Make claimed jobs due again, unless their claim was renewed or settled concurrently. Returns their number."""
        count = 0
        for job in lost_jobs:
            same = and_(self.held(job), self._c.lease_until == job.row.lease_until)
            change = update(self.table).where(same).values(due_at=func.coalesce(self._c.due_at, clock()), **_FREE)
            result = await session.execute(change.returning(self._key), execution_options=_QUIET)
            count += result.one_or_none() is not None
        return count

    def next_due(self) -> Select[Any]:
        """Return a query of the time at which the next job is due; null when none waits."""
        return select(func.min(self._c.due_at)).where(self._free, self._c.due_at.is_not(None))

    def _job(self, row: AnyRow) -> Job:
        return Job(row._mapping[self._key.name], row.attempts, row.worker_id or "", row)  # noqa: SLF001 - as documented
