"""Prepares request payloads for the audit log: without secrets, short, and valid JSON. Pure."""

import re
from collections.abc import Mapping
from itertools import islice
from math import isfinite
from typing import Any

import orjson
from pydantic_core import to_jsonable_python

from headgate.foundation.canonical import SAFE_INTEGER
from headgate.foundation.ids import is_id
from headgate.foundation.log import redact_text
from headgate.foundation.secret_values import REDACTED

MAX_PAYLOAD = 2048
"""Maximum characters of JSON text."""
_SECRET_WORDS = frozenset(
    {"apikey", "auth", "authorization", "bearer", "cookie", "cookies", "credential", "credentials", "key", "keys"}
    | {"otp", "passcode", "passphrase", "passwd", "password", "passwords", "pin", "private", "pwd"}
    | {"secret", "secrets", "sig", "signature", "token"}
)
_WORD_EDGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_URL = re.compile(r"""([a-z][a-z0-9+.-]{0,20}://)([^\s"'<>]*@)?([^\s"'<>/?#]*)([^\s"'<>]*)""", re.IGNORECASE)
_NAMES_OF_A_PAIR = ("name", "key", "header")
_DEEPEST = 32
_MOST_VALUES = 4096
_LONGEST_TEXT = 2 * MAX_PAYLOAD
_MOST_ITEMS = 256
_CUTS = ((512, 32), (128, 16), (32, 8), (16, 3))
"""Limits of text length and of list or mapping items; the first pair that fits is used."""


def shown(payload: Any) -> str:  # noqa: ANN401 - what was asked for
    """Return JSON text of at most `MAX_PAYLOAD` characters. Truncated values contain `[cut: ...]`."""
    cleaned = _Redactor().clean(as_json(payload))
    text = _text(cleaned)
    for text_limit, item_limit in _CUTS:
        if len(text) <= MAX_PAYLOAD:
            return text
        text = _text(_cut(cleaned, text_limit, item_limit))
    return text if len(text) <= MAX_PAYLOAD else _text(f"[cut: a value of {len(_text(cleaned))} characters]")


def as_json(value: Any) -> Any:  # noqa: ANN401 - a JSON value, or what pydantic makes one of
    """Return the JSON value of times, models and similar; a `SecretStr` becomes stars."""
    return to_jsonable_python(value, fallback=str)


def plain(text: str, longest: int) -> str:
    """Return a storable name or id without secrets, of at most `longest` characters: no NUL, no lone surrogates."""
    return _without_secrets(_storable(text[:_LONGEST_TEXT]))[:longest]


class _Redactor:
    """Removes secrets from a JSON value. Stops after `_MOST_VALUES`: further values would not be shown."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def clean(self, value: Any, depth: int = _DEEPEST) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value without secrets."""
        self._left -= 1
        if isinstance(value, str):
            return _clean_text(value)
        if not isinstance(value, Mapping | list):
            return _clean_scalar(value)
        if depth == 0 or self._left < 0:
            return "[cut: too deep or too much]"
        if isinstance(value, list):
            items = [self.clean(item, depth - 1) for item in value[:_MOST_ITEMS]]
            return items if len(value) <= _MOST_ITEMS else [*items, f"[cut: {len(value) - _MOST_ITEMS} more items]"]
        return self._members(value, depth)

    def _members(self, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        pair = any(isinstance(value.get(name), str) and _is_secret(value[name]) for name in _NAMES_OF_A_PAIR)
        members: dict[str, Any] = {}
        for name, item in islice(value.items(), _MOST_ITEMS):
            secret = (
                item is not None and not isinstance(item, bool) and (_is_secret(name) or (pair and name == "value"))
            )
            members[plain(name, 200)] = REDACTED if secret else self.clean(item, depth - 1)
        if len(value) > _MOST_ITEMS:
            members["[cut]"] = f"{len(value) - _MOST_ITEMS} more members"
        return members


def _clean_text(value: str) -> str:
    cut = len(value) - _LONGEST_TEXT
    text = _without_secrets(_storable(value[:_LONGEST_TEXT]))
    return text if cut <= 0 else f"{text}[cut: {cut} more characters]"


def _clean_scalar(value: Any) -> Any:  # noqa: ANN401 - a number, a truth value or None
    """Return numbers that some JSON readers cannot parse as text."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return str(value) if isinstance(value, int) and abs(value) > SAFE_INTEGER else value


def _is_secret(name: str) -> bool:
    parts = [part.lower() for part in _WORD_EDGE.split(name[:200])]
    return not _SECRET_WORDS.isdisjoint(parts)


def _without_secrets(text: str) -> str:
    if is_id(text):
        return text
    return redact_text(_URL.sub(_address, text) if "://" in text else text)


def _address(match: re.Match[str]) -> str:
    """Return a URL without user, password, path and query: each may contain a secret."""
    scheme, user, host, tail = match.groups()
    return f"{scheme}{REDACTED + '@' if user else ''}{host}{'/' + REDACTED if tail not in ('', '/') else tail}"


def _cut(value: Any, longest: int, most: int) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str) and len(value) > longest:
        return f"{value[:longest]}[cut: {len(value) - longest} more characters]"
    if isinstance(value, list):
        items = [_cut(item, longest, most) for item in value[:most]]
        return items if len(value) <= most else [*items, f"[cut: {len(value) - most} more items]"]
    if isinstance(value, dict):
        members = {name[:longest]: _cut(item, longest, most) for name, item in islice(value.items(), most)}
        return members if len(value) <= most else members | {"[cut]": f"{len(value) - most} more members"}
    return value


def _storable(text: str) -> str:
    return (
        text if text.isascii() and text.isprintable() else text.encode("utf-8", "replace").decode().replace("\0", "�")
    )


def _text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return orjson.dumps(value).decode()
