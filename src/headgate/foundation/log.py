"""Structured logs without secrets."""

import base64
import binascii
import logging
import re
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, TextIO, cast

from pydantic import SecretStr

from headgate.foundation.key_shapes import KEY_SHAPE, is_about_a_key
from headgate.foundation.lazy import lazy_module
from headgate.foundation.outages import Repeats
from headgate.foundation.secret_values import REDACTED, without_secrets
from headgate.foundation.settings import LogSettings

if TYPE_CHECKING:
    import structlog
    from structlog import typing as log_types
else:
    structlog = lazy_module("structlog")

_CONTEXT: ContextVar[dict[str, str]] = ContextVar("log_context", default={})  # noqa: B039 - never changed in place
_SECRET_NAME = re.compile(
    r"(?i:(?:^|[_-])(?:api[_-]?key|key|secret|token|passwords?|authorization|cookie|credentials?)$)"
    r"|[a-z0-9](?:Secret|Token|Passwords?|Authorization|Cookie|Credentials?)$|A(?:pi|PI)Key$"
    r"|(?i:(?:secret|access|private|auth|signing|encryption|master)key$)"
)
_SECRET_TEXT = re.compile(
    r"(?P<header>authorization[\"']?\s*[:=]\s*[\"']?(?:basic|bearer|digest|token)\s+)[^\s\"',;&]+"
    r"|(?P<lead>bearer\s+(?!(?:auth|token|header|scheme|credential)[a-z]*[.:,;!?)]*(?:\s|$))"
    r"|(?:api[_-]?key|token|secret|password)[\"']?\s*[=:]\s*[\"']?)[^\s\"',;&]{6,}"
    rf"|{KEY_SHAPE}"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)",
    re.IGNORECASE,
)
_BASIC = re.compile(r"\b(?P<lead>basic\s+)(?P<value>[^\s\"',;&]{6,})", re.IGNORECASE)
_PROSE = re.compile(
    r"[A-ZÀ-ÖØ-Þ]?[a-zà-öø-ÿ]{2,}(?:[A-Z][a-z]{2,})*[A-Z]{0,5}s?|[A-ZÀ-ÖØ-Þ]{1,8}s?|\d{1,4}[a-z]?",
)
"""A word in prose: `chatbot`, `Understanding`, `ChatOpenAI`, `FAQ`, `4o`."""
_BETWEEN_WORDS = re.compile(r"[-/.:!?()\[\]{}*`’…]+")


def is_prose(text: str) -> bool:
    """Return whether the text after `basic` is prose, as in `basic chatbot`, and not credentials in base64."""
    words = [word for word in _BETWEEN_WORDS.split(text) if word]
    return ":" not in text.rstrip(":") and all(map(_PROSE.fullmatch, words)) and not _is_name_and_password(text)


def _is_name_and_password(text: str) -> bool:
    """Return whether it is an RFC 7617 encoding of a name and a password."""
    try:
        return ":" in base64.b64decode(text + "=" * (-len(text) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return False


def redact_text(text: str) -> str:
    """Return text without anything that looks like a key, token, password or credentials in a URL."""
    without_basic = _BASIC.sub(
        lambda match: match[0] if is_prose(match["value"]) else f"{match['lead']}{REDACTED}", text
    )
    return _SECRET_TEXT.sub(lambda match: f"{match['header'] or match['lead'] or ''}{REDACTED}", without_basic)


def redact(value: Any) -> Any:  # noqa: ANN401 - any log value
    """Return a copy of a value without secrets: by name in mappings, by pattern in text."""
    if isinstance(value, SecretStr):
        return REDACTED
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {
            key: REDACTED if item and isinstance(key, str) and _names_a_secret(key) else redact(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [redact(item) for item in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return redact_text(f"{type(value).__name__}: {value}" if isinstance(value, BaseException) else str(value))


def _names_a_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None and not is_about_a_key(name)


def _redact_event(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    clean_event = without_secrets(redact(event))
    return {key: (event[key] if key in {"level", "timestamp"} else value) for key, value in clean_event.items()}


class _WithoutSecrets(logging.Filter):
    """Removes the secrets of the executing run from log records of libraries."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always accept the record."""
        text = record.getMessage()
        clean_text = without_secrets(text)
        if clean_text != text:
            record.msg, record.args = clean_text, ()
        if record.exc_info and not record.exc_text:
            record.exc_text = without_secrets(logging.Formatter().formatException(record.exc_info))
        return True


def _add_context(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {**_CONTEXT.get(), **event}


def _add_lost_lines(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {**event, "lost_lines": _Lines.lost} if _Lines.lost else event


@contextmanager
def log_context(**values: str) -> Iterator[None]:
    """Add values to every line that is logged within the block."""
    token = _CONTEXT.set({**_CONTEXT.get(), **values})
    try:
        yield
    finally:
        _CONTEXT.reset(token)


def configure(settings: LogSettings) -> None:
    """Configure logging once, at an entry point. Structlog is imported and configured by the first log line."""
    _Logger.pending = settings
    if "structlog" in sys.modules:
        _set_up_structlog()
    level = max(_level(settings), logging.WARNING)
    logging.basicConfig(level=level, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
    for handler in logging.getLogger().handlers:
        if not any(isinstance(log_filter, Repeats) for log_filter in handler.filters):
            handler.addFilter(Repeats())
            handler.addFilter(_WithoutSecrets())


def get_logger(name: str) -> "log_types.FilteringBoundLogger":
    """Return a logger with the name of its module."""
    return cast("log_types.FilteringBoundLogger", _Logger(name))


class _Logger:
    """A structlog logger that is created on first use: most commands log nothing, and importing structlog is slow."""

    pending: LogSettings | None = None
    """Settings that structlog does not have yet."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, method: str) -> Any:  # noqa: ANN401 - whatever a logger has
        if _Logger.pending is not None:
            if method in _QUIET and _QUIET[method] < _level(_Logger.pending):
                return _unlogged
            _set_up_structlog()
        return getattr(structlog.get_logger(module=self._name), method)


_QUIET = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}
"""Methods whose lines may be below the configured level."""


def _unlogged(*_arguments: object, **_values: object) -> None:
    """Log nothing."""


class _Lines:
    """Writes lines. One that cannot be written, to a full disk or a closed pipe, stops nothing: it is counted.

    Args:
        stream: Where the lines go; None in a process without.
    """

    lost: ClassVar[int] = 0
    """Lines since the last one that was written: a field of the next one."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def msg(self, line: str) -> None:
        """Write a line."""
        if self._stream is None:
            return
        try:
            self._stream.write(f"{line}\n")
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: the stream is closed
            _Lines.lost += 1
        else:
            _Lines.lost = 0

    debug = info = warning = error = critical = msg


def _level(settings: LogSettings) -> int:
    return logging.getLevelNamesMapping()[settings.level.upper()]


def _set_up_structlog() -> None:
    settings, _Logger.pending = _Logger.pending or LogSettings(), None
    as_json = settings.format == "json"
    structlog.configure(
        processors=[
            _add_context,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            # Without the values of local variables: they may contain values that must not be logged.
            structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))
            if as_json
            else structlog.processors.format_exc_info,
            _redact_event,
            _add_lost_lines,
            structlog.processors.JSONRenderer()
            if as_json
            else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_level(settings)),
        logger_factory=lambda *_: _Lines(sys.stderr),
        cache_logger_on_first_use=False,
    )
