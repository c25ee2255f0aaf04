"""An in-process event bus: wakes the readers of a topic and delivers events that are not stored in the database.

Stored events are read from their rows: a reader that is woken reads them again. The bus buffers the events of a group
(the output of a running step) for later readers until the group is dropped. The buffer is bounded in bytes, per group
and in total; the oldest events are dropped first. A reader may therefore miss events and must be able to detect it from
their content. A topic without readers and groups uses no memory.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import orjson
from pydantic import JsonValue

MOST_BYTES = 16 * 1024 * 1024
"""Default size of the buffer of one bus."""
MOST_GROUP_BYTES = 256 * 1024
"""Size of the buffer of one group."""
EVENT_BYTES = 500
"""Approximate memory of an event in addition to its text."""
SILENCE_SECONDS = 1.0
"""How long a reader waits for a wake-up before it reads the rows anyway."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a topic."""

    kind: str
    data: dict[str, JsonValue]


class EventSink(Protocol):
    """Publishes events. No call blocks or raises."""

    def publish(self, topic: str, kind: str, data: dict[str, JsonValue], *, group: str = "") -> None:
        """Deliver an event to the readers of a topic; with a group, also to later readers until it is dropped."""

    def wake(self, topic: str) -> None:
        """Notify the readers of a topic that its rows have changed."""

    def drop(self, topic: str, group: str) -> None:
        """End a group: readers that subscribe later do not receive its events."""

    def may_have_readers(self, topic: str) -> bool:
        """Return whether this topic may have readers."""


class Subscription(Protocol):
    """A reader's position in a topic."""

    def pending(self) -> Sequence[Event]:
        """The events since the last call, in order; the first call also returns buffered groups. Does not wait."""

    async def changed(self) -> bool:
        """Wait for an event, a wake-up or a timeout. True when the rows must be read: not after an event alone.

        Raises `Unavailable` when the connection to the feed is lost.
        """


class EventFeed(Protocol):
    """Reads events of all processes."""

    def follow(self, topic: str) -> AbstractAsyncContextManager[Subscription]:
        """Subscribe to a topic. After subscribing a reader reads the rows once. Raises `Unavailable`."""


@dataclass(slots=True)
class _Group:
    events: deque[tuple[int, int, Event]] = field(default_factory=deque)
    """Number in the topic, size, event; oldest first."""
    size: int = 0


@dataclass(slots=True)
class _Topic:
    groups: dict[str, _Group] = field(default_factory=dict)
    """The group with the empty name holds events for current readers only."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    last: int = 0
    """The number of the last event."""
    wakes: int = 0
    readers: int = 0


class EventBus:
    """Delivers events to readers in this process: both sink and feed. Bound to one event loop.

    Args:
        most_bytes: Size of the buffer.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._topics: OrderedDict[str, _Topic] = OrderedDict()
        self.size_bytes = 0
        """Approximate size of the buffered events."""

    def publish(self, topic: str, kind: str, data: dict[str, JsonValue], *, group: str = "") -> None:
        """Deliver an event. Without a group and readers it is discarded."""
        state = self._topics.get(topic)
        if state is None or not (group or state.readers):
            if not group:
                return
            state = self._topic(topic)
        state.last += 1
        size = EVENT_BYTES + len(orjson.dumps(data, default=str))
        buffer = state.groups.setdefault(group, _Group())
        buffer.events.append((state.last, size, Event(kind, data)))
        buffer.size += size
        self.size_bytes += size
        self._trim(buffer)
        self._topics.move_to_end(topic)
        while self.size_bytes > self._most_bytes:
            self._clear_oldest()
        _wake(state)

    def wake(self, topic: str) -> None:
        """Notify the readers of a topic that its rows have changed."""
        state = self._topics.get(topic)
        if state is not None:
            state.wakes += 1
            _wake(state)

    def drop(self, topic: str, group: str) -> None:
        """Keep the group's events for current readers only; without readers discard them."""
        state = self._topics.get(topic)
        group_events = state.groups.pop(group, None) if state is not None else None
        if state is None or group_events is None:
            return
        if state.readers:
            buffer = state.groups.setdefault("", _Group())
            buffer.events = deque(sorted((*buffer.events, *group_events.events), key=lambda entry: entry[0]))
            buffer.size += group_events.size
            self._trim(buffer)
        else:
            self.size_bytes -= group_events.size
            self._forget_if_idle(topic, state)

    def may_have_readers(self, topic: str) -> bool:
        """Return whether the topic has readers in this process."""
        state = self._topics.get(topic)
        return state is not None and state.readers > 0

    @asynccontextmanager
    async def follow(self, topic: str) -> AsyncIterator["BusSubscription"]:
        """Subscribe to a topic."""
        state = self._topic(topic)
        state.readers += 1
        try:
            yield BusSubscription(state)
        finally:
            state.readers -= 1
            if state.readers == 0 and (unread := state.groups.pop("", None)) is not None:
                self.size_bytes -= unread.size
            self._forget_if_idle(topic, state)

    def _topic(self, name: str) -> _Topic:
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = _Topic()
        return topic

    def _forget_if_idle(self, name: str, topic: _Topic) -> None:
        if not topic.readers and not topic.groups and self._topics.get(name) is topic:
            del self._topics[name]

    def _trim(self, group: _Group) -> None:
        while group.size > MOST_GROUP_BYTES and len(group.events) > 1:
            size = group.events.popleft()[1]
            group.size -= size
            self.size_bytes -= size

    def _clear_oldest(self) -> None:
        """Discard the buffer of the topic whose last event is the oldest."""
        name, topic = next((name, topic) for name, topic in self._topics.items() if topic.groups)
        self.size_bytes -= sum(group.size for group in topic.groups.values())
        topic.groups.clear()
        self._forget_if_idle(name, topic)


class BusSubscription:
    """A reader's position in a topic of this process."""

    def __init__(self, topic: _Topic) -> None:
        self._topic = topic
        self._began = topic.last
        self._after = 0
        self._wakes = topic.wakes

    def pending(self) -> Sequence[Event]:
        """Buffered events after the reader's position; without a group, only those since it subscribed."""
        events: list[tuple[int, Event]] = []
        for name, group in self._topic.groups.items():
            position = self._after if name else max(self._after, self._began)
            for number, _, event in reversed(group.events):
                if number <= position:
                    break
                events.append((number, event))
        self._after = self._topic.last
        return [event for _, event in sorted(events, key=lambda numbered: numbered[0])]

    async def changed(self) -> bool:
        """Wait for an event, a wake-up or `SILENCE_SECONDS`. True when the rows must be read."""
        topic = self._topic
        if topic.wakes == self._wakes and topic.last == self._after:
            try:
                async with asyncio.timeout(SILENCE_SECONDS):
                    await topic.changed.wait()
            except TimeoutError:
                return True
        was_woken, self._wakes = topic.wakes != self._wakes, topic.wakes
        return was_woken


def _wake(topic: _Topic) -> None:
    """Wake every reader. Each waits on the `asyncio.Event` it held before its check, so no wake-up is lost."""
    if topic.readers:
        topic.changed.set()
        topic.changed = asyncio.Event()
