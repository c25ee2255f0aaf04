"""Operations on rules, alerts and notices. A rule belongs to its space; one of the organisation to its admins."""

from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.alerts import repository
from headgate.features.alerts.checks import check_rule
from headgate.features.alerts.errors import (
    AlertNotFound,
    AlertNoticeNotFailed,
    AlertNoticeNotFound,
    AlertRuleInvalid,
    AlertRuleNotFound,
    TooManyAlertRules,
)
from headgate.features.alerts.evaluation import ask_evaluation
from headgate.features.alerts.repository import AnyRow, Listed
from headgate.features.alerts.schemas import (
    AlertNoticeOut,
    AlertOut,
    AlertRuleIn,
    AlertRuleOut,
    AlertRulePatch,
    AlertState,
    AlertTestOut,
)
from headgate.features.alerts.sending import AlertSender, seal_url
from headgate.features.alerts.tables import AlertRuleRow
from headgate.features.alerts.views import alert_out, notice_out, rule_out
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record, record_of
from headgate.features.flows.service import get_flow
from headgate.features.jobs.leases import clock
from headgate.features.processes.service import may_manage
from headgate.features.runs.ports.flows import Sealer
from headgate.foundation.database import Database, microseconds
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import shown_url
from headgate.foundation.ids import is_id, new_id

MOST_RULES = 1_000
"""Of an organisation."""
_RECORDED = (
    *("name", "kind", "flow_id", "threshold", "window_seconds", "fewest_runs", "connection_id", "recipients"),
    *("webhook_shown", "escalation_seconds", "escalation_connection_id", "escalation_recipients", "quiet_seconds"),
    *("notify_resolved", "language", "enabled", "muted_until"),
)
_NULLABLE = frozenset({"connection_id", "escalation_seconds", "escalation_connection_id", "muted_until"})


async def add_rule(session: AsyncSession, principal: Principal, body: AlertRuleIn, *, box: Sealer) -> AlertRuleOut:
    """Add a rule. Raises `FlowNotFound`, `PermissionMissing`, `AlertRuleInvalid`, `TooManyAlertRules`."""
    space_id = body.space_id
    if body.flow_id is not None:
        flow = await get_flow(session, principal, body.flow_id, permission=Permission.ALERTS_MANAGE)
        if space_id not in (None, flow.space_id):
            raise AlertRuleInvalid("The flow is in another space.", remedy="Omit the space.")
        space_id = flow.space_id
    elif space_id is not None:
        hidden = AlertRuleInvalid(f"There is no space '{space_id}'.", remedy="List the spaces to see their ids.")
        principal.require_in(space_id, Permission.ALERTS_MANAGE, hidden)
    else:
        _require_whole(principal, Permission.ALERTS_MANAGE)
    if body.kind == "dead_worker" and (space_id is not None or not may_manage(principal)):
        raise AlertRuleInvalid(
            "Servers and workers are those of the installation: only admins of its first organisation watch them.",
            remedy="Add the rule there, for all spaces.",
        )
    if await repository.count_rules(session, tenant_id=principal.tenant_id) >= MOST_RULES:
        raise TooManyAlertRules(f"There are {MOST_RULES} rules, which is the most.", remedy="Remove some.")
    at = clock()
    values = body.model_dump(exclude={"webhook_url", "space_id"})
    row = AlertRuleRow(
        **values,
        id=new_id(),
        tenant_id=principal.tenant_id,
        space_id=space_id,
        webhook=None,
        webhook_shown="",
        notices=0,
        created_by_user_id=principal.user_id or None,
        created_at=at,
        updated_at=at,
    )
    _set_webhook(row, body.webhook_url, box)
    await check_rule(session, row)
    session.add(row)
    await session.flush()
    await _record(session, principal, "alert_rule.created", row)
    await ask_evaluation(session, tenant_id=row.tenant_id)
    return rule_out(await _listed(session, principal, row.id))


async def change_rule(
    session: AsyncSession, principal: Principal, rule_id: str, body: AlertRulePatch, *, box: Sealer
) -> AlertRuleOut:
    """Change or mute a rule. Raises what `add_rule` raises, and `AlertRuleNotFound`."""
    row = await _managed(session, principal, rule_id)
    before = _recorded(row)
    values = body.model_dump(exclude_unset=True, exclude={"webhook_url", "muted_until"})
    for name, value in values.items():
        if value is not None or name in _NULLABLE:
            setattr(row, name, value)
    if body.webhook_url is not None:
        _set_webhook(row, body.webhook_url, box)
    if "muted_until" in body.model_fields_set:
        row.muted_until = None if body.muted_until is None else microseconds(_aware(body))
    await check_rule(session, row)
    row.updated_at = clock()
    await session.flush()
    await _record(session, principal, "alert_rule.changed", row, before=before)
    await ask_evaluation(session, tenant_id=row.tenant_id)
    return rule_out(await _listed(session, principal, row.id))


