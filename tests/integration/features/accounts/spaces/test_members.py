"""Who may do what with a space and its members, over the real application on both databases."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import func, select

from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_SPACE_ID
from headgate.features.accounts.spaces import service
from headgate.features.accounts.tables import User
from headgate.features.audit.tables import AuditEvent
from headgate.features.flows.tables import FlowRow
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from tests.support.people import add_tenant_row, add_user
from tests.support.team import EVERYBODY, FLOW, ROLES, Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def roles_in(us: Team, space_id: str) -> dict[str, str]:
    """Who is in a space, as the admin sees it: name to role."""
    items = (await us.get("admin", f"/spaces/{space_id}/members"))["items"]
    return {one["name"]: one["role"] for one in items}


async def put(us: Team, who: str, whom: str, role: Role, space_id: str = "") -> int:
    path = f"/spaces/{space_id or us.space}/members/{us.people[whom].id}"
    return (await us.ask(who, "PUT", path, json={"role": role.value})).status_code


class TestSpaces:
    async def test_are_there_for_their_members_with_their_role(self, us: Team) -> None:
        for who in ROLES:
            items = (await us.get(who, "/spaces"))["items"]
            assert [(one["id"], one["role"]) for one in items] == [(us.space, who)]
        assert [one["id"] for one in (await us.get("stranger", "/spaces"))["items"]] == [us.elsewhere]
        every = {one["name"]: one["role"] for one in (await us.get("admin", "/spaces"))["items"]}
        assert every == {"Personal": None, "Research": None, "Elsewhere": None}

    async def test_are_read_by_who_sees_them(self, us: Team) -> None:
        assert await us.allowed("GET", f"/spaces/{us.space}") == {*EVERYBODY} - {"stranger"}
        assert await us.allowed("GET", f"/spaces/{us.space}/members") == {*EVERYBODY} - {"stranger"}
        gone, hidden = f"/spaces/{new_id()}", f"/spaces/{us.elsewhere}"
        told = [(await us.ask("owner", "GET", path)).json() for path in (gone, hidden)]
        assert told[0]["code"] == told[1]["code"] == "space_not_found"
        assert told[0]["detail"].replace(gone[8:], "x") == told[1]["detail"].replace(hidden[8:], "x")

    async def test_of_a_member_come_to_an_end(self, us: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "MOST_SPACES", 2)
        first = await us.make("viewer", "/spaces", name="One")
        await us.make("viewer", "/spaces", name="Two")
        # Handing one over and leaving it makes no room: what counts is who made it.
        assert await put(us, "viewer", "runner", Role.OWNER, first["id"]) == 200
        own = f"/spaces/{first['id']}/members/{us.people['viewer'].id}"
        assert (await us.ask("viewer", "DELETE", own)).status_code == 204
        refused = await us.ask("viewer", "POST", "/spaces", json={"name": "Three"})
        assert (refused.status_code, refused.json()["code"]) == (409, "too_many_spaces")
        for number in range(3):
            await us.make("admin", "/spaces", name=f"Of an admin {number}")
        assert (await us.ask("runner", "DELETE", f"/spaces/{first['id']}")).status_code == 204
        await us.make("viewer", "/spaces", name="Three")

    async def test_are_renamed_by_owners_and_admins(self, us: Team) -> None:
        assert await us.allowed("PATCH", f"/spaces/{us.space}", json={"name": "New"}) == {"owner", "admin"}
        refused = await us.ask("admin", "PATCH", f"/spaces/{us.space}", json={"name": "Elsewhere"})
        assert (refused.status_code, refused.json()["code"]) == (409, "space_name_taken")
        assert (await us.get("viewer", f"/spaces/{us.space}"))["name"] == "New"

    async def test_belong_to_who_makes_them(self, us: Team) -> None:
        made = await us.make("viewer", "/spaces", name="Mine")
        assert made["role"] == "owner"
        assert await roles_in(us, made["id"]) == {"viewer": "owner"}
        assert (await us.ask("owner", "GET", f"/spaces/{made['id']}")).status_code == 404
        flow = await us.make("viewer", "/flows", spec=FLOW, space_id=made["id"])
        assert flow["space_id"] == made["id"]

    async def test_go_only_when_no_flow_was_ever_in_them(self, us: Team) -> None:
        for who, status in (("viewer", 403), ("publisher", 403), ("stranger", 404)):
            assert (await us.ask(who, "DELETE", f"/spaces/{us.space}")).status_code == status
        flow = await us.make("editor", "/flows", spec=FLOW)
        assert (await us.ask("owner", "DELETE", f"/flows/{flow['id']}")).status_code == 204
        refused = await us.ask("owner", "DELETE", f"/spaces/{us.space}")
        assert (refused.status_code, refused.json()["code"]) == (409, "space_in_use")
        assert "evidence" in refused.json()["detail"]
        await us.make("stranger", "/assistants", name="Helper")
        assert (await us.ask("stranger", "DELETE", f"/spaces/{us.elsewhere}")).status_code == 204
        assert (await us.get("stranger", "/spaces"))["items"] == []
        nowhere = await us.ask("stranger", "POST", "/flows", json={"spec": FLOW})
        assert (nowhere.status_code, nowhere.json()["code"]) == (404, "space_not_found")

    async def test_go_only_after_their_knowledge_whose_files_are_deleted_with_it(self, us: Team) -> None:
        base = await us.make("owner", "/knowledge-bases", name="Handbook", space_id=us.space)
        refused = await us.ask("owner", "DELETE", f"/spaces/{us.space}")
        assert (refused.status_code, refused.json()["code"]) == (409, "space_in_use")
        assert (await us.ask("owner", "DELETE", f"/knowledge-bases/{base['id']}")).status_code == 204
        assert (await us.ask("owner", "DELETE", f"/spaces/{us.space}")).status_code == 204

    async def test_of_the_installation_stays(self, us: Team) -> None:
        assert (await us.ask("admin", "DELETE", f"/spaces/{DEFAULT_SPACE_ID}")).status_code == 409

    async def test_are_not_deleted_while_a_flow_is_put_into_them(self, us: Team) -> None:
        gone, *made = await asyncio.gather(
            us.ask("stranger", "DELETE", f"/spaces/{us.elsewhere}"),
            us.ask("stranger", "POST", "/flows", json={"spec": FLOW}),
            us.ask("stranger", "POST", "/assistants", json={"name": "Lena"}),
            us.ask("stranger", "POST", "/mcp-servers", json={"name": "weather", "url": "https://example.org/mcp"}),
        )
        assert {one.status_code for one in made} <= ({201, 404} if gone.status_code == 204 else {201})
        async with us.database.reading() as session:
            flows = (await session.execute(select(func.count()).select_from(FlowRow))).scalar_one()
        kept = (made[0].status_code, gone.status_code) == (201, 409)
        assert (flows, made[0].status_code) == ((1, 201) if kept else (0, 404))


class TestMembers:
    async def test_are_added_and_changed_by_owners_and_admins(self, us: Team) -> None:
        path = f"/spaces/{us.space}/members/{us.people['stranger'].id}"
        allowed = {who for who in EVERYBODY if await put(us, who, "stranger", Role.RUNNER) == 200}
        assert allowed == {"owner", "admin"}
        assert (await us.ask("owner", "PUT", path, json={"role": "king"})).status_code == 422
        assert (await us.get("stranger", f"/spaces/{us.space}"))["role"] == "runner"
        assert await put(us, "owner", "stranger", Role.EDITOR) == 200
        assert (await us.get("stranger", f"/spaces/{us.space}"))["role"] == "editor"
        assert (await us.ask("owner", "DELETE", path)).status_code == 204
        assert (await us.ask("stranger", "GET", f"/spaces/{us.space}")).status_code == 404
        assert (await us.ask("owner", "DELETE", path)).json()["code"] == "member_not_found"

    async def test_are_of_the_tenant(self, us: Team) -> None:
        tenant_id = await add_tenant_row(us.database, "Other")
        them = await add_user(us.database, "them@example.org", tenant_id=tenant_id)
        for user_id in (them.id, new_id(), "x"):
            answer = await us.ask("owner", "PUT", f"/spaces/{us.space}/members/{user_id}", json={"role": "viewer"})
            assert (answer.status_code, answer.json()["code"]) == (404, "user_not_found")
        assert set(await roles_in(us, us.space)) == set(ROLES)

    async def test_leave_a_space_themselves_and_nobody_else(self, us: Team) -> None:
        for who in ("viewer", "publisher"):
            theirs = f"/spaces/{us.space}/members/{us.people[who].id}"
            assert (await us.ask("editor", "DELETE", theirs)).status_code == 403
            assert (await us.ask(who, "DELETE", theirs)).status_code == 204
            assert (await us.ask(who, "GET", f"/spaces/{us.space}")).status_code == 404
        hidden = f"/spaces/{us.space}/members/{us.people['stranger'].id}"
        assert (await us.ask("stranger", "DELETE", hidden)).status_code == 404

    async def test_keep_a_last_owner_unless_an_admin_says_so(self, us: Team) -> None:
        owner = f"/spaces/{us.space}/members/{us.people['owner'].id}"
        for answer in (
            await us.ask("owner", "DELETE", owner),
            await us.ask("owner", "PUT", owner, json={"role": "viewer"}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (409, "last_owner")
        assert await put(us, "owner", "editor", Role.OWNER) == 200
        assert await put(us, "owner", "owner", Role.VIEWER) == 200
        assert (await us.ask("editor", "DELETE", owner)).status_code == 204
        last = f"/spaces/{us.space}/members/{us.people['editor'].id}"
        assert (await us.ask("admin", "DELETE", last)).status_code == 204
        assert "owner" not in (await roles_in(us, us.space)).values()

    async def test_who_take_the_role_from_each_other_at_once_leave_one_owner(self, us: Team) -> None:
        assert await put(us, "owner", "editor", Role.OWNER) == 200
        found = await asyncio.gather(put(us, "owner", "editor", Role.VIEWER), put(us, "editor", "owner", Role.VIEWER))
        assert found.count(200) == 1
        assert list((await roles_in(us, us.space)).values()).count("owner") == 1

    async def test_who_are_shut_out_do_not_count_as_owners(self, us: Team) -> None:
        assert await put(us, "owner", "editor", Role.OWNER) == 200
        answer = await us.ask("admin", "PATCH", f"/users/{us.people['editor'].id}", json={"active": False})
        assert answer.status_code == 200, answer.text
        assert await put(us, "owner", "owner", Role.VIEWER) == 409

    async def test_have_a_place_for_new_things(self, us: Team) -> None:
        async with us.database.writing() as session:
            session.add(
                User(
                    id=(newcomer := new_id()), tenant_id=us.people["owner"].tenant_id, name="new", email="n@example.org"
                )
            )
        for space_id, who in ((us.elsewhere, "stranger"), (us.space, "owner")):
            path = f"/spaces/{space_id}/members/{newcomer}"
            assert (await us.ask(who, "PUT", path, json={"role": "viewer"})).status_code == 200
        assert await home_of(us, newcomer) == us.elsewhere
        await us.ask("stranger", "DELETE", f"/spaces/{us.elsewhere}/members/{newcomer}")
        assert await home_of(us, newcomer) == us.space
        await us.ask("owner", "DELETE", f"/spaces/{us.space}/members/{newcomer}")
        assert await home_of(us, newcomer) is None

    async def test_leave_a_trace_of_every_change(self, us: Team) -> None:
        await put(us, "owner", "stranger", Role.RUNNER)
        await put(us, "owner", "stranger", Role.RUNNER)
        await put(us, "owner", "stranger", Role.EDITOR)
        await put(us, "viewer", "stranger", Role.OWNER)
        await us.ask("stranger", "DELETE", f"/spaces/{us.space}/members/{us.people['stranger'].id}")
        rows = await audited(us)
        assert [(row.action, row.actor_id) for row in rows] == [
            ("space.member_added", us.people["owner"].id),
            ("space.member_changed", us.people["owner"].id),
            ("space.member_removed", us.people["stranger"].id),
        ]
        assert {row.resource_id for row in rows} == {us.space}
        assert rows[0].after_digest == rows[1].before_digest
        assert rows[1].after_digest == rows[2].before_digest


async def home_of(us: Team, user_id: str) -> str | None:
    async with us.database.reading() as session:
        return (await session.execute(select(User.home_space_id).where(User.id == user_id))).scalar_one()


async def audited(us: Team) -> list[Any]:
    async with us.database.reading() as session:
        query = select(AuditEvent).where(AuditEvent.action.like("space.%")).order_by(AuditEvent.seq)
        return list((await session.execute(query)).scalars())
