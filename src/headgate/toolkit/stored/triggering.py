"""Operations on triggers: list those of a flow, set a schedule or another trigger."""

from collections.abc import Mapping
from itertools import islice
from typing import NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.triggers import service
from headgate.features.triggers.poll_settings import POLLING
from headgate.features.triggers.schemas import TriggerIn, TriggerOut, TriggerPatch
from headgate.features.triggers.settings import WebhookConfig
from headgate.features.triggers.views import firing_out
from headgate.features.triggers.words import schedule_of
from headgate.foundation.checked import checked
from headgate.foundation.database import microseconds
from headgate.foundation.errors import Invalid
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit

MOST_SHOWN = 3
_PUBLIC = frozenset({"webhook", "form"})
"""Kinds with a public address: a model adds them switched off."""
_SOURCES = POLLING | _PUBLIC


class TriggerLine(TypedDict):
    """A trigger of a flow."""

    trigger_id: str
    name: str
    fires: str
    """In words."""
    enabled: bool
    next: NotRequired[list[str]]
    """The next times of a schedule, in its time zone."""
    note: NotRequired[str]


class TriggerList(TypedDict):
    """The triggers of a flow."""

    triggers: list[TriggerLine]


async def list_triggers(visit: Visit, flow_id: str) -> TriggerList:
    """List what starts a flow by itself: schedules, webhooks, forms, other flows, events, polls.

    Args:
        flow_id: Id of the flow.
    """
    await visit.flow(flow_id)
    async with visit.studio.database.reading() as session:
        rows = await service.list_triggers(session, visit.principal, flow_id=flow_id, limit=service.MOST_OF_FLOW)
    return {"triggers": [_line(row) for row in rows]}


async def set_schedule(  # noqa: PLR0917 - arguments of a tool
    visit: Visit, flow_id: str, name: str, cron: str, time_zone: str | None = None, text: str | None = None
) -> TriggerLine:
    """Start the published flow at times. The same name changes that schedule; what is omitted stays.

    Args:
        flow_id: Id of the flow.
        name: Of the schedule.
        cron: Five fields.
        time_zone: IANA name; UTC for a new schedule.
        text: Of each run.
    """
    times = {"kind": "schedule", "cron": cron, "every_seconds": None}
    return await _set(visit, flow_id, name, times | ({} if time_zone is None else {"time_zone": time_zone}), text)


async def set_trigger(
    visit: Visit, flow_id: str, name: str, source: dict[str, JsonValue], text: str | None = None
) -> TriggerLine:
    """Start the published flow for each new item, call or form. The same name changes that trigger.

    Args:
        flow_id: Id of the flow.
        name: Of the trigger.
        source: kind (feed: url; page: url, selector; folder: folder, pattern; rows: connection, sql, cursor_column;
            mail: connection, folder; api: url, connection, items, key; these: every_seconds; webhook: verification
            (github, stripe, slack, key...); form: title); text_from and form_from (form field to JMESPath), which
            select from the item, or for a webhook from body, headers, query.
        text: Of each run; by default the item.
    """
    if source.get("kind") not in _SOURCES:
        raise Invalid("The source has no known kind.", remedy=f"Name one of: {', '.join(sorted(_SOURCES))}.")
    return await _set(visit, flow_id, name, source, text)


async def _set(
    visit: Visit, flow_id: str, name: str, changes: Mapping[str, JsonValue], text: str | None
) -> TriggerLine:
    """Add a trigger, or change the one with this name; what is omitted stays."""
    await visit.flow(flow_id, Permission.TRIGGERS_MANAGE)
    texts = {} if text is None else {"text": text}
    async with visit.studio.database.writing() as session:
        rows = await service.list_triggers(session, visit.principal, flow_id=flow_id, limit=service.MOST_OF_FLOW)
        current = next((row for row in rows if row.name == name), None)
        box = visit.studio.sealer()
        if current is None:
            enabled = changes["kind"] not in _PUBLIC
            body = checked(TriggerIn, name=name, config=changes, input=texts, enabled=enabled)
            return _line(await service.add_trigger(session, visit.principal, flow_id, body, box=box))
        if current.kind != changes["kind"]:
            raise Invalid(f"The flow has a trigger '{name}' of the kind {current.kind}.", remedy="Choose another name.")
        if current.kind in _PUBLIC and current.enabled:
            raise Invalid(
                f"The trigger '{name}' has a public address that is switched on.",
                remedy="A user changes it in the page, or switches it off first.",
            )
        config = current.config.model_dump(mode="json") | dict(changes)
        patch = checked(TriggerPatch, config=config, input=current.input.model_dump(mode="json") | texts)
        return _line(await service.change_trigger(session, visit.principal, current.id, patch, box=box))


def _line(trigger: TriggerOut) -> TriggerLine:
    line: TriggerLine = {
        "trigger_id": trigger.id,
        "name": trigger.name,
        "fires": trigger.sentence,
        "enabled": trigger.enabled,
    }
    if trigger.config.kind == "schedule" and trigger.next_at is not None:
        schedule = schedule_of(trigger.config, microseconds(trigger.created_at), trigger.calendar_days)
        after = microseconds(trigger.next_at) - 1
        line["next"] = [firing_out(schedule, at).local for at in islice(schedule.moments(after), MOST_SHOWN)]
    if trigger.config.kind in _PUBLIC and not trigger.enabled:
        secret = "sets its secret in the page (Edit), and " if _has_secret(trigger) else ""
        line["note"] = f"Its public address is switched off: a user {secret}switches it on in the page."
    elif trigger.problems:
        line["note"] = " ".join(f"{problem.message} {problem.remedy}" for problem in trigger.problems)
    elif not trigger.published:
        line["note"] = "The flow is not published: nothing starts until it is."
    return line


def _has_secret(trigger: TriggerOut) -> bool:
    return isinstance(trigger.config, WebhookConfig) and trigger.config.verification != "none"


OPERATIONS: tuple[Row, ...] = (
    (list_triggers, Permission.FLOWS_VIEW, "read"),
    (set_schedule, Permission.TRIGGERS_MANAGE, "set"),
    (set_trigger, Permission.TRIGGERS_MANAGE, "set"),
)
