"""Wakes a waiting step from the transaction that stores what it waits for: a decision, an event, the end of a run."""

from collections.abc import Sequence
from dataclasses import replace

import orjson
from sqlalchemy import case, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.states import StepStatus
from headgate.features.runs.tables import flow_runs, flow_step_results
from headgate.features.runs.terms import StopRule, terms_of
from headgate.features.runs.waiting import WaitReason


async def wake_step(session: AsyncSession, run_id: str, step_id: str, *, tenant_id: str, at: int) -> bool:
    """Make a step due that waits, or that is about to: a step that suspends itself after this is due at once.

    Both write the row of the step, so that no answer is lost between them. Engines look for due steps twice a second
    (`engine.alarm`). The next attempt reads the answer; it may also begin without one, after another wake.

    Returns:
        False when the tenant has no such step.
    """
    steps = flow_step_results.c
    due_at = case((steps.status == StepStatus.WAITING, at), else_=steps.due_at)
    same = (steps.flow_run_id == run_id, steps.step_id == step_id, steps.tenant_id == tenant_id)
    changed = await session.execute(
        update(flow_step_results).where(*same).values(answered_at=at, due_at=due_at).returning(steps.step_id)
    )
    return changed.first() is not None


async def wake_stopped(session: AsyncSession, run_id: str, then: StopRule, *, tenant_id: str, at: int) -> Sequence[str]:
    """Make the steps due before which a run stopped, and change where it stops next.

    Returns:
        Ids of these steps. Without any, nothing changes.
    """
    runs, steps = flow_runs.c, flow_step_results.c
    same_run = (runs.id == run_id, runs.tenant_id == tenant_id)
    terms = terms_of((await session.execute(select(runs.terms).where(*same_run).with_for_update())).scalar())
    if terms.stops is None:
        return ()
    stopped = (
        steps.flow_run_id == run_id,
        steps.tenant_id == tenant_id,
        steps.status == StepStatus.WAITING,
        steps.waits_for == WaitReason.BREAKPOINT,
        steps.answered_at.is_(None),
    )
    wake = update(flow_step_results).where(*stopped).values(answered_at=at, due_at=at).returning(steps.step_id)
    woken: Sequence[str] = (await session.execute(wake)).scalars().all()
    stored = replace(terms, stops=replace(terms.stops, then=then)).stored()
    if woken and stored is not None:
        await session.execute(update(flow_runs).where(*same_run).values(terms=orjson.loads(stored)))
    return woken
