"""Converts errors of provider libraries to errors with a cause and a remedy."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.features.models.errors import (
    AnswerWithheld,
    BrokenModelAnswer,
    KeyRejected,
    ModelCallFailed,
    ModelNotAccessible,
    ModelRateLimited,
    ModelTimedOut,
    ModelUnreachable,
    PromptTooLong,
    ProviderFailed,
    QuotaExhausted,
    RequestRefused,
)
from headgate.features.models.failure import Failure, causes, read_failure
from headgate.features.models.setup.roles import timeout_variable
from headgate.features.models.setup.values import ModelRole
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import ConnectFailed, ConnectionDropped, HostNotFound


@dataclass(frozen=True, slots=True)
class Caller:
    """The called model, as named in messages."""

    model: str = "the model"
    """`provider/name`."""
    provider: str = "The model provider"
    """The provider's label."""
    key_variable: str = ""
    """The key's variable; empty for a model without one."""
    base_url: str = ""
    timeout_seconds: float | None = None
    server: bool = False
    """Whether it is a user-defined model server."""
    role: ModelRole | None = None
    """The role of the model; None for the model of a step."""


Rule = Callable[[Failure, Caller], HeadgateError | None]

_TOO_LONG = (
    "context_length_exceeded", "maximum context length", "prompt is too long", "exceeds the context window",
    "exceeds the available context size", "exceed_context_size", "input token count", "request_too_large",
    "reduce the length of the messages", "input tokens exceed",
)  # fmt: skip
_NO_SUCH_MODEL = (
    "model_not_found", "does not have access to model", "model is not available", "model does not exist",
    "model not available", "no access to model", "model_decommissioned", "model_not_supported",
)  # fmt: skip
_BAD_KEY = ("api key not valid", "api_key_invalid", "invalid api key", "invalid_api_key", "authentication_error")
_NO_MONEY = ("insufficient_quota", "credit balance is too low", "billing_hard_limit", "billing_not_active")
_MAYBE_NO_MONEY = ("exceeded your current quota", "check your plan and billing")
_TOO_MANY = ("rate_limit", "resource_exhausted", "too many requests")
_FILTERED = ("content_filter", "content_policy", "content filter", "contentfilterfinishreasonerror")
_PROVIDER_DOWN = ("overloaded_error", "server_error", "internal_error", "service_unavailable")
_CONNECTION = (ConnectFailed, ConnectionDropped, HostNotFound)


def friendly_error(error: BaseException, caller: Caller | None = None) -> HeadgateError:
    """Return the error to show for an exception raised by a call to a model.

    An exception that already is, or came from, a `HeadgateError` gives that one, unless it only says that a connection
    failed: the rules below name the provider too. The provider's own words are kept, the deepest that mean something;
    keys are taken out of them.
    """
    for cause in causes(error):
        if isinstance(cause, HeadgateError) and not isinstance(cause, _CONNECTION):
            return cause
    failure = read_failure(error)
    caller = caller or Caller()
    return next(shown for rule in _RULES if (shown := rule(failure, caller)) is not None)


def _prompt_too_long(failure: Failure, caller: Caller) -> HeadgateError | None:
    if "ContextOverflowError" in failure.names or failure.status == 413 or _any(_TOO_LONG, failure):
        return PromptTooLong(
            f"The prompt is too long for {caller.model}: {failure.message}",
            remedy=(
                "Send less text (SplitText and Map process it in parts), or choose a model with a "
                "larger context window."
            ),
        )
    return None


def _withheld(failure: Failure, caller: Caller) -> HeadgateError | None:
    if "ContentFilterFinishReasonError" in failure.names or _any(_FILTERED, failure):
        return AnswerWithheld(
            f"{caller.provider} withheld the answer of {caller.model}: {failure.message}",
            remedy="Its content filter blocked it. Change the prompt or the input, or choose another model.",
        )
    return None


def _quota(failure: Failure, caller: Caller) -> HeadgateError | None:
    sure = failure.status == 402 or _any(_NO_MONEY, failure)
    if sure or (failure.status == 429 and failure.retry_after is None and _any(_MAYBE_NO_MONEY, failure)):
        return QuotaExhausted(
            f"The {caller.provider} account has no quota left: {failure.message}",
            remedy=f"Check billing at {caller.provider}, use another key, or choose another provider.",
        )
    return None


def _rate_limited(failure: Failure, caller: Caller) -> HeadgateError | None:
    if failure.status != 429 and (failure.status is not None or not _any(_TOO_MANY, failure)):
        return None
    pause = f"in {failure.retry_after:g} seconds" if failure.retry_after else "in a minute"
    extra: dict[str, JsonValue] = {"requests": failure.requests}
    if failure.retry_after is not None:
        extra["retry_after_seconds"] = failure.retry_after
    return ModelRateLimited(
        f"{caller.provider} is rate limiting {caller.model}: {failure.message}",
        remedy=f"Try again {pause}, lower the concurrency, or choose another model.",
        **extra,
    )


