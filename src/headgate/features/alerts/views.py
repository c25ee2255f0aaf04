"""API views of rules, alerts and notices."""

from headgate.features.alerts.evaluation import is_muted
from headgate.features.alerts.letters import Content
from headgate.features.alerts.repository import AnyRow, Listed
from headgate.features.alerts.schemas import AlertNoticeOut, AlertOut, AlertRuleOut, NoticeError, RuleState
from headgate.features.jobs.leases import clock
from headgate.foundation.database import moment
from headgate.foundation.shaped import shaped


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
    return shaped(
        AlertRuleOut,
        listed.row,
        state=_state(listed),
        flow_name=listed.flow_name,
        open=listed.open,
        failed_notices=listed.failed,
    )


def alert_out(listed: AnyRow) -> AlertOut:
    """Return an alert, of a row with its rule."""
    row, rule = listed
    return shaped(
        AlertOut,
        row,
        rule_id=rule.id,
        rule_name=rule.name,
        kind=rule.kind,
        flow_id=row.subject or None,
        threshold=rule.threshold,
        window_seconds=rule.window_seconds,
    )


def notice_out(listed: AnyRow) -> AlertNoticeOut:
    """Return a notice, of a row with its rule."""
    row = listed[0]
    content = Content.model_validate(row.content)
    return shaped(
        AlertNoticeOut,
        row,
        opened=content.opened_count,
        resolved=content.resolved_count,
        error=NoticeError(code=row.error_code, message=row.error_message or "") if row.error_code else None,
        next_attempt_at=None if row.due_at is None else moment(row.due_at),
    )
