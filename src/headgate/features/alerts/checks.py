"""Checks the settings of a rule: its threshold, and the connections of its notices."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.components.mail.messages import addresses
from headgate.features.alerts.errors import AlertRuleInvalid
from headgate.features.alerts.schemas import FIXED, THRESHOLDS
from headgate.features.alerts.tables import AlertRuleRow
from headgate.features.connections.repository import find_shared
from headgate.sdk.approvals import NOTICE_KINDS


async def check_rule(session: AsyncSession, row: AlertRuleRow) -> None:
    """Raise `AlertRuleInvalid` for settings that do not fit together."""
    lowest, highest = next(bounds for kind, bounds in THRESHOLDS.items() if kind == row.kind)
    if row.kind in FIXED:
        row.threshold, window_seconds = FIXED[row.kind]
        row.window_seconds = window_seconds or row.window_seconds
    elif not lowest <= row.threshold <= highest:
        raise AlertRuleInvalid(
            f"The threshold {row.threshold:g} is not between {lowest:g} and {highest:g}.",
            remedy="Set a threshold in this range.",
        )
    await _check_connection(session, row, row.connection_id, row.recipients, "recipients")
    escalates = row.escalation_connection_id is not None
    if escalates != (row.escalation_seconds is not None):
        raise AlertRuleInvalid("An escalation needs a time and a connection.", remedy="Set both, or neither.")
    await _check_connection(
        session, row, row.escalation_connection_id, row.escalation_recipients, "escalation_recipients"
    )


async def _check_connection(
    session: AsyncSession, row: AlertRuleRow, connection_id: str | None, recipients: Sequence[str], field: str
) -> None:
    for recipient in recipients:
        if len(addresses(recipient, field=field)) != 1:
            raise AlertRuleInvalid(f"{recipient!r} is not a mail address.", remedy="Write it as eva@example.org.")
    if connection_id is None:
        return
    connection = await find_shared(
        session, connection_id, tenant_id=row.tenant_id, space_id=row.space_id, kinds=NOTICE_KINDS
    )
    if connection is None:
        raise AlertRuleInvalid(
            "There is no such connection for mail or notifications in the space of the rule.",
            remedy="Choose a shared connection of the kind SMTP or Notification address.",
        )
    if connection.kind == "smtp" and not recipients:
        raise AlertRuleInvalid("Mail needs recipients.", remedy=f"Set `{field}`.")
