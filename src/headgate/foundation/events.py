"""An in-process event bus: wakes the readers of a topic and passes on events that are not stored anywhere.

What is stored is read from its rows: a reader that is woken looks there. The bus keeps events of a group (the output of
a step that is running) for readers that come later, until the group is dropped. Whatever it keeps is bounded by bytes,
for each group and in total, and the oldest goes first; so a reader may miss events, and the events have to let it
notice. Without readers and groups a topic takes no memory.
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
"""Kept by one bus, unless it is set otherwise."""
MOST_GROUP_BYTES = 256 * 1024
"""Kept of one group."""
EVENT_BYTES = 500
"""What an event takes in memory beside its text, about."""
SILENCE_SECONDS = 1.0
"""How long a reader waits before it looks at the rows though nothing woke it."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a topic."""

    kind: str
    data: dict[str, JsonValue]


class EventSink(Protocol):
    """Where events go. No call waits or raises."""

    def publish(self, topic: str, kind: str, data: dict[str, JsonValue], *, group: str = "") -> None:
        """Pass an event on to the readers of a topic; with a group, also to those that come before it is dropped."""
        ...

    def wake(self, topic: str) -> None:
        """Rows that readers of this topic show have changed."""
        ...

    def drop(self, topic: str, group: str) -> None:
        """A group ended: readers that come from now on do not get its events."""
        ...

    def may_have_readers(self, topic: str) -> bool:
        """Whether anybody may read this topic now."""
        ...


class Subscription(Protocol):
    """A reader's place in a topic."""

    def pending(self) -> Sequence[Event]:
        """The events since this was last asked, in order; first those that are kept of groups. Does not wait."""
        ...

    async def changed(self) -> bool:
        """Wait for something to happen; whether the rows have to be read: the topic was woken, or it was silent.

        Raises `Unavailable` when the feed is lost.
        """
        ...


class EventFeed(Protocol):
    """Where events are read, in whichever process they happen."""

    def follow(self, topic: str) -> AbstractAsyncContextManager[Subscription]:
        """Read a topic from now on. A reader reads the rows once when it has subscribed. Raises `Unavailable`."""
        ...


@dataclass(slots=True)
class _Group:
    events: deque[tuple[int, int, Event]] = field(default_factory=deque)
    """Number in the topic, size, event; oldest first."""
    size: int = 0


@dataclass(slots=True)
class _Topic:
    groups: dict[str, _Group] = field(default_factory=dict)
    """The group with the empty name holds what only the present readers get."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    last: int = 0
    """The number of the last event."""
    wakes: int = 0
    readers: int = 0


class EventBus:
    """Passes events on to readers in this process; sink and feed at once. Lives on one event loop.

    Args:
        most_bytes: What it may keep in total.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._topics: OrderedDict[str, _Topic] = OrderedDict()
        self.kept_bytes = 0
        """What it keeps, about."""

    def publish(self, topic: str, kind: str, data: dict[str, JsonValue], *, group: str = "") -> None:
        """Pass an event on; without a group nothing is kept where nobody reads."""
        found = self._topics.get(topic)
        if found is None or not (group or found.readers):
            if not group:
                return
            found = self._topic(topic)
        found.last += 1
        size = EVENT_BYTES + len(orjson.dumps(data, default=str))
        kept = found.groups.setdefault(group, _Group())
        kept.events.append((found.last, size, Event(kind, data)))
        kept.size += size
        self.kept_bytes += size
        self._trim(kept)
        self._topics.move_to_end(topic)
        while self.kept_bytes > self._most_bytes:
            self._clear_oldest()
        _wake(found)

    def wake(self, topic: str) -> None:
        """Let readers look at the rows."""
        found = self._topics.get(topic)
        if found is not None:
            found.wakes += 1
            _wake(found)

    def drop(self, topic: str, group: str) -> None:
        """Keep the group's events for the present readers only, and not at all without any."""
        found = self._topics.get(topic)
        ended = found.groups.pop(group, None) if found is not None else None
        if found is None or ended is None:
            return
        if found.readers:
            kept = found.groups.setdefault("", _Group())
            kept.events = deque(sorted((*kept.events, *ended.events), key=lambda one: one[0]))
            kept.size += ended.size
            self._trim(kept)
        else:
            self.kept_bytes -= ended.size
            self._forget_if_idle(topic, found)

    def may_have_readers(self, topic: str) -> bool:
        """Whether somebody in this process reads the topic."""
        found = self._topics.get(topic)
        return found is not None and found.readers > 0

    @asynccontextmanager
    async def follow(self, topic: str) -> AsyncIterator["BusSubscription"]:
        """Read a topic from now on."""
        found = self._topic(topic)
        found.readers += 1
        try:
            yield BusSubscription(found)
        finally:
            found.readers -= 1
            if found.readers == 0 and (left := found.groups.pop("", None)) is not None:
                self.kept_bytes -= left.size
            self._forget_if_idle(topic, found)

    def _topic(self, name: str) -> _Topic:
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = _Topic()
        return topic

    def _forget_if_idle(self, name: str, topic: _Topic) -> None:
        if not topic.readers and not topic.groups and self._topics.get(name) is topic:
            del self._topics[name]

    def _trim(self, kept: _Group) -> None:
        while kept.size > MOST_GROUP_BYTES and len(kept.events) > 1:
            size = kept.events.popleft()[1]
            kept.size -= size
            self.kept_bytes -= size

    def _clear_oldest(self) -> None:
        """Keep nothing of the topic whose last event is the oldest."""
        name, topic = next((name, topic) for name, topic in self._topics.items() if topic.groups)
        self.kept_bytes -= sum(group.size for group in topic.groups.values())
        topic.groups.clear()
        self._forget_if_idle(name, topic)


class BusSubscription:
    """A reader's place in a topic of this process."""

    def __init__(self, topic: _Topic) -> None:
        self._topic = topic
        self._began = topic.last
        self._after = 0
        self._wakes = topic.wakes

    def pending(self) -> Sequence[Event]:
        """What is kept behind the reader's place; without a group, only what happened since it came."""
        found: list[tuple[int, Event]] = []
        for name, group in self._topic.groups.items():
            least = self._after if name else max(self._after, self._began)
            for number, _, event in reversed(group.events):
                if number <= least:
                    break
                found.append((number, event))
        self._after = self._topic.last
        return [event for _, event in sorted(found, key=lambda one: one[0])]

    async def changed(self) -> bool:
        """Wait for an event, a wake-up or `SILENCE_SECONDS`; whether the rows have to be read."""
        topic = self._topic
        if topic.wakes == self._wakes and topic.last == self._after:
            try:
                async with asyncio.timeout(SILENCE_SECONDS):
                    await topic.changed.wait()
            except TimeoutError:
                return True
        woken, self._wakes = topic.wakes != self._wakes, topic.wakes
        return woken


def _wake(topic: _Topic) -> None:
    """Wake every reader: each waits on the event it took before it looked, so none is lost."""
    if topic.readers:
        topic.changed.set()
        topic.changed = asyncio.Event()
