"""Starts the run of an occurrence, once, with the rights that the trigger's owner has at that moment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import text, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import LOCAL, Actor, Principal, system_principal
from headgate.features.accounts import repository as accounts
from headgate.features.accounts.standing import access_of
from headgate.features.audit.recorder import record
from headgate.features.flows.errors import FlowNotFound
from headgate.features.runs import service as runs
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.schemas import RunStart
from headgate.features.runs.service import PreparedRun
from headgate.features.runs.start_check import require_class
from headgate.features.runs.transitions import clock
from headgate.features.triggers import repository
from headgate.features.triggers.errors import (
    NotAdmitted,
    OccurrenceRefused,
    OwnerGone,
    QueueFull,
    TriggerChanged,
    TriggerLoop,
)
from headgate.features.triggers.occurrences import (
    Claimed,
    Fired,
    Occurrence,
    companions,
    hold,
    row_of,
    sealed_input,
)
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schedule import SECOND
from headgate.features.triggers.settings import Policies, TriggerInput
from headgate.features.triggers.tables import OccurrenceRow, TriggerRow
from headgate.foundation.database import Database, moment
from headgate.foundation.errors import HeadgateError, RateLimited, Unavailable
from headgate.foundation.log import get_logger
from headgate.sdk.outside import merged

MOST_QUEUED = 1_000
"""Occurrences of a trigger that wait."""
_TRIES = 3
"""Times that `cancel_old` cancels runs which others started in the meantime."""
MOST_FOLLOWING = 20
"""Runs that start each other by triggers, one after the other."""
RETRY_SECONDS = 60
"""After this time the sender of a call that no place was left for may repeat it."""
SHUT_OUT = (OwnerGone, PermissionMissing, FlowNotFound)
"""Errors of an owner who may no longer start the flow, or view what the trigger follows."""
_OWNER = "Its owner cannot start it"
log = get_logger(__name__)


async def principal_of(
    database: Database, user_id: str, *, tenant_id: str, space_id: str, actor: Actor, auto_login: bool
) -> Principal | None:
    """Return a user with the rights of now, for work in the background; None: deactivated or deleted."""
    if auto_login and user_id == LOCAL.user_id:
        return replace(LOCAL, space_id=space_id, actor=actor)
    async with database.reading() as session:
        user = await accounts.find_user(session, user_id, tenant_id=tenant_id)
        if user is None or not user.active:
            return None
        access = await access_of(session, user)
    return Principal(tenant_id, user.id, space_id, access, actor)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why an occurrence starts no run, or not yet."""

    status: str
    """`skipped` or `queued`."""
    reason: str
    message: str
    most: int = 0
    """How many may wait; a further one is skipped."""
    replaces: bool = False
    """Whether those that wait for the same reason are skipped for it."""


@dataclass(frozen=True, slots=True)
class _Start:
    """A prepared run of an occurrence."""

    owner: Principal
    trigger: TriggerRow
    occurrence: Occurrence
    policies: Policies
    prepared: PreparedRun
    claimed: Claimed | None


