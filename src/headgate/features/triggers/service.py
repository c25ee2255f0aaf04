"""Adds, reads, changes, pauses and removes triggers."""

import secrets
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

from pydantic import JsonValue
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts import repository as accounts
from headgate.features.audit.recorder import record
from headgate.features.files.service import find_files, get_files
from headgate.features.flows.service import get_flow
from headgate.features.flows.tables import FlowRow
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.transitions import clock
from headgate.features.triggers import repository
from headgate.features.triggers.agenda import agenda_of
from headgate.features.triggers.errors import TooManyTriggers, TriggerInvalid, TriggerNotFound
from headgate.features.triggers.hook_secrets import check_secret, new_secret
from headgate.features.triggers.poll_settings import Poll
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schemas import (
    AgendaEntry,
    FiringOut,
    OccurrenceOut,
    TriggerIn,
    TriggerMade,
    TriggerOut,
    TriggerPatch,
    TriggerState,
)
from headgate.features.triggers.sealed import seal, unseal
from headgate.features.triggers.settings import (
    Config,
    EventConfig,
    FlowConfig,
    ScheduleConfig,
    TriggerInput,
    WebhookConfig,
    default_policies,
)
from headgate.features.triggers.tables import TriggerRow
from headgate.features.triggers.views import config_of, next_of, occurrence_out, trigger_out, triggers_out
from headgate.features.triggers.words import schedule_of_row
from headgate.foundation.errors import Forbidden
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.ids import is_id, new_id

MOST_OF_FLOW, AGENDA_TRIGGERS = 100, 200
_HOW_OFTEN = {"missing", "group", "every_seconds", "most", "pause_after_errors", "text_from", "form_from"}
_HOW_OFTEN |= {"mark_seen", "idle", "watch"}


async def add_trigger(
    session: AsyncSession, principal: Principal, flow_id: str, body: TriggerIn, *, box: Sealer
) -> TriggerMade:
    """Add a trigger to a flow.

    Raises `FlowNotFound`, `PermissionMissing`, `ScheduleInvalid`, `TriggerInvalid`, `TooManyTriggers`.
    """
    flow = await get_flow(session, principal, flow_id, permission=Permission.TRIGGERS_MANAGE)
    if await repository.count_triggers(session, flow.id, tenant_id=flow.tenant_id) >= MOST_OF_FLOW:
        raise TooManyTriggers(f"The flow has {MOST_OF_FLOW} triggers, which is the most.", remedy="Remove some.")
    await _require_files(session, principal, body.input)
    at = clock()
    given = body.secret
    if isinstance(body.config, WebhookConfig):
        if given is None and body.config.verification != "none":
            given = new_secret(body.config.verification)
        check_secret(body.config.verification, given)
    row = TriggerRow(
        id=new_id(),
        tenant_id=flow.tenant_id,
        flow_id=flow.id,
        name=body.name,
        kind=body.config.kind,
        policies=(body.policies or default_policies(body.config)).model_dump(mode="json"),
        input=body.input.model_dump(mode="json"),
        owner_user_id=await _owner(session, principal, body.owner_user_id),
        enabled=body.enabled,
        paused_reason="",
        resumed_at=at,
        secret=None if given is None else seal(box, given),
        address=secrets.token_urlsafe(24) if body.config.kind in {"webhook", "form"} else None,
        cursor_at=at,
        created_by_user_id=principal.user_id or None,
        created_at=at,
        updated_at=at,
        attempts=0,
    )
    await _configure(session, principal, row, flow, body.config)
    session.add(row)
    await _flush(session, row)
    await _record(session, principal, "trigger.created", row, flow)
    made = await trigger_out(session, principal, await _find(session, principal, row.id))
    return TriggerMade(**made.model_dump(), secret=given)


