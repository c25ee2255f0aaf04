"""The attention list: what needs a human, from all places, for one user."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.alerts.letters import value_of
from headgate.features.alerts.repository import list_alerts
from headgate.features.attention import repository
from headgate.features.attention.errors import AttentionItemNotFound
from headgate.features.attention.repository import AnyRow
from headgate.features.attention.schemas import AttentionItem, AttentionOut
from headgate.features.connections.tables import ConnectionRow
from headgate.features.runs.approvals.service import count_mine
from headgate.foundation.database import microseconds, moment, now
from headgate.foundation.quoting import shortened

PERIOD = timedelta(days=7)
"""Failures before it are not shown."""
QUEUED = timedelta(minutes=10)
"""A run that no worker starts in this time needs a human."""
EXPIRES = timedelta(days=14)
"""Secrets that expire in this time are shown."""
FAILED_POLLS = 3
"""A trigger whose source could not be read so many times in a row is shown."""
MOST_ITEMS = 50
"""Of each kind, the latest."""
LONGEST_MESSAGE = 300


async def list_attention(
    session: AsyncSession, principal: Principal, *, dismissed: bool = False, space_id: str | None = None
) -> AttentionOut:
    """Return what needs a human in the spaces of the caller, the latest first; with `dismissed` also dismissed items.

    An item that was dismissed is open again when it happens again.
    """
    items = [
        *await _runs(session, principal),
        *await _deliveries(session, principal),
        *await _triggers(session, principal),
        *await _connections(session, principal),
        *await _alerts(session, principal),
    ]
    known = await repository.dismissals(session, principal.user_id, tenant_id=principal.tenant_id)
    for item in items:
        item.dismissed = item.last_at is not None and microseconds(item.last_at) <= known.get(item.key, -1)
    items = [item for item in items if space_id in (None, item.space_id)]
    items.sort(key=lambda item: (item.last_at is not None, item.last_at), reverse=True)
    if space_id is None and (waiting := await count_mine(session, principal)):
        items.insert(0, AttentionItem(key="approvals", kind="approvals", count=waiting))
    shown = [item for item in items if dismissed or not item.dismissed]
    return AttentionOut(items=shown, open=sum(not item.dismissed for item in items))


async def set_dismissed(session: AsyncSession, principal: Principal, key: str, *, dismissed: bool) -> AttentionOut:
    """Dismiss an item for the caller, or show it again. Raises `AttentionItemNotFound` for one that is not listed."""
    attention = await list_attention(session, principal, dismissed=True)
    if not any(item.key == key and item.last_at is not None for item in attention.items):
        raise AttentionItemNotFound
    if dismissed:
        at = microseconds(now())
        await repository.dismiss(session, key, principal.user_id, at, tenant_id=principal.tenant_id)
    else:
        await repository.restore(session, key, principal.user_id, tenant_id=principal.tenant_id)
    return await list_attention(session, principal)


async def _runs(session: AsyncSession, principal: Principal) -> list[AttentionItem]:
    tenant_id, spaces, at = principal.tenant_id, principal.spaces_where(Permission.RUNS_VIEW), now()
    failed = await repository.failed_runs(
        session, tenant_id=tenant_id, spaces=spaces, since=microseconds(at - PERIOD), limit=MOST_ITEMS
    )
    queued = await repository.queued_runs(
        session, tenant_id=tenant_id, spaces=spaces, before=microseconds(at - QUEUED), limit=MOST_ITEMS
    )
    messages = await repository.run_messages(session, [row.last_id for row in failed], tenant_id=tenant_id)
    items = [
        _of_flow(row, "failed_runs", row.error_code or "", messages.get(row.last_id, ""), row.last_id) for row in failed
    ]
    for item, row in zip(items, failed, strict=True):
        item.code, item.since_release = row.error_code or "", row.release
    return items + [_of_flow(row, "queued_runs", "", "", row.last_id) for row in queued]


async def _deliveries(session: AsyncSession, principal: Principal) -> list[AttentionItem]:
    tenant_id, spaces = principal.tenant_id, principal.spaces_where(Permission.RUNS_VIEW)
    rows = await repository.failed_deliveries(
        session, tenant_id=tenant_id, spaces=spaces, since=microseconds(now() - PERIOD), limit=MOST_ITEMS
    )
    latest = await repository.delivery_messages(session, [row.last_id for row in rows], tenant_id=tenant_id)
    return [
        _of_flow(row, "failed_deliveries", "", latest[row.last_id].error_message or "", latest[row.last_id].flow_run_id)
        for row in rows
        if row.last_id in latest
    ]


def _of_flow(row: AnyRow, kind: str, code: str, message: str, run_id: str) -> AttentionItem:
    return AttentionItem.model_validate(
        {
            "key": ":".join(filter(None, (kind, row.flow_id, code))),
            "kind": kind,
            "space_id": row.space_id,
            "flow_id": row.flow_id,
            "name": row.name,
            "message": shortened(message, LONGEST_MESSAGE),
            "count": row.count,
            "first_at": moment(row.first_at),
            "last_at": moment(row.last_at),
            "run_id": run_id,
        }
    )


async def _triggers(session: AsyncSession, principal: Principal) -> list[AttentionItem]:
    spaces = principal.spaces_where(Permission.FLOWS_VIEW)
    rows = await repository.stopped_triggers(
        session, tenant_id=principal.tenant_id, spaces=spaces, failed_polls=FAILED_POLLS, limit=MOST_ITEMS
    )
    return [
        AttentionItem(
            key=f"{'failing_trigger' if row.enabled else 'trigger'}:{row.id}",
            kind="failing_trigger" if row.enabled else "trigger",
            space_id=row.space_id,
            flow_id=row.flow_id,
            name=row.name,
            message=row.reason,
            count=row.poll_failures if row.enabled else 1,
            last_at=moment(row.at),
        )
        for row in rows
    ]


async def _connections(session: AsyncSession, principal: Principal) -> Iterable[AttentionItem]:
    rows = await repository.broken_connections(
        session,
        tenant_id=principal.tenant_id,
        spaces=principal.spaces_where(Permission.CONNECTIONS_VIEW),
        user_id=principal.user_id,
        expires_before=now() + EXPIRES,
        limit=MOST_ITEMS,
    )
    return [_connection(row) for row in rows]


def _connection(row: ConnectionRow) -> AttentionItem:
    works = row.state not in {"failed", "unauthorized", "rejected"}
    at: datetime | None = row.rejected_at or row.tested_at or row.updated_at
    if works and row.expires_at is not None:
        at = row.expires_at - EXPIRES
    return AttentionItem(
        key=f"{'expiry' if works else 'connection'}:{row.id}",
        kind="expiry" if works else "connection",
        space_id=row.space_id,
        name=row.name,
        code="" if works else row.state,
        message=shortened(row.error_message or "", LONGEST_MESSAGE),
        first_at=row.expires_at if works else None,
        last_at=at,
    )


async def _alerts(session: AsyncSession, principal: Principal) -> list[AttentionItem]:
    spaces = principal.spaces_where(Permission.RUNS_VIEW)
    rows = await list_alerts(session, tenant_id=principal.tenant_id, spaces=spaces, state="open", limit=MOST_ITEMS)
    return [
        AttentionItem(
            key=f"alert:{alert.id}",
            kind="alert",
            space_id=alert.space_id,
            flow_id=alert.subject or None,
            name=rule.name,
            code=rule.kind,
            message=": ".join(filter(None, (alert.name, value_of(rule.kind, alert.value, rule.window_seconds)))),
            first_at=moment(alert.opened_at),
            last_at=moment(alert.opened_at),
        )
        for alert, rule in rows
    ]
