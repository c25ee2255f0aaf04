"""Puts the figures together: a dozen queries, however many runs there were."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import spaces_shown
from headgate.features.models.setup.prices import prices_of
from headgate.features.models.setup.values import ModelSetup
from headgate.features.runs.statistics import repository
from headgate.features.runs.statistics.periods import Period, RangeName, period_of
from headgate.features.runs.statistics.repository import BEFORE, AnyRow, Seen
from headgate.features.runs.statistics.schemas import (
    FailureFigures,
    FlowFigures,
    ModelFigures,
    RunStatistics,
    StatisticsPart,
    Totals,
)
from headgate.features.runs.statistics.spending import Bill, Prices, models_of, total
from headgate.features.runs.tables import flow_runs
from headgate.foundation.database import microseconds, moment, now
from headgate.foundation.quoting import shortened

MOST_FLOWS = 10
MOST_MODELS = 12
MOST_FAILURES = 10
LONGEST_MESSAGE = 300
_SEVERAL = "several"
_COUNTED = ("runs", "completed", "failed", "cancelled")
_Lasted = Mapping[Any, AnyRow]


async def run_statistics(
    session: AsyncSession, principal: Principal, *, range_: RangeName, space_id: str | None = None
) -> RunStatistics:
    """How runs of the spaces that somebody sees went, or those of one. Raises `SpaceNotFound`, `PermissionMissing`."""
    spaces = await spaces_shown(session, principal, space_id, Permission.RUNS_VIEW)
    period = period_of(range_, microseconds(now()))
    seen = Seen(principal.tenant_id, spaces, period)
    asked = await repository.count_of_models(session, seen)
    setup = await prices_of(session, principal.tenant_id)
    found = _Found(
        period=period,
        sums=_sums(await repository.count_runs(session, seen)),
        bills=_bills(((row.part, row) for row in asked), setup),
        lasted=_by_part(await repository.durations(session, seen, seen.part())),
        whole=_by_part(await repository.durations(session, seen, seen.whose())),
        retries=await repository.count_retries(session, seen),
    )
    live = await repository.count_live(session, seen)
    return RunStatistics(
        start=moment(period.start),
        end=moment(period.end),
        part_seconds=period.step // 1_000_000,
        now=found.totals(range(period.parts), 0),
        before=found.totals([BEFORE], BEFORE),
        parts=[found.part(number) for number in range(period.parts)],
        flows=await _flows(session, seen, setup),
        models=_models((row for row in asked if row.part != BEFORE), setup),
        failures=await _failures(session, seen),
        queued=live.get("queued", 0),
        running=live.get("running", 0),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What the queries found, by part of the period."""

    period: Period
    sums: Mapping[int, Mapping[str, int]]
    bills: Mapping[int, Bill]
    lasted: _Lasted
    whole: _Lasted
    retries: Mapping[int, int]

    def totals(self, parts: Iterable[int], whose: int) -> Totals:
        """The period as a whole."""
        own = list(parts)
        counted = {name: sum(self._count(part, name) for part in own) for name in _COUNTED}
        spent = total(self.bills[part] for part in own if part in self.bills).as_spent()
        return Totals(**counted, **_percentiles(self.whole.get(whose)), spent=spent, retries=self.retries.get(whose, 0))

    def part(self, number: int) -> StatisticsPart:
        """One part of it."""
        return StatisticsPart(
            at=moment(self.period.start + number * self.period.step),
            **{name: self._count(number, name) for name in _COUNTED},
            **_percentiles(self.lasted.get(number)),
            spent=self.bills.get(number, Bill()).as_spent(),
        )

    def _count(self, part: int, name: str) -> int:
        return self.sums.get(part, {}).get(name, 0)


def _by_part(rows: Sequence[AnyRow]) -> _Lasted:
    return {row.part: row for row in rows}


def _sums(rows: Iterable[AnyRow]) -> Mapping[int, Mapping[str, int]]:
    found: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        found[row.part][row.status] += row.runs
        found[row.part]["runs"] += row.runs
    return found


def _bills(rows: Iterable[tuple[Any, AnyRow]], setup: ModelSetup) -> dict[Any, Bill]:
    found: dict[Any, Bill] = defaultdict(Bill)
    prices = Prices(setup)
    for key, row in rows:
        found[key].add(row, prices.of(row))
    return found


def _percentiles(row: AnyRow | None) -> dict[str, float | None]:
    return {f"p{share}_ms": None if row is None else row[place] / 1000 for place, share in ((1, 50), (2, 95))}


async def _flows(session: AsyncSession, seen: Seen, setup: ModelSetup) -> list[FlowFigures]:
    rows = await repository.busiest_flows(session, seen, limit=MOST_FLOWS)
    ids = [row.flow_id for row in rows]
    if not ids:
        return []
    names = await repository.names_of(session, ids, tenant_id=seen.tenant_id)
    rows_of_models = await repository.models_of_flows(session, seen, ids)
    bills = _bills(((row.flow_id, row) for row in rows_of_models), setup)
    lasted = _by_part(await repository.durations(session, seen, flow_runs.c.flow_id, flow_ids=ids))
    return [
        FlowFigures(
            flow_id=row.flow_id,
            name=names.get(row.flow_id, ""),
            runs=row.runs,
            failed=int(row.failed),
            p95_ms=_percentiles(lasted.get(row.flow_id))["p95_ms"],
            spent=bills.get(row.flow_id, Bill()).as_spent(),
        )
        for row in rows
    ]


def _models(rows: Iterable[AnyRow], setup: ModelSetup) -> list[ModelFigures]:
    bills = _bills(((_model_key(row), row) for row in rows), setup)
    most = sorted(bills.items(), key=lambda one: (-one[1].calls, one[0]))[:MOST_MODELS]
    return [
        ModelFigures(
            provider=provider,
            name=name,
            failed=bill.failed,
            mean_ms=bill.lasted / bill.calls / 1000 if bill.calls else 0.0,
            spent=bill.as_spent(),
        )
        for (provider, name), bill in most
    ]


def _model_key(row: AnyRow) -> tuple[str, str]:
    found = {(str(one.get("provider") or ""), str(one.get("name") or "")) for one in models_of(row)}
    return found.pop() if len(found) == 1 else (_SEVERAL, "")


async def _failures(session: AsyncSession, seen: Seen) -> list[FailureFigures]:
    rows = await repository.commonest_failures(session, seen, limit=MOST_FAILURES)
    said = await repository.messages_of(session, [row.run_id for row in rows], tenant_id=seen.tenant_id)
    names = await repository.names_of(session, [row.flow_id for row in rows], tenant_id=seen.tenant_id)
    return [
        FailureFigures(
            code=row.error_code or "",
            flow_id=row.flow_id,
            flow_name=names.get(row.flow_id, ""),
            runs=row.runs,
            message=shortened(said[row.run_id].error_message or "", LONGEST_MESSAGE),
            run_id=row.run_id,
            at=moment(said[row.run_id].created_at),
        )
        for row in rows
        if row.run_id in said
    ]
