"""HTTP route of run statistics."""

from typing import Annotated

from fastapi import Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.statistics.periods import RangeName
from headgate.features.runs.statistics.schemas import RunStatistics
from headgate.features.runs.statistics.service import run_statistics
from headgate.foundation.api import ReadSession, Routes

router = Routes(tags=["runs"])


@router.get("/run-statistics", "Read run statistics over time", [needs(Permission.RUNS_VIEW)], problems=(403, 404))
async def statistics(
    session: ReadSession,
    caller: Caller,
    range_: Annotated[RangeName, Query(alias="range", description="Length of the period up to now.")] = "7d",
    space_id: Annotated[str | None, Query(max_length=36, description="Only runs of this space.")] = None,
) -> RunStatistics:
    """Return counts, durations, costs at list prices and failures of runs, over time, by flow and by model.

    Covers the caller's spaces, compared with the preceding period.
    """
    return await run_statistics(session, caller, range_=range_, space_id=space_id)
