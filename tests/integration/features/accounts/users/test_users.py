import asyncio
from typing import Any

import pytest
from sqlalchemy import select, update

from headgate.features.access.permissions import TenantRole
from headgate.features.access.principal import DEFAULT_SPACE_ID, DEFAULT_USER_ID
from headgate.features.accounts.tables import Space, SpaceMember, User
from headgate.foundation.ids import new_id
from tests.support.sign_in import Browser, House

ADMIN, BO = "admin@example.org", "bo@example.org"


async def admin_of(house: House) -> tuple[Browser, str]:
    admin = await house.add(ADMIN, role=TenantRole.ADMIN)
    return await house.signed_in(ADMIN), admin.id


class TestUsers:
    async def test_are_listed_in_pages_and_searched(self, house: House) -> None:
        admin, _ = await admin_of(house)
        await house.add(BO, name="Bo Ek")
        await house.add("cia@example.org", name="Cia 100%")
        await house.add("other@example.org", tenant_id=await house.add_tenant("Other town"))
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = (await admin.get("/users", params={"limit": 2, **cursor})).json()
            seen += [item["name"] for item in page["items"]]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert seen == ["local", "admin", "Bo Ek", "Cia 100%"]

        async def found(search: str) -> list[str]:
            items = (await admin.get("/users", params={"search": search})).json()["items"]
            return [item["name"] for item in items]

        assert await found("BO") == ["Bo Ek"]
        assert await found("example.org") == ["admin", "Bo Ek", "Cia 100%"]
        assert await found("100%") == ["Cia 100%"]
        assert await found("%") == ["Cia 100%"]
        assert (await admin.get("/users", params={"search": "\x00"})).status_code == 422

    async def test_show_no_secret(self, house: House) -> None:
        admin, _ = await admin_of(house)
        bo = await house.add(BO, password=None)
        shown = (await admin.get(f"/users/{bo.id}")).json()
        assert shown.keys() == {
            "id", "kind", "name", "email", "role", "active", "can_sign_in", "created_at", "last_sign_in_at",
        }  # fmt: skip
        assert (shown["can_sign_in"], shown["active"], shown["last_sign_in_at"]) == (False, True, None)

    async def test_of_another_tenant_are_not_there(self, house: House) -> None:
        admin, _ = await admin_of(house)
        other = await house.add("other@example.org", tenant_id=await house.add_tenant("Other town"))
        for user_id in (other.id, new_id(), "%00", "x"):
            assert (await admin.get(f"/users/{user_id}")).status_code == 404
            assert (await admin.send("PATCH", f"/users/{user_id}", {"name": "x"})).status_code == 404
            assert (await admin.post(f"/users/{user_id}/password-link")).status_code == 404

    async def test_are_managed_by_admins_alone(self, house: House) -> None:
        _, admin_id = await admin_of(house)
        await house.add(BO)
        bo = await house.signed_in(BO)
        refused = [
            await bo.post("/users", {"email": "x@example.org"}),
            await bo.send("PATCH", f"/users/{admin_id}", {"role": "member"}),
            await bo.post(f"/users/{admin_id}/password-link"),
        ]
        assert [(one.status_code, one.json()["permission"]) for one in refused] == [(403, "people.manage")] * 3
        assert (await bo.get("/users")).status_code == 200


class TestInvite:
    async def test_gives_a_space_of_their_own(self, house: House) -> None:
        admin, _ = await admin_of(house)
        first = (await admin.post("/users", {"email": " Bo@Example.org", "name": "Bo Ek"})).json()
        second = (await admin.post("/users", {"email": "bo@elsewhere.org", "name": "Bo Ek"})).json()
        third = (await admin.post("/users", {"email": "personal@example.org", "name": "Personal"})).json()
        assert first["email"] == BO
        spaces = {item["owner_user_id"]: item for item in (await admin.get("/spaces")).json()["items"]}
        assert [spaces[one["id"]]["name"] for one in (first, second, third)] == [
            "Bo Ek",
            "Bo Ek (bo@elsewhere.org)",
            "Personal (personal@example.org)",
        ]
        members = (await admin.get(f"/spaces/{spaces[first['id']]['id']}/members")).json()["items"]
        assert [(item["user_id"], item["role"]) for item in members] == [(first["id"], "owner")]

    async def test_takes_an_address_once_a_tenant(self, house: House) -> None:
        admin, _ = await admin_of(house)
        await house.add(BO, tenant_id=await house.add_tenant("Other town"))
        assert (await admin.post("/users", {"email": BO})).status_code == 201
        again = await admin.post("/users", {"email": BO.upper()})
        assert (again.status_code, again.json()["code"]) == (409, "email_taken")

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"email": "no address"},
            {"email": "a@b@c"},
            {"email": "a\x00@b"},
            {"email": f"{'x' * 250}@b.se"},
            {"email": BO, "name": ""},
            {"email": BO, "name": "a\nb"},
            {"email": BO, "role": "owner"},
            {"email": BO, "password": "not here"},
        ],
    )
    async def test_refuses_what_is_nobody(self, house: House, body: dict[str, Any]) -> None:
        admin, _ = await admin_of(house)
        assert (await admin.post("/users", body)).status_code == 422