class Firing:
    """Starts runs of occurrences.

    Args:
        database: Rows of triggers and occurrences.
        engine: Starts the runs.
        auto_login: Whether the local user has all rights.
    """

    def __init__(self, database: Database, engine: ExecutionBackend, *, auto_login: bool) -> None:
        self.database = database
        self.engine = engine
        self._auto_login = auto_login

    async def fire(self, listed: Listed, occurrence: Occurrence, claimed: Claimed | None = None) -> Fired:
        """Start the run of an occurrence, or store why it starts none; the cursor moves in the same transaction.

        A trigger that fires by itself is paused when its owner was shut out.

        Raises `Unavailable`, `NotAdmitted`, and for a call `RateLimited`; then nothing is stored; and `TriggerChanged`.
        """
        trigger = listed.row
        policies = Policies.model_validate(trigger.policies)
        try:
            owner = await self.owner_of(trigger, listed.space_id)
            prepared = await self._prepare(owner, trigger, occurrence)
            return await self._begin(_Start(owner, trigger, occurrence, policies, prepared, claimed))
        except (Unavailable, TriggerChanged, NotAdmitted):
            raise
        except HeadgateError as error:
            if isinstance(error, RateLimited) and occurrence.is_queued:
                return Fired(occurrence.id, "queued", error.code, str(error))
            if isinstance(error, RateLimited) and occurrence.is_call:
                raise
            fired = await self.store(trigger, occurrence, Verdict("skipped", error.code, str(error)), claimed)
            if claimed is not None and isinstance(error, SHUT_OUT) and await self.pause(listed, f"{_OWNER}: {error}"):
                raise TriggerChanged from error
            return fired

    async def pause_failing(self, listed: Listed) -> bool:
        """Pause a trigger whose last runs all failed, if its policy says so. Returns whether it paused it."""
        most = Policies.model_validate(listed.row.policies).pause_after_failures
        if most is None:
            return False
        async with self.database.reading() as session:
            outcomes = await repository.last_outcomes(session, listed.row, most)
        if len(outcomes) < most or set(outcomes) != {"failed"}:
            return False
        return await self.pause(listed, f"{most} runs in a row failed." if most > 1 else "Its last run failed.")

    async def pause(self, listed: Listed, reason: str) -> bool:
        """Pause a trigger as it was read. Returns whether it paused it."""
        async with self.database.writing() as session:
            trigger = await repository.lock_trigger(session, listed.row.id, tenant_id=listed.row.tenant_id)
            if trigger is None or not trigger.enabled or trigger.updated_at != listed.row.updated_at:
                return False
            trigger.enabled, trigger.next_at, trigger.due_at = False, None, None
            trigger.paused_reason = reason
            await record(
                session,
                system_principal(trigger.tenant_id, listed.space_id),
                "trigger.paused",
                id=trigger.id,
                name=trigger.name,
                space_id=listed.space_id,
                payload={"flow_id": trigger.flow_id, "reason": trigger.paused_reason},
            )
        log.warning("trigger paused", trigger_id=listed.row.id, reason=reason)
        return True

    async def owner_of(self, trigger: TriggerRow, space_id: str) -> Principal:
        """Return the owner with the rights of now. Raises `OwnerGone`."""
        owner = await principal_of(
            self.database, trigger.owner_user_id or "", tenant_id=trigger.tenant_id, space_id=space_id,
            actor=Actor("system", f"Trigger {trigger.name}"), auto_login=self._auto_login,
        )  # fmt: skip
        if owner is None:
            raise OwnerGone("The owner of the trigger is deactivated or was deleted.", remedy="Set another owner.")
        return owner

    async def _prepare(self, owner: Principal, trigger: TriggerRow, occurrence: Occurrence) -> PreparedRun:
        if occurrence.refusal is not None:
            raise occurrence.refusal
        if occurrence.depth > MOST_FOLLOWING:
            raise TriggerLoop(
                f"{MOST_FOLLOWING} runs before it started each other by triggers.", remedy="Let the last flow end it."
            )
        source = occurrence.source
        if source is not None:
            hidden = OwnerGone(
                "The owner of the trigger has no read access to the run or event that it follows.",
                remedy="Give the owner access to its space, or set another owner.",
            )
            owner.require_in(source.space_id, Permission.RUNS_VIEW, hidden)
        start = start_of(occurrence.input)
        prepared = await runs.prepare_run(self.database, self.engine, owner, trigger.flow_id, start)
        if source is not None:
            planned = await self.engine.plans.of(prepared.request.key)
            require_class(self.engine.services, planned, source.classification)
        run_input = prepared.request.input
        run_input = replace(run_input, outside=merged(run_input.outside, occurrence.outside))
        named = {
            "id": trigger.id,
            "name": trigger.name,
            "kind": trigger.kind,
            "occurrence_id": occurrence.id,
            "due_at": None if occurrence.due_at is None else moment(occurrence.due_at).isoformat(),
            "key": occurrence.key,
            **({"depth": str(occurrence.depth)} if occurrence.depth else {}),
        }
        request = replace(prepared.request, input=run_input, trigger=named, visitor=occurrence.visitor)
        return replace(prepared, request=request)

    async def _begin(self, start: _Start) -> Fired:
        trigger, occurrence, policies = start.trigger, start.occurrence, start.policies
        cancels = policies.overlap == "cancel_old" and occurrence.backfill_id is None
        for _ in range(_TRIES if cancels else 1):
            rows = companions(trigger, occurrence, policies, start.claimed, clock())
            request = replace(start.prepared.request, companions=rows)
            try:
                await runs.begin_run(self.engine, start.owner, replace(start.prepared, request=request))
                return Fired(occurrence.id, "started", run_id=request.key.run_id)
            except OccurrenceRefused:
                existing = await self._existing(trigger, occurrence)
                if existing is not None:
                    return existing
                if not cancels or not await self._cancel_old(start):
                    break
        if occurrence.is_queued:
            return Fired(occurrence.id, "queued", "overlap")
        return await self.store(trigger, occurrence, _refusal(occurrence, policies), start.claimed)

    async def _cancel_old(self, start: _Start) -> bool:
        """Cancel the oldest runs of a trigger until one more is allowed. False when the rate refuses one anyway."""
        policies, trigger = start.policies, start.trigger
        async with self.database.reading() as session:
            since = clock() - policies.rate_seconds * SECOND
            most = policies.rate_runs
            if most is not None and await repository.count_started(session, trigger, since) >= most:
                return False
            live = await repository.live_runs(session, trigger)
        for run_id in live[: max(0, len(live) - policies.limit + 1)]:
            await runs.cancel_run(self.engine, start.owner, run_id)
        return True

    async def _existing(self, trigger: TriggerRow, occurrence: Occurrence) -> Fired | None:
        """Return the outcome of an occurrence that was stored before, by anyone; None for one that waits its turn."""
        async with self.database.reading() as session:
            row = await repository.find_occurrence(session, trigger.id, occurrence.key, tenant_id=trigger.tenant_id)
        again = {"queued"} if occurrence.is_queued else {"skipped"} if occurrence.is_call else set()
        if row is None or row[0].status in again:
            return None
        stored: OccurrenceRow = row[0]
        return Fired(stored.id, stored.status, stored.reason, stored.message, stored.flow_run_id, duplicate=True)

    async def store(
        self, trigger: TriggerRow, occurrence: Occurrence, verdict: Verdict, claimed: Claimed | None
    ) -> Fired:
        """Store an occurrence without a run, and the cursor.

        Raises `TriggerChanged`, `NotAdmitted`, and for a call `QueueFull`.
        """
        async with self.database.writing() as session:
            await self._hold(session, trigger, claimed, by_hand=occurrence.by_hand)
            if occurrence.is_call:
                await repository.delete_skipped(session, trigger, occurrence.key)
            if verdict.status == "queued":
                many, verdict = verdict.most == MOST_QUEUED, await _within(session, trigger, verdict)
                if many and occurrence.is_call and verdict.status == "skipped":
                    raise QueueFull(verdict.message, remedy="Send it again later.", retry_after_seconds=RETRY_SECONDS)
            outcome = {"status": verdict.status, "reason": verdict.reason, "message": verdict.message}
            fired = Fired(occurrence.id, verdict.status, verdict.reason, verdict.message)
            if occurrence.is_queued:
                waits = (OccurrenceRow.id == occurrence.id, OccurrenceRow.status == "queued")
                await session.execute(update(OccurrenceRow).where(*waits).values(**outcome, content=None))
                return fired
            row = row_of(trigger, occurrence, clock(), **outcome)
            if verdict.status == "queued":
                row |= {"content": sealed_input(self.engine.services.sealer, occurrence)}
                await wake(session, trigger)
            added = await repository.add_occurrences(session, [row])
            if added and verdict.status == "queued":
                await _admit(session, occurrence)
                if verdict.replaces:
                    await repository.replace_queued(session, trigger, occurrence.id, verdict.reason)
        existing = None if added else await self._existing(trigger, occurrence)
        return fired if existing is None else existing

    async def skip(self, trigger: TriggerRow, skipped: Sequence[tuple[Occurrence, str, str]], claimed: Claimed) -> None:
        """Store occurrences that start no run, each with its reason and message, and the cursor."""
        at = clock()
        rows = [
            row_of(trigger, occurrence, at, status="skipped", reason=reason, message=message)
            for occurrence, reason, message in skipped
        ]
        async with self.database.writing() as session:
            await self._hold(session, trigger, claimed)
            await repository.add_occurrences(session, rows)

    async def _hold(
        self, session: AsyncSession, trigger: TriggerRow, claimed: Claimed | None, *, by_hand: bool = False
    ) -> None:
        statement, values = hold(trigger, claimed, by_hand=by_hand)
        if (await session.execute(text(statement), values)).first() is None:
            raise TriggerChanged


