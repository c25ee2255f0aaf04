"""Events between processes, over Redis: a stream a topic, whose ids any process understands.

Writers gather events for a moment and send them as one entry, so that a fast run costs one command and not one an
event. Readers wait in Redis and not in a loop. The relay is a convenience: what it loses can be read from rows.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import orjson
from pydantic import JsonValue
from redis.asyncio import Redis
from redis.exceptions import RedisError

from headgate.foundation.errors import Unavailable
from headgate.foundation.events import Heard
from headgate.foundation.log import get_logger

GATHER_SECONDS = 0.02
"""How long events are gathered before they are sent."""
SILENCE_SECONDS = 3.0
"""How long a reader waits before it is told that nothing came."""
MOST_ENTRIES = 2_000
"""Entries kept of one topic, about."""
MOST_WAITING = 20_000
"""Events kept while Redis is away; the oldest go first."""
CONNECT_SECONDS = 2.0
_ANSWER_SECONDS = 4 * SILENCE_SECONDS
_PLACE = re.compile(r"(\d{1,20})-(\d{1,20})\.(\d{1,9})", re.ASCII)
_EVENTS, _CLOSED = b"e", b"c"
log = get_logger(__name__)


class EventRelay:
    """Publishes topics in one Redis database. Lives on one event loop.

    Args:
        url: The Redis database; nothing else should be in it.
        keep_seconds: How long a topic is kept after its last event.
    """

    def __init__(self, url: str, keep_seconds: int) -> None:
        self.client: Redis = Redis.from_url(
            url, socket_connect_timeout=CONNECT_SECONDS, socket_timeout=_ANSWER_SECONDS, health_check_interval=30
        )
        self._keep_seconds = keep_seconds
        self._waiting: dict[str, list[tuple[str, dict[str, JsonValue]]]] = {}
        self._closing: set[str] = set()
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None

    def publish(self, topic: str, kind: str, data: dict[str, JsonValue]) -> None:
        """Add an event; it is sent a moment later."""
        if self._count >= MOST_WAITING:
            self._count -= len(self._waiting.pop(next(iter(self._waiting)), ()))
        self._waiting.setdefault(topic, []).append((kind, data))
        self._count += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._send_soon)

    def close(self, topic: str) -> None:
        """Nothing more will happen in this topic; send what there is at once."""
        self._closing.add(topic)
        self._waiting.setdefault(topic, [])
        self._send_soon()

    async def flush(self) -> None:
        """Send what was published so far."""
        while self._waiting or self._sending is not None:
            self._send_soon()
            if self._sending is not None:
                await asyncio.wait([self._sending])

    async def settle(self, seconds: float = 1.0) -> None:
        """Send what was published so far, if that takes no longer than this."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.flush()

    async def aclose(self) -> None:
        """Send the last events and disconnect."""
        await self.settle(CONNECT_SECONDS)
        if self._sending is not None:
            self._sending.cancel()
        await self.client.aclose()

    def _send_soon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._sending is None and self._waiting:
            self._sending = asyncio.create_task(self._send())
            self._sending.add_done_callback(self._sent)

    def _sent(self, done: "asyncio.Task[None]") -> None:
        self._sending = None
        if self._waiting and not done.cancelled():
            self._send_soon()

    async def _send(self) -> None:
        """Send all that waits, in one round trip. What Redis does not take is let go."""
        waiting, closing = self._waiting, self._closing
        self._waiting, self._closing, self._count = {}, set(), 0
        pipe = self.client.pipeline(transaction=False)
        for topic, events in waiting.items():
            entry: dict[bytes, bytes] = {_EVENTS: orjson.dumps(events, default=str)}
            if topic in closing:
                entry[_CLOSED] = b"1"
            pipe.xadd(topic, entry, maxlen=MOST_ENTRIES, approximate=True)  # type: ignore[arg-type]
            pipe.expire(topic, self._keep_seconds)
        try:
            await pipe.execute()
        except (RedisError, OSError) as error:
            log.warning("events lost", topics=len(waiting), problem=str(error))

    def reopen(self, topic: str) -> None:
        """A stream takes further entries behind one that closed it."""

    def knows(self, topic: str) -> bool:  # noqa: ARG002 - others may listen, in other processes
        """Whether anybody may be listening."""
        return True


class RelayFeed:
    """Follows topics of a relay.

    Args:
        client: The Redis database of the relay.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client

    def place(self, last_id: str) -> str:
        """The id, if it has the shape of a place in a stream."""
        return last_id if _PLACE.fullmatch(last_id) else ""

    async def knows(self, topic: str) -> bool:
        """Whether the topic's stream is there; false also when Redis is not."""
        try:
            return bool(await self._client.exists(topic))
        except (RedisError, OSError):
            return False

    async def mark(self, topic: str) -> str:
        """The place of the last event in the stream, or of its beginning where nothing was sent yet."""
        try:
            found = _entries(await self._client.xrevrange(topic, count=1))
        except (RedisError, OSError) as error:
            raise Unavailable(f"Redis does not answer: {error}", remedy="What is stored says what is so.") from error
        if not found:
            return "0-0.0"
        entry, fields = found[0]
        return f"{entry.decode()}.{max(len(orjson.loads(fields[_EVENTS])) - 1, 0)}"

    async def follow(self, topic: str, *, after: str = "") -> AsyncIterator[Heard | None]:
        """Events of the stream behind `after`. A stream that was closed and went on is followed to its last end."""
        entry, index = _place_of(after)
        try:
            entries = _entries(await self._client.xrange(topic, entry, entry)) if entry else []
            skip = index + 1
            while True:
                for heard in _events_of(entries, skip=skip, first=not entry):
                    yield heard
                skip = 0
                entry = entries[-1][0].decode() if entries else entry
                closed = bool(entries) and _CLOSED in entries[-1][1]
                block = None if closed else int(SILENCE_SECONDS * 1000)
                entries = _entries(await self._client.xread({topic: entry or "0"}, block=block, count=100), nested=True)
                if closed and not entries:
                    return
                if not entries:
                    yield None
        except (RedisError, OSError) as error:
            raise Unavailable(
                f"Redis does not answer: {error}", remedy="The rows of the run say what is so."
            ) from error


_Entry = tuple[bytes, dict[bytes, bytes]]


def _entries(found: Any, *, nested: bool = False) -> list[_Entry]:  # noqa: ANN401 - what the client gives
    """The entries of one stream; `nested` as XREAD answers, which names the stream."""
    if not found or not nested:
        return list(found or ())
    streams = found.values() if isinstance(found, dict) else (entries for _, entries in found)
    return [_pair(entry) for entries in streams for entry in entries]


def _pair(entry: Any) -> _Entry:  # noqa: ANN401
    return entry[0], entry[1]


def _place_of(after: str) -> tuple[str, int]:
    found = _PLACE.fullmatch(after)
    return (f"{found[1]}-{found[2]}", int(found[3])) if found else ("", 0)


def _events_of(entries: list[_Entry], *, skip: int, first: bool) -> Iterator[Heard]:
    for entry, fields in entries:
        for index, (kind, data) in enumerate(orjson.loads(fields[_EVENTS])):
            if index >= skip:
                yield Heard(f"{entry.decode()}.{index}", first and index == 0, kind, data)
        first, skip = False, 0
