"""Events between processes, over Redis: a stream for each topic.

Writers batch events for `GATHER_SECONDS` and send them as one entry, so that a fast run costs one command per batch.
Readers use blocking reads and do not poll. Delivery is best effort: events that Redis does not accept are dropped, so
all of them while Redis is unreachable. Readers then read the rows, which contain every durable event, and detect
missing ephemeral events by their numbers.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import orjson
from pydantic import JsonValue
from redis.asyncio import Redis
from redis.exceptions import RedisError

from headgate.foundation.errors import Unavailable
from headgate.foundation.events import EVENT_BYTES, SILENCE_SECONDS, Event
from headgate.foundation.log import get_logger

GATHER_SECONDS = 0.02
"""How long events are batched before they are sent."""
MOST_ENTRIES = 2_000
"""Approximate number of entries per stream."""
MOST_WAITING_BYTES = 4 * 1024 * 1024
"""Size of the send buffer; above it the topic that has waited longest is dropped."""
IDLE_SECONDS = 60
"""Expiry of a topic after one of its groups ended."""
CONNECT_SECONDS = 2.0
_ANSWER_SECONDS = 4 * SILENCE_SECONDS + CONNECT_SECONDS
_EVENTS = b"e"
_WAKE = ""
"""Kind of an entry that reports changed rows."""
_Waiting = list[tuple[str, dict[str, JsonValue], str]]
"""Kind, data and group of each event."""
log = get_logger(__name__)


class EventRelay:
    """Publishes topics in one Redis database. Bound to one event loop.

    Args:
        url: The Redis database, used for nothing else.
        keep_seconds: Expiry of a topic after its last event.
    """

    def __init__(self, url: str, keep_seconds: int) -> None:
        self.client: Redis = Redis.from_url(
            url, socket_connect_timeout=CONNECT_SECONDS, socket_timeout=_ANSWER_SECONDS, health_check_interval=30
        )
        self._keep_seconds = keep_seconds
        self._waiting: dict[str, _Waiting] = {}
        self._ended: set[str] = set()
        """Topics with a group that ended since the last batch."""
        self._bytes = 0
        self._is_away = False
        self._timer: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None

    def publish(self, topic: str, kind: str, data: dict[str, JsonValue], *, group: str = "") -> None:
        """Add an event to the next batch."""
        self._bytes += EVENT_BYTES + len(orjson.dumps(data, default=str))
        if self._bytes > MOST_WAITING_BYTES and self._waiting:
            dropped = self._waiting.pop(next(iter(self._waiting)))
            self._bytes -= sum(EVENT_BYTES + len(orjson.dumps(event[1], default=str)) for event in dropped)
        self._waiting.setdefault(topic, []).append((kind, data, group))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._send_soon)

    def wake(self, topic: str) -> None:
        """Notify readers that rows have changed; at most one wake-up in sequence per batch."""
        waiting = self._waiting.get(topic)
        if not waiting or waiting[-1][0] != _WAKE:
            self.publish(topic, _WAKE, {})

    def drop(self, topic: str, group: str) -> None:  # noqa: ARG002 - a stream expires as a unit
        """End a group: its topic expires after `IDLE_SECONDS` without further events."""
        self._ended.add(topic)
        self.wake(topic)

    def may_have_readers(self, topic: str) -> bool:  # noqa: ARG002 - other processes may read it
        """Always true: readers in other processes are unknown here."""
        return True

    async def flush(self) -> None:
        """Send all published events."""
        while self._waiting or self._sending is not None:
            self._send_soon()
            if self._sending is not None:
                await asyncio.wait([self._sending])

    async def settle(self, seconds: float = 1.0) -> None:
        """Send all published events within this time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.flush()

    async def aclose(self) -> None:
        """Send the remaining events and disconnect."""
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

    def _sent(self, task: "asyncio.Task[None]") -> None:
        self._sending = None
        if self._waiting and not task.cancelled():
            self._send_soon()

    async def _send(self) -> None:
        """Send the batch in one round trip. What Redis does not accept is dropped."""
        waiting, ended_groups = self._waiting, self._ended
        self._waiting, self._ended, self._bytes = {}, set(), 0
        pipe = self.client.pipeline(transaction=False)
        for topic, events in waiting.items():
            entry: dict[bytes, bytes] = {_EVENTS: orjson.dumps(events, default=str)}
            pipe.xadd(topic, entry, maxlen=MOST_ENTRIES, approximate=True)  # type: ignore[arg-type]
            pipe.expire(topic, min(IDLE_SECONDS, self._keep_seconds) if topic in ended_groups else self._keep_seconds)
        try:
            await pipe.execute()
        except (RedisError, OSError) as error:
            if not self._is_away:
                log.warning("Redis is unreachable: live events are dropped", topics=len(waiting), problem=str(error))
            self._is_away = True
        else:
            if self._is_away:
                log.info("Redis is reachable again")
            self._is_away = False


class RelayFeed:
    """Subscribes to topics of a relay.

    Args:
        client: The Redis database of the relay.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client

    @asynccontextmanager
    async def follow(self, topic: str) -> AsyncIterator["RelaySubscription"]:
        """Subscribe to a topic. While Redis is unreachable `changed` raises; after that the subscription starts."""
        subscription = RelaySubscription(self._client, topic)
        with suppress(RedisError, OSError):
            await subscription.begin()
        yield subscription


class RelaySubscription:
    """A reader's position in a stream. Events without a group are delivered only from the subscription on."""

    def __init__(self, client: Redis, topic: str) -> None:
        self._client = client
        self._topic = topic
        self._entry = b"0"
        self._began: tuple[int, int] | None = None
        self._pending: list[Event] = []

    async def begin(self) -> None:
        """Record the end of the stream as the start of the subscription. Raises `RedisError` and `OSError`."""
        newest: Any = await self._client.xrevrange(self._topic, count=1)
        self._began = _order(newest[0][0]) if newest else (0, 0)

    def pending(self) -> Sequence[Event]:
        """Return the received events; clears them."""
        events, self._pending = self._pending, []
        return events

    async def changed(self) -> bool:
        """Wait for an entry or `SILENCE_SECONDS`. True when the rows must be read. Raises `Unavailable`."""
        try:
            if self._began is None:
                await self.begin()
                return True  # rows may have changed before the subscription
            block = int(SILENCE_SECONDS * 1000)
            response = await self._client.xread({self._topic: self._entry}, block=block, count=100)
        except (RedisError, OSError) as error:
            raise Unavailable(
                f"Redis is unreachable: {error}", remedy="Events are read from the database until it is available."
            ) from error
        return self._take(_entries(response), self._began)

    def _take(self, entries: Sequence[tuple[bytes, dict[bytes, bytes]]], began: tuple[int, int]) -> bool:
        was_woken = not entries
        for self._entry, fields in entries:
            for kind, data, group in orjson.loads(fields[_EVENTS]):
                if kind == _WAKE:
                    was_woken = True
                elif group or _order(self._entry) > began:
                    self._pending.append(Event(kind, data))
        return was_woken


def _entries(response: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:  # noqa: ANN401 - untyped in the client
    """Return the entries of the only stream in the response of XREAD."""
    streams = response.values() if isinstance(response, dict) else (entries for _, entries in response or ())
    return [(entry[0], entry[1]) for entries in streams for entry in entries]


def _order(entry: bytes) -> tuple[int, int]:
    milliseconds, _, number = entry.partition(b"-")
    return int(milliseconds), int(number)
