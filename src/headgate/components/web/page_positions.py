"""Where the next page of an API is: a link, a cursor, a page number or an offset. Pure."""

import hashlib
import re
from collections.abc import Collection
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from pydantic import JsonValue

from headgate.foundation.secret_values import REDACTED
from headgate.graph.names import clipped
from headgate.sdk import ComponentError
from headgate.sdk.coerce import describe

Paging = Literal["link", "cursor", "page", "offset"]
Position = str | int | None
"""A complete URL, a cursor, a number; None for the first page of links and cursors."""
LONGEST_POSITION = 8_000
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_RELATION = re.compile(r";\s*rel\s*=\s*\"?([^\";,]*)", re.IGNORECASE)


def page_url(paging: Paging, url: str, parameter: str, position: Position) -> str:
    """Return the URL of a page. A query parameter of that name in the first URL is replaced."""
    if position is None:
        return url
    if paging == "link":
        return str(position)
    parts = urlsplit(url)
    pairs = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != parameter]
    return urlunsplit(parts._replace(query=urlencode([*pairs, (parameter, str(position))])))


def next_link(header: str) -> str:
    """Return the target of the relation `next` of a Link header; empty without one."""
    for target, parameters in _LINK.findall(header):
        relation = _RELATION.search(parameters)
        if relation is not None and "next" in relation[1].lower().split():
            return str(target)
    return ""


def link_position(link: JsonValue, *, current: str, first: str) -> str | None:
    """Return the URL that a link leads to; None without one. A query parameter with a removed secret is omitted.

    Raises `ComponentError` for a link that is no text, too long, or leads to another server than the first page.
    """
    if not link:
        return None
    if not isinstance(link, str) or len(link) > LONGEST_POSITION:
        raise _unusable(f"the next link is {describe(link)}, or too long", "next")
    try:
        parts = urlsplit(urljoin(current, link.strip()))
        scheme, netloc = urlsplit(first)[:2]
        same = parts.netloc == netloc and parts.scheme in {scheme, "https"}
    except ValueError:
        same = False
    if not same or any(char.isspace() or ord(char) < 32 for char in link.strip()):
        raise _unusable(f"the next link {clipped(link, 120)!r} leads to another server than the first page", "next")
    if REDACTED in parts.query:
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        parts = parts._replace(query=urlencode([pair for pair in pairs if REDACTED not in pair[1]]))
    return urlunsplit(parts._replace(fragment=""))


def cursor_position(cursor: JsonValue) -> str | None:
    """Return a cursor as text; None without one. Raises `ComponentError` for one that is neither text nor number."""
    if cursor is None or cursor is False or cursor == "":
        return None
    if isinstance(cursor, bool) or not isinstance(cursor, str | int | float) or len(str(cursor)) > LONGEST_POSITION:
        raise _unusable(f"the cursor is {describe(cursor)}, or too long", "next")
    return str(cursor)


def require_new(url: str, seen: Collection[str]) -> None:
    """Raise `ComponentError` for the URL of a page that was already fetched: the API would never end."""
    if url in seen:
        raise _unusable(f"the API names {clipped(url, 120)!r} as its next page a second time", "next")


def require_different(content: bytes, sha256: str, parameter: str) -> None:
    """Raise `ComponentError` for a page with the SHA-256 of the one before: the API ignores the query parameter."""
    if hashlib.sha256(content).hexdigest() == sha256:
        raise _unusable(f"two pages are the same: the API ignores the query parameter '{parameter}'", "parameter")


def _unusable(reason: str, field: str) -> ComponentError:
    return ComponentError(
        f"The pages of the API cannot be followed: {reason}.",
        remedy="Check how the API separates its answer into pages, and the fields Paging and Next.",
        field=field,
    )
