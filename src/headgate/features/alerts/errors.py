"""Errors of alerts."""

from headgate.foundation.errors import Conflict, Invalid, NotFound


class AlertRuleNotFound(NotFound):
    """The caller sees no such rule."""

    code = "alert_rule_not_found"
    detail = "There is no alert rule '{}'."
    remedy = "List the alert rules to see their ids."


class AlertNotFound(NotFound):
    """The caller sees no such alert."""

    code = "alert_not_found"
    detail = "There is no alert '{}'."
    remedy = "List the alerts to see their ids."


class AlertNoticeNotFound(NotFound):
    """The caller sees no such notice."""

    code = "alert_notice_not_found"
    detail = "There is no alert notice '{}'."
    remedy = "List the notices of the rule."


class AlertRuleInvalid(Invalid):
    """The settings of a rule do not fit together."""

    code = "alert_rule_invalid"
    title = "Invalid alert rule"


class TooManyAlertRules(Conflict):
    """The organisation has as many rules as possible."""

    code = "too_many_alert_rules"


class AlertNoticeNotFailed(Conflict):
    """Only a failed notice is sent again."""

    code = "alert_notice_not_failed"
    title = "The notice has not failed"
