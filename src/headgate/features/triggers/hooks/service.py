"""A call at the address of a webhook: verified, read, and stored with its run."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import JsonValue
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.sent_events.schemas import EventIn, SentEventOut
from headgate.features.runs.sent_events.service import send_event
from headgate.features.runs.transitions import clock
from headgate.features.triggers import repository, service
from headgate.features.triggers.errors import HookNotFound, HookRefused, TriggerInvalid
from headgate.features.triggers.firing import Firing
from headgate.features.triggers.hooks.bodies import Body, Upload, event_key, selected, text_of
from headgate.features.triggers.hooks.signatures import EVENT_KEYS, Call, replay_key, verify
from headgate.features.triggers.mapped_input import Mapped, mapped_input
from headgate.features.triggers.occurrences import Fired, Occurrence, bounded_key
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schedule import SECOND
from headgate.features.triggers.schemas import CallOut
from headgate.features.triggers.sealed import seal, unseal
from headgate.features.triggers.settings import CallEvent, TriggerInput, WebhookConfig
from headgate.features.triggers.tables import TriggerRow
from headgate.features.triggers.uploads import UploadStore, fire_with_files
from headgate.foundation.checked import checked
from headgate.foundation.database import moment
from headgate.foundation.errors import Forbidden, Invalid, NotFound, TooLarge, Unavailable
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.ids import new_id
from headgate.foundation.log import get_logger
from headgate.sdk.outside import mark

CATCH_SECONDS = 600
"""How long test mode waits for a call."""
SHOWN_SECONDS = 3600
"""How long a caught call is shown after that, at most; then maintenance deletes it."""
LONGEST_SHOWN = 50_000
MOST_RUN_FILES = 100
"""`TriggerInput.file_ids`."""
log = get_logger(__name__)
_PRIVATE = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})


@dataclass(frozen=True, slots=True)
class Received:
    """A call with its parsed content."""

    method: str
    call: Call
    query: Mapping[str, str]
    body: Body
    uploads: tuple[Upload, ...] = ()


async def find_hook(firing: Firing, address: str) -> Listed:
    """Return the webhook at an address. Raises `HookNotFound`."""
    if not address.isprintable():
        raise HookNotFound
    async with firing.database.reading() as session:
        listed = await repository.find_by_address(session, address)
    if listed is None or listed.row.kind != "webhook":
        raise HookNotFound
    return listed


def check(listed: Listed, config: WebhookConfig, call: Call, box: Sealer) -> None:
    """Raise `HookRefused` unless the call is verified."""
    secret = "" if listed.row.secret is None else unseal(box, listed.row.secret)
    if not secret and config.verification != "none":
        raise HookRefused("the trigger has no secret")
    verify(config, secret, call)


def challenge_of(config: WebhookConfig, body: Body) -> str | None:
    """Return the answer to Slack's check of an address; None for another call."""
    if config.verification != "slack" or not isinstance(body.value, dict):
        return None
    if body.value.get("type") != "url_verification":
        return None
    return str(body.value.get("challenge", ""))[:1_000]


async def fire_call(
    firing: Firing, uploads: UploadStore, listed: Listed, config: WebhookConfig, received: Received
) -> Fired:
    """Start the run of a verified call; a call with the key of an earlier one is that one, unless it was skipped.

    Raises `Unavailable`, `TriggerInvalid`, and `RateLimited` for a reached limit or quota; then nothing is stored.
    """
    key = await run_in_flow_thread(_key, config, received, listed.row.name)
    await firing.pause_failing(listed)
    given = await run_in_flow_thread(_input, listed, config, received)
    marks = (mark("event", f"webhook {listed.row.name}"),)
    occurrence = Occurrence(f"event:{key}", given, outside=marks, is_call=True)
    contents = received.uploads
    if received.body.binary:
        contents = (Upload("body.bin", received.call.headers.get("content-type", ""), received.call.body),)
    return await fire_with_files(firing, uploads, listed, occurrence, contents)


def _key(config: WebhookConfig, received: Received, name: str) -> str:
    source = config.event_key or EVENT_KEYS.get(config.verification)
    key = None
    if source is not None:
        key = event_key(source, received.call.headers, received.body.value, name=name)
    if key is None:
        return replay_key(config, received.call) or new_id()
    return bounded_key(key)


def _input(listed: Listed, config: WebhookConfig, received: Received) -> TriggerInput:
    """Return the input of the run: the saved one, and what the call contains."""
    saved = TriggerInput.model_validate(listed.row.input)
    document = _document(config, received)
    files = len(saved.file_ids) + (len(received.uploads) or received.body.binary)
    if files > MOST_RUN_FILES:
        raise TooLarge(f"The run would have {files} files; {MOST_RUN_FILES} is the most.", remedy="Send fewer files.")
    mapping = Mapped(document, text_of(received.body.value), config.text_from, config.form_from)
    return mapped_input(saved, mapping, name=listed.row.name)


def _document(config: WebhookConfig, received: Received) -> dict[str, JsonValue]:
    """Return what the expressions of a webhook select from."""
    private = _private_headers(config)
    headers = {name: value for name, value in received.call.headers.items() if name not in private}
    return {
        "body": received.body.value,
        "headers": dict(headers),
        "query": dict(received.query),
        "method": received.method,
    }


