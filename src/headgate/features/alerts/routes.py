"""HTTP routes of alerts."""

from typing import Annotated

from fastapi import Depends, Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.alerts import service
from headgate.features.alerts.schemas import (
    AlertNoticeOut,
    AlertOut,
    AlertRuleIn,
    AlertRuleOut,
    AlertRulePatch,
    AlertState,
    AlertTestOut,
)
from headgate.features.alerts.sending import AlertSender
from headgate.foundation.api import (
    Cursor,
    Limit,
    Page,
    ReadSession,
    Routes,
    WriteSession,
    get_database,
    page_of,
    parse_cursor,
    part,
)
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.graph.json_values import PlainText

router = Routes(tags=["alerts"])
Rows = Annotated[Database, Depends(get_database)]
_VIEW, _START = [needs(Permission.RUNS_VIEW)], [needs(Permission.RUNS_START)]
_MANAGE = [needs(Permission.ALERTS_MANAGE)]


Box = Annotated[SecretBox, part("box")]
Sender = Annotated[AlertSender, part("alert_sender")]
FlowId = Annotated[PlainText | None, Query(max_length=36, description="Only rules of this flow.")]
RuleId = Annotated[PlainText | None, Query(max_length=36, description="Only those of this rule.")]


@router.get("/alert-rules", "List alert rules", _VIEW)
async def list_rules(
    session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None, flow_id: FlowId = None
) -> Page[AlertRuleOut]:
    """List the alert rules of your spaces, newest first; those of the organisation for its admins."""
    before = parse_cursor(cursor)
    rows = await service.list_rules(session, caller, flow_id=flow_id, limit=limit + 1, before=before)
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.post("/alert-rules", "Add an alert rule", _MANAGE, status_code=201, problems=(403, 404, 409))
async def add_rule(body: AlertRuleIn, session: WriteSession, caller: Caller, box: Box) -> AlertRuleOut:
    """Add a rule for a flow, a space or the organisation. It is evaluated every minute."""
    return await service.add_rule(session, caller, body, box=box)


@router.get("/alert-rules/{rule_id}", "Read an alert rule", _VIEW, problems=(404,))
async def read_rule(rule_id: str, session: ReadSession, caller: Caller) -> AlertRuleOut:
    """Return a rule with its state."""
    return await service.get_rule(session, caller, rule_id)


@router.patch("/alert-rules/{rule_id}", "Change an alert rule", _MANAGE, problems=(403, 404))
async def change_rule(
    rule_id: str, body: AlertRulePatch, session: WriteSession, caller: Caller, box: Box
) -> AlertRuleOut:
    """Change, mute, disable or enable a rule."""
    return await service.change_rule(session, caller, rule_id, body, box=box)


@router.delete("/alert-rules/{rule_id}", "Remove an alert rule", _MANAGE, problems=(403, 404))
async def remove_rule(rule_id: str, session: WriteSession, caller: Caller) -> None:
    """Remove a rule with its alerts and notices."""
    await service.remove_rule(session, caller, rule_id)


@router.post("/alert-rules/{rule_id}/test", "Send a test notice", _MANAGE, problems=(403, 404))
async def test_rule(rule_id: str, database: Rows, caller: Caller, sender: Sender) -> list[AlertTestOut]:
    """Send a test notice through every channel of a rule now, and return what each answered."""
    return await service.test_rule(database, caller, rule_id, sender)


@router.get("/alerts", "List alerts", _VIEW)
async def list_alerts(
    session: ReadSession,
    caller: Caller,
    limit: Limit = 50,
    cursor: Cursor = None,
    rule_id: RuleId = None,
    state: AlertState | None = None,
) -> Page[AlertOut]:
    """List alerts of your spaces, newest first. Resolved ones are kept for 90 days."""
    before = parse_cursor(cursor)
    rows = await service.list_alerts(session, caller, rule_id=rule_id, state=state, limit=limit + 1, before=before)
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.post("/alerts/{alert_id}/acknowledge", "Acknowledge an alert", _START, problems=(403, 404))
async def acknowledge(alert_id: str, session: WriteSession, caller: Caller) -> AlertOut:
    """Acknowledge an open alert: it leaves the attention list and does not escalate."""
    return await service.acknowledge(session, caller, alert_id)


@router.get("/alert-notices", "List notices of alerts", _VIEW)
async def list_notices(
    session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None, rule_id: RuleId = None
) -> Page[AlertNoticeOut]:
    """List notices of alerts with the outcome of their delivery, newest first."""
    before = parse_cursor(cursor)
    rows = await service.list_notices(session, caller, rule_id=rule_id, limit=limit + 1, before=before)
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.post("/alert-notices/{notice_id}/redeliver", "Send a failed notice again", _MANAGE, problems=(403, 404, 409))
async def redeliver(notice_id: str, session: WriteSession, caller: Caller) -> AlertNoticeOut:
    """Send a failed notice again, with the same idempotency key, as the rule is now."""
    return await service.redeliver(session, caller, notice_id)
