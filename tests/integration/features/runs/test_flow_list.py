"""The list of flows with newest runs, who may see and change what of it, on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import event

from headgate.foundation.settings import Settings
from tests.support.team import FLOW, Team, team

EDITORS = {"editor", "publisher", "owner", "admin"}
PUBLISHERS = {"publisher", "owner", "admin"}


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def made(us: Team, *names: str) -> list[str]:
    return [(await us.make("editor", "/flows", spec=FLOW.replace("Talk", name)))["id"] for name in names]


class TestList:
    async def test_tells_state_picture_newest_run_and_who_changed_it(self, us: Team) -> None:
        (flow_id,) = await made(us, "Talk")
        (new,) = (await us.get("viewer", "/flows"))["items"]
        assert (new["release"], new["changed_since"], new["problems"], new["last_run"]) == (None, False, 0, None)
        assert [node["id"] for node in new["sketch"]["nodes"]] == ["heard", "said"]
        assert "params" not in new["sketch"]["nodes"][0]
        await us.make("publisher", f"/flows/{flow_id}/publish")
        await us.make("runner", f"/flows/{flow_id}/runs", text="a", version="published", wait=True)
        newest = await us.make("runner", f"/flows/{flow_id}/runs", text="b", version="published", wait=True)
        (ran,) = (await us.get("viewer", "/flows"))["items"]
        assert (ran["release"], ran["changed_since"]) == (1, False)
        assert (ran["last_run"]["id"], ran["last_run"]["status"]) == (newest["id"], "completed")
        assert ran["last_run"]["ms"] >= 0
        await us.ask("owner", "PATCH", f"/flows/{flow_id}", json={"name": "Talks"})
        (renamed,) = (await us.get("viewer", "/flows"))["items"]
        assert renamed["changed_since"]
        assert renamed["updated_by"] != ran["updated_by"]

    async def test_counts_what_keeps_a_draft_from_running(self, us: Team) -> None:
        await us.make("editor", "/flows", spec="name: Half\nnodes:\n  said: ChatOutput\n")
        (half,) = (await us.get("viewer", "/flows"))["items"]
        assert half["problems"] >= 1

    @pytest.mark.parametrize("sort", ["created", "updated", "name"])
    async def test_is_paged_without_gaps_in_each_order(self, us: Team, sort: str) -> None:
        ids = await made(us, "banana", "Apple", "äpple", "cherry", "apple", "100 % \\ '")
        found: list[str] = []
        cursor: str | None = None
        for _ in range(4):
            asked = {"sort": sort, "limit": 2} | ({} if cursor is None else {"cursor": cursor})
            page = await us.get("viewer", "/flows", params=asked)
            found += [item["id"] for item in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert len(found) == len(ids)
        assert set(found) == set(ids)
        if sort != "name":
            assert found == ids[::-1]

    @pytest.mark.parametrize("cursor", ["x", "x.y", "9" * 40 + ".0190a000-0000-7000-8000-000000000001", "a" * 1999])
    async def test_refuses_cursors_that_it_never_gave(self, us: Team, cursor: str) -> None:
        for sort in ("created", "updated", "name"):
            answer = await us.ask("viewer", "GET", "/flows", params={"sort": sort, "cursor": cursor})
            assert answer.status_code in {200, 422}, answer.text
            assert answer.status_code == 422 or sort == "updated"

    async def test_shows_nothing_of_other_spaces(self, us: Team) -> None:
        await made(us, "Talk")
        for sort in ("created", "updated", "name"):
            assert (await us.get("stranger", "/flows", params={"sort": sort}))["items"] == []
        answer = await us.ask("stranger", "GET", "/flows", params={"space_id": us.space})
        assert answer.status_code == 404

    async def test_asks_the_database_as_often_for_many_flows_as_for_one(self, us: Team) -> None:
        await made(us, "One")
        one = await statements(us)
        for flow_id in await made(us, *(f"Flow {number}" for number in range(12))):
            await us.make("editor", f"/flows/{flow_id}/runs", text="a", wait=True)
        assert await statements(us) == one


async def statements(us: Team) -> int:
    """How many statements one list takes."""
    told: list[Any] = []
    engine = us.database.engine.sync_engine

    def heard(*args: Any) -> None:
        told.append(args[2])

    event.listen(engine, "before_cursor_execute", heard)
    try:
        await us.get("viewer", "/flows")
    finally:
        event.remove(engine, "before_cursor_execute", heard)
    return len([one for one in told if "flows" in one])


class TestRestore:
    async def test_brings_a_deleted_flow_back(self, us: Team) -> None:
        (flow_id,) = await made(us, "Talk")
        assert (await us.ask("editor", "DELETE", f"/flows/{flow_id}")).status_code == 204
        assert await us.allowed("POST", f"/flows/{flow_id}/restore") == EDITORS
        assert [one["id"] for one in (await us.get("viewer", "/flows"))["items"]] == [flow_id]
        entries = (await us.get("admin", "/audit", params={"resource_id": flow_id}))["items"]
        assert "flow.restored" in [one["action"] for one in entries]

    async def test_of_what_was_published_is_for_those_who_publish(self, us: Team) -> None:
        (flow_id,) = await made(us, "Talk")
        await us.make("publisher", f"/flows/{flow_id}/publish")
        await us.ask("publisher", "DELETE", f"/flows/{flow_id}")
        assert await us.allowed("POST", f"/flows/{flow_id}/restore") == PUBLISHERS
