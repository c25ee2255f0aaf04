"""What a run came to, read back from its rows."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.errors import RunNotFound
from headgate.features.runs.payloads import presented
from headgate.features.runs.states import StepStatus
from headgate.features.runs.tables import flow_runs, flow_step_results


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run's end: how, with what, at what cost."""

    run_id: str
    status: str
    error: str
    duration_ms: int
    input_tokens: int
    output_tokens: int
    last_steps: dict[str, dict[str, Any]]
    """Completed steps that no completed step comes after, with their stored outputs as the API shows them."""
    file_ids: tuple[str, ...]
    """Files the run made, in the order of the steps."""


async def read_outcome(session: AsyncSession, run_id: str, *, tenant_id: str, last_steps: set[str]) -> Outcome:
    """Read a tenant's run back. `last_steps`: ids of the steps the plan ends with. Raises `RunNotFound`."""
    run = (
        (await session.execute(select(flow_runs).where(flow_runs.c.id == run_id, flow_runs.c.tenant_id == tenant_id)))
        .mappings()
        .one_or_none()
    )
    if run is None:
        raise RunNotFound(run_id)
    steps = flow_step_results.c
    mine = (steps.flow_run_id == run_id, steps.tenant_id == tenant_id)
    used = (
        await session.execute(select(func.sum(steps.num_tokens_input), func.sum(steps.num_tokens_output)).where(*mine))
    ).one()
    rows = (
        await session.execute(
            select(steps.step_id, steps.output_payload)
            .where(*mine, steps.status == StepStatus.COMPLETED)
            .order_by(steps.step_order)
        )
    ).all()
    payloads = {row.step_id: presented(row.output_payload) or {} for row in rows}
    files = dict.fromkeys(
        file_id for payload in payloads.values() for file_id in payload.get("generated_file_ids", payload["file_ids"])
    )
    return Outcome(
        run_id=run_id,
        status=run["status"],
        error=run["error_message"] or "",
        duration_ms=((run["finished_at"] or run["created_at"]) - run["created_at"]) // 1000,
        input_tokens=used[0] or 0,
        output_tokens=used[1] or 0,
        last_steps={step_id: payload for step_id, payload in payloads.items() if step_id in last_steps},
        file_ids=tuple(files),
    )