class TestChange:
    async def test_counts_at_once_and_is_written_down(self, house: House) -> None:
        admin, _ = await admin_of(house)
        bo_row = await house.add(BO)
        bo = await house.signed_in(BO)
        assert (await bo.post("/users", {"email": "x@example.org"})).status_code == 403
        changed = await admin.send("PATCH", f"/users/{bo_row.id}", {"role": "admin", "name": "Bo Ek"})
        assert (changed.json()["role"], changed.json()["name"]) == ("admin", "Bo Ek")
        assert (await bo.post("/users", {"email": "x@example.org"})).status_code == 201
        event = next(one for one in await house.audited() if one.action == "user.changed")
        assert (event.actor_name, event.resource_id, event.resource_name) == (ADMIN, bo_row.id, BO)
        assert event.before_digest != event.after_digest

    async def test_shuts_out_at_once_and_lets_in_again(self, house: House) -> None:
        admin, _ = await admin_of(house)
        bo_row = await house.add(BO)
        bo = await house.signed_in(BO)
        assert (await admin.send("PATCH", f"/users/{bo_row.id}", {"active": False})).json()["can_sign_in"] is False
        assert (await bo.get("/me")).status_code == 401
        assert (await bo.sign_in(BO)).status_code == 401
        assert (await admin.send("PATCH", f"/users/{bo_row.id}", {"active": True})).status_code == 200
        assert (await bo.get("/me")).status_code == 401
        assert (await bo.sign_in(BO)).status_code == 200
        actions = await house.actions()
        assert [one for one in actions if one.endswith("activated")] == ["user.deactivated", "user.activated"]

    async def test_of_nothing_is_not_written_down(self, house: House) -> None:
        admin, admin_id = await admin_of(house)
        before = await house.actions()
        assert (await admin.send("PATCH", f"/users/{admin_id}", {"role": "admin"})).status_code == 200
        assert (await admin.send("PATCH", f"/users/{admin_id}", {})).status_code == 200
        assert await house.actions() == before

    @pytest.mark.parametrize("change", [{"role": "member"}, {"active": False}])
    async def test_leaves_an_admin_who_can_sign_in(self, house: House, change: dict[str, Any]) -> None:
        admin, admin_id = await admin_of(house)
        await house.add("invited@example.org", role=TenantRole.ADMIN, password=None)
        await house.add("there@example.org", role=TenantRole.ADMIN, tenant_id=await house.add_tenant("Other town"))
        shut = await house.add("shut@example.org", role=TenantRole.ADMIN)
        await house.change(shut, active=False)
        refused = await admin.send("PATCH", f"/users/{admin_id}", change)
        assert (refused.status_code, refused.json()["code"]) == (409, "last_admin")
        assert (await admin.get("/me")).json()["user"]["role"] == "admin"
        await house.add(BO, role=TenantRole.ADMIN)
        assert (await admin.send("PATCH", f"/users/{admin_id}", change)).status_code == 200

    async def test_of_two_admins_by_each_other_at_once_leaves_one(self, house: House) -> None:
        admin, admin_id = await admin_of(house)
        bo_row = await house.add(BO, role=TenantRole.ADMIN)
        bo = await house.signed_in(BO)
        answers = await asyncio.gather(
            admin.send("PATCH", f"/users/{bo_row.id}", {"role": "member"}),
            bo.send("PATCH", f"/users/{admin_id}", {"role": "member"}),
        )
        assert sorted(one.status_code for one in answers) in ([200, 403], [200, 409])

    async def test_leaves_who_commands_act_as(self, house: House) -> None:
        admin, _ = await admin_of(house)
        for answer in (
            await admin.send("PATCH", f"/users/{DEFAULT_USER_ID}", {"active": False}),
            await admin.post(f"/users/{DEFAULT_USER_ID}/password-link"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (409, "signs_in_nowhere")
        renamed = await admin.send("PATCH", f"/users/{DEFAULT_USER_ID}", {"name": "Operator"})
        assert renamed.json()["name"] == "Operator"


class TestDelete:
    async def test_keeps_the_id_and_nothing_that_says_who_it_was(self, house: House) -> None:
        admin, admin_id = await admin_of(house)
        invited = (await admin.post("/users", {"email": BO, "name": "Bo Ek"})).json()
        before = await house.actions()
        assert (await admin.send("DELETE", f"/users/{invited['id']}")).status_code == 204
        assert (await admin.get(f"/users/{invited['id']}")).status_code == 404
        assert "Bo Ek" not in (await admin.get("/users")).text
        async with house.database.reading() as session:
            row = (await session.execute(select(User).where(User.id == invited["id"]))).scalar_one()
            spaces = (await session.execute(select(Space.name))).scalars().all()
            owner = select(SpaceMember.user_id).where(SpaceMember.space_id != DEFAULT_SPACE_ID)
            owners = (await session.execute(owner)).scalars().all()
        assert (row.name, row.email, row.password_hash, row.active) == ("Deleted user", None, None, False)
        assert not any("Bo" in name for name in spaces)
        assert set(owners) == {admin_id}, "the personal space is the admin's now"
        assert (await house.actions())[len(before) :] == ["user.deleted"]
        event = (await house.audited())[-1]
        assert BO not in str(event.payload) + event.resource_name

    async def test_keeps_the_name_of_a_space_that_only_contains_the_letters(self, house: House) -> None:
        admin, _ = await admin_of(house)
        user_id = (await admin.post("/users", {"email": "al@example.org", "name": "Al"})).json()["id"]
        names = ("Sales", "Team of Al", "al@example.org, private")
        for name in names:
            space_id = (await admin.post("/spaces", {"name": name})).json()["id"]
            async with house.database.writing() as session:
                await session.execute(update(Space).where(Space.id == space_id).values(owner_user_id=user_id))
        assert (await admin.send("DELETE", f"/users/{user_id}")).status_code == 204
        remaining = {space["name"] for space in (await admin.get("/spaces")).json()["items"]}
        assert remaining.intersection(names) == {"Sales"}

    async def test_ends_sessions_and_keys_at_once(self, house: House) -> None:
        admin, _ = await admin_of(house)
        row = await house.add(BO)
        bo = await house.signed_in(BO)
        key = (await bo.post("/api-keys", {"name": "mine"})).json()["key"]
        assert (await admin.send("DELETE", f"/users/{row.id}")).status_code == 204
        assert (await bo.get("/me")).status_code == 401
        response = await (await house.browser()).get("/me", headers={"authorization": f"Bearer {key}"})
        assert response.status_code == 401

    async def test_frees_the_address_for_a_new_user(self, house: House) -> None:
        admin, _ = await admin_of(house)
        row = await house.add(BO)
        await admin.send("DELETE", f"/users/{row.id}")
        again = await admin.post("/users", {"email": BO})
        assert again.status_code == 201
        assert again.json()["id"] != row.id

    async def test_spares_the_last_admin_the_local_user_and_other_tenants(self, house: House) -> None:
        admin, admin_id = await admin_of(house)
        other = await house.add("other@example.org", tenant_id=await house.add_tenant("Other town"))
        answers = [await admin.send("DELETE", f"/users/{user_id}") for user_id in (admin_id, DEFAULT_USER_ID, other.id)]
        assert [(one.status_code, one.json()["code"]) for one in answers] == [
            (409, "last_admin"),
            (409, "signs_in_nowhere"),
            (404, "user_not_found"),
        ]

    async def test_is_for_admins_alone(self, house: House) -> None:
        _, admin_id = await admin_of(house)
        await house.add(BO)
        bo = await house.signed_in(BO)
        assert (await bo.send("DELETE", f"/users/{admin_id}")).status_code == 403
