"""API views of rules, alerts and notices."""

from headgate.features.alerts.evaluation import is_muted
from headgate.features.alerts.letters import Content
from headgate.features.alerts.repository import AnyRow, Listed
from headgate.features.alerts.schemas import AlertNoticeOut, AlertOut, AlertRuleOut, NoticeError, RuleState
from headgate.features.jobs.leases import clock
from headgate.foundation.database import moment


def _state(listed: Listed) -> RuleState:
    if not listed.row.enabled:
        return "off"
    if is_muted(listed.row, clock()):
        return "muted"
    if listed.open == 0:
        return "ok"
    return "open" if listed.unseen else "acknowledged"


def rule_out(listed: Listed) -> AlertRuleOut:
    """Return a rule with its state."""
    row = listed.row
    times = ("muted_until", "fired_at", "created_at", "updated_at")
    values = {name: getattr(row, name) for name in AlertRuleOut.model_fields if hasattr(row, name)}
    values |= {name: None if values[name] is None else moment(values[name]) for name in times}
    return AlertRuleOut.model_validate(
        values
        | {
            "state": _state(listed),
            "flow_name": listed.flow_name,
            "open": listed.open,
            "failed_notices": listed.failed,
        }
    )


def alert_out(listed: AnyRow) -> AlertOut:
    """Return an alert, of a row with its rule."""
    row, rule = listed
    times = ("opened_at", "resolved_at", "acknowledged_at", "escalated_at")
    return AlertOut.model_validate(
        {
            "id": row.id,
            "rule_id": rule.id,
            "rule_name": rule.name,
            "kind": rule.kind,
            "state": row.state,
            "flow_id": row.subject or None,
            "name": row.name,
            "value": row.value,
            "threshold": rule.threshold,
            "window_seconds": rule.window_seconds,
        }
        | {name: None if getattr(row, name) is None else moment(getattr(row, name)) for name in times}
    )


def notice_out(listed: AnyRow) -> AlertNoticeOut:
    """Return a notice, of a row with its rule."""
    row = listed[0]
    content = Content.model_validate(row.content)
    return AlertNoticeOut(
        id=row.id,
        rule_id=row.rule_id,
        kind=row.kind,
        channel=row.channel,
        status=row.status,
        opened=content.opened_count,
        resolved=content.resolved_count,
        attempts=row.attempts,
        last_status=row.last_status,
        error=NoticeError(code=row.error_code, message=row.error_message or "") if row.error_code else None,
        created_at=moment(row.created_at),
        sent_at=None if row.sent_at is None else moment(row.sent_at),
        next_attempt_at=None if row.due_at is None else moment(row.due_at),
    )
