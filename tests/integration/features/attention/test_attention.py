"""What needs a human, on both databases: grouped, of the own spaces, dismissed until it happens again."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.entrypoints.studios import studio_of
from headgate.features.access.principal import Principal
from headgate.features.accounts.standing import access_of
from headgate.features.accounts.tables import User
from headgate.foundation.settings import Settings
from headgate.toolkit.registry import OPERATIONS
from headgate.toolkit.stored.visit import Visit
from tests.support.rows import execute
from tests.support.team import FLOW, Team, team

BROKEN = (
    "name: Import\nnodes:\n  heard: ChatInput\n  parse: ParseJSON\n  pick: SelectData\n    expression: '@'\n"
    "  said: ChatOutput\n"
    "edges:\n  heard.text -> parse.text\n  parse.data -> pick.data\n  pick.text -> said.input\n"
)


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def flow_of(house: Team, spec: str = BROKEN, *, published: bool = True) -> str:
    flow_id: str = (await house.make("publisher", "/flows", spec=spec))["id"]
    if published:
        await house.make("publisher", f"/flows/{flow_id}/publish")
    return flow_id


async def run(house: Team, flow_id: str, text: str = "no JSON", *, version: Any = None) -> str:
    body = {"text": text, "wait": True} | ({"version": version} if version else {})
    run_id: str = (await house.make("publisher", f"/flows/{flow_id}/runs", **body))["id"]
    return run_id


async def items(house: Team, who: str = "viewer", **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await house.get(who, "/attention", params=asked))["items"]
    return found


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
        answer = await house.ask("viewer", "PUT", "/attention/dismissed", json={"key": item["key"]})
        assert (answer.status_code, answer.json()) == (200, {"items": [], "open": 0})
        assert len(await items(house, "owner")) == 1
        assert [entry["dismissed"] for entry in await items(house, dismissed=True)] == [True]
        await run(house, flow_id)
        assert [entry["count"] for entry in await items(house)] == [2]

    async def test_can_be_shown_again(self, house: Team) -> None:
        await run(house, await flow_of(house))
        key = (await items(house))[0]["key"]
        for dismissed, count in ((True, 0), (True, 0), (False, 1)):
            body = {"key": key, "dismissed": dismissed}
            answer = await house.ask("viewer", "PUT", "/attention/dismissed", json=body)
            assert answer.json()["open"] == count

    @pytest.mark.parametrize("key", ["nothing", "approvals", "failed_runs:x:y"])
    async def test_is_refused_for_what_is_not_listed(self, house: Team, key: str) -> None:
        answer = await house.ask("viewer", "PUT", "/attention/dismissed", json={"key": key})
        assert (answer.status_code, answer.json()["code"]) == (404, "attention_item_not_found")


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
