"""What needs a human, on both databases: grouped, of the own spaces, dismissed until it happens again."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from headgate.entrypoints.studios import studio_of
from headgate.features.access.principal import LOCAL, Principal
from headgate.features.accounts.standing import access_of
from headgate.features.accounts.tables import User
from headgate.features.attention.repository import failed_deliveries
from headgate.foundation.database import Database
from headgate.toolkit.operations import OPERATIONS
from headgate.toolkit.stored.visit import Visit
from tests.integration.features.attention.conftest import act, flow_of, items, run
from tests.support.plans import plan_of
from tests.support.rows import execute
from tests.support.team import FLOW, Team


async def principal_of(house: Team, who: str) -> Principal:
    async with house.database.reading() as session:
        user = await session.get_one(User, house.people[who].id)
        return Principal(user.tenant_id, user.id, house.space, await access_of(session, user))


class TestFailedRuns:
    async def test_that_fail_alike_are_one_item_with_a_count(self, house: Team) -> None:
        flow_id = await flow_of(house)
        await run(house, flow_id, "[1]")
        run_ids = [await run(house, flow_id) for _ in range(3)]
        [item] = await items(house)
        assert (item["kind"], item["flow_id"], item["name"]) == ("failed_runs", flow_id, "Import")
        assert (item["count"], item["since_release"], item["run_id"]) == (3, 1, run_ids[-1])
        assert item["first_at"] < item["last_at"]
        assert "JSON" in item["message"]

    async def test_of_drafts_and_of_long_ago_are_left_out(self, house: Team) -> None:
        await run(house, await flow_of(house, published=False), version="draft")
        old = await run(house, await flow_of(house))
        week = f"created_at - {8 * 86400 * 1_000_000}"
        await execute(house.database, f"UPDATE flow_runs SET created_at = {week} WHERE id = :id", id=old)
        assert await items(house) == []

    async def test_are_shown_to_who_sees_the_space_only(self, house: Team) -> None:
        await run(house, await flow_of(house))
        assert [len(await items(house, who)) for who in ("viewer", "owner", "admin", "stranger")] == [1, 1, 1, 0]
        assert await items(house, "admin", space_id=house.elsewhere) == []

    async def test_are_listed_by_the_tool_of_the_assistant_and_of_mcp_clients(self, house: Team) -> None:
        flow_id = await flow_of(house)
        run_id = [await run(house, flow_id) for _ in range(2)][-1]
        studio = studio_of(house.app.state._state["parts"][2])
        visits = {who: Visit(studio, await principal_of(house, who)) for who in ("viewer", "stranger")}
        lists: Any = {who: await OPERATIONS["list_attention"].call(visit, {}) for who, visit in visits.items()}
        [line] = lists["viewer"]["items"]
        assert (line["kind"], line["name"], line["count"], line["run_id"]) == ("failed_runs", "Import", 2, run_id)
        assert (line["flow_id"], line["since_release"]) == (flow_id, 1)
        assert lists["stranger"] == {"items": []}


class TestDismissed:
    async def test_is_hidden_for_the_user_until_it_happens_again(self, house: Team) -> None:
        flow_id = await flow_of(house)
        await run(house, flow_id)
        [item] = await items(house)
        assert await act(house, "dismiss", item["key"], who="viewer") == [(True, None)]
        assert await items(house) == []
        assert len(await items(house, "owner")) == 1
        assert [entry["dismissed"] for entry in await items(house, dismissed=True)] == [True]
        await run(house, flow_id)
        assert [entry["count"] for entry in await items(house)] == [2]

    async def test_is_muted_until_a_time_even_if_it_happens_again(self, house: Team) -> None:
        flow_id = await flow_of(house)
        await run(house, flow_id)
        [item] = await items(house)
        end = datetime.now(UTC) + timedelta(hours=1)
        assert await act(house, "dismiss", item["key"], who="viewer", until=end.isoformat()) == [(True, None)]
        await run(house, flow_id)
        assert await items(house) == []
        [muted] = await items(house, dismissed=True)
        assert datetime.fromisoformat(muted["muted_until"]) == end
        await execute(house.database, "UPDATE attention_dismissals SET muted_until = 1")
        assert [entry["count"] for entry in await items(house)] == [2]

    async def test_can_be_shown_again(self, house: Team) -> None:
        await run(house, await flow_of(house))
        key = (await items(house))[0]["key"]
        for action, count in (("dismiss", 0), ("dismiss", 0), ("restore", 1)):
            assert await act(house, action, key, who="viewer") == [(True, None)]
            assert (await house.get("viewer", "/attention"))["open"] == count

    @pytest.mark.parametrize("key", ["nothing", "approvals", "failed_runs:x:y"])
    async def test_is_refused_for_what_is_not_listed(self, house: Team, key: str) -> None:
        assert await act(house, "dismiss", key, who="viewer") == [(False, "attention_item_not_found")]


class TestOtherKinds:
    async def test_runs_that_no_worker_starts(self, house: Team) -> None:
        run_id = await run(house, await flow_of(house, FLOW))
        await execute(
            house.database,
            "UPDATE flow_runs SET status = 'queued', paused_at = 1, finished_at = NULL,"
            " created_at = created_at - 700 * 1000000 WHERE id = :id",
            id=run_id,
        )
        assert [(item["kind"], item["count"]) for item in await items(house)] == [("queued_runs", 1)]

    async def test_paused_triggers_with_their_reason(self, house: Team) -> None:
        flow_id = await flow_of(house, FLOW)
        body = {"name": "Nightly", "config": {"kind": "schedule", "cron": "0 7 * * *"}}
        trigger = await house.make("publisher", f"/flows/{flow_id}/triggers", **body)
        assert await items(house) == []
        await house.make("publisher", f"/triggers/{trigger['id']}/pause", reason="The server moves.")
        [item] = await items(house)
        assert (item["kind"], item["name"], item["message"]) == ("trigger", "Nightly", "The server moves.")
        assert item["flow_id"] == flow_id

    async def test_triggers_whose_polls_keep_failing(self, house: Team) -> None:
        flow_id = await flow_of(house, FLOW)
        body = {"name": "Watched", "config": {"kind": "page", "url": "https://example.org/"}}
        trigger = await house.make("publisher", f"/flows/{flow_id}/triggers", **body)
        failed = "UPDATE triggers SET poll_failures = :n, poll_error = 'No answer.', polled_at = 1 WHERE id = :id"
        await execute(house.database, failed, id=trigger["id"], n=2)
        assert await items(house) == []
        await execute(house.database, failed, id=trigger["id"], n=3)
        [item] = await items(house)
        assert (item["kind"], item["count"], item["message"]) == ("failing_trigger", 3, "No answer.")
        assert item["last_at"].startswith("1970-01-01")

    async def test_connections_that_do_not_work_or_expire(self, house: Team) -> None:
        for name in ("broken", "expiring", "fine"):
            body = {
                "name": name,
                "kind": "bearer",
                "fields": {"url": "https://api.example.org"},
                "secrets": {"token": "x"},
                "space_id": house.space,
            }
            await house.make("owner", "/connections", **body)
        await execute(
            house.database, "UPDATE connections SET status = 'failed', error_message = '401' WHERE name = 'broken'"
        )
        await execute(house.database, "UPDATE connections SET expires_at = created_at WHERE name = 'expiring'")
        found = {item["name"]: (item["kind"], item["message"]) for item in await items(house, "owner")}
        assert found == {"broken": ("connection", "401"), "expiring": ("expiry", "")}
        assert await items(house, "stranger") == []


async def test_failed_deliveries_are_read_by_an_index_of_those(database: Database) -> None:
    listing = partial(failed_deliveries, tenant_id=LOCAL.tenant_id, spaces=None, since=1, limit=50)
    plan = await plan_of(database, listing)
    if database.dialect == "sqlite":
        assert "ix_webhook_deliveries_failed" in plan
