"""Processes over HTTP and on the command line: who sees them, a server that is drained, and one that died."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.entrypoints.http import health
from headgate.features.alerts import evaluation
from headgate.foundation.settings import Settings
from tests.integration.features.alerts.conftest import alerts, evaluated, rule
from tests.integration.features.attention.conftest import act, items
from tests.support.patience import PATIENCE_SECONDS
from tests.support.rows import execute
from tests.support.team import EVERYBODY, FLOW, Team, team


@pytest.fixture
async def us(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Team]:
    monkeypatch.setattr(health, "CACHE_SECONDS", 0.0)
    async with team(settings) as found:
        yield found


async def own(us: Team) -> dict[str, Any]:
    """The process of the server, which is the only one."""
    (process,) = (await us.get("admin", "/processes"))["items"]
    found: dict[str, Any] = process
    return found


async def until_state(us: Team, state: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (process := await own(us))["state"] != state:  # noqa: ASYNC110 - its heartbeat
            await asyncio.sleep(0.05)
    return process


async def drain(us: Team, process_id: str, who: str = "admin", **body: Any) -> Any:
    return await us.ask(who, "PUT", f"/processes/{process_id}/drain", json=body)


class TestDrain:
    async def test_answers_readiness_keeps_runs_queued_and_ends(self, us: Team) -> None:
        flow_id = (await us.make("editor", "/flows", spec=FLOW))["id"]
        process = await own(us)
        assert (process["kind"], process["state"], process["work"]) == ("server", "running", {})
        answer = await drain(us, process["id"], hand_over_seconds=60)
        assert (answer.status_code, answer.json()["state"]) == (200, "draining")
        found = await until_state(us, "drained")
        assert found["draining_at"] < found["hand_over_at"]
        ready = await us.clients["admin"].get("/../../health/ready")
        assert (ready.status_code, ready.json()["status"]) == (503, "draining")
        run = await us.make("editor", f"/flows/{flow_id}/runs", text="hello")
        await asyncio.sleep(1.0)
        assert (await us.get("editor", f"/flow-runs/{run['id']}"))["status"] == "queued"
        undrained = await us.ask("admin", "DELETE", f"/processes/{process['id']}/drain")
        assert (undrained.status_code, undrained.json()["state"]) == (200, "running")
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (await us.get("editor", f"/flow-runs/{run['id']}"))["status"] != "completed":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert (await us.clients["admin"].get("/../../health/ready")).json()["status"] == "ok"
        actions = [entry["action"] for entry in (await us.get("admin", "/audit"))["items"]]
        assert {"process.drained", "process.undrained"} <= set(actions)

    async def test_is_for_admins_of_the_first_organisation(self, us: Team) -> None:
        process = await own(us)
        for who in set(EVERYBODY) - {"admin"}:
            assert (await us.ask(who, "GET", "/processes")).status_code == 403
            assert (await drain(us, process["id"], who)).status_code == 403
        assert (await own(us))["draining_at"] is None

    async def test_of_an_unknown_or_a_dead_process_is_refused(self, us: Team) -> None:
        unknown = await drain(us, "nobody")
        assert (unknown.status_code, unknown.json()["code"]) == (404, "process_not_found")
        await add_dead(us)
        dead = await drain(us, "old:1:x")
        assert (dead.status_code, dead.json()["code"]) == (409, "process_dead")


class TestDeath:
    async def test_needs_an_admin_until_it_is_dismissed(self, us: Team) -> None:
        assert await items(us, "admin") == []
        await add_dead(us)
        (item,) = await items(us, "admin")
        assert (item["kind"], item["code"], item["name"]) == ("dead_worker", "worker", "old")
        assert await items(us, "owner") == []
        assert await items(us, "admin", kind="dead_worker") == [item]
        assert await items(us, "admin", kind="alert") == []
        assert await act(us, "cancel", item["key"], who="admin") == [(False, "attention_action_invalid")]
        assert await act(us, "dismiss", item["key"], who="admin") == [(True, None)]
        assert await items(us, "admin") == []
        states = {one["id"]: one["state"] for one in (await us.get("admin", "/processes"))["items"]}
        assert states.pop("old:1:x") == "dead"
        assert list(states.values()) == ["running"]


class TestAlerts:
    async def test_open_at_a_death_and_are_for_the_installation(
        self, us: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(evaluation, "STEADY_SECONDS", 0.0)
        space = await us.ask("admin", "POST", "/alert-rules", json={**RULE, "space_id": us.space})
        assert (space.status_code, space.json()["code"]) == (422, "alert_rule_invalid")
        assert (await us.ask("publisher", "POST", "/alert-rules", json=RULE)).status_code == 403
        made = await rule(us, who="admin", **RULE)
        await evaluated(us)
        assert await alerts(us, "admin") == []
        await add_dead(us)
        await evaluated(us)
        (alert,) = await alerts(us, "admin")
        assert (alert["rule_id"], alert["value"], alert["state"]) == (made["id"], 1, "open")
        await execute(us.database, "UPDATE processes SET seen_at = seen_at - 7200000000 WHERE host = 'old'")
        await evaluated(us)
        assert [one["state"] for one in await alerts(us, "admin")] == ["resolved"]


RULE = {"name": "Deaths", "kind": "dead_worker", "threshold": 1, "window_seconds": 7200}


async def add_dead(us: Team) -> None:
    """A worker whose heartbeat stopped an hour ago, and its child."""
    columns = "id, parent_id, kind, host, pid, version, started_at, seen_at, work"
    for process_id, parent in (("old:1:x", "NULL"), ("old:2:y", "'old:1:x'")):
        await execute(
            us.database,
            f"INSERT INTO processes ({columns}) SELECT :id, {parent}, 'worker', 'old', 1, '1', 0,"
            " MAX(seen_at) - 3600000000, '{}' FROM processes WHERE host <> 'old'",
            id=process_id,
        )
