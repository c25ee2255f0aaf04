"""Fires triggers that follow rows of others: runs of a flow that ended, and sent events. One occurrence for each row.

The cursor is a time that lags behind, because rows become visible in another order than they were made; that each is
followed once is decided by the unique key of its occurrence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.sent_events.repository import mark_followed
from headgate.features.runs.sent_events.sealed import unseal
from headgate.features.runs.sent_events.tables import SentEventRow
from headgate.features.runs.tables import flow_runs, flow_step_results
from headgate.features.runs.transitions import clock
from headgate.features.triggers.errors import RunOfTest, TriggerInvalid
from headgate.features.triggers.firing import Firing
from headgate.features.triggers.hooks.bodies import text_of
from headgate.features.triggers.occurrences import Claimed, Occurrence, Source, input_with
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schedule import SECOND
from headgate.features.triggers.settings import EventConfig, FlowConfig, TriggerInput
from headgate.features.triggers.tables import OccurrenceRow, TriggerRow
from headgate.foundation.database import microseconds
from headgate.foundation.quoting import CUT
from headgate.sdk.outside import mark, merged

BATCH = 50
LATE_SECONDS = 600
"""How much later than its end a run may become visible: transactions commit in another order than they began, and
clocks of servers differ."""
MOVED_SECONDS = 60
"""How far the cursor moves at once: not each second, which would be a write for each trigger."""


FOLLOWING = frozenset({"flow", "event"})
"""Kinds of triggers that this module fires."""


async def fire_followed(firing: Firing, listed: Listed, claimed: Claimed) -> None:
    """Start a run for each row that appeared since the trigger was enabled."""
    trigger = listed.row
    saved = TriggerInput.model_validate(trigger.input)
    cursor_at = clock() - LATE_SECONDS * SECOND
    async with firing.database.reading() as session:
        list_rows = _ended_runs if trigger.kind == "flow" else _sent_events
        followed = await list_rows(session, listed, saved, firing.engine.services.sealer)
    for occurrence in followed:
        await firing.fire(listed, occurrence, Claimed(claimed.worker_id, claimed.attempt, trigger.cursor_at))
    if trigger.kind == "event" and followed:
        event_ids = [occurrence.key.removeprefix("event:") for occurrence in followed]
        async with firing.database.writing() as session:
            await mark_followed(session, event_ids, tenant_id=trigger.tenant_id)
    if len(followed) < BATCH and cursor_at - trigger.cursor_at > MOVED_SECONDS * SECOND:
        await firing.skip(trigger, [], Claimed(claimed.worker_id, claimed.attempt, cursor_at))


async def _ended_runs(session: AsyncSession, listed: Listed, saved: TriggerInput, _box: Sealer) -> Sequence[Occurrence]:
    """Return ended runs without an occurrence, in the order in which they ended.

    Runs of steps, of drafts, of parts of the flow and of test cases do not count.
    """
    trigger, config = listed.row, FlowConfig.model_validate(listed.row.config)
    run, version, step = flow_runs.c, FlowVersionRow, flow_step_results.c
    classification = (
        select(func.max(step.classification))
        .where(step.flow_run_id == run.id, step.flow_id == run.flow_id)
        .scalar_subquery()
    )
    query = (
        select(run.id, run.created_at, run.input_payload, run.output_payload)
        .add_columns(FlowRow.space_id, version.released_at, classification.label("classification"))
        .join(version, and_(version.flow_id == run.flow_id, version.version == run.version))
        .join(FlowRow, and_(FlowRow.id == run.flow_id, FlowRow.tenant_id == run.tenant_id))
        .where(
            run.flow_id == config.flow_id,
            run.tenant_id == trigger.tenant_id,
            run.status.in_(config.outcomes),
            run.finished_at > _since(trigger),
            run.parent_run_id.is_(None),
            run.part.is_(None),
            version.release.is_not(None),
            _has_no_occurrence(trigger, "run:" + run.id),
        )
        .order_by(run.finished_at, run.id)
        .limit(BATCH)
    )
    occurrences = []
    for row in await session.execute(query):
        output = row.output_payload or {}
        text = str(output.get("text") or "") + (CUT if output.get("truncated") else "")
        occurrence = Occurrence(
            f"run:{row.id}",
            saved,
            outside=merged(output.get("outside", ()), [mark("run")]),
            source=Source(row.space_id, None if saved.text else row.classification),
            depth=_depth_of(row.input_payload) + 1,
            refusal=RunOfTest() if _is_test(row) else None,
        )
        occurrences.append(_with_text(occurrence, saved.text or text))
    return occurrences


async def _sent_events(session: AsyncSession, listed: Listed, saved: TriggerInput, box: Sealer) -> Sequence[Occurrence]:
    """Return events of the space of the flow without an occurrence, in the order in which they were received."""
    trigger, config = listed.row, EventConfig.model_validate(listed.row.config)
    event = SentEventRow
    query = select(event).where(
        event.space_id == listed.space_id,
        event.tenant_id == trigger.tenant_id,
        event.name == config.name,
        event.received_at > _since(trigger),
        _has_no_occurrence(trigger, "event:" + event.id),
    )
    if config.correlation is not None:
        query = query.where(event.correlation == config.correlation)
    rows = (await session.execute(query.order_by(event.received_at, event.id).limit(BATCH))).scalars().all()
    occurrences = []
    for row in rows:
        occurrence = Occurrence(
            f"event:{row.id}",
            saved,
            outside=merged(row.outside, [mark("event", row.name)]),
            source=Source(row.space_id, row.classification),
            depth=await _depth_of_sender(session, row),
        )
        occurrences.append(_with_text(occurrence, text_of(unseal(box, row.content)) or saved.text))
    return occurrences


def _is_test(run: Any) -> bool:  # noqa: ANN401 - a row
    """Return whether a run tested its flow: by a test case, or a draft that was published since."""
    before = run.released_at is not None and run.created_at < microseconds(run.released_at)
    return before or "test" in run.input_payload


def _with_text(occurrence: Occurrence, text: str) -> Occurrence:
    try:
        return replace(occurrence, input=input_with(occurrence.input, text=text))
    except TriggerInvalid as error:
        return replace(occurrence, refusal=error)


async def _depth_of_sender(session: AsyncSession, event: SentEventRow) -> int:
    """Return the depth of what an event of a step starts, by the run that a trigger started above it."""
    run_id, run = event.flow_run_id, flow_runs.c
    while run_id is not None:
        query = select(run.parent_run_id, run.input_payload).where(run.id == run_id, run.tenant_id == event.tenant_id)
        row = (await session.execute(query)).one_or_none()
        if row is None or row.parent_run_id is None:
            return 1 if row is None else _depth_of(row.input_payload) + 1
        run_id = row.parent_run_id
    return 0


def _depth_of(run_input: Mapping[str, Any]) -> int:
    return int((run_input.get("trigger") or {}).get("depth") or 0)


def _since(trigger: TriggerRow) -> int:
    return max(trigger.cursor_at, trigger.resumed_at)


def _has_no_occurrence(trigger: TriggerRow, key: Any) -> ColumnElement[bool]:  # noqa: ANN401 - an expression
    return ~exists().where(OccurrenceRow.trigger_id == trigger.id, OccurrenceRow.occurrence_key == key)
