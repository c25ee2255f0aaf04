"""The attention list: what needs a human, from all places, for one user.

Every source is one query with a limit, so the list costs the same however many runs a tenant has.
"""

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.alerts.letters import value_of
from headgate.features.alerts.repository import list_alerts
from headgate.features.attention import marks_repository, repository
from headgate.features.attention.failures import FailureGroup, group_failures
from headgate.features.attention.filters import EVERYTHING, AttentionFilter
from headgate.features.attention.repository import LONGEST_MESSAGE, AnyRow, Flows, Scope
from headgate.features.attention.schemas import AttentionItem, AttentionOut, Kind
from headgate.features.connections.tables import ConnectionRow
from headgate.features.processes.repository import list_dead_processes
from headgate.features.processes.service import dead_before, may_manage
from headgate.features.runs.approvals.service import count_mine
from headgate.features.runs.budgets.daily import share_of
from headgate.foundation.database import microseconds, moment, now
from headgate.foundation.quoting import shortened

PERIOD = timedelta(days=7)
"""Failures before it are not shown."""
QUEUED = timedelta(minutes=10)
"""A run that no worker starts in this time needs a human."""
STUCK = timedelta(minutes=5)
"""A run whose worker is dead and that no other recovers in this time needs a human."""
EXPIRES = timedelta(days=14)
"""Secrets that expire in this time are shown."""
FAILED_POLLS = 3
"""A trigger whose source could not be read so many times in a row is shown."""
EXHAUSTED = 95.0
"""Percent of a daily budget: a call that would exceed the limit is refused before it is reached."""
MOST_ITEMS = 50
"""Of each kind, the latest."""
MOST_FAILED = 5_000
"""The newest failed runs, which are grouped."""


async def list_attention(
    session: AsyncSession,
    principal: Principal,
    *,
    dismissed: bool = False,
    item_filter: AttentionFilter = EVERYTHING,
) -> AttentionOut:
    """Return what needs a human in the spaces of the caller, the latest first; with `dismissed` also dismissed items.

    An item that was dismissed is open again when it happens again, and one that was muted once its time is over.
    """
    items: list[AttentionItem] = []
    more: list[Kind] = []
    for kinds, source in _SOURCES.items():
        if item_filter.wants(*kinds):
            listed = await source(session, principal, item_filter)
            items += listed[:MOST_ITEMS]
            more += [listed[MOST_ITEMS].kind] if len(listed) > MOST_ITEMS else []
    await _add_marks(session, principal, items)
    at = now()
    items = [item for item in items if item_filter.matches(item, at)]
    items.sort(key=lambda item: (item.last_at is not None, item.last_at), reverse=True)
    if _wants_approvals(item_filter) and (waiting := await count_mine(session, principal)):
        items.insert(0, AttentionItem(key="approvals", kind="approvals", count=waiting))
    shown = [item for item in items if dismissed or not item.dismissed]
    return AttentionOut(items=shown, open=sum(not item.dismissed for item in items), more=more)


def _wants_approvals(item_filter: AttentionFilter) -> bool:
    narrowed = (item_filter.space_id, item_filter.assigned_to, item_filter.within_hours, item_filter.older_hours)
    return item_filter.wants("approvals") and not item_filter.of_flows and narrowed == (None,) * 4


async def _add_marks(session: AsyncSession, principal: Principal, items: Collection[AttentionItem]) -> None:
    """Add what the caller has dismissed or muted, and to whom each item is assigned."""
    tenant_id, at = principal.tenant_id, microseconds(now())
    marks = await marks_repository.dismissals(session, principal.user_id, tenant_id=tenant_id)
    assigned = await marks_repository.assignments(session, [item.key for item in items], tenant_id=tenant_id)
    for item in items:
        if (mark := marks.get(item.key)) is not None:
            if mark.muted_until is None:
                item.dismissed = item.last_at is not None and microseconds(item.last_at) <= mark.dismissed_at
            elif mark.muted_until > at:
                item.dismissed, item.muted_until = True, moment(mark.muted_until)
        if (assignment := assigned.get(item.key)) is not None:
            item.assignee_id, item.assignee = assignment.id, assignment.name


def scope_of(
    principal: Principal, permission: Permission, item_filter: AttentionFilter, flow_ids: Collection[str] | None = None
) -> Scope:
    """Return the scope of queries: spaces in which the caller has the permission, narrowed by the filter."""
    spaces: Collection[str] | None = principal.spaces_where(permission)
    if item_filter.space_id is not None:
        spaces = {item_filter.space_id} if spaces is None else {item_filter.space_id} & {*spaces}
    if item_filter.flow_id is not None:
        flow_ids = [item_filter.flow_id]
    return {"tenant_id": principal.tenant_id, "spaces": spaces, "flows": Flows(flow_ids, item_filter.owner_id)}


async def list_failures(session: AsyncSession, scope: Scope) -> tuple[list[FailureGroup], bool]:
    """Return failed runs by error, the latest first, and whether there are more than were read."""
    since = microseconds(now() - PERIOD)
    rows = await repository.failed_runs(session, **scope, since=since, limit=MOST_FAILED + 1)
    return group_failures(rows[:MOST_FAILED]), len(rows) > MOST_FAILED


async def _failed(session: AsyncSession, principal: Principal, item_filter: AttentionFilter) -> list[AttentionItem]:
    groups, counts_more = await list_failures(session, scope_of(principal, Permission.RUNS_VIEW, item_filter))
    return [_failure(group, counts_more=counts_more) for group in groups]


