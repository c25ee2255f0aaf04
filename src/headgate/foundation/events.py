"""An in-process event bus: topics with numbered events, so that a reader who lost the line can go on where it was."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

MAX_TOPICS = 1000
MAX_EVENTS = 2000


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a topic."""

    id: int
    """Counts from 1 in each topic."""
    kind: str
    data: dict[str, JsonValue]


class EventSink(Protocol):
    """Where events go. Neither call waits nor raises."""

    def publish(self, topic: str, kind: str, data: dict[str, JsonValue]) -> None:
        """Add an event."""
        ...

    def close(self, topic: str) -> None:
        """Nothing more will happen in this topic."""
        ...

    def reopen(self, topic: str) -> None:
        """Something will happen in this topic again."""
        ...

    def knows(self, topic: str) -> bool:
        """Whether anybody may be listening to this topic."""
        ...


@dataclass(frozen=True, slots=True)
class Heard:
    """An event as it reached a reader."""

    id: str
    """Names the event to whoever keeps the feed; `EventFeed.place` understands it."""
    first: bool
    """Whether nothing came before it in its topic."""
    kind: str
    data: dict[str, JsonValue]


class EventFeed(Protocol):
    """Where events are heard, in whichever process they happen."""

    def place(self, last_id: str) -> str:
        """The id if it is one of this feed's, for `follow`; empty if not."""
        ...

    async def knows(self, topic: str) -> bool:
        """Whether anything was heard of this topic and is still kept."""
        ...

    async def mark(self, topic: str) -> str:
        """The place behind what was heard so far: `follow` after it gives what happens from now on.

        Raises `Unavailable` when the feed is lost.
        """
        ...

    def follow(self, topic: str, *, after: str = "") -> AsyncIterator[Heard | None]:
        """Events behind `after`, those already there first, until the topic is closed.

        None stands for a while of silence: what an event should have said may have happened without one. Raises
        `Unavailable` when the feed is lost.
        """
        ...


@dataclass(slots=True)
class _Topic:
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    last_id: int = 0
    closed: bool = False
    readers: int = 0


class EventBus:
    """Publishes at once to every reader of a topic. Keeps the last events of the most recent topics in memory."""

    def __init__(self) -> None:
        self._topics: OrderedDict[str, _Topic] = OrderedDict()

    def publish(self, topic: str, kind: str, data: dict[str, JsonValue]) -> None:
        """Add an event. Never waits."""
        found = self._topic(topic)
        found.last_id += 1
        found.events.append(Event(id=found.last_id, kind=kind, data=data))
        _wake(found)

    def close(self, topic: str) -> None:
        """Nothing more will happen in this topic; readers end after the last event."""
        found = self._topics.get(topic)
        if found is not None:
            found.closed = True
            _wake(found)

    def reopen(self, topic: str) -> None:
        """What happened in this topic is past: forget its events, and take further ones. Numbers go on."""
        found = self._topics.get(topic)
        if found is not None:
            self._topics[topic] = _Topic(last_id=found.last_id)
            found.closed = True
            _wake(found)

    def knows(self, topic: str) -> bool:
        """Whether anything was published in this topic by this process, or is listened for."""
        return topic in self._topics

    def mark(self, topic: str) -> int:
        """The id of the last event; from now on what is published in this topic is kept."""
        return self._topic(topic).last_id

    async def subscribe(self, topic: str, *, after: int = 0) -> AsyncIterator[Event]:
        """Events with an id above `after`, those already there first, until the topic is closed."""
        found = self._topic(topic)
        if after > found.last_id:  # the reader was away for so long that the topic was forgotten, and began anew
            after = 0
        found.readers += 1
        try:
            while True:
                changed = found.changed
                for event in [event for event in found.events if event.id > after]:
                    after = event.id
                    yield event
                if found.last_id > after:
                    continue
                if found.closed:
                    return
                await changed.wait()
        finally:
            found.readers -= 1

    def _topic(self, name: str) -> _Topic:
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = _Topic()
            if len(self._topics) > MAX_TOPICS:
                self._forget_oldest()
        return topic

    def _forget_oldest(self) -> None:
        idle = next((name for name, topic in self._topics.items() if topic.readers == 0), None)
        if idle is not None:
            del self._topics[idle]


class BusFeed:
    """The feed of one process's own bus.

    Args:
        bus: What is listened to.
        epoch: Names the bus's numbers: they count from 1 again in another process.
    """

    def __init__(self, bus: EventBus, epoch: str) -> None:
        self._bus = bus
        self._epoch = epoch

    def place(self, last_id: str) -> str:
        """The id, if it is of this process."""
        epoch, _, number = last_id.rpartition("-")
        return last_id if epoch == self._epoch and number.isascii() and number.isdigit() else ""

    async def knows(self, topic: str) -> bool:
        """Whether anything was published here."""
        return self._bus.knows(topic)

    async def mark(self, topic: str) -> str:
        """The place of the last event."""
        return f"{self._epoch}-{self._bus.mark(topic)}"

    async def follow(self, topic: str, *, after: str = "") -> AsyncIterator[Heard | None]:
        """Events of the bus; it is never silent about what happens."""
        last = int(after.rpartition("-")[2]) if after else 0
        async for event in self._bus.subscribe(topic, after=last):
            yield Heard(f"{self._epoch}-{event.id}", event.id == 1, event.kind, event.data)


def _wake(topic: _Topic) -> None:
    """Wake every reader: each waits on the event it took before it looked, so none is lost."""
    if topic.readers == 0:
        return
    topic.changed.set()
    topic.changed = asyncio.Event()
