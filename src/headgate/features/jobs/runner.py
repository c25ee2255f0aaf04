"""Runs the jobs of one process: one registry, one heartbeat, one scheduler for every kind of job.

The registry has at most one entry per job, added before the job is claimed and removed after its task has ended, so a
job cannot run twice in a process. The heartbeat renews every claim of the registry and cancels the task of a job whose
claim is lost. The scheduler claims due jobs, sleeps until the next job is due or one is enqueued here, and recovers
jobs whose holder has ended. Everything waits with asyncio; a waiting job uses no thread, no connection and no task.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, literal, select, union_all

from headgate.features.jobs.errors import JobBusy, LeaseLost
from headgate.features.jobs.leases import MICROSECONDS, Leases, clock
from headgate.features.jobs.queue import Job, Queue
from headgate.features.jobs.upkeep import repeat, waited
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

POLL_SECONDS = 0.5
"""Interval for finding jobs that other processes made due."""
GRACE_SECONDS = 8.0
"""Grace period of running jobs when the process closes; remaining jobs are released."""
Key = tuple[str, str]
"""Kind and id of a job."""
log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind of job.

    The handler finishes or releases its job in its own transaction. If it does neither, because of a failure or an
    unreachable database, the job is due again after `retry_seconds`.
    """

    name: str
    queue: Queue
    handle: Callable[[Job], Awaitable[None]]
    limit: int
    """Maximum concurrent jobs in one process."""
    retry_seconds: float = 10.0
    upkeep: Callable[[], Awaitable[None]] | None = None
    """Called three times per lease, before lost jobs are recovered."""
    grace_seconds: float = GRACE_SECONDS
    """Grace period of its jobs when the process closes."""


@dataclass(slots=True, eq=False)
class _Entry:
    """A job of this process."""

    kind: JobKind
    id: str
    runs: bool
    """Whether its handler runs. Otherwise the job is held by `JobRunner.hold`."""
    job: Job | None = None
    """The claim; None while it is being claimed."""
    task: "asyncio.Task[Any] | None" = None
    lost: bool = False

    def cancel(self) -> None:
        """Cancel its task, once: a final write after a cancellation is not interrupted by a second one."""
        if self.task is not None and not self.task.cancelling():
            self.task.cancel()


