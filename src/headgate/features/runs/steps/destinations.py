"""Which web addresses the author of a step, or content that is not from outside, has chosen. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from pydantic import JsonValue

from headgate.graph.interpolate import REFERENCE, interpolate, texts_in
from headgate.sdk import Message

_FILLED = "\0"
"""Stands for a value from outside in an address that the author wrote."""
_SEGMENT = r"(?!\.{1,2}(?:/|$))[^/\\]*"
"""What such a value may fill: one segment of the path, so that it cannot choose another path."""
_ESCAPED = re.compile(r"%(?:2e|2f|5c)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^\s<>\"'`)\]}]+", re.IGNORECASE)
_END_OF_SENTENCE = ".,;:!?"
_LONGEST = 100_000
"""Characters of a text in which addresses are looked for."""

IsClean = Callable[[str], bool]
"""Whether what the root of a reference stands for holds nothing from outside."""


def chosen_by_author(url: str, texts: Iterable[str], context: Mapping[str, JsonValue], is_clean: IsClean) -> bool:
    """Whether scheme, host and path of an address are in a text of the saved step.

    Args:
        url: The address that is to be requested.
        texts: Every text of the step's params and policy, and of what is attached to it.
        context: What `{{...}}` stands for. A value from outside may fill one segment of the path or the query.
        is_clean: Tells which roots hold nothing from outside.
    """
    wanted = urlsplit(url)
    if _ESCAPED.search(wanted.path) or "\\" in wanted.path:
        return False
    return any(_matches(wanted.scheme, wanted.netloc, wanted.path, _written(text, context, is_clean)) for text in texts)


def chosen_by_clean_values(url: str, values: Iterable[object], *, whole: bool) -> bool:
    """Whether an address is in a value that holds nothing from outside.

    Args:
        url: The address that is to be requested.
        values: What such edges brought.
        whole: Whether the query has to be the same too: where a model decides, it could carry data away.
    """
    wanted = _plain(url, whole=whole)
    return any(_plain(found, whole=whole) == wanted for value in values for found in _addresses(value))


def host_listed(host: str, allowed: Iterable[str]) -> bool:
    """Whether a host is on a list of hosts such as `example.org` and `*.example.org`."""
    host = host.lower().rstrip(".")
    for one in allowed:
        name = one.strip().lower()
        if name == host or (name.startswith("*.") and host.endswith(name[1:])):
            return True
    return False


def _written(text: str, context: Mapping[str, JsonValue], is_clean: IsClean) -> str:
    """The text with clean values put in, and a sign for each value from outside."""
    filled = REFERENCE.sub(lambda match: match[0] if is_clean(match[1].partition(".")[0]) else _FILLED, text)
    return interpolate(filled, context).strip()


def _matches(scheme: str, netloc: str, path: str, written: str) -> bool:
    address = written if "://" in written else f"https://{written}"
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if _FILLED in parts.scheme + parts.netloc or not parts.netloc:
        return False
    if (parts.scheme.lower(), parts.netloc.lower()) != (scheme.lower(), netloc.lower()):
        return False
    pattern = _SEGMENT.join(re.escape(piece) for piece in (parts.path or "/").split(_FILLED))
    return re.fullmatch(pattern, path or "/") is not None


def _addresses(value: object) -> Iterator[str]:
    if isinstance(value, Message):
        value = value.text
    if isinstance(value, str | list | dict):
        for text in texts_in(value):
            short = text[:_LONGEST].strip()
            if short and not any(letter.isspace() for letter in short):
                yield short
            yield from (found.rstrip(_END_OF_SENTENCE) for found in _ADDRESS.findall(short))


def _plain(url: str, *, whole: bool) -> tuple[str, str, str, str]:
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
    except ValueError:
        return ("", url, "", "")
    return (parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", parts.query if whole else "")
