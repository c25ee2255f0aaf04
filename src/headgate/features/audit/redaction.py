"""What the audit log shows of what was asked for: no secret in it, short, and still JSON. Pure."""

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
"""Characters of JSON text."""
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
"""Characters of a text and items of a list or mapping that are kept; the first pair that makes it fit is taken."""


def shown(payload: Any) -> str:  # noqa: ANN401 - what was asked for
    """JSON text of at most `MAX_PAYLOAD` characters. Where something is left out it says `[cut: ...]`."""
    found = _Redactor().clean(as_json(payload))
    text = _text(found)
    for longest, most in _CUTS:
        if len(text) <= MAX_PAYLOAD:
            return text
        text = _text(_cut(found, longest, most))
    return text if len(text) <= MAX_PAYLOAD else _text(f"[cut: a value of {len(_text(found))} characters]")


def as_json(value: Any) -> Any:  # noqa: ANN401 - a JSON value, or what pydantic makes one of
    """The JSON value of moments, models and the like; a `SecretStr` becomes stars."""
    return to_jsonable_python(value, fallback=str)


def plain(text: str, longest: int) -> str:
    """A name or id without secrets, of at most `longest` characters, and storable: no NUL, no half of a surrogate."""
    return _without_secrets(_storable(text[:_LONGEST_TEXT]))[:longest]


class _Redactor:
    """Takes secrets out of a JSON value. After `_MOST_VALUES` it stops looking: nothing behind that would be shown."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def clean(self, value: Any, depth: int = _DEEPEST) -> Any:  # noqa: ANN401 - any JSON value
        """The value without secrets."""
        self._left -= 1
        if isinstance(value, str):
            return _clean_text(value)
        if not isinstance(value, Mapping | list):
            return _clean_scalar(value)
        if depth == 0 or self._left < 0:
            return "[cut: too deep or too much]"
        if isinstance(value, list):
            kept = [self.clean(item, depth - 1) for item in value[:_MOST_ITEMS]]
            return kept if len(value) <= _MOST_ITEMS else [*kept, f"[cut: {len(value) - _MOST_ITEMS} more items]"]
        return self._members(value, depth)

    def _members(self, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        pair = any(isinstance(value.get(name), str) and _is_secret(value[name]) for name in _NAMES_OF_A_PAIR)
        kept: dict[str, Any] = {}
        for name, item in islice(value.items(), _MOST_ITEMS):
            secret = (
                item is not None and not isinstance(item, bool) and (_is_secret(name) or (pair and name == "value"))
            )
            kept[plain(name, 200)] = REDACTED if secret else self.clean(item, depth - 1)
        if len(value) > _MOST_ITEMS:
            kept["[cut]"] = f"{len(value) - _MOST_ITEMS} more members"
        return kept


def _clean_text(value: str) -> str:
    cut = len(value) - _LONGEST_TEXT
    text = _without_secrets(_storable(value[:_LONGEST_TEXT]))
    return text if cut <= 0 else f"{text}[cut: {cut} more characters]"


def _clean_scalar(value: Any) -> Any:  # noqa: ANN401 - a number, a truth value or None
    """Numbers that not every reader of JSON reads become text."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return str(value) if isinstance(value, int) and abs(value) > SAFE_INTEGER else value


def _is_secret(name: str) -> bool:
    words = [word.lower() for word in _WORD_EDGE.split(name[:200])]
    return not _SECRET_WORDS.isdisjoint(words)


def _without_secrets(text: str) -> str:
    if is_id(text):
        return text
    return redact_text(_URL.sub(_address, text) if "://" in text else text)


def _address(found: re.Match[str]) -> str:
    """An address without user, password, path and query: each may hold a secret of whoever gave it."""
    scheme, user, host, rest = found.groups()
    return f"{scheme}{REDACTED + '@' if user else ''}{host}{'/' + REDACTED if rest not in ('', '/') else rest}"


def _cut(value: Any, longest: int, most: int) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str) and len(value) > longest:
        return f"{value[:longest]}[cut: {len(value) - longest} more characters]"
    if isinstance(value, list):
        kept = [_cut(item, longest, most) for item in value[:most]]
        return kept if len(value) <= most else [*kept, f"[cut: {len(value) - most} more items]"]
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
