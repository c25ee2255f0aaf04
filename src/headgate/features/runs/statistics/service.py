"""Assembles run statistics: a dozen queries, independent of the number of runs."""

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
    """Return statistics of the caller's spaces, or of one. Raises `SpaceNotFound`, `PermissionMissing`."""
    spaces = await spaces_shown(session, principal, space_id, Permission.RUNS_VIEW)
    period = period_of(range_, microseconds(now()))
    visible = Seen(principal.tenant_id, spaces, period)
    model_rows = await repository.count_of_models(session, visible)
    setup = await prices_of(session, principal.tenant_id)
    results = _Found(
        period=period,
        sums=_sums(await repository.count_runs(session, visible)),
        bills=_bills(((row.part, row) for row in model_rows), setup),
        lasted=_by_part(await repository.durations(session, visible, visible.part())),
        whole=_by_part(await repository.durations(session, visible, visible.whose())),
        retries=await repository.count_retries(session, visible),
    )
    live = await repository.count_live(session, visible)
    return RunStatistics(
        start=moment(period.start),
        end=moment(period.end),
        part_seconds=period.step // 1_000_000,
        now=results.totals(range(period.parts), 0),
        before=results.totals([BEFORE], BEFORE),
        parts=[results.part(number) for number in range(period.parts)],
        flows=await _flows(session, visible, setup),
        models=_models((row for row in model_rows if row.part != BEFORE), setup),
        failures=await _failures(session, visible),
        queued=live.get("queued", 0),
        running=live.get("running", 0),
        waiting=live.get("waiting", 0),
        paused=live.get("paused", 0),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """Query results by part of the period."""

    period: Period
    sums: Mapping[int, Mapping[str, int]]
    bills: Mapping[int, Bill]
    lasted: _Lasted
    whole: _Lasted
    retries: Mapping[int, int]

    def totals(self, parts: Iterable[int], period_number: int) -> Totals:
        """Return the totals of the period."""
        own_parts = list(parts)
        counted = {name: sum(self._count(part, name) for part in own_parts) for name in _COUNTED}
        spent = total(self.bills[part] for part in own_parts if part in self.bills).as_spent()
        return Totals(
            **counted,
            **_percentiles(self.whole.get(period_number)),
            spent=spent,
            retries=self.retries.get(period_number, 0),
        )

    def part(self, number: int) -> StatisticsPart:
        """Return one part."""
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
    sums: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        sums[row.part][row.status] += row.runs
        sums[row.part]["runs"] += row.runs
    return sums


def _bills(rows: Iterable[tuple[Any, AnyRow]], setup: ModelSetup) -> dict[Any, Bill]:
    bills: dict[Any, Bill] = defaultdict(Bill)
    prices = Prices(setup)
    for key, row in rows:
        bills[key].add(row, prices.of(row))
    return bills


def _percentiles(row: AnyRow | None) -> dict[str, float | None]:
    return {f"p{share}_ms": None if row is None else row[column] / 1000 for column, share in ((1, 50), (2, 95))}


async def _flows(session: AsyncSession, visible: Seen, setup: ModelSetup) -> list[FlowFigures]:
    rows = await repository.busiest_flows(session, visible, limit=MOST_FLOWS)
    ids = [row.flow_id for row in rows]
    if not ids:
        return []
    names = await repository.names_of(session, ids, tenant_id=visible.tenant_id)
    rows_of_models = await repository.models_of_flows(session, visible, ids)
    bills = _bills(((row.flow_id, row) for row in rows_of_models), setup)
    lasted = _by_part(await repository.durations(session, visible, flow_runs.c.flow_id, flow_ids=ids))
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
    most_used = sorted(bills.items(), key=lambda item: (-item[1].calls, item[0]))[:MOST_MODELS]
    return [
        ModelFigures(
            provider=provider,
            name=name,
            failed=bill.failed,
            mean_ms=bill.lasted / bill.calls / 1000 if bill.calls else 0.0,
            spent=bill.as_spent(),
        )
        for (provider, name), bill in most_used
    ]


def _model_key(row: AnyRow) -> tuple[str, str]:
    names = {(str(model.get("provider") or ""), str(model.get("name") or "")) for model in models_of(row)}
    return names.pop() if len(names) == 1 else (_SEVERAL, "")


async def _failures(session: AsyncSession, visible: Seen) -> list[FailureFigures]:
    rows = await repository.commonest_failures(session, visible, limit=MOST_FAILURES)
    messages = await repository.messages_of(session, [row.run_id for row in rows], tenant_id=visible.tenant_id)
    names = await repository.names_of(session, [row.flow_id for row in rows], tenant_id=visible.tenant_id)
    return [
        FailureFigures(
            code=row.error_code or "",
            flow_id=row.flow_id,
            flow_name=names.get(row.flow_id, ""),
            runs=row.runs,
            message=shortened(messages[row.run_id].error_message or "", LONGEST_MESSAGE),
            run_id=row.run_id,
            at=moment(messages[row.run_id].created_at),
        )
        for row in rows
        if row.run_id in messages
    ]
