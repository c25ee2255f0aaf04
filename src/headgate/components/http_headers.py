"""Checks on headers that users write."""

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from pydantic import SecretStr

from headgate.foundation.errors import NotFound
from headgate.graph.check_headers import carries_credential
from headgate.sdk import ComponentError, RunContext

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]{0,8000}")
_VARIABLE = re.compile(r"(?P<scheme>[A-Za-z]{1,20} )?(?P<name>[A-Za-z_]\w{0,127})")
_OWN = frozenset(
    {
        "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive",
        "proxy-authorization", "proxy-connection", "expect",
    }
)  # fmt: skip
"""Headers that belong to the connection; setting them is how requests are smuggled."""


HEADERS_HELP = "HTTP headers, name to value; a value that names a variable, as in Bearer API_KEY, sends what it holds."
KEY_LABEL = "Idempotency key"
KEY_HELP = (
    "Send an Idempotency-Key that stays the same when this run attempts the step again, so that the receiver can drop "
    "a repeat. A header of that name set above is sent as it is."
)


async def checked_headers(ctx: RunContext, headers: Mapping[str, str], *, component: str, url: str) -> dict[str, str]:
    """The headers of a request to `url`, with lower-case names and variables filled in.

    Raises `ComponentError` on line breaks, malformed or reserved names; the error never shows a value.
    """
    found: dict[str, str] = {}
    for name, written in headers.items():
        value = await filled(name, written, partial(ctx.secret, url=url))
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


async def filled(header: str, written: str, find: Callable[[str], Awaitable[SecretStr]]) -> str:
    """The variable that the whole value, or what follows its scheme, names; else the value as it is written.

    Args:
        header: The header's name.
        written: As the flow holds it, `API_KEY` or `Bearer API_KEY`.
        find: Gives the value of a variable. Raises `NotFound`.

    Raises `NotFound` when a header that carries a credential names a variable that is not there.
    """
    match = _VARIABLE.fullmatch(written.strip())
    if match is None:
        return written
    try:
        secret = await find(match["name"])
    except NotFound:
        if carries_credential(header):
            raise
        return written
    return f"{match['scheme'] or ''}{secret.get_secret_value()}"