async def _admit(session: AsyncSession, occurrence: Occurrence) -> None:
    for companion in occurrence.admission:
        if (await session.execute(text(companion.sql), dict(companion.values))).first() is None:
            raise companion.refusal()


def start_of(given: TriggerInput) -> RunStart:
    """Return the start of the published version with an input."""
    return RunStart(text=given.text, form_data=given.form_data, file_ids=given.file_ids, version="published")


def _refusal(occurrence: Occurrence, policies: Policies) -> Verdict:
    """Return whether an occurrence that may not start a run now is queued or skipped."""
    most = {"queue_one": 1, "queue_all": MOST_QUEUED, "replace": MOST_QUEUED}.get(policies.overlap, 0)
    if occurrence.queues or (occurrence.is_call and policies.overlap in {"allow", "cancel_old"}):
        most = MOST_QUEUED
    message = f"{policies.limit} of its runs had not ended"
    if policies.rate_runs is not None:
        message += f", or {policies.rate_runs} had started within {policies.rate_seconds} seconds"
    reason = "catch_up" if occurrence.queues else "overlap"
    replaces = policies.overlap == "replace" and not occurrence.queues
    return Verdict("queued" if most else "skipped", reason, f"{message}.", most, replaces)


async def _within(session: AsyncSession, trigger: TriggerRow, verdict: Verdict) -> Verdict:
    """Return the verdict of a queued occurrence: skipped when enough others wait. The trigger is locked."""
    waiting = await repository.list_queued(session, trigger.id, tenant_id=trigger.tenant_id, limit=verdict.most)
    if len(waiting) < verdict.most:
        return verdict
    return Verdict("skipped", "queue_full", f"{verdict.message} {len(waiting)} waited already.")


async def wake(session: AsyncSession, trigger: TriggerRow) -> None:
    """Let a scheduler look at the trigger at once."""
    change = update(TriggerRow).where(TriggerRow.id == trigger.id, TriggerRow.tenant_id == trigger.tenant_id)
    await session.execute(change.values(due_at=clock()), execution_options={"synchronize_session": False})
