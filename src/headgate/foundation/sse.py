"""Server-sent events: how an event is written, and a stream that keeps its line and ends when its reader may not go on.

The form is the one of the HTML standard, section "Server-sent events".
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
"""Silence after which a comment is sent, so that nothing on the way takes the line for dead."""
CHECK_SECONDS = 2.0
"""Nothing is sent later than this after the last check whether the reader may have it, and no stream stays open longer
without one."""
SSE_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
"""No proxy keeps the events back."""


class EventStream(StreamingResponse):
    """An answer of server-sent events. When its reader is gone the generator is closed before anything else goes on.

    The framework leaves that to the garbage collector where the reader was lost while something was being sent.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None], status_code: int = 200) -> None:
        super().__init__(events, status_code, headers=SSE_HEADERS)
        self._events = events

    async def stream_response(self, send: Send) -> None:
        """Send the events until they end or nobody listens."""
        async with aclosing(self._events):
            await super().stream_response(send)


@dataclass(frozen=True, slots=True)
class SseEvent:
    """An event as it goes to one reader."""

    id: str
    kind: str
    data: dict[str, JsonValue]

    def as_sse(self) -> bytes:
        """The event as a server-sent event."""
        return b"id: %b\nevent: %b\ndata: %b\n\n" % (self.id.encode(), self.kind.encode(), orjson.dumps(self.data))


async def with_heartbeat(
    events: AsyncGenerator[SseEvent, None],
    seconds: float = HEARTBEAT_SECONDS,
    *,
    may_go_on: Callable[[], Awaitable[bool]] | None = None,
) -> AsyncGenerator[bytes, None]:
    """The events as server-sent ones, with a comment whenever nothing was said for so long.

    Args:
        events: What happens.
        seconds: Silence after which a comment is sent.
        may_go_on: Whether the reader may still have them; asked every `CHECK_SECONDS`. The stream ends when not.
    """
    waiting = asyncio.ensure_future(anext(events, None))
    clock = asyncio.get_running_loop().time
    asked = spoke = clock()
    try:
        while True:
            pause = seconds - (clock() - spoke)
            done, _ = await asyncio.wait([waiting], timeout=pause if may_go_on is None else min(pause, CHECK_SECONDS))
            if may_go_on is not None and clock() - asked >= CHECK_SECONDS:
                if not await may_go_on():
                    return
                asked = clock()
            if not done and clock() - spoke < seconds:
                continue
            spoke = clock()
            if not done:
                yield b": still here\n\n"
                continue
            told = waiting.result()
            if told is None:
                return
            yield told.as_sse()
            waiting = asyncio.ensure_future(anext(events, None))
    finally:
        with CancelScope(shield=True):  # who hung up is cancelled again at each step
            waiting.cancel()
            await asyncio.wait([waiting])
            await events.aclose()


def while_allowed(check: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[bool]]:
    """For `with_heartbeat`: whether the check raises nothing that would have kept the reader out at the beginning."""

    async def may_go_on() -> bool:
        try:
            await check()
        except (Unauthenticated, Forbidden, NotFound):
            return False
        except Unavailable:  # the database is away: what was allowed stays so until it can say
            return True
        return True

    return may_go_on
