"""What rules find, for SQLite and PostgreSQL: one query per kind, however many rules there are. Always of one tenant.

A query covers each flow and run once: runs are summed by flow and by the shortest window of the rules that contains
them, and each rule adds up those of its flows and its window. Only top-level runs of published versions count: a trial
of a draft alerts nobody, and the run of a step counts as that of its parent. The cost and the queue are those of all
that a rule covers; every other kind is evaluated per flow.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Row,
    Select,
    and_,
    case,
    func,
    literal,
    literal_column,
    or_,
    select,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.alerts.schemas import BURN_RATES
from headgate.features.alerts.tables import AlertRuleRow
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.models.setup.prices import prices_of
from headgate.features.processes.service import times_of_deaths
from headgate.features.runs.budgets.daily import share_of, used_today
from headgate.features.runs.statistics.repository import MODEL, of_models, usage_columns
from headgate.features.runs.statistics.spending import Bill, Prices
from headgate.features.runs.tables import flow_runs
from headgate.features.slos.service import Burn, burns
from headgate.features.triggers.tables import TriggerRow
from headgate.features.triggers.words import schedule_of_row

SECOND = 1_000_000
AnyRow = Row[*tuple[Any, ...]]
_R, _RULE = flow_runs.c, AlertRuleRow
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


class Rules:
    """Enabled rules of one kind, by what they cover.

    Args:
        kind: Of all of them.
        rules: The rules.
        tenant_id: Whose they are.
    """

    def __init__(self, kind: str, rules: Sequence[AlertRuleRow], tenant_id: str) -> None:
        self.kind, self.all, self.tenant_id = kind, rules, tenant_id
        self.windows = sorted({rule.window_seconds for rule in rules})
        self._by_scope: dict[tuple[str | None, str | None], list[AlertRuleRow]] = defaultdict(list)
        for rule in rules:
            self._by_scope[rule.flow_id, rule.space_id].append(rule)

    def of(self, row: AnyRow | Burn) -> Iterable[AlertRuleRow]:
        """Return the rules that cover the flow of a row."""
        for scope in ((row.flow_id, row.flow_space_id), (None, row.flow_space_id), (None, None)):
            yield from self._by_scope.get(scope, ())

    def flows(self, *columns: Any) -> Select[Any]:  # noqa: ANN401 - columns
        """Return a query of the flows that they cover, each once, as `_since` needs them."""
        rules = (
            select(_RULE.flow_id, _RULE.space_id, func.max(_RULE.window_seconds).label("seconds"))
            .where(_RULE.tenant_id == self.tenant_id, _RULE.kind == self.kind, _RULE.enabled)
            .group_by(_RULE.flow_id, _RULE.space_id)
            .cte("scopes")
        )
        own = and_(FlowRow.tenant_id == self.tenant_id, FlowRow.deleted_at.is_(None))
        in_space, every_flow = rules.c.space_id == FlowRow.space_id, rules.c.flow_id.is_(None)
        covered = union_all(
            *(
                select(FlowRow.id, rules.c.seconds).join(rules, scope).where(own)
                for scope in (
                    and_(rules.c.flow_id == FlowRow.id, in_space),
                    and_(every_flow, in_space),
                    and_(every_flow, rules.c.space_id.is_(None)),
                )
            )
        ).subquery()
        longest = func.max(covered.c.seconds).label("longest")
        flows = select(covered.c.id, longest).group_by(covered.c.id).subquery("covered")
        return select(*columns).select_from(FlowRow).join(flows, flows.c.id == FlowRow.id).where(own)

    def window(self, age: ColumnElement[int], *, at_least: bool = False) -> ColumnElement[int]:
        """Return the shortest window that contains an age in microseconds, or the longest that it has reached."""
        windows = reversed(self.windows) if at_least else self.windows
        return case(
            *((age >= seconds * SECOND if at_least else age <= seconds * SECOND, seconds) for seconds in windows)
        ).label("seconds")


_FLOW = (FlowRow.id.label("flow_id"), FlowRow.name.label("flow_name"), FlowRow.space_id.label("flow_space_id"))


async def find(session: AsyncSession, rules: Sequence[AlertRuleRow], at: int, *, tenant_id: str) -> list[Finding]:
    """Return the conditions that hold at a time, of enabled rules of one tenant."""
    by_kind: dict[str, list[AlertRuleRow]] = defaultdict(list)
    for rule in rules:
        by_kind[rule.kind].append(rule)
    findings: list[Finding] = []
    for kind, own in by_kind.items():
        findings += await _FIND[kind](session, Rules(kind, own, tenant_id), at)
    return findings


def _found(rule: AlertRuleRow, row: AnyRow | Burn, value: float) -> Finding:
    return Finding(rule.id, value, row.flow_id, row.flow_space_id, row.flow_name)


def _whole(rule: AlertRuleRow, value: float) -> Finding:
    return Finding(rule.id, value, space_id=rule.space_id)


async def _rows(session: AsyncSession, query: Select[Any]) -> Sequence[AnyRow]:
    rows: Sequence[AnyRow] = (await session.execute(query)).all()
    return rows


async def _of_runs(
    session: AsyncSession,
    rules: Rules,
    at: int,
    condition: ColumnElement[bool],
    *columns: Any,  # noqa: ANN401 - columns
    ended: ColumnElement[int] = _R.finished_at,
) -> Mapping[str, list[AnyRow]]:
    """Return figures of runs by flow: a row of each window that is the shortest for some of its runs."""
    window = rules.window(literal(at, BigInteger()) - ended)
    query = rules.flows(*_FLOW, window, *columns).join(flow_runs, and_(_OF_FLOW, condition))
    query = query.join(FlowVersionRow, _RELEASED)
    rows = await _rows(session, query.group_by(FlowRow.id, FlowRow.name, FlowRow.space_id, "seconds"))
    by_flow: dict[str, list[AnyRow]] = defaultdict(list)
    for row in rows:
        by_flow[row.flow_id].append(row)
    return by_flow


def _since(at: int) -> ColumnElement[int]:
    """Return the start of the longest window of a flow."""
    return literal(at, BigInteger()) - literal_column("covered.longest", BigInteger()) * SECOND


def _judged(
    rules: Rules,
    figures: Mapping[str, list[AnyRow]],
    value_of: Callable[[Sequence[AnyRow]], float],
    *,
    least_runs: bool = False,
) -> list[Finding]:
    """Return the rules whose threshold the value of their window reaches, per flow."""
    findings = []
    for rows in figures.values():
        values: dict[int, tuple[float, int]] = {}
        for rule in rules.of(rows[0]):
            if rule.window_seconds not in values:
                within = [row for row in rows if row.seconds <= rule.window_seconds]
                values[rule.window_seconds] = (
                    value_of(within) if within else 0.0,
                    sum(row.runs for row in within),
                )
            value, runs = values[rule.window_seconds]
            if runs >= (rule.fewest_runs if least_runs else 1) and value >= rule.threshold:
                findings.append(_found(rule, rows[0], value))
    return findings


async def _failure(session: AsyncSession, rules: Rules, at: int) -> list[Finding]:
    failed = and_(_R.status == "failed", _R.finished_at >= _since(at))
    figures = await _of_runs(session, rules, at, failed, func.count().label("runs"))
    return _judged(rules, figures, lambda rows: sum(row.runs for row in rows))


async def _failure_rate(session: AsyncSession, rules: Rules, at: int) -> list[Finding]:
    failed = func.sum(case((_R.status == "failed", 1), else_=0)).label("failed")
    ended = and_(_R.status.in_(_ENDED), _R.finished_at >= _since(at))
    figures = await _of_runs(session, rules, at, ended, func.count().label("runs"), failed)
    return _judged(
        rules,
        figures,
        lambda rows: round(100 * sum(int(row.failed) for row in rows) / sum(row.runs for row in rows), 1),
        least_runs=True,
    )


async def _slow(session: AsyncSession, rules: Rules, at: int) -> list[Finding]:
    ended = and_(_R.status.in_(_ENDED), _R.finished_at >= _since(at))
    runs = and_(or_(ended, _R.status == "running"), _R.started_at.is_not(None))
    end = case((_R.status == "running", literal(at, BigInteger())), else_=_R.finished_at)
    lasted = func.max(end - _R.started_at).label("lasted")
    figures = await _of_runs(session, rules, at, runs, func.count().label("runs"), lasted, ended=end)
    return _judged(rules, figures, lambda rows: round(max(row.lasted for row in rows) / SECOND, 1))


async def _silent(session: AsyncSession, rules: Rules, at: int) -> list[Finding]:
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
    query = rules.flows(*_FLOW, latest.label("last_at"))
    rows = await _rows(session, query.where(FlowRow.published_version.is_not(None)))
    schedules = await _schedules(session, rules.tenant_id)
    findings = []
    for row in rows:
        own = schedules.get(row.flow_id, ())
        due_times: dict[int, list[int | None]] = {}
        for rule in rules.of(row):
            since = max(row.last_at or 0, rule.created_at)
            if since not in due_times:
                due_times[since] = [_due(trigger, since) for trigger in own]
            due = due_times[since] if own else [since] if rule.flow_id else []
            late = [(at - moment) / SECOND for moment in due if moment is not None]
            if late and max(late) >= rule.window_seconds:
                findings.append(_found(rule, row, round(max(late))))
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


async def _cost(session: AsyncSession, rules: Rules, at: int) -> list[Finding]:
    # The runs of steps cost, too, and so do trials of drafts.
    age = literal(at, BigInteger()) - _R.created_at
    of_flow = and_(_R.flow_id == FlowRow.id, _R.tenant_id == FlowRow.tenant_id, _R.created_at >= _since(at))
    query = of_models(rules.flows(*_FLOW, rules.window(age), *MODEL, *usage_columns()).join(flow_runs, of_flow))
    rows = await _rows(session, query.group_by(FlowRow.id, FlowRow.name, FlowRow.space_id, "seconds", *MODEL))
    prices = Prices(await prices_of(session, rules.tenant_id))
    costs: list[tuple[AnyRow, float]] = []
    for row in rows:
        bill = Bill()
        bill.add(row, prices.of(row))
        costs.append((row, bill.usd))
    sums = _sums(rules, costs, lambda row, rule: row.seconds <= rule.window_seconds)
    return [_whole(rule, round(usd, 4)) for rule, usd in sums if usd >= rule.threshold]


async def _queue(session: AsyncSession, rules: Rules, at: int) -> list[Finding]:
    age = literal(at, BigInteger()) - _R.created_at
    waiting = and_(_R.flow_id == FlowRow.id, _R.tenant_id == FlowRow.tenant_id, _R.status == "queued")
    query = rules.flows(*_FLOW, rules.window(age, at_least=True), func.count().label("runs")).join(flow_runs, waiting)
    query = query.where(age >= rules.windows[0] * SECOND)
    rows = await _rows(session, query.group_by(FlowRow.id, FlowRow.name, FlowRow.space_id, "seconds"))
    sums = _sums(rules, [(row, row.runs) for row in rows], lambda row, rule: row.seconds >= rule.window_seconds)
    return [_whole(rule, runs) for rule, runs in sums if runs >= max(rule.threshold, 1)]


def _sums(
    rules: Rules, values: Sequence[tuple[AnyRow, float]], counts: Callable[[AnyRow, AlertRuleRow], bool]
) -> list[tuple[AlertRuleRow, float]]:
    """Return each rule with the sum of the values of all its flows that count for it."""
    sums: dict[str, float] = defaultdict(float)
    for row, value in values:
        for rule in rules.of(row):
            if counts(row, rule):
                sums[rule.id] += value
    return [(rule, sums[rule.id]) for rule in rules.all if rule.id in sums]


async def _budget(session: AsyncSession, rules: Rules, at: int) -> list[Finding]:
    """Find flows that have used a share of their daily budget: the limits are those of their latest run."""
    shares: dict[str, tuple[float, AnyRow]] = {}
    for row in await _rows(session, used_today(rules.flows(*_FLOW), at)):
        share = share_of(row)
        if row.flow_id not in shares or share > shares[row.flow_id][0]:
            shares[row.flow_id] = share, row
    return [
        _found(rule, row, share) for share, row in shares.values() for rule in rules.of(row) if share >= rule.threshold
    ]


async def _burn(session: AsyncSession, rules: Rules, at: int) -> list[Finding]:
    """Find flows that use the error budget of one of their objectives too fast: the value is the highest burn rate."""
    highest: dict[tuple[str, str], Finding] = {}
    for burn in await burns(session, tenant_id=rules.tenant_id, at=at):
        for rule in rules.of(burn):
            rate = burn.rate(BURN_RATES[rules.kind], fewest_runs=rule.fewest_runs)
            key = rule.id, burn.flow_id
            if rate is not None and (key not in highest or rate > highest[key].value):
                highest[key] = _found(rule, burn, round(rate, 1))
    return list(highest.values())


async def _dead(session: AsyncSession, rules: Rules, at: int) -> list[Finding]:
    """Find servers and workers that died within the window: rules of the first organisation watch them."""
    times = await times_of_deaths(session, since=at - rules.windows[-1] * SECOND)
    deaths = {rule.id: sum(at - seen <= rule.window_seconds * SECOND for seen in times) for rule in rules.all}
    return [_whole(rule, deaths[rule.id]) for rule in rules.all if deaths[rule.id] >= rule.threshold]


_Find = Callable[[AsyncSession, Rules, int], Awaitable[list[Finding]]]
_FIND: Mapping[str, _Find] = {
    "failure": _failure,
    "failure_rate": _failure_rate,
    "slow": _slow,
    "silent": _silent,
    "cost": _cost,
    "queue": _queue,
    "budget": _budget,
    "burn_fast": _burn,
    "burn_slow": _burn,
    "dead_worker": _dead,
}
