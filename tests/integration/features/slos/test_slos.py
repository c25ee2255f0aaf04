"""Service level objectives in the real application, on both databases."""

import random
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from sqlalchemy import event, insert, select, text

from headgate.features.access.principal import Principal
from headgate.features.accounts.standing import access_of
from headgate.features.accounts.tables import User
from headgate.features.alerts import evaluation
from headgate.features.jobs.leases import clock
from headgate.features.runs.tables import flow_runs
from headgate.features.slos import service
from headgate.features.slos.figures import PART, SPANS, start_of
from headgate.features.slos.tables import SloCountRow
from headgate.features.triggers.tables import OccurrenceRow
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from tests.integration.features.alerts.conftest import alerts, evaluated, rule, until
from tests.support.people import LOOPBACK
from tests.support.rows import execute
from tests.support.team import FLOW, Team, team

SECOND = 1_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3_600 * SECOND, 86_400 * SECOND


@pytest.fixture
async def us(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Team]:
    monkeypatch.setattr(evaluation, "STEADY_SECONDS", 0.0)
    async with team(settings, http=LOOPBACK) as people:
        yield people


async def flow_of(us: Team, name: str = "Talk") -> tuple[str, dict[str, Any]]:
    """Make and publish a flow, run it once, and return its id and the row of the run, which counts for nothing."""
    flow_id: str = (await us.make("publisher", "/flows", spec=FLOW.replace("name: Talk", f"name: {name}")))["id"]
    await us.make("publisher", f"/flows/{flow_id}/publish")
    run_id = (await us.make("publisher", f"/flows/{flow_id}/runs", text="hello", wait=True))["id"]
    async with us.database.reading() as session:
        row = (await session.execute(select(flow_runs).where(flow_runs.c.id == run_id))).one()
    await execute(us.database, "UPDATE flow_runs SET status = 'cancelled' WHERE id = :id", id=run_id)
    return flow_id, dict(row._mapping)


async def add_runs(us: Team, like: Mapping[str, Any], runs: Iterable[tuple[str, int, int]]) -> list[str]:
    """Store runs: status, when each ended and how long it took, in microseconds. Return their ids."""
    rows = [
        {**like, "id": new_id(), "status": status, "finished_at": end, "started_at": end, "created_at": end - took}
        for status, end, took in runs
    ]
    async with us.database.writing() as session:
        await session.execute(insert(flow_runs), rows)
    return [row["id"] for row in rows]


async def slo(us: Team, flow_id: str, who: str = "publisher", **members: Any) -> dict[str, Any]:
    values = {"name": "Completes", "kind": "success", "target": 99} | members
    made: dict[str, Any] = await us.make(who, f"/flows/{flow_id}/slos", **values)
    return made


async def counted(us: Team) -> None:
    """Wait until every objective was counted from now on."""
    at = clock()
    await execute(us.database, "UPDATE slos SET due_at = :at", at=at)
    query = text("SELECT count(*) = 0 FROM slos WHERE worker_id IS NOT NULL OR due_at <= :at")
    await until(us, query, at=at)


def expected(runs: Sequence[tuple[str, int, int]], since: int, *, within: int | None = None) -> tuple[int, int]:
    """Count by hand: runs that count, and the good ones."""
    own = [run for run in runs if run[1] >= since and run[0] in (("completed",) if within else ("completed", "failed"))]
    return len(own), sum(run[0] == "completed" and (within is None or run[2] <= within) for run in own)


async def statements_of_list(us: Team) -> int:
    """Return how many statements the list of objectives takes."""
    statements: list[str] = []
    async with us.database.reading() as session:
        user = await session.get_one(User, us.people["viewer"].id)
        principal = Principal(user.tenant_id, user.id, us.space, await access_of(session, user))
        connection = (await session.connection()).sync_connection
        event.listen(connection, "before_cursor_execute", lambda *sent: statements.append(sent[2]))
        assert await service.list_slos(session, principal)
    return len(statements)


