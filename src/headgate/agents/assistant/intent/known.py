"""Requests with a known intent: the fixed texts that the page sends."""

from headgate.agents.assistant.intent.intents import IntentResult
from headgate.agents.assistant.protocol import (
    COMPONENT_CONTINUATION_INPUT,
    EDIT_CONTINUATION_INPUT,
    PLAN_APPROVAL_INPUT,
)
from headgate.agents.assistant.turn.usage import Tokens
from headgate.foundation.log import get_logger

log = get_logger("headgate.agents.assistant")


def deterministic(text: str) -> IntentResult | None:
    """Return the intent of a fixed text of the page, without a model call (seed 000, ADR-034 and ADR-045)."""
    line = text.strip()
    if line == PLAN_APPROVAL_INPUT:
        log.info("intent.build_flow.deterministic: plan-approval continuation signal")
    elif line == EDIT_CONTINUATION_INPUT:
        log.info("intent.build_flow.deterministic: edit-continuation signal")
    elif line == COMPONENT_CONTINUATION_INPUT:
        log.info("intent.build_flow.deterministic: component-continuation signal")
    else:
        return None
    return IntentResult("build_flow", text, Tokens())