async def change_trigger(
    session: AsyncSession, principal: Principal, trigger_id: str, body: TriggerPatch, *, box: Sealer
) -> TriggerOut:
    """Change a trigger. Its kind stays. Raises what `add_trigger` raises, and `TriggerNotFound`.

    A user who changes what its runs read becomes its owner, unless an administrator does: no user acts with the rights
    of another.
    """
    row, flow = await _managed(session, principal, trigger_id)
    before, owner_user_id = _recorded(row), row.owner_user_id
    row.owner_user_id = await _owner_after(session, principal, row, body)
    if body.name is not None and body.name != row.name:
        row.name = body.name
        await _flush(session, row)
    if body.policies is not None:
        row.policies = body.policies.model_dump(mode="json")
    taken_over = row.owner_user_id == principal.user_id != owner_user_id
    if body.input is not None or taken_over:
        saved = body.input or TriggerInput.model_validate(row.input)
        await _require_files(session, principal, saved, known=() if taken_over else set(_texts(row.input)))
        row.input = saved.model_dump(mode="json")
    if body.secret is not None:
        row.secret = seal(box, body.secret)
    if body.config is not None:
        if body.config.kind != row.kind:
            raise TriggerInvalid(f"The trigger is a {row.kind}.", remedy="Add another trigger for another kind.")
        row.cursor_at = max(row.cursor_at, clock())
        if _reads(body.config) != _reads(config_of(row)):
            row.poll_cursor = None
        await _configure(session, principal, row, flow, body.config)
        row.due_at = clock() if row.enabled else None  # occurrences may wait
    config = config_of(row)
    if isinstance(config, WebhookConfig) and (body.config is not None or body.secret is not None):
        check_secret(config.verification, None if row.secret is None else unseal(box, row.secret))
    row.updated_at = clock()
    await session.flush()
    await _record(session, principal, "trigger.changed", row, flow, before=before)
    return await trigger_out(session, principal, await _find(session, principal, row.id))


async def pause_trigger(session: AsyncSession, principal: Principal, trigger_id: str, reason: str) -> TriggerOut:
    """Pause a trigger. Queued occurrences stay. Raises `TriggerNotFound`, `PermissionMissing`."""
    row, flow = await _managed(session, principal, trigger_id)
    if row.enabled:
        row.enabled, row.paused_reason, row.next_at, row.due_at = False, reason, None, None
        row.updated_at = clock()
        await session.flush()
        await _record(session, principal, "trigger.paused", row, flow)
    return await trigger_out(session, principal, await _find(session, principal, row.id))


async def resume_trigger(session: AsyncSession, principal: Principal, trigger_id: str) -> TriggerOut:
    """Enable a trigger from now on: due times of the pause are not run; a backfill runs them.

    Raises `TriggerNotFound`, `PermissionMissing`, `ScheduleInvalid`.
    """
    row, flow = await _managed(session, principal, trigger_id)
    if not row.enabled:
        at = clock()
        row.enabled, row.paused_reason, row.resumed_at, row.updated_at = True, "", at, at
        row.cursor_at = max(row.cursor_at, at)
        await _configure(session, principal, row, flow, config_of(row))
        row.due_at = at  # occurrences may wait
        await session.flush()
        await _record(session, principal, "trigger.resumed", row, flow)
    return await trigger_out(session, principal, await _find(session, principal, row.id))


async def remove_trigger(session: AsyncSession, principal: Principal, trigger_id: str) -> None:
    """Remove a trigger with its occurrences; its runs stay. Raises `TriggerNotFound`, `PermissionMissing`."""
    row, flow = await _managed(session, principal, trigger_id)
    await _record(session, principal, "trigger.removed", row, flow)
    await session.delete(row)
    await session.flush()


async def get_trigger(session: AsyncSession, principal: Principal, trigger_id: str) -> TriggerOut:
    """Return a trigger. Raises `TriggerNotFound`, `PermissionMissing`."""
    return await trigger_out(session, principal, await require(session, principal, trigger_id, Permission.FLOWS_VIEW))


