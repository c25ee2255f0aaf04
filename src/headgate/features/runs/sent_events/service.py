"""Sends events on behalf of users, and lists events and the steps that wait for them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import require_space
from headgate.features.audit.recorder import record_of
from headgate.features.runs.permitted import find_run
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.sent_events import repository
from headgate.features.runs.sent_events.exchange import NewEvent, store_event
from headgate.features.runs.sent_events.schemas import EventIn, EventState, EventWaitOut, SenderOut, SentEventOut
from headgate.features.runs.sent_events.tables import EventWaitRow, SentEventRow
from headgate.features.runs.sent_events.topic import topic_of
from headgate.features.runs.transitions import clock
from headgate.foundation.database import moment
from headgate.foundation.shaped import shaped
from headgate.sdk.outside import mark

MOST_WAITING = 200
"""Most waiting steps in a list."""


async def send_event(session: AsyncSession, principal: Principal, event_in: EventIn, *, box: Sealer) -> SentEventOut:
    """Store an event and wake the steps that wait for it, in one transaction.

    Raises `SpaceNotFound`, `PermissionMissing`, `EventInvalid`, `EventTooLarge`, `EventKeyReused`, `TooManyEvents`.
    """
    space_id = principal.space_id if event_in.space_id is None else event_in.space_id
    await require_space(session, principal, space_id, Permission.RUNS_START)
    topic = topic_of(principal.tenant_id, space_id, event_in.name, event_in.correlation)
    event = NewEvent(
        topic=topic,
        data=event_in.data,
        deliver=event_in.deliver,
        keep_seconds=event_in.keep_hours * 3600,
        sender=_sender(principal),
        key=None if event_in.key is None else f"key:{event_in.key}",
        outside=(mark("event", topic.name),),
    )
    stored = await store_event(session, event, box=box)
    if not stored.duplicate:
        await record_sent(session, principal, stored.row)
    return _out(stored.row, duplicate=stored.duplicate)


async def record_sent(session: AsyncSession, principal: Principal, event: SentEventRow) -> None:
    """Record an event in the audit log: never its data, but its hash."""
    payload: dict[str, Any] = {
        "correlation": event.correlation,
        "deliver": event.deliver,
        "deliveries": event.deliveries,
        "data_sha256": event.content_hash,
    }
    if event.flow_run_id is not None:
        payload |= {"run_id": event.flow_run_id, "step_id": event.sender.get("step_id")}
    await record_of(session, principal, "event.sent", event, payload=payload)


async def list_events(
    session: AsyncSession,
    principal: Principal,
    *,
    name: str | None = None,
    kept_only: bool = False,
    limit: int = 50,
    before: str | None = None,
) -> Sequence[SentEventOut]:
    """List the events of the spaces in which the caller can view runs, newest first; or only those that are kept."""
    rows = await repository.list_events(
        session,
        tenant_id=principal.tenant_id,
        spaces=principal.spaces_where(Permission.RUNS_VIEW),
        name=name,
        kept_at=clock() if kept_only else None,
        limit=limit,
        before=before,
    )
    return [_out(row) for row in rows]


async def list_waiting(
    session: AsyncSession,
    principal: Principal,
    *,
    run_id: str | None = None,
    name: str | None = None,
    limit: int = MOST_WAITING,
) -> Sequence[EventWaitOut]:
    """List the steps that wait for events, of the spaces in which the caller can view runs. Raises `RunNotFound`."""
    if run_id is not None:
        await find_run(session, principal, run_id, Permission.RUNS_VIEW)
    rows = await repository.list_waiting(
        session,
        tenant_id=principal.tenant_id,
        spaces=principal.spaces_where(Permission.RUNS_VIEW),
        run_id=run_id,
        name=name,
        limit=limit,
    )
    return [_wait_out(row[0], row.flow_name) for row in rows]


def _sender(principal: Principal) -> dict[str, Any]:
    actor = principal.actor
    return {
        "kind": actor.kind,
        "user_id": principal.user_id or None,
        "name": actor.name[:300],
        "key_id": actor.key_id,
        "address": actor.address and actor.address[:64],
    }


def _out(event: SentEventRow, *, duplicate: bool = False) -> SentEventOut:
    return shaped(
        SentEventOut,
        event,
        status=_state(event),
        duplicate=duplicate,
        sha256=event.content_hash,
        sender=SenderOut.model_validate(event.sender),
    )


def _state(event: SentEventRow) -> EventState:
    if event.keep_until > clock() and (event.deliver == "all" or event.deliveries == 0):
        return "kept"
    return "delivered" if event.deliveries else "expired"


def _wait_out(wait: EventWaitRow, flow_name: str) -> EventWaitOut:
    return shaped(EventWaitOut, wait, run_id=wait.flow_run_id, flow_name=flow_name, since=moment(wait.created_at))
