"""Who has a flow open: each reader of its stream is announced to the other readers, repeatedly, and when it leaves.

Nothing is stored. The page drops a reader that was not announced for some time, as when its process died.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from headgate.features.access.principal import Principal
from headgate.features.flows.live import by, topic_of
from headgate.foundation.events import EventSink
from headgate.foundation.ids import new_id

REPEAT_SECONDS = 10.0
"""Interval of announcements; checked when the access of the reader is checked."""
Item = TypeVar("Item")


class Presence:
    """The announcements of one reader.

    Args:
        bus: Delivers them to readers in every process.
        principal: The reader.
        flow_id: The flow that it has open.
    """

    def __init__(self, bus: EventSink, principal: Principal, flow_id: str) -> None:
        self._bus = bus
        self._topic = topic_of(flow_id)
        self._by = by(principal)
        self._reader = new_id()
        self._announced_at = 0.0

    async def during(self, events: AsyncGenerator[Item, None]) -> AsyncGenerator[Item, None]:
        """Yield the events; the reader is present from the first until they end."""
        try:
            async with aclosing(events):
                async for event in events:
                    self.repeat()
                    yield event
        finally:
            self._publish("left")

    def repeat(self) -> None:
        """Announce the reader, unless it was announced a moment ago."""
        if time.monotonic() - self._announced_at >= REPEAT_SECONDS:
            self._announced_at = time.monotonic()
            self._publish("present")

    def _publish(self, kind: str) -> None:
        self._bus.publish(self._topic, kind, {"by": self._by, "reader": self._reader})
