"""Queries of run statistics, for SQLite and PostgreSQL. The tenant is always required.

Every query covers runs that started in the period, by the index on tenant and time, and returns as many rows as there
are parts, flows or models in it, independent of the number of runs.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, case, func, literal_column, or_, select, true
from sqlalchemy import String as SqlString
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow
from headgate.features.runs.states import LIVE_RUNS, AttemptStatus
from headgate.features.runs.statistics.periods import Period
from headgate.features.runs.tables import flow_runs, flow_step_attempts, flow_step_results

AnyRow = Row[*tuple[Any, ...]]
_R, _S, _A = flow_runs.c, flow_step_results.c, flow_step_attempts.c
_OF_FLOW = and_(FlowRow.id == _R.flow_id, FlowRow.tenant_id == _R.tenant_id)
_OF_RUN = and_(_S.flow_run_id == _R.id, _S.tenant_id == _R.tenant_id)
_OF_STEP = and_(_A.flow_run_id == _S.flow_run_id, _A.step_id == _S.step_id, _A.tenant_id == _S.tenant_id)
BEFORE = -1
"""The part number of the complete preceding period."""
MODEL = tuple(
    _S.model_parameters.op("->>", return_type=SqlString())(literal_column(f"'{name}'")).label(name)
    for name in ("provider", "name", "base_url", "models")
)
"""The models that a step called: one, or several in `models`, as JSON."""
_ANSWERED = or_(MODEL[0].element.is_not(None), MODEL[3].element.is_not(None))
"""A step of which no model answered has only those that failed."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The runs whose statistics a user may see."""

    tenant_id: str
    spaces: Collection[str] | None
    """None: all spaces of the tenant."""
    period: Period

    def runs(self, *columns: Any, before: bool = False) -> Select[Any]:  # noqa: ANN401 - columns
        """Return a query of them, including the preceding period."""
        start = self.period.before if before else self.period.start
        query = (
            select(*columns)
            .select_from(flow_runs)
            .where(_R.tenant_id == self.tenant_id, _R.created_at >= start, _R.created_at < self.period.end)
        )
        return self._in_spaces(query)

    def live(self, *columns: Any) -> Select[Any]:  # noqa: ANN401 - columns
        """Return a query of live runs, whenever they started."""
        query = (
            select(*columns)
            .select_from(flow_runs)
            .where(_R.tenant_id == self.tenant_id, _R.status.in_(sorted(LIVE_RUNS)))
        )
        return self._in_spaces(query)

    def _in_spaces(self, query: Select[Any]) -> Select[Any]:
        if self.spaces is None:
            return query
        return query.join(FlowRow, _OF_FLOW).where(FlowRow.space_id.in_(sorted(self.spaces)))

    def part(self) -> ColumnElement[int]:
        """Return the part of the period in which a run started; `BEFORE` for the preceding period."""
        number = (_R.created_at - self.period.start) // self.period.step
        return case((_R.created_at < self.period.start, BEFORE), else_=number)

    def whose(self) -> ColumnElement[int]:
        """Return `BEFORE` or 0: the two periods as a whole."""
        return case((_R.created_at < self.period.start, BEFORE), else_=0)


async def count_runs(session: AsyncSession, visible: Seen) -> Sequence[AnyRow]:
    """Return `part`, `status`, `runs`."""
    part = visible.part().label("part")
    query = visible.runs(part, _R.status, func.count().label("runs"), before=True).group_by(part, _R.status)
    return await _rows(session, query)


