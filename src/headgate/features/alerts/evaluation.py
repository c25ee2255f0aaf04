"""Evaluates the rules of an organisation every minute: opens and resolves alerts, and adds the notices of them.

Each organisation is one job. A reading transaction finds what holds; a second one, which begins by releasing the job
and ends without a change when its claim is lost, writes alerts and notices. Unique rows do the rest: at most one
unresolved alert of a rule and subject, and one notice of a number and channel. While the database is away nothing is
evaluated. What depends on the time at which Headgate itself works (late runs, queued runs) is evaluated only after
evaluations have followed each other for a while: after an outage or a change of the clock, triggers catch up first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm.attributes import flag_modified

from headgate.features.alerts.conditions import SECOND, Finding, find
from headgate.features.alerts.letters import Content, content_of
from headgate.features.alerts.tables import AlertEvaluationRow, AlertNoticeRow, AlertRow, AlertRuleRow
from headgate.features.jobs.leases import clock
from headgate.features.jobs.queue import Job, Queue
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.foundation.database import Database, insert_into
from headgate.foundation.ids import new_id
from headgate.foundation.webhooks import delivery_key

KIND = "alert_evaluations"
_TABLE: Any = AlertEvaluationRow.__table__
QUEUE = Queue(_TABLE, key="tenant_id")
EVERY_SECONDS = 60.0
MOST_AT_ONCE = 2
STEADY_SECONDS = 180.0
"""How long evaluations must have followed each other before late and queued runs are evaluated."""
_CHANGES: Mapping[type, Sequence[str]] = {
    AlertRuleRow: ("fired_at", "notified_at", "notices"),
    AlertRow: ("state", "value", "seen_at", "resolved_at", "escalated_at", "pending"),
}
"""What an evaluation changes."""
_OF_TIME = frozenset({"silent", "queue"})
"""Kinds that would blame flows for an outage of Headgate."""


class Evaluator:
    """Evaluates rules, as one kind of job.

    Args:
        database: Holds rules, alerts and runs.
        jobs: Runs due evaluations.
    """

    def __init__(self, database: Database, jobs: JobRunner) -> None:
        self._database = database
        jobs.register(
            JobKind(KIND, QUEUE, self.evaluate, MOST_AT_ONCE, retry_seconds=5.0, upkeep=self._correct_due_times)
        )

    async def _correct_due_times(self) -> None:
        """Make evaluations due that a clock set back has put far into the future."""
        row, now = AlertEvaluationRow, clock()
        ahead = row.due_at > now + round(2 * EVERY_SECONDS * SECOND)
        async with self._database.reading() as session:
            late_row = (await session.execute(select(row.tenant_id).where(ahead).limit(1))).first()
        if late_row is not None:
            async with self._database.writing() as session:
                await session.execute(update(row).where(ahead).values(due_at=now))

    async def evaluate(self, job: Job) -> None:
        """Evaluate the rules of a claimed organisation. Raises `Unavailable`: it is evaluated again then."""
        at, tenant_id = clock(), job.id
        steady_since = _steady_since(job.row, at)
        is_steady = at - steady_since >= STEADY_SECONDS * SECOND
        async with self._database.reading() as session:
            query = select(AlertRuleRow).where(AlertRuleRow.tenant_id == tenant_id)
            rules = {rule.id: rule for rule in (await session.execute(query)).scalars()}
            judged = [rule for rule in rules.values() if rule.enabled and (is_steady or rule.kind not in _OF_TIME)]
            findings = await find(session, judged, at, tenant_id=tenant_id) if judged else []
        ids = {rule.id for rule in judged} | {rule.id for rule in rules.values() if not rule.enabled}
        async with self._database.writing() as session:
            times: dict[str, Any] = {"evaluated_at": at, "steady_since": steady_since}
            if not await QUEUE.release(session, job, due_at=at + round(EVERY_SECONDS * SECOND), **times):
                return  # another process evaluates it
            await apply(session, findings, at, judged=ids, tenant_id=tenant_id)


def _steady_since(row: Any, at: int) -> int:  # noqa: ANN401 - a row
    """Return since when evaluations have followed each other: `at` after a gap or a clock that was set back."""
    if row.evaluated_at is None or row.steady_since is None:
        return at
    gap = at - row.evaluated_at
    return row.steady_since if 0 <= gap <= 3 * EVERY_SECONDS * SECOND else at


async def ask_evaluation(session: AsyncSession, *, tenant_id: str) -> None:
    """Make the evaluation of an organisation due now; its row is created with its first rule."""
    at = clock()
    insert = insert_into(session, AlertEvaluationRow).values(tenant_id=tenant_id, due_at=at, attempts=0)
    await session.execute(insert.on_conflict_do_update(index_elements=["tenant_id"], set_={"due_at": at}))


async def apply(
    session: AsyncSession, findings: Sequence[Finding], at: int, *, judged: set[str], tenant_id: str
) -> None:
    """Open and resolve alerts by what was found of the rules in `judged`, then add notices.

    Rules are read again and locked: one that was disabled, muted or deleted since is respected.
    """
    query = select(AlertRuleRow).where(AlertRuleRow.tenant_id == tenant_id).order_by(AlertRuleRow.id)
    locked = (await session.execute(query.with_for_update().execution_options(populate_existing=True))).scalars()
    rules = {rule.id: rule for rule in locked}
    await _open_and_resolve(session, rules, findings, at, judged=judged, tenant_id=tenant_id)
    await _notify(session, rules, at, tenant_id=tenant_id)
    await _escalate(session, rules, at, tenant_id=tenant_id)
    await _flush(session)


async def _open_and_resolve(
    session: AsyncSession,
    rules: dict[str, AlertRuleRow],
    findings: Sequence[Finding],
    at: int,
    *,
    judged: set[str],
    tenant_id: str,
) -> None:
    query = select(AlertRow).where(AlertRow.tenant_id == tenant_id, AlertRow.state != "resolved")
    unresolved = {(row.rule_id, row.subject): row for row in (await session.execute(query)).scalars()}
    holding = {
        (finding.rule_id, finding.subject): finding
        for finding in findings
        if finding.rule_id in rules and rules[finding.rule_id].enabled
    }
    for key, row in unresolved.items():
        if key in holding:
            if row.value != holding[key].value:
                row.value, row.seen_at = holding[key].value, at
        elif row.rule_id in judged or not rules[row.rule_id].enabled:
            _resolve(row, rules[row.rule_id], at)
    added = [_opened(finding, tenant_id, at) for key, finding in holding.items() if key not in unresolved]
    for values in added:
        rules[values["rule_id"]].fired_at = at
    if added:
        insert = insert_into(session, AlertRow).on_conflict_do_nothing()
        await session.execute(insert, added, execution_options={"render_nulls": True})
    await _flush(session)


async def _flush(session: AsyncSession) -> None:
    """Store changed rules and alerts, each with one statement: rows with different changed columns would need more."""
    for row in session.dirty:
        for name in _CHANGES.get(type(row), ()):
            flag_modified(row, name)
    await session.flush()


def _opened(finding: Finding, tenant_id: str, at: int) -> dict[str, Any]:
    return {
        "id": new_id(),
        "tenant_id": tenant_id,
        "rule_id": finding.rule_id,
        "subject": finding.subject,
        "space_id": finding.space_id,
        "name": finding.name,
        "state": "open",
        "value": finding.value,
        "opened_at": at,
        "seen_at": at,
        "pending": "opened",
    }


def _resolve(row: AlertRow, rule: AlertRuleRow, at: int) -> None:
    """Resolve an alert. One that nobody was notified of is not reported when its rule is muted or disabled."""
    row.state, row.resolved_at = "resolved", max(at, row.opened_at)
    if not rule.enabled:
        row.pending = ""
    elif row.pending == "opened":
        row.pending = "" if is_muted(rule, at) else "opened"
    else:
        row.pending = "resolved" if rule.notify_resolved else ""


def is_muted(rule: AlertRuleRow, at: int) -> bool:
    """Return whether a rule sends no notices at a time."""
    return rule.muted_until is not None and rule.muted_until > at


def channels_of(rule: AlertRuleRow) -> list[str]:
    """Return the channels of the notices of a rule, except that of escalations."""
    return ["connection"] * bool(rule.connection_id) + ["webhook"] * (rule.webhook is not None)


async def _notify(session: AsyncSession, rules: dict[str, AlertRuleRow], at: int, *, tenant_id: str) -> None:
    """Add a notice of each rule with something to report, unless its last one is too recent."""
    query = select(AlertRow).where(AlertRow.tenant_id == tenant_id, AlertRow.pending != "").order_by(AlertRow.id)
    waiting: dict[str, list[AlertRow]] = {}
    for row in (await session.execute(query)).scalars():
        waiting.setdefault(row.rule_id, []).append(row)
    for rule_id, rows in waiting.items():
        rule = rules[rule_id]
        elapsed = None if rule.notified_at is None else at - rule.notified_at
        if is_muted(rule, at) or (elapsed is not None and 0 <= elapsed < rule.quiet_seconds * SECOND):
            continue
        opened = [row for row in rows if row.pending == "opened"]
        content = content_of(opened, [row for row in rows if row.pending == "resolved"])
        for row in rows:
            row.pending = ""
        if channels := channels_of(rule):
            rule.notified_at = at
            _add_notices(session, rule, "opened" if opened else "resolved", content, at, channels=channels)
    await _flush(session)


async def _escalate(session: AsyncSession, rules: dict[str, AlertRuleRow], at: int, *, tenant_id: str) -> None:
    row = AlertRow
    query = select(row).where(row.tenant_id == tenant_id, row.state == "open", row.escalated_at.is_(None))
    overdue: dict[str, list[AlertRow]] = {}
    for alert in (await session.execute(query.order_by(row.id))).scalars():
        rule = rules[alert.rule_id]
        escalates = rule.escalation_seconds is not None and rule.escalation_connection_id is not None
        if escalates and not is_muted(rule, at) and at - alert.opened_at >= (rule.escalation_seconds or 0) * SECOND:
            alert.escalated_at = at
            overdue.setdefault(rule.id, []).append(alert)
    for rule_id, alerts in overdue.items():
        _add_notices(session, rules[rule_id], "escalated", content_of(alerts), at, channels=["escalation"])


def _add_notices(
    session: AsyncSession, rule: AlertRuleRow, kind: str, content: Content, at: int, *, channels: Sequence[str]
) -> None:
    rule.notices += 1
    for channel in channels:
        session.add(
            AlertNoticeRow(
                id=new_id(),
                tenant_id=rule.tenant_id,
                rule_id=rule.id,
                number=rule.notices,
                channel=channel,
                kind=kind,
                status="pending",
                content=content.model_dump(mode="json"),
                idempotency_key=delivery_key(rule.id, f"{rule.notices}:{channel}"),
                created_at=at,
                due_at=at,
                attempts=0,
            )
        )
