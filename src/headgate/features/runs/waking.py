"""Wakes a waiting step from the transaction that stores what it waits for: a decision, an event, the end of a run."""

from sqlalchemy import case, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.states import StepStatus
from headgate.features.runs.tables import flow_step_results


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
