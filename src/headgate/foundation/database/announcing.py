"""Events of a transaction: collected in its session and published after the commit."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.foundation.events import EventSink

_WAITING = "announcements"


@dataclass(frozen=True, slots=True)
class _Announcement:
    topic: str
    kind: str
    data: Callable[[], dict[str, JsonValue]]


def announce(session: AsyncSession, topic: str, kind: str, data: Callable[[], dict[str, JsonValue]]) -> None:
    """Publish an event after this session's transaction is committed; discard it on rollback.

    Args:
        session: The session of the change, from `Database.writing`.
        topic: The topic of the event.
        kind: The event type.
        data: Creates the event's data; called only when the topic may have readers.
    """
    session.info.setdefault(_WAITING, []).append(_Announcement(topic, kind, data))


def publish_announced(session: AsyncSession, bus: EventSink | None) -> None:
    """Publish the collected events of a session whose transaction is committed."""
    waiting: list[_Announcement] = session.info.pop(_WAITING, [])
    for event in waiting:
        if bus is not None and bus.may_have_readers(event.topic):
            bus.publish(event.topic, event.kind, event.data())
