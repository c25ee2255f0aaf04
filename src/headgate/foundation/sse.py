"""Server-sent events: encoding, heartbeat comments, and streams that end when the reader loses access.

The format is that of the HTML standard, section "Server-sent events".
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

import orjson
from anyio import CancelScope
from pydantic import JsonValue
from starlette.responses import StreamingResponse
from starlette.types import Send

from headgate.foundation.errors import Forbidden, NotFound, Unauthenticated, Unavailable

HEARTBEAT_SECONDS = 15.0
"""Idle time after which a comment is sent, so that no intermediary closes the connection."""
CHECK_SECONDS = 2.0
"""Interval between checks of the reader's access. No data is sent later than this after the last check, and no stream
stays open longer without one.
"""
SSE_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
"""Disables buffering by proxies."""


class EventStream(StreamingResponse):
    """A response of server-sent events. When the reader disconnects, the generator is closed first.

    The framework leaves that to the garbage collector when the reader disconnects during a send.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None], status_code: int = 200) -> None:
        super().__init__(events, status_code, headers=SSE_HEADERS)
        self._events = events

    async def stream_response(self, send: Send) -> None:
        """Send the events until they end or the reader disconnects."""
        async with aclosing(self._events):
            await super().stream_response(send)


@dataclass(frozen=True, slots=True)
class SseEvent:
    """An event for one reader."""

    id: str
    kind: str
    data: dict[str, JsonValue]

    def as_sse(self) -> bytes:
        """Return the event in the format of server-sent events."""
        return b"id: %b\nevent: %b\ndata: %b\n\n" % (self.id.encode(), self.kind.encode(), orjson.dumps(self.data))


async def with_heartbeat(
    events: AsyncGenerator[SseEvent, None],
    seconds: float = HEARTBEAT_SECONDS,
    *,
    may_go_on: Callable[[], Awaitable[bool]] | None = None,
) -> AsyncGenerator[bytes, None]:
    """Yield the events in the format of server-sent events, with a comment after each idle period.

    Args:
        events: The events.
        seconds: Idle time after which a comment is sent.
        may_go_on: Whether the reader still has access; checked every `CHECK_SECONDS`. The stream ends when not.
    """
    waiting = asyncio.ensure_future(anext(events, None))
    clock = asyncio.get_running_loop().time
    checked_at = spoke = clock()
    try:
        while True:
            pause = seconds - (clock() - spoke)
            done, _ = await asyncio.wait([waiting], timeout=pause if may_go_on is None else min(pause, CHECK_SECONDS))
            if may_go_on is not None and clock() - checked_at >= CHECK_SECONDS:
                if not await may_go_on():
                    return
                checked_at = clock()
            if not done and clock() - spoke < seconds:
                continue
            spoke = clock()
            if not done:
                yield b": still here\n\n"
                continue
            event = waiting.result()
            if event is None:
                return
            yield event.as_sse()
            waiting = asyncio.ensure_future(anext(events, None))
    finally:
        with CancelScope(shield=True):  # a disconnected reader's task is cancelled again at each step
            waiting.cancel()
            await asyncio.wait([waiting])
            await events.aclose()


def while_allowed(check: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[bool]]:
    """Return a check for `with_heartbeat` that fails when `check` raises an error that would have denied access."""

    async def may_go_on() -> bool:
        try:
            await check()
        except (Unauthenticated, Forbidden, NotFound):
            return False
        except Unavailable:  # the database is unreachable: access stays as it was until it responds
            return True
        return True

    return may_go_on
