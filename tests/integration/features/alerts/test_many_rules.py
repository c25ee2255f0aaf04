"""Evaluation of many rules: as many statements as for few, and the same findings as one rule after the other."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from sqlalchemy import event, insert, select, text

from headgate.features.alerts.conditions import Finding, find
from headgate.features.alerts.evaluation import apply
from headgate.features.alerts.schemas import RuleKind
from headgate.features.alerts.tables import AlertRow, AlertRuleRow
from headgate.features.jobs.leases import clock
from headgate.features.runs.tables import flow_runs
from headgate.foundation.ids import new_id
from tests.integration.features.alerts.conftest import HOUR, SECOND, flow_of, run, until
from tests.support.rows import execute
from tests.support.team import FLOW, Team

KINDS: Sequence[RuleKind] = get_args(RuleKind)
THRESHOLDS = {"failure": 3, "failure_rate": 20, "slow": 40, "silent": 0, "cost": 1, "queue": 1, "budget": 10}


async def rules_of(us: Team, count: int, flow_ids: Sequence[str]) -> None:
    """Replace the rules: some for the organisation, the space, and each flow, of every kind, with several windows."""
    at, tenant_id = clock(), us.people["owner"].tenant_id
    rows = []
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        flow_id = (None, None, *flow_ids)[number // len(KINDS) % (2 + len(flow_ids))]
        space_id = None if number // len(KINDS) % (2 + len(flow_ids)) == 0 else us.space
        values: dict[str, Any] = {"notify_resolved": True, "language": "en", "enabled": True, "webhook_shown": ""}
        values |= {"recipients": [], "escalation_recipients": [], "quiet_seconds": 900, "notices": 0, "fewest_runs": 2}
        values |= {
            "window_seconds": (600, 3_600, 7_200, 86_400)[number // len(KINDS) % 4],
            "threshold": THRESHOLDS.get(kind, 1),
        }
        values |= {"connection_id": new_id() if number % 3 else None}
        values |= {"kind": kind, "flow_id": flow_id, "space_id": space_id, "tenant_id": tenant_id, "name": str(number)}
        rows.append({**values, "id": new_id(), "created_at": at - 48 * HOUR, "updated_at": at})
    async with us.database.writing() as session:
        for table in (AlertRow, AlertRuleRow):
            await session.execute(table.__table__.delete())  # type: ignore[attr-defined]
        await session.execute(insert(AlertRuleRow), rows)


async def found(us: Team) -> tuple[list[Finding], list[Finding], int]:
    """Return findings of all rules together, of each alone, and the statements of an evaluation."""
    statements: list[str] = []
    tenant_id, at = us.people["owner"].tenant_id, clock()
    query = select(AlertRuleRow).where(AlertRuleRow.tenant_id == tenant_id).order_by(AlertRuleRow.id)
    async with us.database.writing() as session:
        connection = (await session.connection()).sync_connection
        event.listen(connection, "before_cursor_execute", lambda *sent: statements.append(sent[2]))
        await session.execute(text("UPDATE flow_runs SET status = 'queued' WHERE session_id = 'queued'"))
        statements.clear()
        rules = (await session.execute(query)).scalars().all()
        together = await find(session, rules, at, tenant_id=tenant_id)
        await apply(session, together, at, judged={rule.id for rule in rules}, tenant_id=tenant_id)
        later = [replace(one, value=one.value + 1) for one in together[::3]] + together[1::3]
        await apply(session, later, at + 2 * HOUR, judged={rule.id for rule in rules}, tenant_id=tenant_id)
        count = len(statements)
        alone = []
        for rule in rules[: 4 * len(KINDS)]:
            others = AlertRuleRow.__table__.update().where(AlertRuleRow.id != rule.id)  # type: ignore[attr-defined]
            await session.execute(others.values(enabled=False))
            alone += await find(session, [rule], at, tenant_id=tenant_id)
            await session.execute(AlertRuleRow.__table__.update().values(enabled=True))  # type: ignore[attr-defined]
        await session.rollback()
    return together, alone, count


async def filled(us: Team) -> list[str]:
    """Make three flows with runs of a day: some failed, some slow."""
    at, chance = clock(), random.Random(3)
    flow_ids = [await flow_of(us, FLOW.replace("Talk", name)) for name in ("One", "Two", "Three")]
    rows: list[dict[str, Any]] = []
    for flow_id in flow_ids:
        run_id = await run(us, flow_id, "hello")
        async with us.database.reading() as session:
            like = dict((await session.execute(select(flow_runs).where(flow_runs.c.id == run_id))).one()._mapping)
        for number in range(60):
            end = at - chance.randrange(30 * HOUR) - SECOND
            took = chance.randrange(1, 60) * SECOND
            status = chance.choice(["completed", "completed", "failed"])
            times = {"created_at": end - took, "started_at": end - took, "finished_at": end}
            rows.append(
                {
                    **like,
                    **times,
                    "id": new_id(),
                    "status": status,
                    "session_id": "queued" if number % 20 == 0 else None,
                }
            )
    async with us.database.writing() as session:
        await session.execute(insert(flow_runs), rows)
    return flow_ids


class TestManyRules:
    async def test_find_the_same_as_each_alone_with_as_many_statements_as_few(self, us: Team) -> None:
        flow_ids = await filled(us)
        for flow_id in flow_ids[:2]:
            await us.make("publisher", f"/flows/{flow_id}/slos", name="Completes", kind="success", target=99)
        # Counted once; the next time is in five minutes.
        await until(us, text("SELECT count(*) = 0 FROM slos WHERE worker_id IS NOT NULL OR due_at <= :at"), at=clock())
        counts = []
        for count in (4 * len(KINDS), 1_000):
            await rules_of(us, count, flow_ids)
            await execute(us.database, "UPDATE alert_evaluations SET due_at = NULL")
            together, alone, statements = await found(us)
            counts.append(statements)
            judged = {finding.rule_id for finding in alone}
            same = sorted((one for one in together if one.rule_id in judged), key=repr)
            assert same == sorted(alone, key=repr)
            assert len(alone) > 10
        assert counts[1] <= counts[0], counts

    async def test_windows_and_scopes_count_what_is_in_them(self, us: Team) -> None:
        at = clock()
        flow_ids = await filled(us)
        await rules_of(us, 1_000, flow_ids)
        async with us.database.reading() as session:
            rows = (await session.execute(select(flow_runs).where(flow_runs.c.status == "failed"))).all()
            rules = (await session.execute(select(AlertRuleRow).where(AlertRuleRow.kind == "failure"))).scalars().all()
            findings = await find(session, rules, at, tenant_id=rules[0].tenant_id)
        expected = set()
        for rule in rules:
            for flow_id in flow_ids if rule.flow_id is None else [rule.flow_id]:
                since = at - rule.window_seconds * SECOND
                count = sum(row.flow_id == flow_id and row.finished_at >= since for row in rows)
                if count >= rule.threshold:
                    expected.add((rule.id, flow_id, count))
        assert {(one.rule_id, one.subject, one.value) for one in findings} == expected
        assert len(expected) > 40
