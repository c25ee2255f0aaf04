"""Statistics of a trigger: occurrences by outcome, their runs, and how late they were."""

from collections import Counter
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.triggers import repository
from headgate.features.triggers.schemas import LatenessOut, SkippedOut, TriggerStatistics
from headgate.features.triggers.service import require
from headgate.foundation.database import microseconds, now

_SECOND = 1_000_000


async def trigger_statistics(
    session: AsyncSession, principal: Principal, trigger_id: str, *, days: int
) -> TriggerStatistics:
    """Return the statistics of the last days. Raises `TriggerNotFound`, `PermissionMissing`."""
    await require(session, principal, trigger_id, Permission.RUNS_VIEW)
    since = microseconds(now() - timedelta(days=days))
    rows, late = await repository.count_occurrences(session, trigger_id, since, tenant_id=principal.tenant_id)
    by_status, by_run, skipped = Counter[str](), Counter[str | None](), Counter[str]()
    for row in rows:
        by_status[row.status] += row.count_
        by_run[row.run_status] += row.count_
        if row.status == "skipped":
            skipped[row.reason] += row.count_
    lateness = None
    if late.many:
        p50, p95, most = (max(0.0, value / _SECOND) for value in (late.p50, late.p95, late.p100))
        lateness = LatenessOut(occurrences=late.many, p50_seconds=p50, p95_seconds=p95, max_seconds=most)
    return TriggerStatistics(
        days=days,
        started=by_status["started"],
        queued=by_status["queued"],
        cancelled=by_status["cancelled"],
        skipped=[SkippedOut(reason=reason, occurrences=count) for reason, count in skipped.most_common()],
        completed=by_run["completed"],
        failed=by_run["failed"],
        lateness=lateness,
    )
