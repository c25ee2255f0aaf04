"""Fires triggers when they are due: on every server, each trigger by one of them at a time.

A trigger is a job (`features/jobs`): its claim is a compare-and-swap with a lease. What it does is decided by unique
rows, not by the claim: a scheduler that lost its claim, and another that repeats its work, write nothing twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headgate.features.jobs.queue import Job
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.runs.transitions import clock
from headgate.features.triggers import following, repository
from headgate.features.triggers.errors import TriggerChanged
from headgate.features.triggers.firing import Firing, Verdict
from headgate.features.triggers.occurrences import Claimed, Occurrence, due_key, queued_occurrence
from headgate.features.triggers.poll_settings import POLLING
from headgate.features.triggers.polling.listening import Listener
from headgate.features.triggers.polling.poller import Poller
from headgate.features.triggers.repository import QUEUE, Listed
from headgate.features.triggers.schedule import SECOND, Schedule
from headgate.features.triggers.settings import Policies, TriggerInput
from headgate.features.triggers.tables import TriggerRow
from headgate.features.triggers.words import schedule_of_row
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger

KIND = "triggers"
MOST_AT_ONCE = 20
"""Triggers that one process fires at the same time."""
BATCH = 200
"""Due times that one claim handles; the rest is due at once, for any process."""
GRACE_SECONDS = 60
"""A due time that is later than this counts as missed: it belongs to a downtime."""
POLL_SECONDS = 1.0
"""How often occurrences that wait for another run are looked at, and ends of runs of other flows."""
DELETED_SECONDS = 3600
"""How often the trigger of a deleted flow is looked at: the flow may be restored."""
RETRY_SECONDS = 5.0
log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Split:
    """Due times of a trigger: what runs, what is skipped, and the cursor after each."""

    due: Sequence[int]
    missed: Sequence[int]
    """Skipped, all before the first of `due`."""
    late: frozenset[int]
    """Those of `due` that belong to a downtime."""
    more: bool
    """Whether further ones are due."""


def split_due(schedule: Schedule, policies: Policies, trigger_id: str, cursor_at: int, now: int) -> Split:
    """Return what is due after the cursor, by the catch-up policy. Pure. Times are microseconds in UTC."""
    due: list[int] = []
    more = False
    for at in schedule.moments(cursor_at):
        if schedule.begins(at, trigger_id) > now:
            break
        if len(due) == BATCH:
            more = True
            break
        due.append(at)
    late = [at for at in due if now - schedule.begins(at, trigger_id) > GRACE_SECONDS * SECOND]
    caught_up: set[int] = set()
    if policies.catch_up == "all":
        caught_up = set(late)
    elif policies.catch_up == "latest" and not more and len(late) == len(due):
        caught_up = set(late[-1:])
    oldest = now - round(policies.catch_up_hours * 3600 * SECOND)
    caught_up = {at for at in caught_up if at >= oldest}
    missed = [at for at in late if at not in caught_up]
    return Split([at for at in due if at not in missed], missed, frozenset(caught_up), more)


class Scheduler:
    """The scheduler of one process.

    Args:
        firing: Starts runs.
        jobs: Runs due triggers.
        poller: Polls those that poll.
    """

    def __init__(self, firing: Firing, jobs: JobRunner, poller: Poller) -> None:
        self._firing = firing
        self._poller = poller
        self.listener = Listener(poller, firing.database)
        self._database = firing.database
        jobs.register(JobKind(KIND, QUEUE, self.handle, MOST_AT_ONCE, retry_seconds=RETRY_SECONDS))

    async def handle(self, job: Job) -> None:
        """Fire what is due of a claimed trigger, and release it until its next due time. Raises `Unavailable`."""
        async with self._database.reading() as session:
            listed = await repository.find_claimed(session, job.id)
        if listed is None:
            await self._release(job, clock() + DELETED_SECONDS * SECOND)
            return
        claimed = Claimed(job.worker_id, job.attempt)
        try:
            if await self._firing.pause_failing(listed):
                await self._finish(job)
                return
            waits = await self._start_queued(listed, claimed)
            if listed.row.kind in POLLING:
                due_at, values = await self._poll(listed, claimed, waits=waits)
            else:
                due_at, next_at = await self._fire_due(listed, claimed)
                values = {"next_at": next_at}
                calendar = await self._poller.read_calendar(listed, claimed, due_at)
                if calendar is not None:
                    due_at, values = calendar.next_at, values | calendar.values
        except TriggerChanged:  # paused or changed meanwhile
            await self._release(job, clock())
            return
        if waits:
            due_at = min(due_at or clock() + round(POLL_SECONDS * SECOND), clock() + round(POLL_SECONDS * SECOND))
        async with self._database.writing() as session:
            await QUEUE.release(session, job, due_at=due_at, **values)

    async def _finish(self, job: Job) -> None:
        async with self._database.writing() as session:
            await QUEUE.finish(session, job)

    async def _release(self, job: Job, due_at: int) -> None:
        async with self._database.writing() as session:
            await QUEUE.release(session, job, due_at=due_at)

    async def _start_queued(self, listed: Listed, claimed: Claimed) -> bool:
        """Start occurrences that wait, oldest first. Returns whether some still wait."""
        trigger = listed.row
        async with self._database.reading() as session:
            rows = await repository.list_queued(session, trigger.id, tenant_id=trigger.tenant_id, limit=BATCH)
        saved = TriggerInput.model_validate(trigger.input)
        for row in rows:
            occurrence = queued_occurrence(self._firing.engine.services.sealer, row, saved)
            try:
                fired = await self._firing.fire(listed, occurrence, claimed)
            except HeadgateError:
                raise
            except Exception:  # those behind it do not wait for it
                log.exception("queued occurrence not started", occurrence_id=row.id)
                verdict = Verdict("skipped", "internal_error", "An unexpected error occurred; see the server log.")
                fired = await self._firing.store(trigger, occurrence, verdict, claimed)
            if fired.status == "queued":
                return True
        return len(rows) == BATCH

    async def _poll(self, listed: Listed, claimed: Claimed, *, waits: bool) -> tuple[int | None, dict[str, Any]]:
        """Poll when it is time and none of its occurrences waits. Returns when it is due, and columns to store."""
        next_at = listed.row.next_at
        if waits or (next_at is not None and next_at > clock()):
            return next_at, {}
        ended = await self._poller.poll(listed, claimed)
        if ended.next_at is not None and not ended.values.get("poll_failures", 1):
            self.listener.listen(listed, ended.next_at)
        return ended.next_at, {"next_at": ended.next_at} | ended.values

    async def _fire_due(self, listed: Listed, claimed: Claimed) -> tuple[int | None, int | None]:
        """Fire what is due. Returns when the trigger is due again, and its next due time."""
        trigger = listed.row
        if trigger.kind in following.FOLLOWING:
            await following.fire_followed(self._firing, listed, claimed)
            return clock() + round(POLL_SECONDS * SECOND), None
        if trigger.kind != "schedule":
            return None, None
        schedule = schedule_of_row(trigger)
        policies = Policies.model_validate(trigger.policies)
        split = split_due(schedule, policies, trigger.id, trigger.cursor_at, clock())
        await self._skip(trigger, policies, split, claimed)
        cursor_at = max([trigger.cursor_at, *split.missed])
        for at in split.due:
            cursor_at = max(cursor_at, at)
            occurrence = Occurrence(
                due_key(at), TriggerInput.model_validate(trigger.input), at, queues=at in split.late
            )
            await self._firing.fire(listed, occurrence, Claimed(claimed.worker_id, claimed.attempt, cursor_at))
        if split.more:
            return clock(), trigger.next_at
        next_at = schedule.next(cursor_at)
        return (None, None) if next_at is None else (schedule.begins(next_at, trigger.id), next_at)

    async def _skip(self, trigger: TriggerRow, policies: Policies, split: Split, claimed: Claimed) -> None:
        if not split.missed:
            return
        message = f"No scheduler was running at this time; catch-up is '{policies.catch_up}'."
        skipped = [(Occurrence(due_key(at), TriggerInput(), at), "missed", message) for at in split.missed]
        await self._firing.skip(trigger, skipped, Claimed(claimed.worker_id, claimed.attempt, max(split.missed)))
