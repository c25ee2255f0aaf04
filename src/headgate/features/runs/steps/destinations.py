"""Determines which URLs the author of a step, or trusted content, has chosen. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from pydantic import JsonValue

from headgate.graph.interpolate import REFERENCE, interpolate, texts_in
from headgate.sdk import Message

_FILLED = "\0"
"""Placeholder of an untrusted value in a URL of the author."""
_SEGMENT = r"(?!\.{1,2}(?:/|$))[^/\\]*"
"""What such a value may fill: one segment of the path, so that it cannot choose another path."""
_ESCAPED = re.compile(r"%(?:2e|2f|5c)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^\s<>\"'`)\]}]+", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;<>()\"']+")
_END_OF_SENTENCE = ".,;:!?"
_LONGEST = 100_000
"""Characters of a text that are searched for URLs."""

IsClean = Callable[[str], bool]
"""Whether the value of a reference's root contains no untrusted content."""


def chosen_by_author(url: str, texts: Iterable[str], context: Mapping[str, JsonValue], is_clean: IsClean) -> bool:
    """Whether scheme, host and path of a URL appear in a text of the saved step.

    Args:
        url: The requested URL.
        texts: Every text in the params and policies of the step and its attachments.
        context: Values of `{{...}}`. An untrusted value may fill one segment of the path or the query.
        is_clean: Returns whether a root contains no untrusted content.
    """
    requested = urlsplit(url)
    if _ESCAPED.search(requested.path) or "\\" in requested.path:
        return False
    return any(
        _matches(requested.scheme, requested.netloc, requested.path, _written(text, context, is_clean))
        for text in texts
    )


def chosen_by_clean_values(url: str, values: Iterable[object], *, whole: bool) -> bool:
    """Whether a URL appears in a value without untrusted content.

    Args:
        url: The requested URL.
        values: Values of such edges.
        whole: Whether the query must match too: a model could exfiltrate data in it.
    """
    requested = _plain(url, whole=whole)
    return any(_plain(address, whole=whole) == requested for value in values for address in _addresses(value))


def named_by_author(texts: Iterable[str], context: Mapping[str, JsonValue], is_clean: IsClean) -> set[str]:
    """Return the words of texts of the saved step, in lower case, as `chosen_by_author` reads them."""
    return {word for text in texts for word in _words(_written(text, context, is_clean)) if _FILLED not in word}


def named_by_clean_values(values: Iterable[object]) -> set[str]:
    """Return the words of values without untrusted content, in lower case."""
    return {word for value in values for text in _texts_of(value) for word in _words(text)}


def host_listed(host: str, allowed: Iterable[str]) -> bool:
    """Whether a host matches a list of hosts such as `example.org` and `*.example.org`."""
    host = host.lower().rstrip(".")
    for pattern in allowed:
        name = pattern.strip().lower()
        if name == host or (name.startswith("*.") and host.endswith(name[1:])):
            return True
    return False


def _written(text: str, context: Mapping[str, JsonValue], is_clean: IsClean) -> str:
    """Return the text with clean values inserted, and a placeholder for each untrusted value."""
    filled = REFERENCE.sub(lambda match: match[0] if is_clean(match[1].partition(".")[0]) else _FILLED, text)
    return interpolate(filled, context).strip()


def _matches(scheme: str, netloc: str, path: str, text: str) -> bool:
    address = text if "://" in text else f"https://{text}"
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if _FILLED in parts.scheme + parts.netloc or not parts.netloc:
        return False
    if (parts.scheme.lower(), parts.netloc.lower()) != (scheme.lower(), netloc.lower()):
        return False
    pattern = _SEGMENT.join(re.escape(part) for part in (parts.path or "/").split(_FILLED))
    return re.fullmatch(pattern, path or "/") is not None


def _addresses(value: object) -> Iterator[str]:
    for text in _texts_of(value):
        short = text[:_LONGEST].strip()
        if short and not any(char.isspace() for char in short):
            yield short
        yield from (address.rstrip(_END_OF_SENTENCE) for address in _ADDRESS.findall(short))


def _texts_of(value: object) -> Iterator[str]:
    if isinstance(value, Message):
        value = value.text
    if isinstance(value, str | list | dict):
        yield from texts_in(value)


def _words(text: str) -> set[str]:
    """Return a text and the names in it: `Ann <ann@example.org>, bo@example.org`."""
    short = text[:_LONGEST].lower()
    return {short.strip(), *(word.strip(_END_OF_SENTENCE) for word in _BETWEEN.split(short))}


def _plain(url: str, *, whole: bool) -> tuple[str, str, str, str]:
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
    except ValueError:
        return ("", url, "", "")
    return (parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", parts.query if whole else "")