async def list_triggers(
    session: AsyncSession,
    principal: Principal,
    *,
    flow_id: str | None = None,
    kind: str | None = None,
    state: TriggerState | None = None,
    text: str = "",
    limit: int = 50,
    before: str | None = None,
) -> Sequence[TriggerOut]:
    """List the triggers of the caller's spaces, newest first; with `text` those whose name or flow contains it."""
    rows = await repository.list_triggers(
        session,
        tenant_id=principal.tenant_id,
        spaces=principal.spaces_where(Permission.FLOWS_VIEW),
        flow_id=flow_id,
        kind=kind,
        state=state,
        text=text,
        limit=limit,
        before=before,
    )
    return await triggers_out(session, principal, rows)


async def list_occurrences(
    session: AsyncSession,
    principal: Principal,
    trigger_id: str,
    *,
    status: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> Sequence[OccurrenceOut]:
    """List the occurrences of a trigger, newest first. Raises `TriggerNotFound`, `PermissionMissing`."""
    await require(session, principal, trigger_id, Permission.RUNS_VIEW)
    rows = await repository.list_occurrences(
        session, trigger_id, tenant_id=principal.tenant_id, status=status, limit=limit, before=before
    )
    return [occurrence_out(row[0], row[1]) for row in rows]


async def next_firings(session: AsyncSession, principal: Principal, trigger_id: str, count: int) -> list[FiringOut]:
    """Return the next occurrences of a schedule; none of a trigger of another kind, or that is paused."""
    listed = await require(session, principal, trigger_id, Permission.FLOWS_VIEW)
    return await run_in_flow_thread(next_of, listed.row, count)


async def agenda(
    session: AsyncSession,
    principal: Principal,
    *,
    until: int,
    flow_id: str | None = None,
    limit: int = 200,
    fold: bool = False,
) -> list[AgendaEntry]:
    """Return what the schedules of the caller's spaces will fire until a time (microseconds), soonest first.

    With `fold`, frequent due times of a trigger are one entry.
    """
    rows = await repository.list_triggers(
        session,
        tenant_id=principal.tenant_id,
        spaces=principal.spaces_where(Permission.FLOWS_VIEW),
        flow_id=flow_id,
        kind="schedule",
        limit=AGENDA_TRIGGERS,
    )
    return await run_in_flow_thread(partial(agenda_of, fold=fold), rows, until, limit)


async def require(session: AsyncSession, principal: Principal, trigger_id: str, permission: Permission) -> Listed:
    """Return a trigger on which the caller has a permission. Raises `TriggerNotFound`, `PermissionMissing`."""
    listed = await _find(session, principal, trigger_id)
    principal.require_in(listed.space_id, permission, TriggerNotFound(trigger_id))
    return listed


async def _find(session: AsyncSession, principal: Principal, trigger_id: str) -> Listed:
    tenant_id = principal.tenant_id
    listed = await repository.find_trigger(session, trigger_id, tenant_id=tenant_id) if is_id(trigger_id) else None
    if listed is None or not principal.sees(listed.space_id):
        raise TriggerNotFound(trigger_id)
    return listed


async def _managed(session: AsyncSession, principal: Principal, trigger_id: str) -> tuple[TriggerRow, FlowRow]:
    """Return a trigger that the caller may change, locked, and its flow."""
    listed = await require(session, principal, trigger_id, Permission.TRIGGERS_MANAGE)
    row = await repository.lock_trigger(session, trigger_id, tenant_id=principal.tenant_id)
    if row is None:
        raise TriggerNotFound(trigger_id)
    return row, await get_flow(session, principal, listed.row.flow_id, permission=Permission.TRIGGERS_MANAGE)


async def _configure(
    session: AsyncSession, principal: Principal, row: TriggerRow, flow: FlowRow, config: Config
) -> None:
    """Store the settings of a kind, what it listens to, and when it is due. Raises `ScheduleInvalid`."""
    row.config = config.model_dump(mode="json")
    row.next_at = None
    if isinstance(config, ScheduleConfig):
        schedule = schedule_of_row(row)
        row.next_at = at = schedule.next(row.cursor_at) if row.enabled else None
        row.due_at = None if at is None else clock() if config.calendar_url else schedule.begins(at, row.id)
        row.poll_failures, row.poll_error = 0, ""
    elif isinstance(config, EventConfig):
        row.due_at = clock() if row.enabled else None
    elif isinstance(config, FlowConfig):
        if config.flow_id == flow.id:
            raise TriggerInvalid("A flow cannot start after itself.", remedy="Choose another flow.")
        await get_flow(session, principal, config.flow_id, permission=Permission.RUNS_VIEW)
        row.due_at = clock() if row.enabled else None
    elif isinstance(config, Poll):
        row.next_at = row.due_at = clock() if row.enabled else None
        row.poll_failures, row.only_polled = 0, ""


def _reads(config: Config) -> dict[str, Any]:
    """Return the settings that say what is read: after a change it starts from the beginning."""
    if isinstance(config, ScheduleConfig):
        return {"calendar_url": config.calendar_url}
    return config.model_dump(mode="json", exclude=_HOW_OFTEN)


async def _owner(session: AsyncSession, principal: Principal, user_id: str | None) -> str:
    """Return the owner of a trigger: the caller, or for those who manage users any active user or service account."""
    owner_id = user_id or principal.user_id
    if owner_id != principal.user_id and not principal.may(Permission.PEOPLE_MANAGE):
        raise Forbidden("Only an administrator sets another owner of a trigger.", remedy="Omit the owner.")
    user = await accounts.find_user(session, owner_id, tenant_id=principal.tenant_id) if owner_id else None
    if user is None or (not user.active and user.id != principal.user_id):
        raise TriggerInvalid("The owner is not an active user.", remedy="Name an active user or service account.")
    return user.id


async def _owner_after(session: AsyncSession, principal: Principal, row: TriggerRow, body: TriggerPatch) -> str | None:
    """Return the owner of a trigger after a change."""
    if body.owner_user_id is not None:
        return await _owner(session, principal, body.owner_user_id)
    if principal.may(Permission.PEOPLE_MANAGE) or (body.config is None and body.input is None and body.secret is None):
        return row.owner_user_id
    return await _owner(session, principal, None)


async def _require_files(
    session: AsyncSession, principal: Principal, given: TriggerInput, *, known: Collection[str] = ()
) -> None:
    """Raise `FileNotFound` unless the caller sees the added files: the runs read them with the rights of the owner.

    A form may change with each release, so that any answer that is the id of a stored file is one of them.
    """
    named = {text for text in _texts(given.form_data) if is_id(text)}
    stored = await find_files(session, tenant_id=principal.tenant_id, file_ids=named) if named else ()
    file_ids = dict.fromkeys([*given.file_ids, *(file.id for file in stored)])
    await get_files(session, principal, [file_id for file_id in file_ids if file_id not in known])


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member)


