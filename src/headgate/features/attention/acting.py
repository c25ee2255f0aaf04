"""Actions on items of the attention list: on the runs, deliveries and triggers behind them, or on the items themselves.

Every run, delivery and trigger is changed in its own transaction, with the caller's rights on it.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.repository import find_user
from headgate.features.accounts.standing import access_of
from headgate.features.attention import marks_repository, repository
from headgate.features.attention.action_schemas import AttentionActionIn, AttentionResult, AttentionResults
from headgate.features.attention.errors import AssigneeInvalid, AttentionActionInvalid, AttentionItemNotFound
from headgate.features.attention.filters import EVERYTHING
from headgate.features.attention.repository import AnyRow, Scope
from headgate.features.attention.schemas import AttentionItem
from headgate.features.attention.service import (
    MOST_FAILED,
    PERIOD,
    QUEUED,
    STUCK,
    list_attention,
    list_failures,
    scope_of,
)
from headgate.features.audit.recorder import record
from headgate.features.flows.organization.schemas import BulkProblem
from headgate.features.runs.bulk import MOST_RUNS_CHANGED, RunsChangeIn, change_each
from headgate.features.runs.deliveries.service import redeliver_many
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.triggers.service import resume_trigger
from headgate.foundation.database import Database, microseconds, now
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import is_id

_OF_RUNS = {"resume": ("failed_runs",), "rerun": ("failed_runs",), "cancel": ("queued_runs", "stuck_runs")}
_FORGOTTEN = timedelta(days=90)
"""Assignments older than this are deleted."""


async def act(
    database: Database, engine: ExecutionBackend, principal: Principal, body: AttentionActionIn
) -> AttentionResults:
    """Apply an action to items, at most `MOST_RUNS_CHANGED` runs and deliveries; a refused one changes nothing else."""
    keys = list(dict.fromkeys(body.keys))
    if body.action in {"assign", "dismiss", "restore"}:
        return AttentionResults(items=await _mark(database, principal, keys, body), left=0)
    async with database.reading() as session:
        targets = await _targets(session, principal, keys)
    items: list[AttentionResult] = []
    left = 0
    for key in keys:
        kind = key.partition(":")[0]
        if not _applies(body.action, kind):
            items.append(_refused(key, key, AttentionActionInvalid(body.action, kind)))
        elif not (ids := targets.get(key, [])):
            items.append(_refused(key, key, AttentionItemNotFound()))
        else:
            room = max(MOST_RUNS_CHANGED - len(items), 0)
            left += len(ids[room:])
            items += await _change(database, engine, principal, _Target(key, ids[:room]), body)
    return AttentionResults(items=items, left=left)


def _applies(action: str, kind: str) -> bool:
    if kind in _OF_RUNS.get(action, ()):
        return True
    return (action, kind) in {("redeliver", "failed_deliveries"), ("resume", "trigger")}


async def _targets(session: AsyncSession, principal: Principal, keys: Sequence[str]) -> dict[str, list[str]]:
    """Return the runs, deliveries and triggers behind items, the newest first; none of an item that is not listed.

    Each kind is one query, however many items of it are named.
    """
    subjects: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        kind, _, rest = key.partition(":")
        if is_id(subject := rest.partition(":")[0]):
            subjects[kind].append(subject)
    targets = {f"trigger:{trigger_id}": [trigger_id] for trigger_id in subjects.pop("trigger", ())}
    for kind, flow_ids in subjects.items():
        scope = scope_of(principal, Permission.RUNS_VIEW, EVERYTHING, flow_ids)
        if kind == "failed_runs":
            groups, _ = await list_failures(session, scope)
            targets |= {group.key: group.run_ids for group in groups}
        for row in await _rows_behind(session, kind, scope):
            targets.setdefault(f"{kind}:{row.flow_id}", []).append(row.id)
    return targets


async def _rows_behind(session: AsyncSession, kind: str, scope: Scope) -> Sequence[AnyRow]:
    """Return id and flow of the runs or deliveries behind items of a kind that are not grouped by error."""
    at, limit = now(), MOST_FAILED
    if kind == "queued_runs":
        before = microseconds(at - QUEUED)
        return await repository.run_ids(session, queued_before=before, limit=limit, **scope)
    if kind == "stuck_runs":
        return await repository.run_ids(session, stuck_before=microseconds(at - STUCK), limit=limit, **scope)
    if kind == "failed_deliveries":
        return await repository.delivery_ids(session, since=microseconds(at - PERIOD), limit=limit, **scope)
    return ()


@dataclass(frozen=True, slots=True)
class _Target:
    """What is behind an item: its runs, deliveries or trigger."""

    key: str
    ids: Sequence[str]


async def _change(
    database: Database, engine: ExecutionBackend, principal: Principal, target: _Target, body: AttentionActionIn
) -> list[AttentionResult]:
    """Change the runs, deliveries or the trigger of an item."""
    key, ids = target.key, target.ids
    if not ids:
        return []
    if body.action == "redeliver":
        return [await _redeliver(database, engine, principal, key, delivery_id) for delivery_id in ids]
    if key.startswith("trigger:"):
        return [await _resume_trigger(database, principal, key, ids[0])]
    change = RunsChangeIn.model_validate(
        {"action": body.action, "run_ids": ids, "published": body.published and body.action != "cancel"}
    )
    return [
        AttentionResult(
            key=key, id=result.run_id, done=result.changed, new_run_id=result.new_run_id, problem=result.problem
        )
        for result in await change_each(database, engine, principal, change)
    ]


async def _redeliver(
    database: Database, engine: ExecutionBackend, principal: Principal, key: str, delivery_id: str
) -> AttentionResult:
    try:
        async with database.writing() as session:
            again = await redeliver_many(session, principal, ids=[delivery_id])
    except HeadgateError as error:
        return _refused(key, delivery_id, error)
    for reopened_id in again:
        engine.services.deliveries.send_soon(reopened_id)
    return AttentionResult(key=key, id=delivery_id, done=bool(again))


async def _resume_trigger(database: Database, principal: Principal, key: str, trigger_id: str) -> AttentionResult:
    try:
        async with database.writing() as session:
            await resume_trigger(session, principal, trigger_id)
    except HeadgateError as error:
        return _refused(key, trigger_id, error)
    return AttentionResult(key=key, id=trigger_id, done=True)


async def _mark(
    database: Database, principal: Principal, keys: Sequence[str], body: AttentionActionIn
) -> list[AttentionResult]:
    """Dismiss, show again or assign items. The list is read once; one that is refused changes nothing."""
    results: list[AttentionResult] = []
    async with database.writing() as session:
        listed = {} if body.action == "restore" else await _listed(session, principal)
        for key in keys:
            try:
                await _set_mark(session, principal, key, listed.get(key), body)
            except HeadgateError as error:
                results.append(_refused(key, key, error))
            else:
                results.append(AttentionResult(key=key, id=key, done=True))
    return results


async def _set_mark(
    session: AsyncSession, principal: Principal, key: str, item: AttentionItem | None, body: AttentionActionIn
) -> None:
    tenant_id, at = principal.tenant_id, microseconds(now())
    if body.action == "restore":
        await marks_repository.restore(session, key, principal.user_id, tenant_id=tenant_id)
        return
    if item is None:
        raise AttentionItemNotFound
    if body.action == "dismiss":
        until = None if body.until is None else microseconds(body.until)
        await marks_repository.dismiss(session, key, principal.user_id, at, until=until, tenant_id=tenant_id)
        return
    await _assign(session, principal, item, body.user_id, at)


async def _listed(session: AsyncSession, principal: Principal) -> dict[str, AttentionItem]:
    """Return the items that the caller sees by key, also those that they have dismissed."""
    attention = await list_attention(session, principal, dismissed=True)
    return {item.key: item for item in attention.items if item.last_at is not None}


async def _assign(
    session: AsyncSession, principal: Principal, item: AttentionItem, user_id: str | None, at: int
) -> None:
    tenant_id, permission = principal.tenant_id, Permission.RUNS_START
    if item.space_id is None:
        principal.require_somewhere(permission)
    else:
        principal.require_in(item.space_id, permission, AttentionItemNotFound())
    if user_id is not None:
        await _require_sees(session, principal, user_id, item)
    await marks_repository.delete_old_assignments(session, at - microseconds_of(_FORGOTTEN), tenant_id=tenant_id)
    if user_id is None:
        await marks_repository.unassign(session, [item.key], tenant_id=tenant_id)
    else:
        await marks_repository.assign(session, item.key, user_id, at, tenant_id=tenant_id)
    payload = {"key": item.key, "user_id": user_id}
    await record(
        session, principal, "attention.assigned", id=item.key, name=item.name, space_id=item.space_id,
        before={"user_id": item.assignee_id}, after={"user_id": user_id}, payload=payload,
    )  # fmt: skip


async def _require_sees(session: AsyncSession, principal: Principal, user_id: str, item: AttentionItem) -> None:
    """Raise `AssigneeInvalid` unless the user may view runs of the item's space."""
    user = await find_user(session, user_id, tenant_id=principal.tenant_id)
    if user is None or not user.active:
        raise AssigneeInvalid
    access = await access_of(session, user)
    assignee = Principal(principal.tenant_id, user_id, "", access)
    spaces = assignee.spaces_where(Permission.RUNS_VIEW)
    if spaces is not None and (item.space_id not in spaces if item.space_id else not spaces):
        raise AssigneeInvalid


def microseconds_of(duration: timedelta) -> int:
    """Return a duration in microseconds."""
    return duration // timedelta(microseconds=1)


def _refused(key: str, subject: str, error: HeadgateError) -> AttentionResult:
    return AttentionResult(key=key, id=subject, done=False, problem=BulkProblem.model_validate(error.problem()))