def _not_accessible(failure: Failure, caller: Caller) -> HeadgateError | None:
    if failure.status != 404 and not _any(_NO_SUCH_MODEL, failure):
        return None
    where = f" and that {caller.base_url} is the correct URL" if caller.base_url else ""
    return ModelNotAccessible(
        f"{caller.provider} has no model {caller.model} for this key: {failure.message}",
        remedy=f"Check the model's name{where}, give your account access to it, or choose another model.",
        model=caller.model,
    )


def _key_rejected(failure: Failure, caller: Caller) -> HeadgateError | None:
    if failure.status not in {401, 403} and not _any(_BAD_KEY, failure):
        return None
    if caller.key_variable:
        remedy = (
            f"The key is in the variable {caller.key_variable}. Correct it in Settings, Models, with "
            f"`headgate variables set {caller.key_variable}`, or in the environment."
        )
    elif caller.server:
        remedy = f"Change the key of the server '{caller.provider}' in Settings, Models."
    else:
        remedy = "Configure a key that has access to this model."
    return KeyRejected(
        f"{caller.provider} rejected the key: {failure.message}",
        remedy=remedy,
        **({"variable": caller.key_variable} if caller.key_variable else {}),
    )


def _timed_out(failure: Failure, caller: Caller) -> HeadgateError | None:
    if failure.status not in {408, 504} and not (failure.timed_out and failure.status is None):
        return None
    within = f" within {caller.timeout_seconds:g} seconds" if caller.timeout_seconds else " in time"
    return ModelTimedOut(
        f"{caller.model} did not answer{within}.",
        remedy=f"Try again, shorten the prompt or `max_tokens`, or raise {_time_limit(caller.role)}.",
    )


def _time_limit(role: ModelRole | None) -> str:
    """Return where the time limit of a model is set."""
    if role is None:
        return "`timeout_seconds` in the model's settings"
    return f"`timeout_seconds` of this model in Settings, Models, or {timeout_variable(role)}"


def _provider_down(failure: Failure, caller: Caller) -> HeadgateError | None:
    failing = failure.status is not None and failure.status >= 500
    if not failing and (failure.status is not None or not _any(_PROVIDER_DOWN, failure)):
        return None
    status = f" (HTTP {failure.status})" if failure.status else ""
    return ProviderFailed(
        f"{caller.provider} failed{status} on {caller.model}: {failure.message}",
        remedy="The provider has a problem. Try again in a minute, or choose another model.",
    )


def _refused(failure: Failure, caller: Caller) -> HeadgateError | None:
    if failure.status is None:
        return None
    return RequestRefused(
        f"{caller.provider} rejected the request to {caller.model} (HTTP {failure.status}): {failure.message}",
        remedy="Change the setting, tool or schema named in the message.",
    )


def _cut_short(failure: Failure, caller: Caller) -> HeadgateError | None:
    if "LengthFinishReasonError" not in failure.names:
        return None
    return BrokenModelAnswer(
        f"{caller.model} reached its output limit before the answer was complete.",
        remedy="Raise `max_tokens` in the model's settings, or ask for less.",
    ).saying(failure.words, failure.used)


def _unreachable(failure: Failure, caller: Caller) -> HeadgateError | None:
    if not failure.disconnected or failure.unreadable:
        return None
    where = f" at {caller.base_url}" if caller.base_url else ""
    if (
        "RemoteProtocolError" in failure.names
        or "ReadError" in failure.names
        or "ConnectionResetError" in failure.names
    ):
        return ModelUnreachable(
            f"{caller.provider}{where} closed the connection before the answer of {caller.model} was complete.",
            remedy="Try again. If it keeps happening, check for a proxy or server that restarts.",
        )
    return ModelUnreachable(
        f"{caller.provider}{where} cannot be reached for {caller.model}: {failure.message}",
        remedy="Check the network, the URL and that the server is running.",
    )


def _broken(failure: Failure, caller: Caller) -> HeadgateError | None:
    if not failure.unreadable:
        return None
    where = f" at {caller.base_url}" if caller.base_url else ""
    return BrokenModelAnswer(
        f"{caller.provider}{where} sent an invalid response for {caller.model}: {failure.message}",
        remedy="Try again. If it fails again, check that the URL is that of a model API (many end in /v1).",
        reason=failure.message,
    ).saying(failure.words, failure.used)


def _anything_else(failure: Failure, caller: Caller) -> HeadgateError | None:
    return ModelCallFailed(
        f"The call to {caller.model} failed: {failure.message}",
        remedy="Try again, or choose another model.",
    )


def _any(words: tuple[str, ...], failure: Failure) -> bool:
    return any(word in failure.markers for word in words)


_RULES: tuple[Rule, ...] = (
    _prompt_too_long, _withheld, _quota, _rate_limited, _not_accessible, _key_rejected, _timed_out, _provider_down,
    _cut_short, _refused, _unreachable, _broken, _anything_else,
)  # fmt: skip
"""Tried in order; the first match wins. A provider's text has precedence over its status code."""