async def _flush(session: AsyncSession, row: TriggerRow) -> None:
    """Write a trigger. Raises `TriggerInvalid` when its flow has another one with its name."""
    name = row.name
    try:
        await session.flush()
    except IntegrityError as error:
        raise TriggerInvalid(f"The flow has a trigger named '{name}'.", remedy="Choose another name.") from error


def _recorded(row: TriggerRow) -> dict[str, Any]:
    """Return what the audit log compares: never the secret."""
    return {
        "name": row.name,
        "config": row.config,
        "policies": row.policies,
        "input": row.input,
        "owner_user_id": row.owner_user_id,
        "enabled": row.enabled,
    }


async def _record(
    session: AsyncSession,
    principal: Principal,
    action: Any,  # noqa: ANN401 - an `Action`
    row: TriggerRow,
    flow: FlowRow,
    *,
    before: Any = None,  # noqa: ANN401 - a JSON value
) -> None:
    payload: dict[str, Any] = {"flow_id": row.flow_id, "kind": row.kind, "config": row.config, "policies": row.policies}
    payload |= {"owner_user_id": row.owner_user_id, "enabled": row.enabled, "reason": row.paused_reason}
    await record(
        session,
        principal,
        action,
        id=row.id,
        name=row.name,
        space_id=flow.space_id,
        before=before,
        after=None if action == "trigger.removed" else _recorded(row),
        payload=payload,
    )
