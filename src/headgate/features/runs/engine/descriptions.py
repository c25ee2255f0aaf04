"""Describes failures and interruptions of steps, for rows and logs."""

from pydantic import JsonValue

from headgate.features.runs.steps.planned import PlannedStep
from headgate.features.runs.steps.recorder import Recorder
from headgate.features.runs.transitions import Claim, clock
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import redact_text
from headgate.foundation.quoting import shortened
from headgate.sdk.coerce import clean_text

LONGEST_MESSAGE = 2000
"""Characters kept of the message of an unexpected exception."""


def interruption_warning(step: PlannedStep, claim: Claim, recorder: Recorder) -> dict[str, JsonValue]:
    """Return the log line of an attempt that follows an interrupted one: a step is never repeated silently."""
    text = f"Attempt {claim.attempt - 1} was interrupted: its worker died or lost the database connection."
    if step.step.effect:
        text += " Its external effect may already have happened; this attempt repeats it."
    return recorder.line(text, {}, clock())


def description_of(error: Exception) -> tuple[str, str]:
    """Return code and message of a failure, safe to store and show."""
    if isinstance(error, HeadgateError):
        return error.code, clean_text(redact_text(str(error)))
    return "internal_error", shortened(clean_text(redact_text(f"{type(error).__name__}: {error}")), LONGEST_MESSAGE)
