"""Checks on headers that users write."""

import re
from collections.abc import Mapping

from headgate.sdk import ComponentError, RunContext, SecretReference

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]{0,8000}")
_OWN = frozenset(
    {
        "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive",
        "proxy-authorization", "proxy-connection", "expect",
    }
)  # fmt: skip
"""Connection headers; setting them enables request smuggling."""


HEADERS_HELP = 'HTTP headers, name to text, or to a secret: {"secret": "API_KEY", "scheme": "Bearer"}.'
KEY_LABEL = "Idempotency key"
KEY_HELP = (
    "Send an Idempotency-Key that stays the same when this run retries the step, so that the receiver can "
    "ignore a repeat. A header of that name set above is sent unchanged."
)


async def checked_headers(
    ctx: RunContext, headers: Mapping[str, str | SecretReference], *, component: str, url: str
) -> dict[str, str]:
    """The headers of a request to `url`, with lower-case names and the values of secrets. Text is sent unchanged.

    Raises `ComponentError` for line breaks, malformed or reserved names; the error never shows a value.
    """
    checked: dict[str, str] = {}
    for name, header_value in headers.items():
        lower = checked_name(name, component=component)
        value = header_value if isinstance(header_value, str) else await _revealed(ctx, header_value, url)
        if not _VALUE.fullmatch(value):
            raise ComponentError(
                f"{component}: the value of the header '{lower}' contains a line break or control character.",
                remedy="Write it on one line.",
                field="headers",
            )
        checked[lower] = value.strip()
    return checked


def checked_name(name: str, *, component: str) -> str:
    """Return the name of a header in lower case. Raises `ComponentError` for a malformed or reserved one."""
    lower = name.lower()
    if not _NAME.fullmatch(name):
        raise ComponentError(
            f"{component}: {name[:60]!r} is not a valid header name.",
            remedy="Use letters, digits and -.",
            field="headers",
        )
    if lower in _OWN:
        raise ComponentError(
            f"{component}: the header '{lower}' is set by Headgate.", remedy="Remove it.", field="headers"
        )
    return lower


async def _revealed(ctx: RunContext, reference: SecretReference, url: str) -> str:
    return reference.filled((await ctx.secret(reference, url=url)).get_secret_value())