class TestFigures:
    @pytest.mark.parametrize("is_counted", [True, False])
    async def test_are_those_of_a_count_by_hand_stored_or_not(self, us: Team, *, is_counted: bool) -> None:
        at, chance = clock(), random.Random(7)
        flow_id, like = await flow_of(us)
        runs = [
            (chance.choice(["completed"] * 8 + ["failed", "cancelled"]), at - ago, chance.randrange(1, 120) * SECOND)
            for span in (4 * MINUTE, 20 * MINUTE, 50 * MINUTE, 5 * HOUR, 2 * DAY, 27 * DAY, 40 * DAY)
            for ago in (chance.randrange(span) + SECOND for _ in range(60))
        ]
        success = await slo(us, flow_id, window_days=28)
        fast = await slo(us, flow_id, name="Fast", kind="latency", seconds=60, target=95, window_days=7)
        await counted(us)
        await add_runs(us, like, runs)
        query = "UPDATE slos SET counted_until = :at, due_at = NULL"
        await execute(us.database, query, at=at - at % PART - 31 * DAY)
        if is_counted:
            await counted(us)
        async with us.database.reading() as session:
            assert (len((await session.execute(select(SloCountRow))).all()) > 50) == is_counted
        for made, days, within in ((success, 28, None), (fast, 7, 60 * SECOND)):
            shown = await us.get("viewer", f"/slos/{made['id']}")
            now = clock()
            total, good = expected(runs, start_of(days * DAY, now), within=within)
            assert (shown["total"], shown["good"]) == (total, good)
            assert shown["attained"] == pytest.approx(100 * good / total, abs=0.001)
            allowed = total * (100 - made["target"]) / 100
            assert shown["budget_left"] == pytest.approx(100 * (1 - (total - good) / allowed), abs=0.01)
            for name, span in SPANS.items():
                total, good = expected(runs, start_of(span, now), within=within)
                rate = (total - good) / total / (1 - made["target"] / 100)
                assert shown["burn"][name] == pytest.approx(rate, abs=0.01), name
            assert sum(part["total"] for part in shown["parts"]) == shown["total"]
            assert shown["parts"][-1]["budget_left"] == pytest.approx(shown["budget_left"], abs=0.01)

    async def test_a_count_is_stored_once_and_outlives_its_runs(self, us: Team) -> None:
        at = clock()
        flow_id, like = await flow_of(us)
        await add_runs(us, like, [("completed", at - HOUR, SECOND), ("failed", at - HOUR, SECOND)])
        made = await slo(us, flow_id)
        for _ in range(2):
            await counted(us)
        await execute(us.database, "UPDATE slos SET counted_until = :at", at=at - at % PART - 31 * DAY)
        await counted(us)
        await execute(us.database, "DELETE FROM flow_runs")
        shown = await us.get("viewer", f"/slos/{made['id']}")
        assert (shown["total"], shown["good"], shown["attained"]) == (2, 1, 50)

    async def test_only_chosen_runs_count(self, us: Team) -> None:
        at = clock()
        flow_id, like = await flow_of(us)
        draft = await us.make("publisher", f"/flows/{flow_id}/runs", text="hello", wait=True, version="draft")
        await execute(us.database, "UPDATE flow_runs SET status = 'failed' WHERE id = :id", id=draft["id"])
        await execute(us.database, "UPDATE flow_versions SET release = NULL WHERE version <> :v", v=like["version"])
        [triggered, child] = await add_runs(us, like, [("completed", at, SECOND), ("failed", at, SECOND)])
        query = "UPDATE flow_runs SET parent_run_id = :of, parent_step_id = 'said', parent_iteration = 0 WHERE id = :id"
        await execute(us.database, query, of=triggered, id=child)
        config = {"kind": "schedule", "cron": "0 0 1 1 *"}
        trigger = await us.make("publisher", f"/flows/{flow_id}/triggers", name="Yearly", config=config)
        await add_runs(us, like, [("completed", at, SECOND), ("failed", at, SECOND)])
        async with us.database.writing() as session:
            occurrence = {"trigger_id": trigger["id"], "tenant_id": like["tenant_id"], "occurrence_key": "event:1"}
            occurrence |= {"id": new_id(), "created_at": at, "status": "started", "reason": "", "message": ""}
            await session.execute(insert(OccurrenceRow).values(**occurrence, flow_run_id=triggered))
        found = {}
        for which in ("all", "published", "triggers"):
            made = await slo(us, flow_id, name=which, runs=which)
            found[which] = (made["total"], made["good"])
        same_version = draft["version"] == like["version"]
        assert found == {"all": (4, 2), "published": (4, 2) if same_version else (3, 2), "triggers": (1, 1)}

    async def test_without_runs_the_budget_is_whole_and_nothing_is_attained(self, us: Team) -> None:
        flow_id, _ = await flow_of(us)
        made = await slo(us, flow_id)
        assert (made["total"], made["attained"], made["budget_left"]) == (0, None, 100)
        assert set(made["burn"].values()) == {None}