def _failure(group: FailureGroup, *, counts_more: bool) -> AttentionItem:
    row = group.latest
    return AttentionItem(
        key=group.key,
        kind="failed_runs",
        space_id=row.space_id,
        flow_id=row.flow_id,
        name=row.name,
        step_id=row.step_id,
        code=row.error_code or "",
        message=row.message or "",
        count=len(group.run_ids),
        counts_more=counts_more,
        first_at=moment(group.first_at),
        last_at=moment(group.last_at),
        since_release=group.release,
        run_id=row.id,
    )


async def _queued(session: AsyncSession, principal: Principal, item_filter: AttentionFilter) -> list[AttentionItem]:
    scope, before = scope_of(principal, Permission.RUNS_VIEW, item_filter), microseconds(now() - QUEUED)
    rows = await repository.queued_runs(session, **scope, before=before, limit=MOST_ITEMS + 1)
    return [_of_flow(row, "queued_runs", "", row.last_id) for row in rows]


async def _stuck(session: AsyncSession, principal: Principal, item_filter: AttentionFilter) -> list[AttentionItem]:
    scope, before = scope_of(principal, Permission.RUNS_VIEW, item_filter), microseconds(now() - STUCK)
    rows = await repository.stuck_runs(session, **scope, before=before, limit=MOST_ITEMS + 1)
    return [_of_flow(row, "stuck_runs", "", row.last_id) for row in rows]


async def _deliveries(session: AsyncSession, principal: Principal, item_filter: AttentionFilter) -> list[AttentionItem]:
    scope, since = scope_of(principal, Permission.RUNS_VIEW, item_filter), microseconds(now() - PERIOD)
    rows = await repository.failed_deliveries(session, **scope, since=since, limit=MOST_ITEMS + 1)
    ids = [row.last_id for row in rows]
    latest = await repository.delivery_messages(session, ids, tenant_id=principal.tenant_id)
    return [
        _of_flow(row, "failed_deliveries", latest[row.last_id].error_message or "", latest[row.last_id].flow_run_id)
        for row in rows
        if row.last_id in latest
    ]


def _of_flow(row: AnyRow, kind: Kind, message: str, run_id: str) -> AttentionItem:
    return AttentionItem(
        key=f"{kind}:{row.flow_id}",
        kind=kind,
        space_id=row.space_id,
        flow_id=row.flow_id,
        name=row.name,
        message=shortened(message, LONGEST_MESSAGE),
        count=row.count,
        first_at=moment(row.first_at),
        last_at=moment(row.last_at),
        run_id=run_id,
    )


async def _triggers(session: AsyncSession, principal: Principal, item_filter: AttentionFilter) -> list[AttentionItem]:
    scope = scope_of(principal, Permission.FLOWS_VIEW, item_filter)
    rows = await repository.stopped_triggers(session, **scope, failed_polls=FAILED_POLLS, limit=MOST_ITEMS + 1)
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


async def _connections(
    session: AsyncSession, principal: Principal, item_filter: AttentionFilter
) -> list[AttentionItem]:
    if item_filter.of_flows:
        return []
    rows = await repository.broken_connections(
        session,
        tenant_id=principal.tenant_id,
        spaces=scope_of(principal, Permission.CONNECTIONS_VIEW, item_filter)["spaces"],
        user_id=principal.user_id,
        expires_before=now() + EXPIRES,
        limit=MOST_ITEMS + 1,
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


async def _budgets(session: AsyncSession, principal: Principal, item_filter: AttentionFilter) -> list[AttentionItem]:
    scope = scope_of(principal, Permission.RUNS_VIEW, item_filter)
    used = await repository.used_budgets(session, **scope, at=microseconds(now()))
    rows = sorted(((row, share_of(row)) for row in used), key=lambda pair: pair[1])
    # Of a flow with several limits, the one that is used the most.
    exhausted = {row.flow_id: (row, share) for row, share in rows if share >= EXHAUSTED}
    return [
        AttentionItem(
            key=f"budget:{row.flow_id}",
            kind="budget",
            space_id=row.space_id,
            flow_id=row.flow_id,
            name=row.name,
            code=row.kind,
            message=f"{share:g} %",
            last_at=moment(row.changed_at),
        )
        for row, share in exhausted.values()
    ]


async def _alerts(session: AsyncSession, principal: Principal, item_filter: AttentionFilter) -> list[AttentionItem]:
    scope = scope_of(principal, Permission.RUNS_VIEW, item_filter)
    rows = await list_alerts(
        session, tenant_id=scope["tenant_id"], spaces=scope["spaces"], state="open", limit=MOST_ITEMS + 1
    )
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


async def _dead(session: AsyncSession, principal: Principal, item_filter: AttentionFilter) -> list[AttentionItem]:
    """Return processes that died: only admins of the installation see them."""
    if item_filter.of_flows or item_filter.space_id is not None or not may_manage(principal):
        return []
    rows = await list_dead_processes(session, before=dead_before(), limit=MOST_ITEMS + 1)
    return [
        AttentionItem(
            key=f"dead_worker:{row.id}",
            kind="dead_worker",
            name=row.host,
            code=row.kind,
            message=f"{row.id}, {row.version}",
            first_at=moment(row.seen_at),
            last_at=moment(row.seen_at),
        )
        for row in rows
    ]


_Source = Callable[[AsyncSession, Principal, AttentionFilter], Awaitable[list[AttentionItem]]]
_SOURCES: dict[tuple[Kind, ...], _Source] = {
    ("failed_runs",): _failed,
    ("queued_runs",): _queued,
    ("stuck_runs",): _stuck,
    ("failed_deliveries",): _deliveries,
    ("trigger", "failing_trigger"): _triggers,
    ("connection", "expiry"): _connections,
    ("budget",): _budgets,
    ("alert",): _alerts,
    ("dead_worker",): _dead,
}
