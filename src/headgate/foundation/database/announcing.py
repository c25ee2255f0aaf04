"""Events that a transaction causes: they wait on its session and are published when it has been committed."""

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
    """Publish an event once this session's transaction is committed, and never if it is not.

    Args:
        session: The session of a change; one that `Database.writing` gave.
        topic: Where the event belongs.
        kind: What happened.
        data: Makes the event's data; called only where somebody may be listening.
    """
    session.info.setdefault(_WAITING, []).append(_Announcement(topic, kind, data))


def publish_announced(session: AsyncSession, bus: EventSink | None) -> None:
    """Publish what was announced in a session whose transaction is committed."""
    waiting: list[_Announcement] = session.info.pop(_WAITING, [])
    for one in waiting:
        if bus is not None and bus.may_have_readers(one.topic):
            bus.publish(one.topic, one.kind, one.data())