class TestList:
    async def test_has_the_least_budget_left_first_and_needs_as_many_queries_for_many(self, us: Team) -> None:
        at, statements = clock(), []
        for name, failed in (("Good", 0), ("Bad", 5), ("Middle", 1)):
            flow_id, like = await flow_of(us, name)
            statuses = ["failed"] * failed + ["completed"] * (100 - failed)
            await add_runs(us, like, [(status, at - HOUR, SECOND) for status in statuses])
            await slo(us, flow_id)
            statements.append(await statements_of_list(us))
        items = (await us.get("viewer", "/slos"))["items"]
        assert [(one["flow_name"], one["budget_left"]) for one in items] == [
            ("Bad", -400),
            ("Middle", 0),
            ("Good", 100),
        ]
        [one] = (await us.get("viewer", "/slos", params={"flow_id": flow_id}))["items"]
        assert one["flow_name"] == "Middle"
        assert (await us.get("stranger", "/slos"))["items"] == []
        assert len(set(statements)) == 1

    async def test_is_changed_and_removed_by_publishers(self, us: Team) -> None:
        flow_id, _ = await flow_of(us)
        made = await slo(us, flow_id)
        path, manage = f"/slos/{made['id']}", {"publisher", "owner", "admin"}
        assert await us.allowed("PATCH", path, json={"target": 95, "window_days": 7}) == manage
        shown = await us.get("viewer", path)
        assert (shown["target"], shown["window_days"], len(shown["parts"])) == (95, 7, 28)
        answer = await us.ask("stranger", "GET", path)
        assert (answer.status_code, answer.json()["code"]) == (404, "slo_not_found")
        assert (await us.ask("editor", "DELETE", path)).status_code == 403
        assert (await us.ask("publisher", "DELETE", path)).status_code == 204
        assert (await us.ask("publisher", "GET", path)).status_code == 404

    @pytest.mark.parametrize(
        ("members", "status", "code"),
        [
            ({"target": 100}, 422, "bad_request"),
            ({"window_days": 14}, 422, "bad_request"),
            ({"kind": "latency"}, 422, "slo_invalid"),
            ({"seconds": 5}, 422, "slo_invalid"),
            ({"name": "Taken"}, 409, "slo_conflict"),
        ],
    )
    async def test_invalid_ones_are_refused(self, us: Team, members: Any, status: int, code: str) -> None:
        flow_id, _ = await flow_of(us)
        await slo(us, flow_id, name="Taken")
        body = {"name": "Another", "kind": "success"} | members
        answer = await us.ask("publisher", "POST", f"/flows/{flow_id}/slos", json=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code)

    async def test_a_flow_has_at_most_five(self, us: Team) -> None:
        flow_id, _ = await flow_of(us)
        for number in range(5):
            await slo(us, flow_id, name=f"Number {number}")
        body = {"name": "One more", "kind": "success"}
        answer = await us.ask("publisher", "POST", f"/flows/{flow_id}/slos", json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "slo_conflict")