async def durations(
    session: AsyncSession, visible: Seen, group: ColumnElement[Any], *, flow_ids: Collection[str] | None = None
) -> Sequence[AnyRow]:
    """Return `part`, `p50`, `p95` in microseconds, of runs that are over, grouped by `group`.

    Covers both periods, or these flows in the period.
    """
    lasted = (_R.finished_at - _R.started_at).label("lasted")
    runs = (
        visible.runs(
            group.label("part"),
            lasted,
            func.row_number().over(partition_by=group, order_by=lasted).label("place"),
            func.count().over(partition_by=group).label("many"),
            before=flow_ids is None,
        )
        .where(_R.started_at.is_not(None), _R.finished_at.is_not(None))
        .where(_R.flow_id.in_(flow_ids) if flow_ids is not None else true())
        .subquery()
    )
    at = [
        func.max(case((runs.c.place == (runs.c.many * share + 99) // 100, runs.c.lasted))).label(f"p{share}")
        for share in (50, 95)
    ]
    return await _rows(session, select(runs.c.part, *at).group_by(runs.c.part))


async def count_of_models(session: AsyncSession, visible: Seen) -> Sequence[AnyRow]:
    """Return the models called per part: `part`, the model, `calls`, `failed`, tokens, `untold` and `lasted`."""
    part = visible.part().label("part")
    query = _asked(visible, part, before=True).group_by(part, *MODEL)
    return await _rows(session, query)


async def models_of_flows(session: AsyncSession, visible: Seen, flow_ids: Collection[str]) -> Sequence[AnyRow]:
    """Return the same by flow, for these flows: `flow_id` instead of `part`."""
    query = _asked(visible, _R.flow_id).where(_R.flow_id.in_(flow_ids)).group_by(_R.flow_id, *MODEL)
    return await _rows(session, query)


def _asked(visible: Seen, *columns: Any, before: bool = False) -> Select[Any]:  # noqa: ANN401 - columns
    return of_models(visible.runs(*columns, *MODEL, *usage_columns(), before=before))


async def usage_of_runs(session: AsyncSession, run_ids: Collection[str], *, tenant_id: str) -> Sequence[AnyRow]:
    """Return the models that the steps of runs called, as `models_of_flows` does, by the `id` of the run."""
    query = select(_R.id, *MODEL, *usage_columns()).select_from(flow_runs)
    query = of_models(query).where(_R.id.in_(run_ids), _R.tenant_id == tenant_id)
    return await _rows(session, query.group_by(_R.id, *MODEL))


def usage_columns() -> tuple[ColumnElement[Any], ...]:
    """Return the usage of models by the steps of a query `of_models`: calls, failed ones, tokens, time."""
    unknown = _S.num_tokens_input.is_(None) | _S.num_tokens_output.is_(None)
    return (
        func.count().label("calls"),
        func.sum(case((_S.status == "failed", 1), else_=0)).label("failed"),
        func.coalesce(func.sum(_S.num_tokens_input), 0).label("tokens_input"),
        func.coalesce(func.sum(_S.num_tokens_output), 0).label("tokens_output"),
        func.sum(case((unknown, 1), else_=0)).label("untold"),
        func.coalesce(func.sum(_S.finished_at - _S.started_at), 0).label("lasted"),
    )


def of_models(query: Select[Any]) -> Select[Any]:
    """Return a query of runs with those of their steps that called a model, and were not reused."""
    query = query.join(flow_step_results, _OF_RUN)
    return query.where(_S.model_parameters.is_not(None), _ANSWERED, _S.reused_from_run_id.is_(None))


async def count_retries(session: AsyncSession, visible: Seen) -> dict[int, int]:
    """Return how many attempts were repeated, in the period (0) and in the preceding one.

    An attempt that ended because its step waits is continued, not repeated.
    """
    period_column = visible.whose().label("whose")
    repeated = and_(_OF_STEP, _A.attempt_no < _S.attempts, _A.status != AttemptStatus.SUSPENDED.value)
    query = (
        visible.runs(period_column, func.count(), before=True)
        .join(flow_step_results, _OF_RUN)
        .join(flow_step_attempts, repeated)
        .where(_S.attempts > 1)
        .group_by(period_column)
    )
    return {row[0]: int(row[1]) for row in (await session.execute(query)).all()}


async def busiest_flows(session: AsyncSession, visible: Seen, *, limit: int) -> Sequence[AnyRow]:
    """Return `flow_id`, `runs`, `failed`, most runs first."""
    runs, failed = func.count(), func.sum(case((_R.status == "failed", 1), else_=0))
    query = visible.runs(_R.flow_id, runs.label("runs"), failed.label("failed")).group_by(_R.flow_id)
    return await _rows(session, query.order_by(runs.desc(), _R.flow_id).limit(limit))


async def commonest_failures(session: AsyncSession, visible: Seen, *, limit: int) -> Sequence[AnyRow]:
    """Return `flow_id`, `error_code`, `runs` and the newest run of each, the most frequent first."""
    runs = func.count()
    query = (
        visible.runs(_R.flow_id, _R.error_code, runs.label("runs"), func.max(_R.id).label("run_id"))
        .where(_R.status == "failed")
        .group_by(_R.flow_id, _R.error_code)
        .order_by(runs.desc(), func.max(_R.id).desc())
    )
    return await _rows(session, query.limit(limit))


async def messages_of(session: AsyncSession, run_ids: Collection[str], *, tenant_id: str) -> dict[str, AnyRow]:
    """Return error messages and start times of failed runs, by id."""
    query = select(_R.id, _R.error_message, _R.created_at).where(_R.id.in_(run_ids), _R.tenant_id == tenant_id)
    return {row.id: row for row in (await session.execute(query)).all()}


async def names_of(session: AsyncSession, flow_ids: Collection[str], *, tenant_id: str) -> dict[str, str]:
    """Return the names of flows, including deleted ones."""
    query = select(FlowRow.id, FlowRow.name).where(FlowRow.id.in_(flow_ids), FlowRow.tenant_id == tenant_id)
    return {row.id: row.name for row in (await session.execute(query)).all()}


async def count_live(session: AsyncSession, visible: Seen) -> dict[str, int]:
    """Return the number of live runs by status."""
    query = visible.live(_R.status, func.count()).group_by(_R.status)
    return {row[0]: row[1] for row in (await session.execute(query)).all()}


async def _rows(session: AsyncSession, query: Select[Any]) -> Sequence[AnyRow]:
    rows: Sequence[AnyRow] = (await session.execute(query)).all()
    return rows
