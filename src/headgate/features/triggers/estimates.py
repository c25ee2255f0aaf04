"""What a backfill will take and cost, from the last runs of its trigger, else of its flow."""

from math import ceil
from statistics import fmean

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.runs import service as runs
from headgate.features.runs.run_filter import RunFilter
from headgate.features.triggers.schemas import BackfillEstimate
from headgate.features.triggers.tables import TriggerRow

MOST_RUNS = 50
"""Past runs that an estimate is based on."""


async def estimate_of(
    session: AsyncSession, principal: Principal, trigger: TriggerRow, *, count: int, parallel: int
) -> BackfillEstimate | None:
    """Return the estimate of so many runs, of which `parallel` run at the same time; None without completed runs."""
    of_trigger = RunFilter(trigger_id=trigger.id, status="completed")
    of_flow = RunFilter(flow_id=trigger.flow_id, status="completed")
    for run_filter in (of_trigger, of_flow):
        past, _ = await runs.page_of_runs(session, principal, run_filter, details=True, limit=MOST_RUNS)
        lasted = [
            (run.finished_at - run.started_at).total_seconds() for run in past if run.started_at and run.finished_at
        ]
        bills = [run.details for run in past if run.details is not None]
        if lasted and bills:
            return BackfillEstimate(
                basis="trigger" if run_filter is of_trigger else "flow",
                runs=len(past),
                seconds=round(fmean(lasted) * ceil(count / parallel), 3),
                cost_usd=round(fmean(bill.cost_usd for bill in bills) * count, 6),
                unpriced=sum(bill.unpriced for bill in bills),
            )
    return None
