"""Operations on the events that runs wait for."""

from typing import Literal

from pydantic import JsonValue
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.runs.sent_events import service as sent_events
from headgate.features.runs.sent_events.schemas import EventIn
from headgate.foundation.checked import checked
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit

MOST_LISTED = 50


class EventLine(TypedDict):
    """Outcome of an event."""

    event_id: str
    status: str
    deliveries: int
    duplicate: bool


class KeptEvent(TypedDict):
    """An event that is kept for steps that wait later."""

    event_id: str
    name: str
    correlation: str
    received_at: str
    keep_until: str
    deliver: str
    deliveries: int


class WaitingStep(TypedDict):
    """A step that waits for an event."""

    run_id: str
    step_id: str
    flow_id: str
    flow: str
    name: str
    correlation: str
    since: str
    due_at: str | None
    """When it stops waiting; null: never."""


class EventList(TypedDict):
    """Kept events and waiting steps, newest first."""

    events: list[KeptEvent]
    waiting: list[WaitingStep]
    more: bool
    """Whether one of the lists is incomplete."""


async def send_event(  # noqa: PLR0917 - arguments of a tool
    visit: Visit,
    name: str,
    correlation: str = "",
    data: JsonValue = None,
    deliver: Literal["one", "all"] = "one",
    keep_hours: float = 24.0,
    key: str = "",
) -> EventLine:
    """Send an event to runs that wait for it; without one it is kept for steps that wait later.

    Args:
        name: Name of the event in WaitForEvent.
        correlation: Value that the step waits for.
        data: JSON that the step receives.
        deliver: 'one' or 'all' waiting steps.
        keep_hours: How long it is kept, up to 720.
        key: Two events with the same key are one.
    """
    event_in = checked(
        EventIn,
        name=name,
        correlation=correlation,
        data=data,
        deliver=deliver,
        keep_hours=keep_hours,
        key=key or None,
    )
    async with visit.studio.database.writing() as session:
        event = await sent_events.send_event(
            session, visit.principal, event_in, box=visit.studio.engine.services.sealer
        )
    return {"event_id": event.id, "status": event.status, "deliveries": event.deliveries, "duplicate": event.duplicate}


async def list_events(visit: Visit, name: str = "", limit: int = 20) -> EventList:
    """List events that are kept, without data, and steps that wait for events.

    Args:
        name: Only with this name.
        limit: Of each list, 50 at most.
    """
    most = max(1, min(limit, MOST_LISTED))
    visit.require(Permission.RUNS_VIEW)
    async with visit.studio.database.reading() as session:
        events = await sent_events.list_events(
            session, visit.principal, name=name or None, kept_only=True, limit=most + 1
        )
        waits = await sent_events.list_waiting(session, visit.principal, name=name or None, limit=most + 1)
    listed: list[KeptEvent] = [
        {
            "event_id": event.id,
            "name": event.name,
            "correlation": event.correlation,
            "received_at": event.received_at.isoformat(),
            "keep_until": event.keep_until.isoformat(),
            "deliver": event.deliver,
            "deliveries": event.deliveries,
        }
        for event in events[:most]
    ]
    waiting: list[WaitingStep] = [
        {
            "run_id": wait.run_id,
            "step_id": wait.step_id,
            "flow_id": wait.flow_id,
            "flow": wait.flow_name,
            "name": wait.name,
            "correlation": wait.correlation,
            "since": wait.since.isoformat(),
            "due_at": None if wait.due_at is None else wait.due_at.isoformat(),
        }
        for wait in waits[:most]
    ]
    return {"events": listed, "waiting": waiting, "more": len(events) > most or len(waits) > most}


OPERATIONS: tuple[Row, ...] = (
    (send_event, Permission.RUNS_START, "run"),
    (list_events, Permission.RUNS_VIEW, "read"),
)
