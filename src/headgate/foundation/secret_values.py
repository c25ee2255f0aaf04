"""The secret values that a run has read, taken out of everything that the run stores or shows.

`read` is called wherever the value of a secret is decrypted or taken from the environment. It adds the value to the
`SecretValues` of the run that is executing; outside a run it does nothing. A value is found as it is and as it would
come back: escaped for JSON, URLs and HTML, in base64 (also inside a longer text, as in `Basic` credentials), as hex.

Values of fewer than `SHORTEST_SECRET` characters, or of one or two different ones, are not replaced: they would be
found in texts that have nothing to do with them.
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
"""Characters."""
_FEWEST_DIFFERENT = 3
_LOOKED_AT = 4096
"""Bytes in which binary content has a NUL."""
_SHORTEST_BASE64 = 8
"""Characters of a secret's base64 that are looked for; fewer are found in other data."""


class SecretValues:
    """The secret values that one run has read so far in this process."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        """Names of the secrets whose read is written down for this run."""
        self._values: set[str] = set()
        self._forms: tuple[str, ...] = ()

    def add(self, value: str) -> None:
        """Know one more value."""
        value = value.strip()
        if value in self._values:
            return
        self._values.add(value)
        found = {form for part in _parts(value) if is_recognisable(part) for form in _forms_of(part)}
        self._forms = tuple(sorted(found.union(self._forms), key=len, reverse=True))

    def text(self, text: str) -> str:
        """The text without the values."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, REDACTED)
        return text

    def content(self, content: bytes) -> bytes:
        """The bytes without the values; of binary content the length stays, as the formats of files depend on it."""
        binary = b"\0" in content[:_LOOKED_AT]
        for form in self._forms:
            word = form.encode("utf-8", "surrogatepass")
            if word in content:
                content = content.replace(word, b"*" * len(word) if binary else REDACTED.encode())
        return content

    def json(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """The JSON value without the values, in names of members too."""
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

    def kept_back(self, text: str) -> int:
        """How many characters at the end of a text may be the beginning of a value that is not complete yet."""
        if not self._forms:
            return 0
        longest = min(len(text), len(self._forms[0]) - 1)
        tails = (length for length in range(longest, 0, -1) if self._begins(text[-length:]))
        return next(tails, 0)

    def _begins(self, tail: str) -> bool:
        return any(form.startswith(tail) for form in self._forms)


class SecretStream:
    """Takes the values out of a text that comes in pieces, also where one is split over several of them."""

    def __init__(self, values: SecretValues) -> None:
        self._values = values
        self._held = ""

    def feed(self, piece: str) -> str:
        """What may be shown after one more piece; the rest is kept back."""
        text = self._values.text(self._held + piece)
        kept = self._values.kept_back(text)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]

    def rest(self) -> str:
        """What was kept back; nothing follows it."""
        held, self._held = self._held, ""
        return held


_CURRENT: ContextVar[SecretValues | None] = ContextVar("secret_values", default=None)


def use(values: SecretValues) -> None:
    """Have this task, and those that it starts, add what they read to `values`."""
    _CURRENT.set(values)


def read(value: str) -> None:
    """Note that the value of a secret was read."""
    values = _CURRENT.get()
    if values is not None:
        values.add(value)


def names_read() -> set[str] | None:
    """Names of the secrets whose read is written down for the run of this task; None outside a run."""
    values = _CURRENT.get()
    return None if values is None else values.names


def without_secrets(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value without the secrets of the run that this task executes; outside a run as it is."""
    values = _CURRENT.get()
    return value if values is None else values.json(value)


def is_recognisable(value: str) -> bool:
    """Whether a value is long and varied enough to be taken out of texts."""
    return len(value) >= SHORTEST_SECRET and len(set(value)) >= _FEWEST_DIFFERENT


def _parts(value: str) -> Iterator[str]:
    """The value, and the password in it where it is an address."""
    yield value
    if "://" not in value:
        return
    try:
        password = urlsplit(value).password
    except ValueError:  # brackets that do not match: no address
        return
    if password:
        yield password
        yield unquote(password)


def _forms_of(value: str) -> Iterator[str]:
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield html.escape(value)
    for written in (quote(value, safe=""), quote(value), quote_plus(value)):
        yield written
        yield written.replace("%", "%25")
        yield _lower_escapes(written)
    content = value.encode("utf-8", "surrogatepass")
    yield from (content.hex(), content.hex().upper())
    for before in range(3):
        yield from _base64_inside(content, before)


def _base64_inside(content: bytes, before: int) -> Iterator[str]:
    """The characters that the content alone decides in the base64 of a longer text, after `before` other bytes."""
    encoded = base64.b64encode(b"\0" * before + content).decode().rstrip("=")
    start = (before * 8 + 5) // 6
    end = (before + len(content)) * 8 // 6
    found = encoded[start:end]
    if len(found) >= _SHORTEST_BASE64:
        yield found
        yield found.translate(str.maketrans("+/", "-_"))


def _lower_escapes(written: str) -> str:
    """`%2F` as `%2f`."""
    head, *rest = written.split("%")
    return head + "".join(f"%{part[:2].lower()}{part[2:]}" for part in rest)
