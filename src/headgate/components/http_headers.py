"""Checks on headers that users write."""

import re
from collections.abc import Mapping

from headgate.sdk import ComponentError

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]{0,8000}")
_OWN = frozenset(
    {
        "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive",
        "proxy-authorization", "proxy-connection", "expect",
    }
)  # fmt: skip
"""Headers that belong to the connection; setting them is how requests are smuggled."""


def checked_headers(headers: Mapping[str, str], *, component: str) -> dict[str, str]:
    """The headers with lower-case names. Raises `ComponentError` on line breaks, malformed or reserved names."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        lower = name.lower()
        if not _NAME.fullmatch(name):
            raise ComponentError(
                f"{component}: {name[:60]!r} is not a header name.",
                remedy="Use letters, digits and -.",
                field="headers",
            )
        if lower in _OWN:
            raise ComponentError(
                f"{component}: the header '{lower}' is set by Headgate.", remedy="Remove it.", field="headers"
            )
        if not _VALUE.fullmatch(value):
            raise ComponentError(
                f"{component}: the value of the header '{lower}' has a line break or control character.",
                remedy="Write it on one line.",
                field="headers",
            )
        found[lower] = value.strip()
    return found
