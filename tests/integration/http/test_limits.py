"""Limits of flows and runs, handlers of failures and circuit breakers over HTTP, on both databases."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from headgate.foundation.settings import Settings
from tests.support.rows import execute
from tests.support.team import Team, team

LIMITED = """name: Limited
nodes:
  heard: ChatInput
  told: ChatOutput
edges:
  heard.message -> told.input
settings:
  run_budget:
    usd: 0.5
    seconds: 60
  daily_budget:
    tokens: 2000
  max_concurrent_runs: 2
  priority: 3
"""
FAILING = """name: Failing
nodes:
  heard: ChatInput
  rows: ParseJSON
  told: ChatOutput
edges:
  heard.message -> rows.text
  rows.data -> told.input
settings:
  error_flow: Limited
"""


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as client:
        yield client


class TestLimits:
    async def test_of_a_run_and_a_flow_are_shown_with_what_is_used(self, us: Team) -> None:
        flow = await us.make("editor", "/flows", spec=LIMITED)
        run = await us.make("editor", f"/flows/{flow['id']}/runs", text="hi", wait=True, budget={"usd": 0.2})
        assert run["status"] == "completed"
        limits = await us.get("editor", f"/flow-runs/{run['id']}/limits")
        budgets = {(one["scope"], one["kind"]): one["limit"] for one in limits["budgets"]}
        assert budgets == {("run", "usd"): 0.2, ("run", "seconds"): 60, ("day", "tokens"): 2000}
        assert limits["priority"] == 3
        used = {one["kind"]: one["used"] for one in limits["budgets"]}
        assert used["usd"] == used["tokens"] == 0
        assert 0 < used["seconds"] < 60
        of_flow = await us.get("editor", f"/flows/{flow['id']}/limits")
        assert of_flow["max_concurrent_runs"] == 2
        assert [one["kind"] for one in of_flow["budgets"]] == ["tokens"]

    async def test_are_refused_where_they_are_not_positive(self, us: Team) -> None:
        flow = await us.make("editor", "/flows", spec=LIMITED)
        for budget in ({"usd": 0}, {"tokens": -1}, {"hours": 1}):
            answer = await us.ask("editor", "POST", f"/flows/{flow['id']}/runs", json={"text": "", "budget": budget})
            assert answer.status_code == 422


class TestCircuits:
    async def test_are_listed_and_reset_by_admins_alone(self, us: Team) -> None:
        await execute(
            us.database,
            "INSERT INTO host_circuits (tenant_id, host, failures, since, open_until, last_error, changed_at)"
            " SELECT id, 'example.org:443', 10, 1, 9000000000000000, 'http_503', 1 FROM tenants",
        )
        assert {who for who, code in (await us.answers("GET", "/circuits")).items() if code == 200} == {"admin"}
        (circuit,) = (await us.get("admin", "/circuits"))["items"]
        assert (circuit["host"], circuit["state"], circuit["failures"]) == ("example.org:443", "open", 10)
        assert (await us.ask("editor", "DELETE", "/circuits/example.org:443")).status_code == 403
        assert (await us.ask("admin", "DELETE", "/circuits/example.org:443")).status_code == 204
        assert (await us.ask("admin", "DELETE", "/circuits/example.org:443")).status_code == 404

    async def test_of_a_model_is_reset_by_its_name(self, us: Team) -> None:
        await execute(
            us.database,
            "INSERT INTO host_circuits (tenant_id, host, failures, since, open_until, last_error, changed_at)"
            " SELECT id, 'openai/gpt-5', 10, 1, 9000000000000000, 'model_timed_out', 1 FROM tenants",
        )
        assert (await us.ask("admin", "DELETE", "/circuits/openai%2Fgpt-5")).status_code == 204
        assert (await us.get("admin", "/circuits"))["items"] == []


class TestErrorHandler:
    async def test_and_the_failed_run_are_linked_both_ways(self, us: Team) -> None:
        handler = await us.make("editor", "/flows", spec=LIMITED)
        published = await us.ask("owner", "POST", f"/flows/{handler['id']}/publish", json={})
        assert published.status_code < 300, published.text
        flow = await us.make("editor", "/flows", spec=FAILING)
        run = await us.make("editor", f"/flows/{flow['id']}/runs", text="no JSON", wait=True)
        assert run["status"] == "failed"
        link = None
        for _ in range(100):
            link = (await us.get("editor", f"/flow-runs/{run['id']}/error-handler"))["handler"]
            if link is not None and link["status"] != "due":
                break
            await asyncio.sleep(0.1)
        assert link is not None
        assert (link["flow_id"], link["status"], link["problem"]) == (handler["id"], "started", None)
        back = await us.get("editor", f"/flow-runs/{link['run_id']}/error-handler")
        assert (back["handles"]["run_id"], back["handler"]) == (run["id"], None)
