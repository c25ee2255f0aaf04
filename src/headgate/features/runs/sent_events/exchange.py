"""Stores events and joins them with waiting steps, in the caller's transaction."""

from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.sent_events import repository
from headgate.features.runs.sent_events.errors import EventInvalid, EventKeyReused, EventTooLarge, TooManyEvents
from headgate.features.runs.sent_events.locking import lock_topic
from headgate.features.runs.sent_events.sealed import seal
from headgate.features.runs.sent_events.tables import EventWaitRow, SentEventRow
from headgate.features.runs.sent_events.topic import Topic
from headgate.features.runs.transitions import clock
from headgate.features.runs.waking import wake_step
from headgate.foundation.canonical import digest, portable
from headgate.foundation.ids import new_id
from headgate.sdk.sent_events import Deliver

LARGEST_BYTES = 200_000
"""Of the data of an event."""
LONGEST_KEEP_SECONDS = 30 * 86_400
MOST_KEPT = 10_000
"""Events of a space that no step has received."""
KEY_MICROSECONDS = 24 * 3600 * 1_000_000
"""How long a key stays in use at least."""
_MOST_TRIES = 100


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to store."""

    topic: Topic
    data: JsonValue
    deliver: Deliver
    keep_seconds: float
    sender: dict[str, Any]
    """See `SentEventRow.sender`."""
    key: str | None = None
    """None: every call sends another event."""
    run_id: str | None = None
    classification: int | None = None
    outside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """An event as stored."""

    row: SentEventRow
    duplicate: bool
    """Whether it had been sent before."""


async def store_event(session: AsyncSession, event: NewEvent, *, box: Sealer) -> Stored:
    """Store an event once and wake the steps that wait for it.

    Raises `EventTooLarge`, `EventInvalid`, `EventKeyReused`, `TooManyEvents`.
    """
    topic, tenant_id = event.topic, event.topic.tenant_id
    if not 0 <= event.keep_seconds <= LONGEST_KEEP_SECONDS:
        raise EventInvalid(
            f"An event cannot be kept for {event.keep_seconds:.6g} seconds.",
            remedy=f"Keep it for 0 to {LONGEST_KEEP_SECONDS:,} seconds (30 days).",
        )
    data = portable(event.data)
    content = orjson.dumps(data)
    if len(content) > LARGEST_BYTES:
        raise EventTooLarge(
            f"The data of the event '{topic.name}' has {len(content):,} bytes; {LARGEST_BYTES:,} is the most.",
            remedy="Send an id or an address, and let the flow read the rest.",
        )
    await lock_topic(session, topic)
    at, event_id = clock(), new_id()
    values = _values(event, event_id, content, digest(data), at) | {"content": seal(box, content)}
    added = await repository.add_event(session, values, tenant_id=tenant_id)
    if added:
        await _deliver(session, event_id, values, topic, at=at)
    row = await repository.find_by_key(session, topic.space_id, values["event_key"], tenant_id=tenant_id)
    if row is None or (row.name, row.correlation, row.content_hash) != (
        topic.name,
        topic.correlation,
        values["content_hash"],
    ):
        raise EventKeyReused
    if added and row.deliveries == 0:
        await _check_stored(session, topic, at)
    return Stored(row, duplicate=not added)


async def receive_stored(session: AsyncSession, wait: EventWaitRow, topic: Topic) -> bool:
    """Give a waiting step the oldest event that is kept for it. Returns False when there is none."""
    at = clock()
    event = await repository.find_stored(session, topic, tenant_id=topic.tenant_id, at=at)
    if event is None:
        return False
    received = await repository.settle_wait(
        session, wait.flow_run_id, wait.step_id, _receipt(event, at), tenant_id=topic.tenant_id
    )
    if received:
        await repository.count_delivery(session, event.id, 1, tenant_id=topic.tenant_id)
    return received


async def _deliver(session: AsyncSession, event_id: str, values: dict[str, Any], topic: Topic, *, at: int) -> None:
    """Wake the steps that wait for a new event."""
    event = SentEventRow(**values)
    first_only, tenant_id = event.deliver == "one", topic.tenant_id
    receipt, count = _receipt(event, at), 0
    for _ in range(_MOST_TRIES):
        steps = await repository.waiting_steps(session, topic, tenant_id=tenant_id, at=at, first_only=first_only)
        for run_id, step_id in steps:
            if await repository.settle_wait(session, run_id, step_id, receipt, tenant_id=tenant_id):
                await wake_step(session, run_id, step_id, tenant_id=tenant_id, at=at)
                count += 1
        # A run that ended while it was locked leaves the event to the next one.
        if count or not await repository.waiting_steps(
            session, topic, tenant_id=tenant_id, at=at, first_only=True, lock=False
        ):
            break
    if count:
        await repository.count_delivery(session, event_id, count, tenant_id=tenant_id)


async def _check_stored(session: AsyncSession, topic: Topic, at: int) -> None:
    count = await repository.count_stored(session, topic.space_id, tenant_id=topic.tenant_id, at=at, most=MOST_KEPT + 1)
    if count > MOST_KEPT:
        raise TooManyEvents(
            f"The space keeps {MOST_KEPT:,} events that no step has received.",
            remedy="Keep events for a shorter time, or start the flows that wait for them.",
            retry_after_seconds=60,
        )


def _values(event: NewEvent, event_id: str, content: bytes, content_hash: str, at: int) -> dict[str, Any]:
    return {
        "id": event_id,
        "space_id": event.topic.space_id,
        "name": event.topic.name,
        "correlation": event.topic.correlation,
        "event_key": event.key or f"id:{event_id}",
        "deliver": event.deliver,
        "content_hash": content_hash,
        "size_bytes": len(content),
        "classification": event.classification,
        "outside": list(event.outside),
        "sender": event.sender,
        "flow_run_id": event.run_id,
        "received_at": at,
        "keep_until": at + int(event.keep_seconds * 1_000_000),
        "deliveries": 0,
    }


def _receipt(event: SentEventRow, at: int) -> dict[str, Any]:
    """Return the columns of a wait that receives an event."""
    return {
        "status": "received",
        "settled_at": at,
        "event_id": event.id,
        "received_at": event.received_at,
        "content": event.content,
        "content_hash": event.content_hash,
        "classification": event.classification,
        "outside": event.outside,
        "sender": event.sender,
    }
