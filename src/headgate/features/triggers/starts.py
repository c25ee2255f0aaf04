"""Starts by hand, and backfills: occurrences that users ask for."""

from collections.abc import Collection
from itertools import takewhile

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.runs import service as runs
from headgate.features.runs.transitions import clock
from headgate.features.triggers import repository
from headgate.features.triggers.errors import BackfillNotFound, TooManyTriggers, TriggerInvalid, TriggerPaused
from headgate.features.triggers.estimates import estimate_of
from headgate.features.triggers.firing import MOST_QUEUED, Firing, start_of, wake
from headgate.features.triggers.occurrences import KEPT_MICROSECONDS, Occurrence, due_key, row_of
from headgate.features.triggers.schedule import Schedule
from headgate.features.triggers.schemas import BackfillIn, BackfillOut, FiredOut
from headgate.features.triggers.service import require
from headgate.features.triggers.settings import TriggerInput
from headgate.features.triggers.tables import TriggerRow
from headgate.features.triggers.views import firing_out, occurrence_out
from headgate.features.triggers.words import schedule_of_row
from headgate.foundation.database import Database, microseconds
from headgate.foundation.errors import Unavailable
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.ids import is_id, new_id

SHOWN = 100
MOST_OF_RANGE = 20_000
"""Due times of a range that are examined for a backfill, also those that have an occurrence."""


async def fire_now(
    firing: Firing, principal: Principal, trigger_id: str, given: TriggerInput | None = None, *, key: str | None = None
) -> FiredOut:
    """Start the flow of a trigger by hand, with its saved input or another one. A paused trigger fires too.

    The run has the rights of the owner, so an input that may name files must be one with which the caller could start
    the flow: otherwise a file that only the owner sees would be given away.

    `key`: two requests with one key are one occurrence. Raises `TriggerNotFound`, `PermissionMissing`, and for another
    input what `prepare_run` raises.
    """
    async with firing.database.reading() as session:
        listed = await require(session, principal, trigger_id, Permission.RUNS_START)
    if given is not None and (given.file_ids or given.form_data):
        await runs.prepare_run(firing.database, firing.engine, principal, listed.row.flow_id, start_of(given))
    saved = TriggerInput.model_validate(listed.row.input) if given is None else given
    occurrence = Occurrence(f"manual:{key or new_id()}", saved, by_hand=True)
    fired = await firing.fire(listed, occurrence)
    return await fired_out(firing.database, listed.row.id, occurrence.key, principal.tenant_id, fired.duplicate)


async def fired_out(database: Database, trigger_id: str, key: str, tenant_id: str, duplicate: bool) -> FiredOut:  # noqa: FBT001
    """Return an occurrence as stored. Raises `Unavailable` when its trigger was removed meanwhile."""
    async with database.reading() as session:
        row = await repository.find_occurrence(session, trigger_id, key, tenant_id=tenant_id)
    if row is None:
        raise Unavailable("The trigger was removed during the start.", remedy="List the runs of the flow.")
    return FiredOut(occurrence=occurrence_out(row[0], row[1]), duplicate=duplicate)


async def backfill(database: Database, principal: Principal, trigger_id: str, body: BackfillIn) -> BackfillOut:
    """Queue every due time of a range that has no occurrence, in order, so many of them at the same time.

    Raises `TriggerNotFound`, `PermissionMissing`, `TriggerInvalid`, `TriggerPaused`, `TooManyTriggers`.
    """
    since, until = microseconds(body.since), microseconds(body.until)
    async with database.writing() as session:
        listed = await require(session, principal, trigger_id, Permission.TRIGGERS_MANAGE)
        trigger = await repository.lock_trigger(session, trigger_id, tenant_id=principal.tenant_id) or listed.row
        schedule = _schedule_of(trigger, since, until)
        existing = await repository.due_with_rows(
            session, trigger.id, tenant_id=trigger.tenant_id, since=since, until=until, limit=MOST_OF_RANGE
        )
        due = await run_in_flow_thread(_missing, schedule, existing, since, until)
        firings = [firing_out(schedule, at) for at in due[:SHOWN]]
        if body.dry_run:
            count, parallel = len(due), body.parallel
            estimate = await estimate_of(session, principal, trigger, count=count, parallel=parallel) if due else None
            return BackfillOut(id=None, count=count, due=firings, estimate=estimate)
        if not trigger.enabled:
            raise TriggerPaused(trigger.paused_reason)
        backfill_id, now = new_id(), clock()
        occurrences = [
            Occurrence(due_key(at), TriggerInput(), at, backfill_id=backfill_id, at_once=body.parallel) for at in due
        ]
        rows = [row_of(trigger, occurrence, now, status="queued", reason="backfill") for occurrence in occurrences]
        await repository.add_occurrences(session, rows)
        await wake(session, trigger)
        payload = {"since": body.since.isoformat(), "until": body.until.isoformat(), "count": len(due)}
        payload |= {"parallel": body.parallel}
        await record(
            session,
            principal,
            "trigger.backfilled",
            id=trigger.id,
            name=trigger.name,
            space_id=listed.space_id,
            payload=payload | {"backfill_id": backfill_id},
        )
    return BackfillOut(id=backfill_id, count=len(due), due=firings)


def _schedule_of(trigger: TriggerRow, since: int, until: int) -> Schedule:
    """Return the schedule of a trigger that may run due times of a range. Raises `TriggerInvalid`."""
    if trigger.kind != "schedule":
        raise TriggerInvalid("Only a schedule has due times in the past.", remedy="Choose a schedule.")
    if not since < until or until > clock():
        raise TriggerInvalid("The range ends before it begins, or in the future.", remedy="Choose past times.")
    if since < clock() - KEPT_MICROSECONDS and until >= trigger.created_at:
        raise TriggerInvalid(
            "Occurrences that are older than 90 days were deleted, so that runs of that time could be repeated.",
            remedy="Choose a range within the last 90 days.",
        )
    return schedule_of_row(trigger)


def _missing(schedule: Schedule, existing: Collection[int], since: int, until: int) -> list[int]:
    """Return the due times of a range without an occurrence. Raises `TooManyTriggers`."""
    due: list[int] = []
    for number, at in enumerate(takewhile(lambda at: at <= until, schedule.moments(since - 1))):
        if number >= MOST_OF_RANGE or len(due) > MOST_QUEUED:
            raise TooManyTriggers(f"The range has more than {MOST_QUEUED:,} due times.", remedy="Choose less.")
        if at not in existing:
            due.append(at)
    return due


async def cancel_backfill(database: Database, principal: Principal, trigger_id: str, backfill_id: str) -> int:
    """Cancel what a backfill has not started. Returns how many.

    Raises `TriggerNotFound`, `BackfillNotFound`, `PermissionMissing`.
    """
    async with database.writing() as session:
        listed = await require(session, principal, trigger_id, Permission.TRIGGERS_MANAGE)
        tenant_id = principal.tenant_id
        if not is_id(backfill_id) or not await repository.has_backfill(
            session, trigger_id, backfill_id, tenant_id=tenant_id
        ):
            raise BackfillNotFound(backfill_id)
        count = await repository.cancel_queued(session, trigger_id, backfill_id, tenant_id=principal.tenant_id)
        await record(
            session,
            principal,
            "trigger.backfill_cancelled",
            id=trigger_id,
            name=listed.row.name,
            space_id=listed.space_id,
            payload={"backfill_id": backfill_id, "cancelled": count},
        )
    return count
