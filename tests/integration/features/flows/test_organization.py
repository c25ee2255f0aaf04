"""Folders, tags, favourites, actions on several flows and the trash, on both databases."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from headgate.features.files.local_storage import LocalStorage
from headgate.features.flows.organization.names import folder_path
from headgate.features.maintenance.trash import empty_trash
from headgate.foundation.database import Database, metadata, now
from headgate.foundation.settings import RetentionSettings, Settings
from tests.support.rows import execute
from tests.support.team import FLOW, Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as team_client:
        yield team_client


async def a_flow(us: Team, who: str = "editor") -> str:
    flow_id: str = (await us.make(who, "/flows", spec=FLOW))["id"]
    return flow_id


async def change(us: Team, who: str, action: str, *flow_ids: str, **more: Any) -> list[dict[str, Any]]:
    """The results of an action on several flows."""
    answer = await us.ask(who, "POST", "/flow-collections", json={"action": action, "flow_ids": flow_ids, **more})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def listed(us: Team, who: str = "viewer", **query: Any) -> list[str]:
    items = (await us.get(who, "/flows", params=query))["items"]
    return [item["id"] for item in items]


async def actions(us: Team, flow_id: str) -> list[str]:
    return [one["action"] for one in (await us.get("admin", "/audit", params={"resource_id": flow_id}))["items"]]


class TestFolders:
    async def test_hold_flows_and_folders_below_them(self, us: Team) -> None:
        one, two, three = [await a_flow(us) for _ in range(3)]
        await change(us, "editor", "move", one, folder="Finance/Invoices")
        await change(us, "editor", "move", two, folder=" Finance ")
        assert await listed(us, folder="Finance") == [two, one]
        assert await listed(us, folder="Finance/Invoices") == [one]
        assert await listed(us, folder="Fin") == []
        assert await listed(us) == [three, two, one]
        collections = await us.get("viewer", "/flow-collections")
        assert collections["folders"] == [{"name": "Finance", "flows": 1}, {"name": "Finance/Invoices", "flows": 1}]
        assert (collections["flows"], collections["trashed"]) == (3, 0)

    async def test_moving_is_in_the_audit_log_once_and_leaves_the_draft(self, us: Team) -> None:
        flow_id = await a_flow(us)
        before = await us.get("viewer", f"/flows/{flow_id}")
        for _ in range(2):
            await change(us, "editor", "move", flow_id, folder="A")
        after = await us.get("viewer", f"/flows/{flow_id}")
        assert after == before | {"folder": "A"}
        assert (await actions(us, flow_id)).count("flow.moved") == 1

    @pytest.mark.parametrize("folder", ["a/b/c/d/e/f", "x" * 61, "a\u202eb"])
    async def test_refuse_names_that_nobody_can_read(self, us: Team, folder: str) -> None:
        flow_id = await a_flow(us)
        body = {"action": "move", "flow_ids": [flow_id], "folder": folder}
        assert (await us.ask("editor", "POST", "/flow-collections", json=body)).status_code == 422

    async def test_tags_and_counts_are_those_of_spaces_that_the_user_sees(self, us: Team) -> None:
        shown, trashed = await a_flow(us), await a_flow(us)
        await change(us, "editor", "move", shown, folder="A")
        await change(us, "editor", "tag", shown, tags=["eu"])
        await change(us, "editor", "delete", trashed)
        nothing = {"folders": [], "tags": [], "flows": 0, "favourites": 0, "trashed": 0, "trash_days": 30}
        assert await us.get("stranger", "/flow-collections") == nothing
        everything = await us.get("admin", "/flow-collections")
        assert (len(everything["folders"]), len(everything["tags"])) == (1, 1)
        assert (everything["flows"], everything["trashed"]) == (1, 1)
        hidden = await us.ask("stranger", "GET", "/flow-collections", params={"space_id": us.space})
        assert hidden.status_code == 404

    def test_have_one_path(self) -> None:
        assert folder_path(" a // b/ ") == "a/b"
        assert folder_path("/") == ""

    async def test_are_free_of_wildcards(self, us: Team) -> None:
        flow_id = await a_flow(us)
        await change(us, "editor", "move", flow_id, folder="Aa/B")
        assert await listed(us, folder="A_") == []
        assert await listed(us, folder="%") == []


class TestTags:
    async def test_are_added_and_removed(self, us: Team) -> None:
        one, two = await a_flow(us), await a_flow(us)
        await change(us, "editor", "tag", one, two, tags=["Urgent", "urgent", "EU"])
        await change(us, "editor", "untag", two, tags=["urgent"])
        assert await listed(us, tag="URGENT") == [one]
        assert [item["tags"] for item in (await us.get("viewer", "/flows"))["items"]] == [["eu"], ["eu", "urgent"]]
        tags = (await us.get("viewer", "/flow-collections"))["tags"]
        assert tags == [{"name": "eu", "flows": 2}, {"name": "urgent", "flows": 1}]

    async def test_are_at_most_twenty(self, us: Team) -> None:
        flow_id = await a_flow(us)
        await change(us, "editor", "tag", flow_id, tags=[f"t{number}" for number in range(20)])
        (result,) = await change(us, "editor", "tag", flow_id, tags=["t1", "more"])
        assert (result["done"], result["problem"]["code"]) == (False, "too_many_tags")
        assert len((await us.get("viewer", "/flows"))["items"][0]["tags"]) == 20


class TestFavourites:
    async def test_are_those_of_one_user(self, us: Team) -> None:
        flow_id = await a_flow(us)
        for _ in range(2):
            assert (await us.ask("viewer", "PUT", f"/flows/{flow_id}/favourite")).status_code == 204
        assert await listed(us, favourites=True) == [flow_id]
        assert await listed(us, "editor", favourites=True) == []
        assert (await us.get("viewer", "/flow-collections"))["favourites"] == 1
        assert (await us.get("viewer", "/flows"))["items"][0]["favourite"] is True
        assert (await us.ask("viewer", "DELETE", f"/flows/{flow_id}/favourite")).status_code == 204
        assert await listed(us, favourites=True) == []
        assert (await actions(us, flow_id)).count("flow.favourite_added") == 1

    async def test_are_for_flows_that_the_user_sees(self, us: Team) -> None:
        flow_id = await a_flow(us)
        assert (await us.ask("stranger", "PUT", f"/flows/{flow_id}/favourite")).status_code == 404


class TestSeveral:
    async def test_each_has_its_own_result(self, us: Team) -> None:
        one = await a_flow(us)
        results = await change(us, "editor", "delete", one, "no-such-flow", one)
        assert [(result["flow_id"], result["done"]) for result in results] == [(one, True), ("no-such-flow", False)]
        assert results[1]["problem"]["code"] == "flow_not_found"

    @pytest.mark.parametrize("body", [{"action": "move"}, {"action": "tag"}, {"action": "explode"}])
    async def test_is_refused_without_what_the_action_needs(self, us: Team, body: dict[str, Any]) -> None:
        answer = await us.ask("editor", "POST", "/flow-collections", json=body | {"flow_ids": ["x"]})
        assert answer.status_code == 422

    @pytest.mark.parametrize(
        ("action", "who", "permission"),
        [
            ("move", "runner", "flows.edit"),
            ("tag", "runner", "flows.edit"),
            ("unpublish", "editor", "flows.publish"),
            ("delete", "editor", "flows.publish"),
        ],
    )
    async def test_needs_the_permission_of_each_action(self, us: Team, action: str, who: str, permission: str) -> None:
        flow_id = await a_flow(us)
        await us.ask("publisher", "POST", f"/flows/{flow_id}/publish", json={})
        body = {"action": action, "flow_ids": [flow_id], "folder": "A", "tags": ["a"]}
        answer = await us.ask(who, "POST", "/flow-collections", json=body)
        assert answer.json()["items"][0]["problem"]["permission"] == permission
        assert (await us.get("viewer", f"/flows/{flow_id}"))["folder"] == ""


class TestUnpublish:
    async def test_ends_runs_of_the_published_version(self, us: Team) -> None:
        flow_id = await a_flow(us)
        run = {"text": "hello", "version": "published", "wait": True}
        await us.ask("publisher", "POST", f"/flows/{flow_id}/publish", json={})
        assert (await us.ask("runner", "POST", f"/flows/{flow_id}/runs", json=run)).status_code == 201
        await change(us, "publisher", "unpublish", flow_id)
        refused = await us.ask("runner", "POST", f"/flows/{flow_id}/runs", json=run)
        assert (refused.status_code, refused.json()["code"]) == (404, "version_not_found")
        assert (await us.get("viewer", f"/flows/{flow_id}"))["published_version"] is None
        assert "flow.unpublished" in await actions(us, flow_id)

    async def test_and_publishing_again_is_the_next_release(self, us: Team) -> None:
        flow_id = await a_flow(us)
        await us.ask("publisher", "POST", f"/flows/{flow_id}/publish", json={})
        await change(us, "publisher", "unpublish", flow_id)
        again = await us.ask("publisher", "POST", f"/flows/{flow_id}/publish", json={})
        assert again.json()["release"] == 2


class TestTrash:
    async def test_holds_deleted_flows_until_they_are_restored(self, us: Team) -> None:
        flow_id = await a_flow(us)
        await change(us, "editor", "move", flow_id, folder="A")
        await change(us, "editor", "delete", flow_id)
        assert await listed(us) == []
        assert await listed(us, trashed=True) == [flow_id]
        collections = await us.get("viewer", "/flow-collections")
        assert (collections["trashed"], collections["trash_days"], collections["folders"]) == (1, 30, [])
        await change(us, "editor", "restore", flow_id)
        assert await listed(us, folder="A") == [flow_id]
        assert await listed(us, trashed=True) == []

    async def test_is_emptied_after_thirty_days(self, us: Team, database: Database, storage: LocalStorage) -> None:
        old, young, alive = [await a_flow(us) for _ in range(3)]
        await change(us, "editor", "delete", old, young)
        await put_back(database, old, days=31)
        await put_back(database, young, days=29)
        assert (await empty_trash(database, storage, RetentionSettings(), dry=True)).flows == 1
        assert await listed(us, trashed=True) == [young, old]
        assert (await empty_trash(database, storage, RetentionSettings())).flows == 1
        assert await listed(us, trashed=True) == [young]
        (result,) = await change(us, "editor", "restore", old)
        assert result["problem"]["code"] == "flow_not_found"
        assert await listed(us) == [alive]
        assert "flow.purged" in await actions(us, old)
        assert (await empty_trash(database, storage, RetentionSettings())).flows == 0

    async def test_keeps_the_evidence_of_runs(self, us: Team, database: Database, storage: LocalStorage) -> None:
        flow_id = await a_flow(us)
        await us.ask("publisher", "POST", f"/flows/{flow_id}/publish", json={})
        run = {"text": "hello", "version": "published", "wait": True}
        run_id = (await us.ask("runner", "POST", f"/flows/{flow_id}/runs", json=run)).json()["id"]
        await change(us, "publisher", "tag", flow_id, tags=["eu"])
        await change(us, "publisher", "delete", flow_id)
        await put_back(database, flow_id, days=31)
        assert (await empty_trash(database, storage, RetentionSettings())).flows == 1
        assert await listed(us, trashed=True) == []
        assert (await us.get("viewer", f"/flow-runs/{run_id}"))["status"] == "completed"
        assert (await us.ask("viewer", "GET", f"/flow-runs/{run_id}/evidence")).status_code == 200
        (result,) = await change(us, "publisher", "restore", flow_id)
        assert result["problem"]["code"] == "flow_not_found"
        for table in ("flow_tags", "flow_drafts"):
            assert await count(database, table, "flow_id", flow_id) == 0
        await execute(database, "DELETE FROM flow_runs WHERE flow_id = :id", id=flow_id)
        assert (await empty_trash(database, storage, RetentionSettings())).flows == 0
        assert await count(database, "flows", "id", flow_id) == 0

    async def test_is_kept_without_the_setting(self, us: Team, database: Database, storage: LocalStorage) -> None:
        flow_id = await a_flow(us)
        await change(us, "editor", "delete", flow_id)
        await put_back(database, flow_id, days=4000)
        assert (await empty_trash(database, storage, RetentionSettings(trash_days=None))).flows == 0
        assert await listed(us, trashed=True) == [flow_id]


@pytest.fixture
def storage(settings: Settings) -> LocalStorage:
    return LocalStorage(settings.data_dir / "files")


async def put_back(database: Database, flow_id: str, *, days: int) -> None:
    """Let a flow have been deleted that long ago."""
    moment = int((now() - timedelta(days=days)).timestamp() * 1_000_000)
    await execute(database, "UPDATE flows SET deleted_at = :at WHERE id = :id", at=moment, id=flow_id)


async def count(database: Database, table: str, column: str, flow_id: str) -> int:
    """The rows of a flow."""
    rows = select(func.count()).select_from(metadata.tables[table]).where(metadata.tables[table].c[column] == flow_id)
    async with database.reading() as session:
        return (await session.execute(rows)).scalar_one()