@dataclass(slots=True)
class JobRunner:
    """The jobs of one process. Bound to one event loop; close it before the database."""

    database: Database
    leases: Leases
    scans: bool = True
    """Whether it runs all due jobs and recovers lost ones. A command runs only jobs that it enqueued itself."""
    poll_seconds: float = POLL_SECONDS
    _kinds: dict[str, JobKind] = field(default_factory=dict)
    _entries: dict[Key, _Entry] = field(default_factory=dict)
    _wanted: set[Key] = field(default_factory=set)
    """Jobs enqueued here and not yet claimed, when it runs no others."""
    _claiming: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Between a claim and its entry, nothing is recovered, and no conclusion about due or running jobs is valid."""
    _nudged: asyncio.Event = field(default_factory=asyncio.Event)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _upkeep: "list[asyncio.Task[None]]" = field(default_factory=list)
    _closed: bool = False
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)
    """Whether no more jobs are claimed, so that nothing needs renewal."""

    def register(self, *kinds: JobKind) -> None:
        """Register kinds of jobs to run."""
        self._kinds |= {kind.name: kind for kind in kinds}
        self._nudged.set()

    def open(self) -> None:
        """Start running due jobs. A process that does not scan starts with its first job."""
        if self.scans:
            self._start()

    def _start(self) -> None:
        if not self._upkeep and not self._closed:
            self.leases.worker.open()
            outage = Outage(log, "database of claims")
            heartbeat = repeat(self._renew, self.leases.seconds / 3, outage, stopped=self._stopped)
            self._upkeep = [asyncio.create_task(self._schedule()), asyncio.create_task(heartbeat)]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the runner, and close it at the end."""
        self.open()
        try:
            yield
        finally:
            await self.close()

    async def close(self, grace_seconds: float = GRACE_SECONDS) -> None:
        """Stop claiming, wait briefly for running jobs, and release the rest: other processes continue them at once."""
        self._closed = True
        self._nudged.set()
        self._changed.set()
        await _ended(self._upkeep[:1], GRACE_SECONDS)
        running = [entry for entry in self._entries.values() if entry.runs]
        await asyncio.gather(
            *(
                _ended([entry.task], min(entry.kind.grace_seconds, grace_seconds))
                for entry in running
                if entry.task is not None
            )
        )
        self._stopped.set()
        await _ended(self._upkeep[1:], GRACE_SECONDS)
        self.leases.worker.close()

    def enqueue(self, kind: str, job_id: str) -> None:
        """Run a job as soon as it is due; no effect when this process already has it."""
        if not self._closed:
            self._start()
            self._want(kind, job_id)

    def _want(self, kind: str, job_id: str) -> None:
        if not self.scans:
            self._wanted.add((kind, job_id))
        self._nudged.set()

    @property
    def working(self) -> Counter[str]:
        """Return how many jobs run here, by kind."""
        return Counter(entry.kind.name for entry in self._entries.values() if entry.runs)

    def owns(self, kind: str, job_id: str) -> bool:
        """Return whether this process has the job."""
        return (kind, job_id) in self._entries

    async def cancel(self, kind: str, job_id: str, timeout_seconds: float | None = None) -> None:
        """Cancel the handler of a job, if it runs here; return after it has ended."""
        entry = self._entries.get((kind, job_id))
        if entry is not None and entry.runs:
            entry.cancel()
            await self.wait(kind, job_id, timeout_seconds)

    async def wait(self, kind: str, job_id: str, timeout_seconds: float | None = None) -> None:
        """Return when this process no longer has the job, or after the timeout."""
        entry = self._entries.get((kind, job_id))
        if entry is not None and entry.task is not None:
            await asyncio.wait([entry.task], timeout=timeout_seconds)

    async def settle(self, kind: str) -> None:
        """Return when no job of a kind runs here and none that this process may run is due."""
        await self._look()
        while not self._closed and any(name == kind for name, _ in self._entries):
            self._changed.clear()
            await self._changed.wait()
            await self._look()

    @asynccontextmanager
    async def starting(self, kind: str, job_id: str) -> AsyncIterator[dict[str, Any]]:
        """Create a row and run it here: store the columns in the row, and commit before the block ends."""
        with self._entered(kind, job_id, runs=True) as entry:
            lease = self.leases.lease()
            columns = entry.kind.queue.born(lease)
            yield columns
            entry.job = Job(job_id, 1, lease.worker_id, None)
            self._spawn(entry)

    @asynccontextmanager
    async def hold(self, kind: str, job_id: str, *only: ColumnElement[bool]) -> AsyncIterator[Job]:
        """Hold a job exclusively for the block, due or not, when it matches `only`.

        Waits for a task of this process that has already settled the job, so that others see its new state. Raises
        `JobBusy` when another worker has it, and `LeaseLost` when the claim was lost in the block.
        """
        ending = self._entries.get((kind, job_id))
        if ending is not None and ending.job is not None and ending.job.settled:
            await self.wait(kind, job_id)
        with self._entered(kind, job_id, runs=False) as entry:
            job = await self._taken(entry, only)
            if job is None and await self.recover(kind):  # its holder has ended
                job = await self._taken(entry, only)
            if job is None:
                raise JobBusy(f"The {kind} job {job_id} is claimed, or not in the required state.")
            entry.task = asyncio.current_task()
            try:
                yield job
            except asyncio.CancelledError:
                if entry.lost and entry.task is not None and entry.task.uncancel() == 0:
                    raise LeaseLost(f"The claim of {kind} job {job_id} was lost.") from None
                raise
            finally:
                await asyncio.shield(self._let_go(entry.kind, job))

    async def _taken(self, entry: _Entry, only: Collection[ColumnElement[bool]]) -> Job | None:
        async with self.database.writing() as session:
            entry.job = await entry.kind.queue.take(session, entry.id, self.leases.lease(), *only)
        return entry.job

    @contextmanager
    def _entered(self, kind: str, job_id: str, *, runs: bool) -> Iterator[_Entry]:
        """Add a registry entry for a job that this process does not have; removed at the end unless a task owns it."""
        if (kind, job_id) in self._entries:
            raise JobBusy(f"This process is already working on the {kind} job {job_id}.")
        self._start()
        entry = self._entries[kind, job_id] = _Entry(self._kinds[kind], job_id, runs)
        try:
            yield entry
        finally:
            if not runs or entry.task is None:
                self._remove(entry)

    def _remove(self, entry: _Entry) -> None:
        if self._entries.get((entry.kind.name, entry.id)) is entry:
            del self._entries[entry.kind.name, entry.id]
        self._nudged.set()
        self._changed.set()

    # -- the scheduler --

    async def _schedule(self) -> None:
        """Claim due jobs for the lifetime of the process. No failure may end it."""
        recover_at, outage = 0.0, Outage(log, "database of jobs")
        time = asyncio.get_running_loop().time
        while not self._closed:
            self._nudged.clear()
            pause = self.poll_seconds
            try:
                if self.scans and time() >= recover_at:
                    recover_at = time() + self.leases.seconds / 3
                    await self.recover()
                pause = await self._look()
                outage.answered()
            except HeadgateError as error:
                outage.failed(error.detail)
            except Exception:
                log.exception("search for jobs failed")
            if not self._closed:
                await waited(self._nudged, pause)

    async def _look(self) -> float:
        """Claim and start due jobs within the limits. Returns the seconds until the next check."""
        if self.leases.draining:
            return self.poll_seconds
        async with self._claiming:
            moments = await self._next_due()
            now = clock()
            for name in [name for name, due_at in moments.items() if due_at <= now]:
                await self._claim(self._kinds[name])
        return min([self.poll_seconds, *((due_at - now) / MICROSECONDS for due_at in moments.values() if due_at > now)])

    async def _next_due(self) -> dict[str, int]:
        """Return the time of the next job by kind, in one query; kinds at their limit are skipped."""
        kinds = [kind for kind in self._kinds.values() if self._room(kind) > 0]
        if not kinds or (not self.scans and not self._wanted):
            return {}
        queries = [select(literal(kind.name), kind.queue.next_due().scalar_subquery()) for kind in kinds]
        async with self.database.reading() as session:
            return {row[0]: row[1] for row in await session.execute(union_all(*queries)) if row[1] is not None}

    async def _claim(self, kind: JobKind) -> None:
        enqueued = None if self.scans else [job_id for name, job_id in self._wanted if name == kind.name]
        if enqueued == []:
            return
        here = [job_id for name, job_id in self._entries if name == kind.name]
        async with self.database.writing() as session:
            lease = self.leases.lease()
            jobs = await kind.queue.claim(session, lease, limit=max(self._room(kind), 0), ids=enqueued, but=here)
        entered = [job for job in jobs if (kind.name, job.id) not in self._entries]
        for job in entered:
            self._wanted.discard((kind.name, job.id))
            entry = self._entries[kind.name, job.id] = _Entry(kind, job.id, runs=True, job=job)
            self._spawn(entry)
        for job in jobs:
            if job not in entered:  # held here in the meantime
                await self._let_go(kind, job, 0.0)

    def _room(self, kind: JobKind) -> int:
        return kind.limit - sum(entry.runs and entry.kind.name == kind.name for entry in self._entries.values())

    async def recover(self, *names: str) -> int:
        """Make lost jobs of these kinds, or of all, due again. Returns their number."""
        count = 0
        for kind in [self._kinds[name] for name in names or tuple(self._kinds)]:
            if kind.upkeep is not None:
                await kind.upkeep()
            async with self._claiming, self.database.reading() as session:
                claimed = await kind.queue.claimed(session)
                lost_jobs = [job for job in claimed if self._is_lost(job, owned=self.owns(kind.name, job.id))]
            if lost_jobs:
                async with self.database.writing() as session:
                    recovered = await kind.queue.recover(session, lost_jobs)
                log.info("jobs recovered", kind=kind.name, count=recovered)
                count += recovered
        return count

    def _is_lost(self, job: Job, *, owned: bool) -> bool:
        return self.leases.is_lost(job.worker_id, job.row.lease_until or 0, owned=owned)

    # -- running --

    def _spawn(self, entry: _Entry) -> None:
        entry.task = asyncio.create_task(self._run(entry))
        entry.task.add_done_callback(lambda _: self._remove(entry))

    async def _run(self, entry: _Entry) -> None:
        job, kind = entry.job, entry.kind
        if job is None:
            raise RuntimeError("job started after it was claimed")
        retry = kind.retry_seconds
        try:
            await kind.handle(job)
        except LeaseLost:
            entry.lost = True
        except asyncio.CancelledError:
            retry = 0.0
        except HeadgateError as error:
            log.warning("job postponed", kind=kind.name, job_id=job.id, problem=error.detail)
        except Exception:
            log.exception("job postponed", kind=kind.name, job_id=job.id)
        if not entry.lost and not job.settled:
            await self._let_go(kind, job, retry)
            self._want(kind.name, job.id)

    async def _let_go(self, kind: JobKind, job: Job, retry_seconds: float | None = None) -> None:
        """Release a claim, to be due again after so many seconds or unchanged. Failures are recovered later."""
        due_at = None if retry_seconds is None else clock() + int(retry_seconds * MICROSECONDS)
        try:
            async with self.database.writing() as session:
                await kind.queue.release(session, job, due_at=due_at)
        except HeadgateError as error:
            log.warning("job not released", kind=kind.name, job_id=job.id, problem=error.detail)

    # -- the heartbeat --

    async def _renew(self) -> None:
        """Renew every claim; cancel jobs whose claim is lost."""
        claimed = [entry for entry in self._entries.values() if entry.job is not None]
        for kind in {entry.kind.name: entry.kind for entry in claimed}.values():
            own_entries = {entry.id: entry for entry in claimed if entry.kind is kind}
            async with self.database.writing() as session:
                renewed = await kind.queue.renew(session, own_entries, self.leases.lease())
            for entry in own_entries.values():
                if entry.job is not None and not entry.job.settled:  # settled jobs are not lost
                    self._check(entry, renewed.get(entry.id))

    def _check(self, entry: _Entry, runs: bool | None) -> None:  # noqa: FBT001 - of `Queue.renew`
        """Cancel jobs that must no longer run, and jobs whose claim is lost: None."""
        if runs is None and not entry.lost:
            log.warning("claim lost", kind=entry.kind.name, job_id=entry.id)
            entry.lost = True
            entry.cancel()
        elif not runs and entry.runs:
            entry.cancel()


async def _ended(tasks: "Collection[asyncio.Task[Any]]", seconds: float) -> None:
    """Wait for tasks to end; cancel those that have not ended after the timeout.

    Cancelling a task during a database operation may leak a connection, so upkeep gets some time.
    """
    if tasks and seconds:
        await asyncio.wait(tasks, timeout=seconds)
    for task in tasks:
        if not task.cancelling():
            task.cancel()
    if tasks:
        await asyncio.wait(tasks)
