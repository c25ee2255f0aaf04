"""Whether and when a failed step is attempted again, and how long an attempt may take. Pure."""

import hashlib

import orjson

from headgate.features.models.errors import (
    AnswerWithheld,
    KeyRejected,
    ModelNotAccessible,
    QuotaExhausted,
    RequestRefused,
)
from headgate.features.runs.budgets.errors import BUDGET_EXCEEDED
from headgate.features.runs.steps.planned import PlannedStep
from headgate.features.runs.transitions import Failed
from headgate.features.runs.waiting import Failure, Suspension, Tries, WaitReason
from headgate.foundation.errors import Cancelled, HeadgateError, RateLimited, Unavailable, UpstreamFailed
from headgate.foundation.settings.engine import EngineSettings
from headgate.graph.error_codes import ANY_CODE
from headgate.graph.model import RetryPolicy

MICROSECONDS = 1_000_000
_MAY_PASS = (Unavailable, RateLimited, UpstreamFailed)
_WILL_NOT_PASS = (AnswerWithheld, KeyRejected, ModelNotAccessible, QuotaExhausted, RequestRefused)
"""Errors of the same kinds that the same request meets again."""


def seconds_left(step: PlannedStep, tries: Tries, engine: EngineSettings, now: int) -> float:
    """Return how long an attempt may take that begins now; 0 when the limit of all attempts is reached."""
    limit = min(step.timeout_seconds or engine.step_timeout_seconds, engine.longest_step_seconds)
    total = step.step.policy.total_timeout_seconds
    if total is None or tries.since is None:
        return limit if total is None else min(limit, total)
    return max(0.0, min(limit, total - (now - tries.since) / MICROSECONDS))


def next_attempt(
    run_id: str, step: PlannedStep, tries: Tries, error: Exception, failed: Failed, *, began: int, now: int
) -> Suspension | None:
    """Return the wait for the next attempt at a step; None when no attempt is left, or the error is not retried.

    Args:
        run_id: The run; with the step and the number of failures it decides on the jitter.
        step: The step.
        tries: Its failed attempts before this one.
        error: What this attempt raised.
        failed: The failure as it is stored.
        began: Start of this attempt: microseconds in UTC.
        now: Microseconds in UTC.
    """
    retry, failures = step.retry, tries.failures + 1
    if retry is None or failures >= retry.max_attempts or not is_retried(retry, error):
        return None
    since = began if tries.since is None else tries.since
    due_at = now + int(delay(retry, failures, error, f"{run_id}:{step.id}") * MICROSECONDS)
    total = step.step.policy.total_timeout_seconds
    if total is not None and due_at - since >= total * MICROSECONDS:
        return None
    record = failed.record
    so_far = Tries(failures, since, record.tokens_input, record.tokens_output)
    failure = Failure(failed.code, failed.message, _record(failed, tries), so_far, retry.max_attempts)
    return Suspension(failed.claim, WaitReason.RETRY, due_at, failure)


def is_retried(retry: RetryPolicy, error: Exception) -> bool:
    """Return whether a policy retries an error. What stops a run, or exceeds its budget, is never retried."""
    code = error.code if isinstance(error, HeadgateError) else HeadgateError.code
    if isinstance(error, Cancelled) or code == BUDGET_EXCEEDED:
        return False
    if retry.codes:
        return code in retry.codes or ANY_CODE in retry.codes
    return isinstance(error, _MAY_PASS) and not isinstance(error, _WILL_NOT_PASS)


def delay(retry: RetryPolicy, failures: int, error: Exception, name: str) -> float:
    """Return the seconds until the next attempt: at least what the server asked for, never over the maximum.

    The jitter comes from the names, so that the same failure waits equally long in every process.
    """
    doubled = retry.delay_seconds * 2.0 ** min(failures - 1, 60) if retry.backoff == "exponential" else None
    seconds = retry.delay_seconds if doubled is None else doubled
    share = int.from_bytes(hashlib.sha256(f"{name}:{failures}".encode()).digest()[:4]) / 0xFFFFFFFF
    seconds *= 1 + retry.jitter * (2 * share - 1)
    asked = error.extra.get("retry_after_seconds") if isinstance(error, HeadgateError) else None
    if isinstance(asked, int | float):
        seconds = max(seconds, float(asked))
    return min(seconds, retry.max_delay_seconds)


def _record(failed: Failed, tries: Tries) -> str:
    """Return what the attempt left, with its own tokens: those of earlier attempts are in their records."""
    record = failed.record
    members = {
        "input": _json(record.input_payload),
        "model_parameters": _json(record.model_parameters),
        "tool_calls": _json(record.tool_calls),
        "log": _json(record.log),
        "effective_prompt": record.effective_prompt,
        "tokens_input": _without(record.tokens_input, tries.tokens_input),
        "tokens_output": _without(record.tokens_output, tries.tokens_output),
    }
    return orjson.dumps(members).decode()


def _json(document: str | None) -> orjson.Fragment | None:
    return None if document is None else orjson.Fragment(document)


def _without(total: int | None, earlier: int | None) -> int | None:
    return total if total is None else total - (earlier or 0)
