"""Triggers whose owner was shut out: they are paused with the reason, and need attention."""

from typing import Any

import pytest
from sqlalchemy import text

from tests.integration.features.triggers.conftest import add, occurrences, published, until
from tests.support.team import Team

OFTEN = {"kind": "schedule", "every_seconds": 1}
FOLDER = {"kind": "folder", "folder": "in", "every_seconds": 10}


async def paused(us: Team, trigger: dict[str, Any]) -> dict[str, Any]:
    async def off() -> Any:
        shown = await us.get("admin", f"/triggers/{trigger['id']}")
        return None if shown["enabled"] else shown

    shown: dict[str, Any] = await until(off)
    return shown


async def shut_out(us: Team, change: str) -> None:
    async with us.database.writing() as session:
        await session.execute(text(change), {"user": us.people["publisher"].id, "off": False})


class TestShutOut:
    @pytest.mark.parametrize(
        ("config", "change", "reason"),
        [
            (OFTEN, "UPDATE users SET active = :off WHERE id = :user", "deactivated or was deleted"),
            (OFTEN, "UPDATE space_members SET role = 'viewer' WHERE user_id = :user", "permission"),
            (OFTEN, "DELETE FROM space_members WHERE user_id = :user", "There is no flow"),
            (FOLDER, "UPDATE users SET active = :off WHERE id = :user", "deactivated or was deleted"),
        ],
    )
    async def test_is_paused_with_the_reason_and_needs_attention(
        self, us: Team, config: dict[str, Any], change: str, reason: str
    ) -> None:
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=config, enabled=False)
        await shut_out(us, change)
        await us.make("admin", f"/triggers/{trigger['id']}/resume")
        shown = await paused(us, trigger)
        assert shown["paused_reason"].startswith("Its owner cannot start it: ")
        assert reason in shown["paused_reason"]
        assert shown["next_at"] is None
        assert {row["status"] for row in await occurrences(us, trigger["id"], "admin")} <= {"skipped"}
        items = (await us.get("admin", "/attention"))["items"]
        assert f"trigger:{trigger['id']}" in [item["key"] for item in items]

    async def test_another_owner_lets_it_go_on(self, us: Team) -> None:
        trigger = await add(us, await published(us), config=OFTEN, enabled=False)
        path = f"/triggers/{trigger['id']}"
        await shut_out(us, "UPDATE users SET active = :off WHERE id = :user")
        await us.make("admin", f"{path}/resume")
        await paused(us, trigger)
        mine = {"owner_user_id": us.people["owner"].id}
        assert (await us.ask("runner", "PATCH", path, json=mine)).status_code == 403
        changed = await us.ask("owner", "PATCH", path, json=mine)
        assert (changed.status_code, changed.json()["owner_user_id"]) == (200, us.people["owner"].id)
        await us.make("owner", f"{path}/resume")

        async def started() -> bool:
            return any(row["status"] == "started" for row in await occurrences(us, trigger["id"]))

        await until(started)


class TestServiceAccount:
    async def test_owns_a_trigger_whose_runs_have_its_rights(self, us: Team) -> None:
        flow_id = await published(us)
        account = await us.make("admin", "/users/service-accounts", name="nightly")
        owned = {"name": "Nightly", "config": OFTEN, "owner_user_id": account["id"]}
        refused = await us.ask("publisher", "POST", f"/flows/{flow_id}/triggers", json=owned)
        assert refused.status_code == 403, "only those who manage the account, too, use its rights"
        trigger = await us.make("admin", f"/flows/{flow_id}/triggers", **owned)
        shown = await paused(us, trigger)
        assert (shown["owner_name"], "There is no flow" in shown["paused_reason"]) == ("nightly", True)
        space = (await us.get("admin", f"/flows/{flow_id}"))["space_id"]
        member = f"/spaces/{space}/members/{account['id']}"
        assert (await us.ask("admin", "PUT", member, json={"role": "runner"})).is_success
        await us.make("admin", f"/triggers/{trigger['id']}/resume")

        async def started() -> Any:
            rows = await occurrences(us, trigger["id"], "admin")
            return next((row for row in rows if row["status"] == "started"), None)

        row = await until(started)
        async with us.database.reading() as session:
            query = text("SELECT user_id FROM flow_runs WHERE id = :id")
            assert (await session.execute(query, {"id": row["run_id"]})).scalar_one() == account["id"]

    async def test_is_given_a_trigger_and_taken_it_from(self, us: Team) -> None:
        account = await us.make("admin", "/users/service-accounts", name="nightly")
        trigger = await add(us, await published(us), config=FOLDER, enabled=False)
        path, given = f"/triggers/{trigger['id']}", {"owner_user_id": account["id"]}
        assert (await us.ask("publisher", "PATCH", path, json=given)).status_code == 403
        assert (await us.ask("admin", "PATCH", path, json=given)).json()["owner_name"] == "nightly"
        await us.ask("admin", "PATCH", f"/users/{account['id']}", json={"active": False})
        mine = {"owner_user_id": us.people["publisher"].id}
        assert (await us.ask("publisher", "PATCH", path, json=mine)).json()["owner_user_id"] == mine["owner_user_id"]
        back = await us.ask("admin", "PATCH", path, json=given)
        assert (back.status_code, back.json()["code"]) == (422, "trigger_invalid"), (
            "a disabled account owns nothing new"
        )

    async def test_is_not_used_by_an_admin_s_key_that_manages_triggers_alone(self, us: Team) -> None:
        """An administrator's key with few scopes starts no runs with the rights of others."""
        account = await us.make("admin", "/users/service-accounts", name="nightly")
        trigger = await add(us, await published(us), config=FOLDER, enabled=False)
        scopes = ["triggers.manage", "flows.view"]
        key = (await us.make("admin", "/api-keys", name="narrow", scopes=scopes))["key"]
        given = {"owner_user_id": account["id"]}
        headers = {"authorization": f"Bearer {key}"}
        answer = await us.ask("admin", "PATCH", f"/triggers/{trigger['id']}", json=given, headers=headers)
        assert answer.status_code == 403, answer.text
