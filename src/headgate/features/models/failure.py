"""Parses exceptions of provider libraries: status, message and kind.

Provider packages are never imported here: their exceptions are distinguished by what they carry (`status_code`, `body`,
`response`) and by the names of their classes, which the libraries share.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from headgate.features.models.redaction import redact

MAX_MESSAGE = 600
"""Maximum quoted characters of the provider's message."""

_QUOTED_MESSAGE = re.compile(r"""['"]message['"]\s*:\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")""")
_WRAPPER = re.compile(r"^(?:Error building Component [^:]+|Error code: \d+|[A-Za-z.]*(?:Error|Exception))\s*(?:-|:)\s*")
_HTML = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_SECRET_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_CONNECTION_NAMES = {"APIConnectionError", "ModelConnectionError", "NetworkError", "TransportError", "ProtocolError"}
_TIMEOUT_NAMES = {"APITimeoutError", "ModelTimeoutError", "TimeoutException"}
_PARSING = (json.JSONDecodeError, TypeError, AttributeError, KeyError, IndexError, ValueError)


@dataclass(frozen=True, slots=True)
class Failure:
    """A parsed exception of a provider library."""

    status: int | None
    message: str
    """The provider's most specific message, redacted and truncated."""
    markers: str
    """The complete text in lower case, with codes and types, for keyword search."""
    names: frozenset[str]
    """Class names along the chain of causes."""
    retry_after: float | None
    timed_out: bool
    disconnected: bool
    unreadable: bool
    """Whether the answer came and could not be understood."""
    used: tuple[int, int] = (0, 0)
    """Tokens in and out of an answer that reached its limit, as OpenAI's library keeps them."""
    requests: int = 1
    """Number of requests sent for the call: client libraries retry some themselves."""
    words: str = ""
    """The model's text in place of the required output; empty when unknown."""


def read_failure(error: BaseException) -> Failure:
    """Return the parsed exception chain of `error`, without any secret it contains."""
    chain = list(causes(error))
    names = frozenset(kind.__name__ for exception in chain for kind in type(exception).__mro__)
    secrets = [secret for exception in chain for secret in _header_secrets(exception)]
    status = next((code for exception in chain if (code := _status(exception)) is not None), None)
    bodies = [body for exception in chain if (body := _body(exception)) is not None]
    message = redact(_deepest_words(chain, bodies), secrets)
    everything = " ".join(
        [*(str(exception) for exception in chain), *(json.dumps(body, default=str) for body in bodies)]
    )
    timed_out = bool(names & _TIMEOUT_NAMES) or any(
        isinstance(exception, (TimeoutError, asyncio.TimeoutError)) for exception in chain
    )
    disconnected = bool(names & _CONNECTION_NAMES) or any(isinstance(exception, OSError) for exception in chain)
    return Failure(
        status=status,
        message=_presentable(message),
        markers=everything.lower(),
        names=names,
        retry_after=next((pause for exception in chain if (pause := _retry_after(exception)) is not None), None),
        timed_out=timed_out,
        disconnected=disconnected,
        unreadable="APIResponseValidationError" in names or isinstance(chain[-1], _PARSING),
        used=next((used for exception in chain if any(used := _used(exception))), (0, 0)),
        requests=max(map(_requests, chain)),
        words=redact(next((words for exception in chain if (words := _model_words(exception))), ""), secrets),
    )


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception and its causes, outermost first; of a group, only the first member."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            current = current.exceptions[0]
        else:
            current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def _status(error: BaseException) -> int | None:
    holders = (error, getattr(error, "response", None))
    values = [getattr(holder, name, None) for holder in holders for name in ("status_code", "code")]
    return next((value for value in values if isinstance(value, int) and 400 <= value <= 599), None)


def _body(error: BaseException) -> Mapping[str, object] | None:
    for name in ("body", "details"):
        value = getattr(error, name, None)
        if isinstance(value, Mapping):
            return value
    return None


def _deepest_words(chain: list[BaseException], bodies: list[Mapping[str, object]]) -> str:
    for body in bodies:
        if words := _words_of_body(body):
            return words
    for error in chain:
        if match := _QUOTED_MESSAGE.search(str(error)):
            return match[1] or match[2] or ""
    texts = [_WRAPPER.sub("", _text(error)).strip() for error in chain]
    return next((text for text in reversed(texts) if text), type(chain[-1]).__name__)


def _text(error: BaseException) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(
        ": ".join(filter(None, [".".join(map(str, problem["loc"])), problem["msg"]])) for problem in problems[:3]
    )


def _words_of_body(body: Mapping[str, object]) -> str:
    inner = body.get("error", body)
    if isinstance(inner, Mapping):
        inner = inner.get("message") or inner.get("detail") or inner.get("error")
    return inner if isinstance(inner, str) else ""


def _presentable(text: str) -> str:
    if _HTML.search(text):
        return "the response is a web page"
    text = " ".join(text.split())
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def _model_words(error: BaseException) -> str:
    """Return the model's text, as kept by libraries that parse structured output.

    Pydantic keeps what it could not read. OpenAI's `LengthFinishReasonError` keeps the answer that reached its limit.
    """
    if isinstance(error, ValidationError):
        unread = error.errors(include_url=False, include_context=False)[0]["input"]
        return unread if isinstance(unread, str) else json.dumps(unread, default=str)
    choices = getattr(getattr(error, "completion", None), "choices", None) or [None]
    content = getattr(getattr(choices[0], "message", None), "content", None)
    return content if isinstance(content, str) else ""


def _headers(error: BaseException, holder: str) -> Mapping[str, str]:
    try:
        headers = getattr(getattr(error, holder, None), "headers", None)
    except RuntimeError:  # httpx raises when an exception was made without a request
        return {}
    return headers if isinstance(headers, Mapping) else {}


def _header_secrets(error: BaseException) -> Iterator[str]:
    headers = _headers(error, "request")
    for name in _SECRET_HEADERS:
        value = headers.get(name)
        if value:
            yield value.removeprefix("Bearer ").strip()


def _used(error: BaseException) -> tuple[int, int]:
    usage = getattr(getattr(error, "completion", None), "usage", None)
    counts = (getattr(usage, "prompt_tokens", 0), getattr(usage, "completion_tokens", 0))
    return counts if all(isinstance(count, int) for count in counts) else (0, 0)


def _requests(error: BaseException) -> int:
    """Requests sent until this error, as the clients of OpenAI, Anthropic and Groq number them in a header."""
    number = _headers(error, "request").get("x-stainless-retry-count", "")
    return 1 + int(number) if number.isdecimal() else 1


def _retry_after(error: BaseException) -> float | None:
    value = _headers(error, "response").get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:  # absent, or a date: the provider's message suffices
        return None
    return seconds if 0 <= seconds <= 86_400 else None
