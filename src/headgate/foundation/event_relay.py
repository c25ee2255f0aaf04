"""Events between processes, over Redis: a stream for each topic.

Writers gather events for a moment and send them as one entry, so that a fast run costs one command and not one for each
event. Readers wait in Redis and do not poll it. The relay stores nothing that counts: what Redis does not take is
dropped, and while Redis is away everything is. Readers then read the rows, where every durable event is, and notice by
the numbers of the others that some are missing.
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
"""How long events are gathered before they are sent."""
MOST_ENTRIES = 2_000
"""Entries kept of one topic, about."""
MOST_WAITING_BYTES = 4 * 1024 * 1024
"""Events that wait to be sent; beyond it those of the topic that waits longest are dropped."""
IDLE_SECONDS = 60
"""How long a topic is kept after a group of it ended, if nothing follows."""
CONNECT_SECONDS = 2.0
_ANSWER_SECONDS = 4 * SILENCE_SECONDS + CONNECT_SECONDS
_EVENTS = b"e"
_WAKE = ""
"""In place of a kind: rows have changed."""
_Waiting = list[tuple[str, dict[str, JsonValue], str]]
"""Kind, data and group of each event."""
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
        self._waiting: dict[str, _Waiting] = {}
        self._ended: set[str] = set()
        """Topics with a group that ended since they were last sent."""
        self._bytes = 0
        self._is_away = False
        self._timer: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None

    def publish(self, topic: str, kind: str, data: dict[str, JsonValue], *, group: str = "") -> None:
        """Add an event; it is sent a moment later."""
        self._bytes += EVENT_BYTES + len(orjson.dumps(data, default=str))
        if self._bytes > MOST_WAITING_BYTES and self._waiting:
            dropped = self._waiting.pop(next(iter(self._waiting)))
            self._bytes -= sum(EVENT_BYTES + len(orjson.dumps(one[1], default=str)) for one in dropped)
        self._waiting.setdefault(topic, []).append((kind, data, group))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._send_soon)

    def wake(self, topic: str) -> None:
        """Let readers look at the rows; one wake-up for all that is sent at once."""
        waiting = self._waiting.get(topic)
        if not waiting or waiting[-1][0] != _WAKE:
            self.publish(topic, _WAKE, {})

    def drop(self, topic: str, group: str) -> None:  # noqa: ARG002 - a stream is dropped as one
        """A group ended: its topic is kept no longer than `IDLE_SECONDS` if nothing follows."""
        self._ended.add(topic)
        self.wake(topic)

    def may_have_readers(self, topic: str) -> bool:  # noqa: ARG002 - other processes may read it
        """Whether anybody may read this topic."""
        return True

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
        """Send all that waits, in one round trip. What Redis does not take is dropped."""
        waiting, ended = self._waiting, self._ended
        self._waiting, self._ended, self._bytes = {}, set(), 0
        pipe = self.client.pipeline(transaction=False)
        for topic, events in waiting.items():
            entry: dict[bytes, bytes] = {_EVENTS: orjson.dumps(events, default=str)}
            pipe.xadd(topic, entry, maxlen=MOST_ENTRIES, approximate=True)  # type: ignore[arg-type]
            pipe.expire(topic, min(IDLE_SECONDS, self._keep_seconds) if topic in ended else self._keep_seconds)
        try:
            await pipe.execute()
        except (RedisError, OSError) as error:
            if not self._is_away:
                log.warning("events are dropped while Redis is away", topics=len(waiting), problem=str(error))
            self._is_away = True
        else:
            if self._is_away:
                log.info("Redis takes events again")
            self._is_away = False


class RelayFeed:
    """Follows topics of a relay.

    Args:
        client: The Redis database of the relay.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client

    @asynccontextmanager
    async def follow(self, topic: str) -> AsyncIterator["RelaySubscription"]:
        """Read a topic from now on. While Redis is away it begins when Redis is back; `changed` raises until then."""
        subscription = RelaySubscription(self._client, topic)
        with suppress(RedisError, OSError):
            await subscription.begin()
        yield subscription


class RelaySubscription:
    """A reader's place in a stream. It is given events without a group only from now on."""

    def __init__(self, client: Redis, topic: str) -> None:
        self._client = client
        self._topic = topic
        self._entry = b"0"
        self._began: tuple[int, int] | None = None
        self._pending: list[Event] = []

    async def begin(self) -> None:
        """Note the end of the stream. Raises what Redis raises."""
        newest: Any = await self._client.xrevrange(self._topic, count=1)
        self._began = _order(newest[0][0]) if newest else (0, 0)

    def pending(self) -> Sequence[Event]:
        """What was received."""
        found, self._pending = self._pending, []
        return found

    async def changed(self) -> bool:
        """Wait for an entry or `SILENCE_SECONDS`; whether the rows have to be read. Raises `Unavailable`."""
        try:
            if self._began is None:
                await self.begin()
                return True  # rows may have changed before
            block = int(SILENCE_SECONDS * 1000)
            answer = await self._client.xread({self._topic: self._entry}, block=block, count=100)
        except (RedisError, OSError) as error:
            raise Unavailable(
                f"Redis does not answer: {error}", remedy="The rows are read until it is back."
            ) from error
        return self._take(_entries(answer), self._began)

    def _take(self, entries: Sequence[tuple[bytes, dict[bytes, bytes]]], began: tuple[int, int]) -> bool:
        woken = not entries
        for self._entry, fields in entries:
            for kind, data, group in orjson.loads(fields[_EVENTS]):
                if kind == _WAKE:
                    woken = True
                elif group or _order(self._entry) > began:
                    self._pending.append(Event(kind, data))
        return woken


def _entries(answer: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:  # noqa: ANN401 - what the client gives
    """The entries of the one stream that XREAD answers with."""
    streams = answer.values() if isinstance(answer, dict) else (entries for _, entries in answer or ())
    return [(entry[0], entry[1]) for entries in streams for entry in entries]


def _order(entry: bytes) -> tuple[int, int]:
    milliseconds, _, number = entry.partition(b"-")
    return int(milliseconds), int(number)
