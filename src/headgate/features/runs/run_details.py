"""What a list of runs shows in addition: trigger, release, owner and tags of the flow, cost, what it waits for.

Six queries a page at most.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.organization.repository import tags_of
from headgate.features.models.setup.prices import prices_of
from headgate.features.runs import repository
from headgate.features.runs.detail_schemas import RunDetails
from headgate.features.runs.schemas import RunSummary
from headgate.features.runs.statistics.repository import usage_of_runs
from headgate.features.runs.statistics.spending import Bill, Prices
from headgate.features.runs.waiting import WaitReason


async def add_details(
    session: AsyncSession, runs: Sequence[RunSummary], rows: Sequence[Any], *, tenant_id: str
) -> None:
    """Set `details` of runs, which the caller may view, from their rows."""
    if not runs:
        return
    flows = {
        row.id: row for row in await repository.flows_of_runs(session, [run.id for run in runs], tenant_id=tenant_id)
    }
    tags = await tags_of(session, {run.flow_id for run in runs}, tenant_id=tenant_id)
    prices, bills = Prices(await prices_of(session, tenant_id)), defaultdict[str, Bill](Bill)
    for usage in await usage_of_runs(session, [run.id for run in runs], tenant_id=tenant_id):
        bills[usage.id].add(usage, prices.of(usage))
    waiting = [run.id for run in runs if run.status == "waiting"]
    waits = defaultdict[str, list[WaitReason]](list)
    for wait in await repository.waits_of_runs(session, waiting, tenant_id=tenant_id) if waiting else ():
        waits[wait.flow_run_id].append(WaitReason(wait.waits_for))
    for run, row in zip(runs, rows, strict=True):
        flow, bill = flows[run.id], bills[run.id]
        run.details = RunDetails(
            flow=flow.name,
            release=flow.release,
            trigger=(row.input_payload or {}).get("trigger"),
            owner_id=flow.owner_user_id,
            owner=flow.owner,
            tags=tags.get(run.flow_id, []),
            cost_usd=round(bill.usd, 6),
            unpriced=bill.unpriced,
            waits_for=waits[run.id],
        )