async def send_call(
    firing: Firing, listed: Listed, config: WebhookConfig, event: CallEvent, received: Received, *, box: Sealer
) -> SentEventOut:
    """Send the event of a verified call with the rights of the trigger's owner; a repeated call is the same event.

    Raises `Unavailable` where the owner has lost the right, `Invalid`, `TriggerInvalid` and the errors of `send_event`.
    """
    event_in = await run_in_flow_thread(_event_in, listed, config, event, received)
    try:
        owner = await firing.owner_of(listed.row, listed.space_id)
        async with firing.database.writing() as session:
            return await send_event(session, owner, event_in, box=box)
    except (Forbidden, NotFound) as error:
        log.warning("the event of a call was not sent", trigger_id=listed.row.id, error_code=error.code)
        raise Unavailable("The event was not sent.", remedy="Ask the owner of the address.") from error


def _event_in(listed: Listed, config: WebhookConfig, event: CallEvent, received: Received) -> EventIn:
    if received.uploads or received.body.binary:
        raise Invalid("An event has no files.", remedy="Send JSON, a form or text.")
    if event.name is None:
        return _own_event(listed, config, event, received)
    name, document = listed.row.name, _document(config, received)
    correlation = "" if event.correlation_from is None else selected(event.correlation_from, document, name=name)
    if event.correlation_from is not None and correlation in (None, ""):
        raise Invalid(
            f"The call has no correlation value at {event.correlation_from}.", remedy="Send it, or change the trigger."
        )
    data = received.body.value if event.data_from is None else selected(event.data_from, document, name=name)
    return checked(
        EventIn,
        name=event.name,
        correlation=text_of(correlation),
        data=data,
        deliver=event.deliver,
        keep_hours=event.keep_hours,
        key=_sent_key(listed, _key(config, received, name)),
        space_id=listed.space_id,
    )


def _own_event(listed: Listed, config: WebhookConfig, event: CallEvent, received: Received) -> EventIn:
    """Return the event that a call describes as the body of `POST /events` does, in the space of the trigger's flow."""
    if not isinstance(received.body.value, dict):
        raise Invalid("The body is not an object.", remedy="Send the body of POST /events: name, correlation, data.")
    given = {"deliver": event.deliver, "keep_hours": event.keep_hours, **received.body.value}
    event_in = checked(EventIn, **given)
    if event_in.space_id not in {None, listed.space_id}:
        raise Invalid("The event is of another space than the address.", remedy="Send it without space_id.")
    key = event_in.key or _key(config, received, listed.row.name)
    return event_in.model_copy(update={"space_id": listed.space_id, "key": _sent_key(listed, key)})


def _sent_key(listed: Listed, key: str) -> str:
    """Return the key of an event: those of two addresses are never the same."""
    return f"trigger:{listed.row.id}:{hashlib.sha256(key.encode()).hexdigest()}"


def _private_headers(config: WebhookConfig) -> frozenset[str]:
    """Return the headers that contain a secret: neither a run nor a user receives them."""
    own = {config.header.lower()} if config.verification == "key" and config.header is not None else set()
    return _PRIVATE | own


async def begin_catching(session: AsyncSession, principal: Principal, trigger_id: str) -> CallOut:
    """Show the next call of a webhook instead of starting a run, once. Raises `TriggerNotFound`, `TriggerInvalid`."""
    listed = await service.require(session, principal, trigger_id, Permission.TRIGGERS_MANAGE)
    row = await repository.lock_trigger(session, trigger_id, tenant_id=principal.tenant_id) or listed.row
    if row.kind != "webhook":
        raise TriggerInvalid("Only a webhook receives calls.", remedy="Choose a webhook.")
    row.catching_until, row.caught = clock() + CATCH_SECONDS * SECOND, None
    await session.flush()
    await record(
        session, principal, "trigger.test_started", id=row.id, name=row.name, space_id=listed.space_id, payload={}
    )
    return CallOut(waiting=True, until=moment(row.catching_until))


async def caught_call(session: AsyncSession, principal: Principal, trigger_id: str, *, box: Sealer) -> CallOut:
    """Return the call that test mode caught. Raises `TriggerNotFound`, `PermissionMissing`."""
    row = (await service.require(session, principal, trigger_id, Permission.TRIGGERS_MANAGE)).row
    if row.caught is not None and clock() < (row.catching_until or 0) + SHOWN_SECONDS * SECOND:
        return CallOut(waiting=False, call=orjson.loads(unseal(box, row.caught)))
    if row.catching_until is None or row.catching_until <= clock():
        return CallOut(waiting=False)
    return CallOut(waiting=True, until=moment(row.catching_until))


async def catch_call(firing: Firing, listed: Listed, received: Received, *, refusal: str, box: Sealer) -> bool:
    """Keep a call for test mode, if it waits for one. Returns whether it did. `refusal`: why it is not verified."""
    row, at = listed.row, clock()
    if row.catching_until is None or row.catching_until <= at or row.caught is not None:
        return False
    private = _private_headers(WebhookConfig.model_validate(row.config))
    headers = {name: "***" if name in private else value for name, value in received.call.headers.items()}
    shown: dict[str, Any] = {
        "method": received.method,
        "received_at": moment(at).isoformat(),
        "verified": not refusal,
        "refusal": refusal,
        "headers": headers,
        "query": dict(received.query),
        "bytes": len(received.call.body),
        "text": text_of(received.body.value)[:LONGEST_SHOWN],
        "files": [upload.name for upload in received.uploads],
    }
    sealed = seal(box, orjson.dumps(shown).decode())
    async with firing.database.writing() as session:
        waits = (TriggerRow.id == row.id, TriggerRow.caught.is_(None), TriggerRow.catching_until > at)
        change = update(TriggerRow).where(*waits).values(caught=sealed).returning(TriggerRow.id)
        caught = await session.execute(change, execution_options={"synchronize_session": False})
        return caught.first() is not None


def now_seconds() -> float:
    """Return the current time, for replay windows."""
    return time.time()