class TestMetrics:
    async def test_have_the_oldest_objectives_by_id_until_they_are_removed(
        self, us: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(service, "MOST_EXPORTED", 2)
        monkeypatch.setattr(us.app.state.settings.server, "metrics_token", SecretStr("0123456789abcdef"))
        flow_id, like = await flow_of(us)
        made = [await slo(us, flow_id, name=name) for name in ("First", "Second", "Third")]
        await counted(us)
        at = clock()
        await add_runs(us, like, [(status, at - SECOND, SECOND) for status in ("completed", "failed")])
        page = await metrics(us)
        shown = {one["id"] for one in made[:2]}
        assert {labels["slo"] for labels, _ in page["headgate_slo_target"]} == shown
        assert page["headgate_slo_not_shown"] == [({}, 1.0)]
        (left,) = [value for labels, value in page["headgate_slo_budget_left"] if labels["slo"] == made[0]["id"]]
        assert left == pytest.approx((await us.get("viewer", f"/slos/{made[0]['id']}"))["budget_left"])
        windows = [labels["window"] for labels, _ in page["headgate_slo_burn_rate"] if labels["slo"] == made[0]["id"]]
        assert sorted(windows) == sorted(SPANS)
        assert {labels["state"]: value for labels, value in page["headgate_processes"]}["running"] == 1
        assert (await us.ask("publisher", "DELETE", f"/slos/{made[0]['id']}")).status_code == 204
        page = await metrics(us)
        assert {labels["slo"] for labels, _ in page["headgate_slo_target"]} == {one["id"] for one in made[1:]}
        assert page["headgate_slo_not_shown"] == [({}, 0.0)]


async def metrics(us: Team) -> dict[str, list[tuple[dict[str, str], float]]]:
    """The series of the operator's metrics: labels and value of each, by name."""
    transport = httpx2.ASGITransport(app=us.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411") as client:
        assert (await client.get("/metrics")).status_code == 401
        answer = await client.get("/metrics", headers={"authorization": "Bearer 0123456789abcdef"})
    families = text_string_to_metric_families(answer.text)
    return {family.name: [(dict(one.labels), one.value) for one in family.samples] for family in families}


class TestAlerts:
    @pytest.mark.parametrize(
        ("kind", "old", "recent", "found"),
        [
            ("burn_fast", (50 * MINUTE, 15), (MINUTE, 15), True),
            ("burn_fast", (50 * MINUTE, 15), (MINUTE, 0), False),  # it is over
            ("burn_fast", (50 * MINUTE, 0), (MINUTE, 15), False),  # too few for an hour
            ("burn_slow", (5 * HOUR, 7), (20 * MINUTE, 7), True),
            ("burn_slow", (5 * HOUR, 7), (20 * MINUTE, 5), False),
        ],
    )
    async def test_burn_rates_need_both_windows(
        self, us: Team, kind: str, old: tuple[int, int], recent: tuple[int, int], *, found: bool
    ) -> None:
        at = clock()
        flow_id, like = await flow_of(us)
        for ago, failed in (old, recent):
            statuses = ["failed"] * failed + ["completed"] * (100 - failed)
            await add_runs(us, like, [(status, at - ago, SECOND) for status in statuses])
        await slo(us, flow_id)
        made = await rule(us, flow_id=flow_id, kind=kind, threshold=1, window_seconds=60)
        assert (made["threshold"], made["window_seconds"]) == ((14.4, 3_600) if kind == "burn_fast" else (6, 21_600))
        await evaluated(us)
        opened = [(one["kind"], one["flow_id"], one["value"]) for one in await alerts(us, state="open")]
        value = (old[1] + recent[1]) / 2
        assert opened == ([(kind, flow_id, pytest.approx(value, abs=0.05))] if found else [])

    async def test_few_runs_open_no_alert(self, us: Team) -> None:
        flow_id, like = await flow_of(us)
        await add_runs(us, like, [("failed", clock(), SECOND)])
        await slo(us, flow_id)
        made = await rule(us, flow_id=flow_id, kind="burn_fast", fewest_runs=2)
        await evaluated(us)
        assert await alerts(us, state="open") == []
        assert (await us.ask("publisher", "PATCH", f"/alert-rules/{made['id']}", json={"fewest_runs": 1})).is_success
        await evaluated(us)
        assert [one["value"] for one in await alerts(us, state="open")] == [100]
