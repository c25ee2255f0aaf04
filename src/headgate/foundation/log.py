"""Structured logs that never hold a secret."""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog
from pydantic import SecretStr

from headgate.foundation.settings import LogSettings

REDACTED = "[redacted]"
_SECRET_NAME = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|key|secret|token|passwords?|authorization|cookie|credentials?)$", re.IGNORECASE
)
_SECRET_TEXT = re.compile(
    r"(?P<lead>(?:bearer|basic)\s+|(?:api[_-]?key|token|secret|password)[\"']?\s*[=:]\s*[\"']?)[^\s\"',;&]{6,}"
    r"|\b(?:sk|pk|gh[opsur]|github_pat|glpat|gsk|xox[abp]|whsec|hf|hg)[-_][A-Za-z0-9_-]{12,}"
    r"|\bAIza[A-Za-z0-9_-]{20,}|\bAKIA[A-Z0-9]{12,}|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]{8,}"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)",
    re.IGNORECASE,
)


def redact_text(text: str) -> str:
    """Text without the things that look like keys, tokens, passwords or credentials in a URL."""
    return _SECRET_TEXT.sub(lambda match: (match.group("lead") or "") + REDACTED, text)


def redact(value: Any) -> Any:  # noqa: ANN401 - any log value
    """A copy of a value without secrets: by name in mappings, by shape in text."""
    if isinstance(value, SecretStr):
        return REDACTED
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {
            key: REDACTED if isinstance(key, str) and item and _SECRET_NAME.search(key) else redact(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [redact(item) for item in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return redact_text(f"{type(value).__name__}: {value}" if isinstance(value, BaseException) else str(value))


def _redact_event(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {key: (event[key] if key in {"level", "timestamp"} else value) for key, value in redact(event).items()}


def configure(settings: LogSettings) -> None:
    """Set up logging once, at an entry point."""
    level = getattr(logging, settings.level.upper())
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if settings.format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        # Without the values of local variables: among them are the things that no log may hold.
        structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))
        if settings.format == "json"
        else structlog.processors.format_exc_info,
        _redact_event,
        renderer,
    ]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: structlog.PrintLogger(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(
        level=max(level, logging.WARNING), stream=sys.stderr, format="%(levelname)s %(name)s %(message)s"
    )


def get_logger(name: str) -> structlog.typing.FilteringBoundLogger:
    """A logger that carries the name of its module."""
    return structlog.get_logger(module=name)  # type: ignore[no-any-return]
