"""Decisions on one approval by every way at once, and while the run or the rights of a user change."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
from sqlalchemy import text

from headgate.features.access.permissions import Permission
from headgate.foundation.settings import RateLimitSettings, Settings
from tests.integration.features.runs.approvals.test_approvals import asked, decide, ended
from tests.integration.features.runs.approvals.test_links import answer, linked
from tests.support.mcp_client import connected, served
from tests.support.people import BASE, add_key, bearer
from tests.support.team import Team, team

pytestmark = pytest.mark.both_databases

DECIDERS = ("runner", "editor", "publisher", "owner", "admin")


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(sign_in_per_minute=1000)) as people:
        yield people


def client_of(us: Team, **headers: str) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=us.app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url=BASE, headers=headers)


async def decide_together(us: Team, who: str, approval: dict[str, Any], decision: str) -> int:
    """Decide in a request for several; returns the status that the decision has in it."""
    body = {"decisions": [{"approval_id": approval["id"], "decision": decision}]}
    [item] = (await us.ask(who, "POST", "/approvals/decisions", json=body)).json()["items"]
    return 200 if item["stored"] else int(item["problem"]["status"])


class TestHundredClicks:
    async def test_by_request_in_bulk_by_key_by_tool_and_by_link_are_one_decision(self, us: Team) -> None:
        approval = await asked(us)
        tokens = [await linked(us, approval, who) for who in DECIDERS for _ in range(4)]
        key = await add_key(us.database, us.people["owner"], scopes=[Permission.RUNS_START, Permission.RUNS_VIEW])
        decisions = ("approve", "reject")
        async with AsyncExitStack() as stack:
            outsider = await stack.enter_async_context(client_of(us))
            program = await stack.enter_async_context(client_of(us, **bearer(key)))
            url = await stack.enter_async_context(served(us.app))
            whole = await add_key(us.database, us.people["publisher"])
            tools = [await stack.enter_async_context(connected(url, headers=bearer(whole))) for _ in range(2)]

            async def by_tool(number: int) -> int:
                arguments = {
                    "approval_id": approval["id"],
                    "decision": decisions[number % 2],
                    "content_hash": approval["content_hash"],
                }
                result = await tools[number % len(tools)].call_tool("decide_approval", arguments)
                assert isinstance(result.structured_content, dict)
                if result.is_error:
                    assert result.structured_content["code"] == "approval_decided"
                return 409 if result.is_error else 200

            async def by_key(decision: str) -> int:
                path = f"/approvals/{approval['id']}/decision"
                return (await program.post(path, json={"decision": decision})).status_code

            clicks = [
                *(answer(outsider, token, approval, decision=decisions[n % 2]) for n, token in enumerate(tokens)),
                *(by_key(decisions[number % 2]) for number in range(20)),
                *(by_tool(number) for number in range(20)),
                *(decide(us, who, approval, decisions[n % 2]) for n in range(4) for who in DECIDERS),
                *(decide_together(us, who, approval, decisions[n % 2]) for n in range(4) for who in DECIDERS),
            ]
            assert len(clicks) == 100
            statuses = Counter(await asyncio.gather(*clicks))
        assert statuses[200] + statuses[204] == 1
        assert set(statuses) <= {200, 204, 404, 409}
        outcome = await us.get("viewer", f"/approvals/{approval['id']}")
        assert len(outcome["decisions"]) == 1
        run = await ended(us, approval["run_id"])
        taken = {step["step_id"] for step in run["steps"] if step["status"] == "completed"}
        assert taken == {"heard", "check", "yes" if outcome["status"] == "approved" else "no"}
        async with us.database.reading() as session:
            for rows in (
                "approval_decisions",
                "audit_events WHERE action IN ('approval.approved', 'approval.rejected')",
            ):
                assert (await session.execute(text(f"SELECT count(*) FROM {rows}"))).scalar_one() == 1

    async def test_of_three_users_are_two_approvals_where_two_are_needed(self, us: Team) -> None:
        approval = await asked(us, needed=2)
        who = ("runner", "publisher", "owner")
        statuses = Counter(await asyncio.gather(*(decide(us, who[number % 3], approval) for number in range(60))))
        assert statuses == {200: 2, 409: 58}
        outcome = await us.get("viewer", f"/approvals/{approval['id']}")
        assert (outcome["status"], len({one["user_id"] for one in outcome["decisions"]})) == ("approved", 2)


class TestStarter:
    async def test_decides_by_no_way_where_excluded(self, us: Team) -> None:
        approval = await asked(us, not_starter="true")
        key = await add_key(us.database, us.people["editor"], scopes=[Permission.RUNS_START, Permission.RUNS_VIEW])
        path = f"/approvals/{approval['id']}"
        async with client_of(us, **bearer(key)) as program:
            assert (await program.post(f"{path}/decision", json={"decision": "approve"})).status_code == 403
            assert (await program.post(f"{path}/links", json={"recipient": "Eva"})).status_code == 403
        assert await decide_together(us, "editor", approval, "approve") == 403
        assert (await us.get("viewer", path))["status"] == "pending"


class TestBetween:
    async def test_a_user_whose_role_was_lowered_decides_no_more(self, us: Team) -> None:
        approval = await asked(us, assignees='["role:publisher"]')
        assert (await us.get("publisher", "/approvals/count"))["pending"] == 1
        async with us.database.writing() as session:
            values = {"user": us.people["publisher"].id}
            await session.execute(text("UPDATE space_members SET role = 'runner' WHERE user_id = :user"), values)
        assert await decide(us, "publisher", approval) == 403
        assert (await us.get("publisher", "/approvals/count"))["pending"] == 0
        assert await decide(us, "owner", approval) == 200

    async def test_a_decision_on_a_paused_run_counts_when_it_continues(self, us: Team) -> None:
        approval = await asked(us)
        run = f"/flow-runs/{approval['run_id']}"
        assert (await us.ask("editor", "POST", f"{run}/pause")).is_success
        assert await decide(us, "owner", approval) == 200
        assert (await us.get("editor", run))["status"] == "paused"
        assert (await us.ask("editor", "POST", f"{run}/continue")).is_success
        assert (await ended(us, approval["run_id"]))["text"] == "Taxi, 40 EUR"

    async def test_a_decision_after_the_deadline_of_the_run_is_refused(self, us: Team) -> None:
        approval = await asked(us, settings="run_deadline_seconds: 1")
        assert (await ended(us, approval["run_id"]))["status"] == "failed"
        assert await decide(us, "owner", approval) == 409
        assert (await us.get("viewer", f"/approvals/{approval['id']}"))["status"] == "closed"

    async def test_a_decision_and_a_cancellation_leave_no_half(self, us: Team) -> None:
        approval = await asked(us)
        cancelling = us.ask("editor", "POST", f"/flow-runs/{approval['run_id']}/cancel")
        status, _ = await asyncio.gather(decide(us, "owner", approval), cancelling)
        outcome = await us.get("viewer", f"/approvals/{approval['id']}")
        assert (status, outcome["status"], len(outcome["decisions"])) in {(200, "approved", 1), (409, "closed", 0)}
        assert (await ended(us, approval["run_id"]))["status"] in {"cancelled", "completed"}