def _aware(body: AlertRulePatch) -> datetime:
    if body.muted_until is None or body.muted_until.tzinfo is None:
        raise AlertRuleInvalid("The time has no time zone.", remedy="Write it as 2026-01-31T18:00:00Z.")
    return body.muted_until


async def remove_rule(session: AsyncSession, principal: Principal, rule_id: str) -> None:
    """Remove a rule with its alerts and notices. Raises `AlertRuleNotFound`, `PermissionMissing`."""
    row = await _managed(session, principal, rule_id)
    await _record(session, principal, "alert_rule.removed", row)
    await session.delete(row)
    await session.flush()


async def get_rule(session: AsyncSession, principal: Principal, rule_id: str) -> AlertRuleOut:
    """Return a rule. Raises `AlertRuleNotFound`, `PermissionMissing`."""
    listed = await _listed(session, principal, rule_id)
    _require_rule(principal, listed.row, Permission.RUNS_VIEW, AlertRuleNotFound(rule_id))
    return rule_out(listed)


async def list_rules(
    session: AsyncSession, principal: Principal, *, flow_id: str | None = None, limit: int, before: str | None = None
) -> list[AlertRuleOut]:
    """List the rules of the caller's spaces, newest first; those of the organisation for its admins."""
    spaces = principal.spaces_where(Permission.RUNS_VIEW)
    tenant_id = principal.tenant_id
    rows = await repository.list_rules(
        session, tenant_id=tenant_id, spaces=spaces, flow_id=flow_id, limit=limit, before=before
    )
    return [rule_out(listed) for listed in rows]


async def test_rule(database: Database, principal: Principal, rule_id: str, sender: AlertSender) -> list[AlertTestOut]:
    """Send a test notice through every channel of a rule, and return the outcomes.

    Raises `AlertRuleNotFound`, `PermissionMissing`, `AlertRuleInvalid` for a rule without a channel.
    """
    async with database.writing() as session:
        row = await _managed(session, principal, rule_id)
        if not (row.connection_id or row.webhook or row.escalation_connection_id):
            raise AlertRuleInvalid("The rule notifies nobody.", remedy="Set a connection or a webhook in the rule.")
        await _record(session, principal, "alert_rule.tested", row)
        session.expunge(row)
    return [
        AlertTestOut.model_validate(
            {
                "channel": channel,
                "delivered": outcome.delivered,
                "status": outcome.status,
                "code": outcome.code or "",
                "message": outcome.message or "",
            }
        )
        for channel, outcome in await sender.test(row)
    ]


async def list_alerts(
    session: AsyncSession,
    principal: Principal,
    *,
    rule_id: str | None = None,
    state: AlertState | None = None,
    limit: int,
    before: str | None = None,
) -> list[AlertOut]:
    """List alerts of the caller's spaces, newest first."""
    rows = await repository.list_alerts(
        session,
        tenant_id=principal.tenant_id,
        spaces=principal.spaces_where(Permission.RUNS_VIEW),
        rule_id=rule_id,
        state=state,
        limit=limit,
        before=before,
    )
    return [alert_out(row) for row in rows]


async def acknowledge(session: AsyncSession, principal: Principal, alert_id: str) -> AlertOut:
    """Acknowledge an alert: it does not escalate. No effect on one that is not open.

    Raises `AlertNotFound`, `PermissionMissing`.
    """
    alert, rule = await _find_alert(session, principal, alert_id)
    space_id = alert.space_id or rule.space_id
    if space_id is None:
        _require_whole(principal, Permission.RUNS_START)
    else:
        principal.require_in(space_id, Permission.RUNS_START, AlertNotFound(alert_id))
    await repository.lock_rule(session, rule.id, tenant_id=rule.tenant_id)
    await session.refresh(alert)
    if alert.state == "open":
        alert.state, alert.acknowledged_at = "acknowledged", clock()
        alert.acknowledged_by_user_id = principal.user_id or None
        await session.flush()
        await record(
            session,
            principal,
            "alert.acknowledged",
            id=alert.id,
            name=rule.name,
            space_id=space_id,
            payload={"rule_id": rule.id, "flow_id": alert.subject or None},
        )
    return alert_out(await _find_alert(session, principal, alert_id))


