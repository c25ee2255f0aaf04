"""Headers that a flow may send, and those that follow a redirect to another server."""

import re
from collections.abc import Iterable, Mapping

from headgate.foundation.guarded_http.errors import HeaderRefused

Headers = tuple[tuple[str, str], ...]

MAX_HEADERS = 100
MAX_HEADER_BYTES = 32 * 1024

REFUSED = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Connection headers: with them a flow could smuggle a second request or name another server."""

_CROSSES_ORIGINS = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "content-language",
        "content-type",
        "if-modified-since",
        "if-none-match",
        "range",
        "user-agent",
    }
)
"""Headers that follow a redirect to another server. All others are removed: any of them may be a credential."""
_OF_THE_BODY = frozenset({"content-encoding", "content-language", "content-location", "content-type"})
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}", re.ASCII)
_BAD_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def check_headers(headers: Mapping[str, str]) -> Headers:
    """Return the headers to send, values stripped. Raises `HeaderRefused` with the header's name, never its value."""
    if len(headers) > MAX_HEADERS:
        raise HeaderRefused(f"{len(headers)} headers exceed the limit of {MAX_HEADERS}.")
    checked = tuple(_check(name, value) for name, value in headers.items())
    if sum(len(name) + len(value.encode()) for name, value in checked) > MAX_HEADER_BYTES:
        raise HeaderRefused(f"The headers are larger than {MAX_HEADER_BYTES} bytes.")
    return checked


def to_other_server(headers: Iterable[tuple[str, str]]) -> Headers:
    """Return the headers that may follow a redirect to another server."""
    return tuple((name, value) for name, value in headers if name.lower() in _CROSSES_ORIGINS)


def without_body(headers: Iterable[tuple[str, str]]) -> Headers:
    """Return the headers that still apply when a redirect removes the body of the request."""
    return tuple((name, value) for name, value in headers if name.lower() not in _OF_THE_BODY)


def names(headers: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the names in lower case."""
    return frozenset(name.lower() for name, _ in headers)


def _check(name: str, value: str) -> tuple[str, str]:
    if not _NAME.fullmatch(name):
        raise HeaderRefused(f"{name[:80]!r} is not a valid header name.")
    if name.lower() in REFUSED:
        raise HeaderRefused(
            f"The header {name} cannot be set.", remedy="It belongs to the connection and is set by Headgate."
        )
    value = value.strip(" \t")
    if _BAD_VALUE.search(value):
        raise HeaderRefused(f"The value of the header {name} contains a line break or control character.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise HeaderRefused(f"The value of the header {name} is not valid Unicode.") from error
    return name, value
