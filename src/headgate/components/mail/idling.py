"""Waits for changes of a mail folder on a connection that stays open: IMAP IDLE (RFC 2177)."""

import time
from functools import partial
from typing import TYPE_CHECKING

from headgate.components.mail.reading import in_folder, validity
from headgate.components.sockets import closed_after, open_socket
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.flow_threads import listen_in_flow_thread
from headgate.sdk import ComponentError, Connection

if TYPE_CHECKING:
    import imap_tools

LONGEST_SECONDS = 25 * 60
"""A server may close a connection that has been idle for 29 minutes."""
_ANSWER_SECONDS = 60.0
_MOST_EMPTY = 5
"""Times in a row that a connection is readable without a line, before it counts as closed."""


async def wait_for_change(connection: Connection, folder: str, known: str, seconds: float) -> str:
    """Return the state of a folder as soon as it is not `known`, and after the time in any case.

    The state is empty for one that has just changed. Raises `ComponentError` without IDLE, `UpstreamFailed`,
    `Forbidden`.
    """
    stream = await open_socket(connection, timeout_seconds=_ANSWER_SECONDS)
    async with closed_after(stream, seconds + 2 * _ANSWER_SECONDS, subject="IDLE"):
        work = partial(_changed, known=known, seconds=min(seconds, LONGEST_SECONDS))
        return await listen_in_flow_thread(in_folder, connection, stream, folder, work, read_only=True)


def _changed(box: "imap_tools.BaseMailBox", *, known: str, seconds: float) -> str:
    state = f"{validity(box)}:{validity(box, 'UIDNEXT')}"
    if state != known:
        return state
    _, lines = box.client.capability()
    if b"IDLE" not in b" ".join(lines).upper().split():
        raise ComponentError("The mail server has no IDLE.", remedy="New mail is found by polls.")
    end, empty = time.monotonic() + seconds, 0
    box.idle.start()  # type: ignore[no-untyped-call]
    while (remaining := end - time.monotonic()) > 0:
        lines = box.idle.poll(remaining)
        empty = 0 if lines else empty + 1
        if any(b"EXISTS" in line for line in lines):
            return ""
        if empty > _MOST_EMPTY:
            raise UpstreamFailed("The mail server has closed the connection.")
    return known
