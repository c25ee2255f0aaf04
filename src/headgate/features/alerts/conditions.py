"""What rules find, one query per kind of rule, for SQLite and PostgreSQL. The tenant is always required.

Only top-level runs of published versions count: a trial of a draft alerts nobody, and the run of a step counts as that
of its parent. The cost and the queue are those of all that a rule covers; every other kind is evaluated per flow.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Row, Select, and_, case, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.alerts.tables import AlertRuleRow
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.models.setup.prices import prices_of
from headgate.features.runs.budgets.daily import share_of, used_today
from headgate.features.runs.statistics.repository import MODEL, of_models, usage_columns
from headgate.features.runs.statistics.spending import Bill, Prices
from headgate.features.runs.tables import flow_runs
from headgate.features.triggers.tables import TriggerRow
from headgate.features.triggers.words import schedule_of_row

SECOND = 1_000_000
AnyRow = Row[*tuple[Any, ...]]
Rules = Mapping[str, AlertRuleRow]
_R, _RULE = flow_runs.c, AlertRuleRow
_IN_SCOPE = and_(
    FlowRow.tenant_id == _RULE.tenant_id,
    FlowRow.deleted_at.is_(None),
    or_(_RULE.flow_id.is_(None), FlowRow.id == _RULE.flow_id),
    or_(_RULE.space_id.is_(None), FlowRow.space_id == _RULE.space_id),
)
_OF_FLOW = and_(_R.flow_id == FlowRow.id, _R.tenant_id == FlowRow.tenant_id, _R.parent_run_id.is_(None))
_RELEASED = and_(
    FlowVersionRow.flow_id == _R.flow_id, FlowVersionRow.version == _R.version, FlowVersionRow.release.is_not(None)
)
_ENDED = ("completed", "failed")


@dataclass(frozen=True, slots=True)
class Finding:
    """A condition that holds: of a flow, or (an empty subject) of all that the rule covers."""

    rule_id: str
    value: float
    subject: str = ""
    space_id: str | None = None
    name: str = ""


async def find(session: AsyncSession, rules: Sequence[AlertRuleRow], at: int, *, tenant_id: str) -> list[Finding]:
    """Return the conditions that hold at a time, of enabled rules of one tenant."""
    by_kind: dict[str, dict[str, AlertRuleRow]] = defaultdict(dict)
    for rule in rules:
        by_kind[rule.kind][rule.id] = rule
    findings: list[Finding] = []
    for kind, own in by_kind.items():
        findings += await _FIND[kind](session, own, at, tenant_id)
    return findings


def _query(kind: str, tenant_id: str, *columns: Any) -> Select[Any]:  # noqa: ANN401 - columns
    """Return a query of the rules of a kind, each with the flows in its scope."""
    return (
        select(_RULE.id.label("rule_id"), *columns)
        .select_from(_RULE)
        .join(FlowRow, _IN_SCOPE)
        .where(_RULE.tenant_id == tenant_id, _RULE.kind == kind, _RULE.enabled)
    )


_FLOW = (FlowRow.id.label("flow_id"), FlowRow.name.label("flow_name"), FlowRow.space_id.label("flow_space_id"))


def _of_runs(kind: str, tenant_id: str, condition: ColumnElement[bool], *columns: Any) -> Select[Any]:  # noqa: ANN401
    """Return a query of figures of runs, per rule and flow."""
    query = _query(kind, tenant_id, *_FLOW, *columns)
    query = query.join(flow_runs, and_(_OF_FLOW, condition)).join(FlowVersionRow, _RELEASED)
    return query.group_by(_RULE.id, FlowRow.id, FlowRow.name, FlowRow.space_id)


def _since(at: int) -> ColumnElement[int]:
    """Return the start of the window of a rule."""
    return literal(at, BigInteger()) - _RULE.window_seconds * SECOND


def _found(row: AnyRow, value: float) -> Finding:
    return Finding(row.rule_id, value, row.flow_id, row.flow_space_id, row.flow_name)


async def _rows(session: AsyncSession, query: Select[Any]) -> Sequence[AnyRow]:
    rows: Sequence[AnyRow] = (await session.execute(query)).all()
    return rows


async def _failure(session: AsyncSession, rules: Rules, at: int, tenant_id: str) -> list[Finding]:
    failed = and_(_R.status == "failed", _R.finished_at >= _since(at))
    rows = await _rows(session, _of_runs("failure", tenant_id, failed, func.count().label("runs")))
    return [_found(row, row.runs) for row in rows if row.runs >= rules[row.rule_id].threshold]


async def _failure_rate(session: AsyncSession, rules: Rules, at: int, tenant_id: str) -> list[Finding]:
    ended = and_(_R.status.in_(_ENDED), _R.finished_at >= _since(at))
    failed = func.sum(case((_R.status == "failed", 1), else_=0)).label("failed")
    rows = await _rows(session, _of_runs("failure_rate", tenant_id, ended, func.count().label("runs"), failed))
    shares = [(row, 100 * int(row.failed) / row.runs) for row in rows if row.runs >= rules[row.rule_id].fewest_runs]
    return [_found(row, round(share, 1)) for row, share in shares if share >= rules[row.rule_id].threshold]


async def _slow(session: AsyncSession, rules: Rules, at: int, tenant_id: str) -> list[Finding]:
    ended = and_(_R.status.in_(_ENDED), _R.finished_at >= _since(at))
    runs = and_(or_(ended, _R.status == "running"), _R.started_at.is_not(None))
    end = case((_R.status == "running", literal(at, BigInteger())), else_=_R.finished_at)
    rows = await _rows(session, _of_runs("slow", tenant_id, runs, func.max(end - _R.started_at).label("lasted")))
    longest = [(row, round(row.lasted / SECOND, 1)) for row in rows]
    return [_found(row, seconds) for row, seconds in longest if seconds >= rules[row.rule_id].threshold]


async def _silent(session: AsyncSession, rules: Rules, at: int, tenant_id: str) -> list[Finding]:
    """Find flows of which a due time of a schedule has passed, and no run was started since.

    A flow without a schedule, where a rule names it, is expected to run once in every window.
    """
    latest = (
        select(_R.created_at)
        .join(FlowVersionRow, _RELEASED)
        .where(_OF_FLOW)
        .order_by(_R.id.desc())
        .limit(1)
        .correlate(FlowRow)
        .scalar_subquery()
    )
    query = _query("silent", tenant_id, *_FLOW, latest.label("last_at"))
    rows = await _rows(session, query.where(FlowRow.published_version.is_not(None)))
    schedules = await _schedules(session, tenant_id)
    findings = []
    for row in rows:
        rule = rules[row.rule_id]
        since = max(row.last_at or 0, rule.created_at)
        own = schedules.get(row.flow_id, ())
        due = [_due(trigger, since) for trigger in own] or ([since] if rule.flow_id else [])
        late = [(at - moment) / SECOND for moment in due if moment is not None]
        if late and max(late) >= rule.window_seconds:
            findings.append(_found(row, round(max(late))))
    return findings


async def _schedules(session: AsyncSession, tenant_id: str) -> Mapping[str, Sequence[TriggerRow]]:
    query = select(TriggerRow).where(
        TriggerRow.tenant_id == tenant_id, TriggerRow.kind == "schedule", TriggerRow.enabled
    )
    schedules: dict[str, list[TriggerRow]] = defaultdict(list)
    for trigger in (await session.execute(query)).scalars():
        schedules[trigger.flow_id].append(trigger)
    return schedules


def _due(trigger: TriggerRow, since: int) -> int | None:
    """Return when the first run after a time should have started; None when the schedule has ended."""
    schedule = schedule_of_row(trigger)
    due = schedule.next(max(since, trigger.updated_at))
    return None if due is None else schedule.begins(due, trigger.id)


async def _cost(session: AsyncSession, rules: Rules, at: int, tenant_id: str) -> list[Finding]:
    # The runs of steps cost, too, and so do trials of drafts.
    of_flow = and_(_R.flow_id == FlowRow.id, _R.tenant_id == FlowRow.tenant_id, _R.created_at >= _since(at))
    query = of_models(_query("cost", tenant_id, *MODEL, *usage_columns()).join(flow_runs, of_flow))
    rows = await _rows(session, query.group_by(_RULE.id, *MODEL))
    prices = Prices(await prices_of(session, tenant_id))
    bills: dict[str, Bill] = defaultdict(Bill)
    for row in rows:
        bills[row.rule_id].add(row, prices.of(row))
    return [
        _whole(rules[rule_id], round(bill.usd, 4))
        for rule_id, bill in bills.items()
        if bill.usd >= rules[rule_id].threshold
    ]


async def _queue(session: AsyncSession, rules: Rules, at: int, tenant_id: str) -> list[Finding]:
    waiting = and_(_R.flow_id == FlowRow.id, _R.tenant_id == FlowRow.tenant_id, _R.status == "queued")
    query = _query("queue", tenant_id, func.count().label("runs"))
    query = query.join(flow_runs, and_(waiting, _R.created_at <= _since(at))).group_by(_RULE.id)
    rows = await _rows(session, query)
    return [_whole(rules[row.rule_id], row.runs) for row in rows if row.runs >= max(rules[row.rule_id].threshold, 1)]


def _whole(rule: AlertRuleRow, value: float) -> Finding:
    return Finding(rule.id, value, space_id=rule.space_id)


async def _budget(session: AsyncSession, rules: Rules, at: int, tenant_id: str) -> list[Finding]:
    """Find flows that have used a share of their daily budget: the limits are those of their latest run."""
    query = used_today(_query("budget", tenant_id, *_FLOW), at)
    shares: dict[tuple[str, str], tuple[AnyRow, float]] = {}
    for row in await _rows(session, query):
        share = share_of(row)
        if share >= rules[row.rule_id].threshold:
            key = row.rule_id, row.flow_id
            shares[key] = max(shares.get(key, (row, share)), (row, share), key=lambda pair: pair[1])
    return [_found(row, share) for row, share in shares.values()]


_Find = Callable[[AsyncSession, Rules, int, str], Awaitable[list[Finding]]]
_FIND: Mapping[str, _Find] = {
    "failure": _failure,
    "failure_rate": _failure_rate,
    "slow": _slow,
    "silent": _silent,
    "cost": _cost,
    "queue": _queue,
    "budget": _budget,
}
