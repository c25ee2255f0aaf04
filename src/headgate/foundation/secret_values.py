"""Removes the secret values that a run has read from everything that the run stores or shows.

`read` is called wherever the value of a secret is decrypted or read from the environment. It adds the value to the
`SecretValues` of the executing run; outside a run it does nothing. A value is found in its original form and in encoded
forms: escaped for JSON, URLs and HTML, in base64 (also inside a longer text, as in `Basic` credentials), in
hexadecimal.

Values of fewer than `SHORTEST_SECRET` characters, or of one or two different ones, are not replaced: they would also
match unrelated text.
"""

import base64
import html
import json
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

REDACTED = "[redacted]"
SHORTEST_SECRET = 6
"""In characters."""
_FEWEST_DIFFERENT = 3
_LOOKED_AT = 4096
"""Number of bytes that are searched for NUL to detect binary content."""
_SHORTEST_BASE64 = 8
"""Length of a secret's base64 that is searched for; shorter text also matches other data."""


class SecretValues:
    """The secret values that one run has read so far in this process."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        """Names of the secrets whose read is written down for this run."""
        self._values: set[str] = set()
        self._forms: tuple[str, ...] = ()

    def add(self, value: str) -> None:
        """Add a value."""
        value = value.strip()
        if value in self._values:
            return
        self._values.add(value)
        forms = {form for part in _parts(value) if is_recognisable(part) for form in _forms_of(part)}
        self._forms = tuple(sorted(forms.union(self._forms), key=len, reverse=True))

    def text(self, text: str) -> str:
        """Return the text without the values."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, REDACTED)
        return text

    def content(self, content: bytes) -> bytes:
        """Return the bytes without the values; binary content keeps its length, since file formats depend on it."""
        binary = b"\0" in content[:_LOOKED_AT]
        for form in self._forms:
            needle = form.encode("utf-8", "surrogatepass")
            if needle in content:
                content = content.replace(needle, b"*" * len(needle) if binary else REDACTED.encode())
        return content

    def json(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Return the JSON value without the values, also in member names."""
        if not self._forms:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(name): self.json(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and str(value) in self._forms:
            return REDACTED
        return value

    def withheld_length(self, text: str) -> int:
        """Return how many characters at the end of a text may be the beginning of an incomplete value."""
        if not self._forms:
            return 0
        longest = min(len(text), len(self._forms[0]) - 1)
        tails = (length for length in range(longest, 0, -1) if self._begins(text[-length:]))
        return next(tails, 0)

    def _begins(self, tail: str) -> bool:
        return any(form.startswith(tail) for form in self._forms)


class SecretStream:
    """Removes the values from a text that arrives in chunks, even when a value spans several chunks."""

    def __init__(self, values: SecretValues) -> None:
        self._values = values
        self._held = ""

    def feed(self, chunk: str) -> str:
        """Return the text that may be shown after one more chunk; the rest is held back."""
        text = self._values.text(self._held + chunk)
        held = self._values.withheld_length(text)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def rest(self) -> str:
        """Return the text that was held back, at the end of the stream."""
        held, self._held = self._held, ""
        return held


_CURRENT: ContextVar[SecretValues | None] = ContextVar("secret_values", default=None)


def use(values: SecretValues) -> None:
    """Add the values that this task, and tasks it starts, read to `values`."""
    _CURRENT.set(values)


def read(value: str) -> None:
    """Record that the value of a secret was read."""
    values = _CURRENT.get()
    if values is not None:
        values.add(value)


def names_read() -> set[str] | None:
    """Return the names of the recorded secret reads of this task's run; None outside a run."""
    values = _CURRENT.get()
    return None if values is None else values.names


def without_secrets(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value without the secrets of this task's run; unchanged outside a run."""
    values = _CURRENT.get()
    return value if values is None else values.json(value)


def is_recognisable(value: str) -> bool:
    """Return whether a value is long and varied enough to be removed from texts."""
    return len(value) >= SHORTEST_SECRET and len(set(value)) >= _FEWEST_DIFFERENT


def _parts(value: str) -> Iterator[str]:
    """Return the value, and the password in it when it is a URL."""
    yield value
    if "://" not in value:
        return
    try:
        password = urlsplit(value).password
    except ValueError:  # unmatched brackets: not a URL
        return
    if password:
        yield password
        yield unquote(password)


def _forms_of(value: str) -> Iterator[str]:
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield html.escape(value)
    for quoted_form in (quote(value, safe=""), quote(value), quote_plus(value)):
        yield quoted_form
        yield quoted_form.replace("%", "%25")
        yield _lower_escapes(quoted_form)
    content = value.encode("utf-8", "surrogatepass")
    yield from (content.hex(), content.hex().upper())
    for before in range(3):
        yield from _base64_inside(content, before)


def _base64_inside(content: bytes, before: int) -> Iterator[str]:
    """Return the base64 characters that depend only on the content, after `before` other bytes."""
    encoded = base64.b64encode(b"\0" * before + content).decode().rstrip("=")
    start = (before * 8 + 5) // 6
    end = (before + len(content)) * 8 // 6
    part = encoded[start:end]
    if len(part) >= _SHORTEST_BASE64:
        yield part
        yield part.translate(str.maketrans("+/", "-_"))


def _lower_escapes(escaped: str) -> str:
    """Return `%2F` as `%2f`."""
    head, *tail = escaped.split("%")
    return head + "".join(f"%{part[:2].lower()}{part[2:]}" for part in tail)