async def list_notices(
    session: AsyncSession, principal: Principal, *, rule_id: str | None = None, limit: int, before: str | None = None
) -> list[AlertNoticeOut]:
    """List notices of rules that the caller can view, newest first."""
    rows = await repository.list_notices(
        session,
        tenant_id=principal.tenant_id,
        spaces=principal.spaces_where(Permission.RUNS_VIEW),
        rule_id=rule_id,
        limit=limit,
        before=before,
    )
    return [notice_out(row) for row in rows]


async def redeliver(session: AsyncSession, principal: Principal, notice_id: str) -> AlertNoticeOut:
    """Send a failed notice again, with its key. Raises `AlertNoticeNotFound`, `AlertNoticeNotFailed`."""
    notice, rule = await _find_notice(session, principal, notice_id)
    _require_rule(principal, rule, Permission.ALERTS_MANAGE, AlertNoticeNotFound(notice_id))
    if not await repository.reopen_notice(session, notice.id, clock(), tenant_id=principal.tenant_id):
        raise AlertNoticeNotFailed(f"The notice is {notice.status}.", remedy="Only failed notices are sent again.")
    await record(
        session,
        principal,
        "alert.redelivered",
        id=notice.id,
        name=rule.name,
        space_id=rule.space_id,
        payload={"rule_id": rule.id, "channel": notice.channel},
    )
    return notice_out(await _find_notice(session, principal, notice_id))


async def _listed(session: AsyncSession, principal: Principal, rule_id: str) -> Listed:
    """Return a rule of a space that the caller can view. Raises `AlertRuleNotFound`."""
    spaces, tenant_id = principal.visible_spaces, principal.tenant_id
    known = is_id(rule_id)
    rows = (
        await repository.list_rules(session, tenant_id=tenant_id, spaces=spaces, rule_id=rule_id, limit=1)
        if known
        else []
    )
    if not rows:
        raise AlertRuleNotFound(rule_id)
    return rows[0]


async def _managed(session: AsyncSession, principal: Principal, rule_id: str) -> AlertRuleRow:
    listed = await _listed(session, principal, rule_id)
    _require_rule(principal, listed.row, Permission.ALERTS_MANAGE, AlertRuleNotFound(rule_id))
    row = await repository.lock_rule(session, rule_id, tenant_id=principal.tenant_id)
    if row is None:
        raise AlertRuleNotFound(rule_id)
    return row


async def _find_alert(session: AsyncSession, principal: Principal, alert_id: str) -> AnyRow:
    spaces, tenant_id = principal.visible_spaces, principal.tenant_id
    known = is_id(alert_id)
    rows = (
        await repository.list_alerts(session, tenant_id=tenant_id, spaces=spaces, alert_id=alert_id, limit=1)
        if known
        else []
    )
    if not rows:
        raise AlertNotFound(alert_id)
    return rows[0]


async def _find_notice(session: AsyncSession, principal: Principal, notice_id: str) -> AnyRow:
    spaces, tenant_id = principal.visible_spaces, principal.tenant_id
    known = is_id(notice_id)
    rows = (
        await repository.list_notices(session, tenant_id=tenant_id, spaces=spaces, notice_id=notice_id, limit=1)
        if known
        else []
    )
    if not rows:
        raise AlertNoticeNotFound(notice_id)
    return rows[0]


def _require_rule(principal: Principal, rule: AlertRuleRow, permission: Permission, hidden: HeadgateError) -> None:
    if rule.space_id is None:
        _require_whole(principal, permission)
    else:
        principal.require_in(rule.space_id, permission, hidden)


def _require_whole(principal: Principal, permission: Permission) -> None:
    """Raise `PermissionMissing` unless the caller has a permission in every space of the tenant."""
    if principal.spaces_where(permission) is not None:
        raise PermissionMissing(permission, by_key=principal.access.admin)


def _set_webhook(row: AlertRuleRow, url: str, box: Sealer) -> None:
    url = url.strip()
    row.webhook_shown = shown_url(url) if url else ""
    row.webhook = seal_url(box, url) if url else None


def _recorded(row: AlertRuleRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _RECORDED}


async def _record(
    session: AsyncSession,
    principal: Principal,
    action: Action,
    row: AlertRuleRow,
    *,
    before: Any = None,  # noqa: ANN401
) -> None:
    after = _recorded(row)
    await record_of(
        session,
        principal,
        action,
        row,
        before=after if action == "alert_rule.removed" else before,
        after=None if action == "alert_rule.removed" else after,
        payload=after,
    )
