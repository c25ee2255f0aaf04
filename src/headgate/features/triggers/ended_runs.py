"""Fires triggers that start after runs of another flow: one occurrence for each run that ended."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.tables import flow_runs
from headgate.features.runs.transitions import clock
from headgate.features.triggers.firing import Firing
from headgate.features.triggers.occurrences import Claimed, Occurrence
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schedule import SECOND
from headgate.features.triggers.settings import FlowConfig, TriggerInput
from headgate.features.triggers.tables import OccurrenceRow, TriggerRow
from headgate.sdk.outside import mark, merged

BATCH = 50
LATE_SECONDS = 600
"""How much later than its end a run may become visible: transactions commit in another order than they began, and
clocks of servers differ."""


async def fire_ended(firing: Firing, listed: Listed, claimed: Claimed) -> None:
    """Start a run for each run of the other flow that ended since the trigger was enabled."""
    trigger = listed.row
    config = FlowConfig.model_validate(trigger.config)
    saved = TriggerInput.model_validate(trigger.input)
    cursor_at = clock() - LATE_SECONDS * SECOND
    async with firing.database.reading() as session:
        ended = await _list_ended(session, trigger, config)
    for row in ended:
        text = saved.text or str((row.output_payload or {}).get("text") or "")
        outside = merged((row.output_payload or {}).get("outside", ()), [mark("run", "")])
        given = saved.model_copy(update={"text": text})
        occurrence = Occurrence(f"run:{row.id}", given, outside=outside)
        await firing.fire(listed, occurrence, Claimed(claimed.worker_id, claimed.attempt, trigger.cursor_at))
    if len(ended) < BATCH:
        await firing.skip(trigger, [], Claimed(claimed.worker_id, claimed.attempt, cursor_at))


async def _list_ended(
    session: AsyncSession, trigger: TriggerRow, config: FlowConfig
) -> Sequence[Row[*tuple[Any, ...]]]:
    """Return ended runs without an occurrence, in the order in which they ended. Runs of steps do not count."""
    run = flow_runs.c
    fired = exists().where(OccurrenceRow.trigger_id == trigger.id, OccurrenceRow.occurrence_key == "run:" + run.id)
    query = (
        select(run.id, run.output_payload, run.status)
        .where(
            run.flow_id == config.flow_id,
            run.tenant_id == trigger.tenant_id,
            run.status.in_(config.outcomes),
            run.finished_at > max(trigger.cursor_at, trigger.resumed_at),
            run.parent_run_id.is_(None),
            ~fired,
        )
        .order_by(run.finished_at, run.id)
        .limit(BATCH)
    )
    return (await session.execute(query)).all()
