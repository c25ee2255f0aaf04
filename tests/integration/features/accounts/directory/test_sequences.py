"""What Entra ID and Okta send, request by request, against the real application on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.features.access.permissions import Role
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from tests.support.directory import ENTERPRISE, GROUP, USER, IdentityProvider, provider, token_of
from tests.support.people import add_key, add_session, asking, bearer, cookie
from tests.support.team import Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


@pytest.fixture
async def idp(us: Team) -> AsyncIterator[IdentityProvider]:
    async with provider(us.app, await token_of(us.database)) as found:
        yield found


def entra_user(name: str) -> dict[str, Any]:
    """As Entra ID creates users with its default mapping of attributes."""
    return {
        "schemas": [USER, ENTERPRISE],
        "externalId": name.partition("@")[0],
        "userName": name,
        "active": True,
        "addresses": [{"primary": False, "type": "work", "country": "Sweden", "formatted": "Storgatan 1"}],
        "displayName": "Anna Ek",
        "emails": [{"primary": True, "type": "work", "value": name}],
        "meta": {"resourceType": "User"},
        "name": {"formatted": "Anna Ek", "familyName": "Ek", "givenName": "Anna"},
        "phoneNumbers": [{"primary": True, "type": "work", "value": "+46 8 000 00 00"}],
        "preferredLanguage": "sv-SE",
        "title": "Analyst",
        ENTERPRISE: {"employeeNumber": "701984", "department": "Finance", "manager": {"value": "x"}},
    }


class TestEntra:
    async def test_tests_the_connection_with_a_user_that_is_not_there(self, idp: IdentityProvider) -> None:
        answer = await idp.ask("GET", "/Users", 200, params={"filter": f'userName eq "{new_id()}"'})
        assert answer.headers["content-type"].startswith("application/scim+json")
        assert answer.json() == {
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": 0,
            "startIndex": 1,
            "itemsPerPage": 0,
            "Resources": [],
        }

    async def test_creates_changes_disables_and_deletes_a_user(self, us: Team, idp: IdentityProvider) -> None:
        made = await idp.ask("POST", "/Users", 201, json=entra_user("Anna.Ek@example.org"))
        anna = made.json()
        assert made.headers["location"] == anna["meta"]["location"]
        assert (anna["userName"], anna["externalId"], anna["active"]) == ("Anna.Ek@example.org", "Anna.Ek", True)
        assert anna["name"] == {"formatted": "Anna Ek", "givenName": "Anna", "familyName": "Ek"}
        here = await us.get("admin", f"/users/{anna['id']}")
        assert (here["email"], here["name"], here["role"]) == ("anna.ek@example.org", "Anna Ek", "member")
        found = (await idp.ask("GET", "/Users", 200, params={"filter": 'userName eq "ANNA.ek@example.org"'})).json()
        assert [one["id"] for one in found["Resources"]] == [anna["id"]]
        changed = await idp.patch(
            f"/Users/{anna['id']}",
            {"op": "Replace", "path": 'emails[type eq "work"].value', "value": "anna@example.org"},
            {"op": "Replace", "path": "name.familyName", "value": "Berg"},
            {"op": "Add", "path": "displayName", "value": "Anna Berg"},
            {"op": "Add", "path": f"{ENTERPRISE}:department", "value": "Sales"},
            {"op": "Replace", "path": "title", "value": "Head"},
        )
        assert changed.json()["emails"] == [{"value": "anna@example.org", "type": "work", "primary": True}]
        assert changed.json()["name"]["familyName"] == "Berg"
        assert (await us.get("admin", f"/users/{anna['id']}"))["name"] == "Anna Berg"
        disabled = await idp.patch(f"/Users/{anna['id']}", {"op": "Replace", "path": "active", "value": "False"})
        assert disabled.json()["active"] is False
        assert (await us.get("admin", f"/users/{anna['id']}"))["active"] is False
        assert await idp.names("/Users", "active eq false") == ["Anna.Ek@example.org"]
        await idp.patch(f"/Users/{anna['id']}", {"op": "Replace", "value": {"active": "True"}})
        assert (await us.get("admin", f"/users/{anna['id']}"))["active"] is True
        await idp.ask("DELETE", f"/Users/{anna['id']}", 204)
        assert (await us.ask("admin", "GET", f"/users/{anna['id']}")).status_code == 404
        gone = await idp.ask("GET", f"/Users/{anna['id']}", 404)
        assert gone.json()["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
        assert gone.json()["status"] == "404"
        again = await idp.user("Anna.Ek@example.org")
        assert again["id"] != anna["id"]

    async def test_creates_changes_and_deletes_a_group(self, idp: IdentityProvider) -> None:
        ids = [(await idp.user(f"user{number}@example.org"))["id"] for number in range(3)]
        body = {"schemas": [GROUP], "externalId": "8aa1a0c0", "displayName": "Analysts", "members": []}
        group = (await idp.ask("POST", "/Groups", 201, json=body)).json()
        path = f"/Groups/{group['id']}"
        await idp.patch(path, {"op": "Add", "path": "members", "value": [{"$ref": None, "value": ids[0]}]})
        await idp.patch(path, {"op": "Add", "path": "members", "value": [{"$ref": None, "value": one} for one in ids]})
        await idp.patch(path, {"op": "Remove", "path": "members", "value": [{"$ref": None, "value": ids[1]}]})
        await idp.patch(path, {"op": "Remove", "path": f'members[value eq "{ids[2]}"]'})
        await idp.patch(path, {"op": "Replace", "path": "displayName", "value": "Senior analysts"})
        params = {"excludedAttributes": "members", "filter": 'displayName eq "senior Analysts"'}
        (found,) = (await idp.ask("GET", "/Groups", 200, params=params)).json()["Resources"]
        assert "members" not in found
        whole = (await idp.ask("GET", path, 200)).json()
        assert ([one["value"] for one in whole["members"]], whole["externalId"]) == ([ids[0]], "8aa1a0c0")
        (mine,) = (await idp.ask("GET", f"/Users/{ids[0]}", 200)).json()["groups"]
        assert (mine["value"], mine["display"]) == (group["id"], "Senior analysts")
        assert await idp.names("/Groups", f'id eq "{group["id"]}" and members eq "{ids[0]}"') == ["Senior analysts"]
        assert await idp.names("/Groups", f'members[value eq "{ids[1]}"]') == []
        await idp.ask("DELETE", path, 204)
        await idp.ask("GET", path, 404)


class TestOkta:
    async def test_creates_updates_and_deactivates_a_user(self, us: Team, idp: IdentityProvider) -> None:
        wanted = {"filter": 'userName eq "bo@example.org"', "startIndex": "1", "count": "100"}
        assert (await idp.ask("GET", "/Users", 200, params=wanted)).json()["totalResults"] == 0
        body = {
            "schemas": [USER],
            "userName": "bo@example.org",
            "name": {"givenName": "Bo", "familyName": "Lund"},
            "emails": [{"primary": True, "value": "bo@example.org", "type": "work"}],
            "displayName": "Bo Lund",
            "locale": "en-US",
            "externalId": "00ujl29u0le5T6Aj10h7",
            "groups": [],
            "password": "1mz050nq",
            "active": True,
        }
        bo = (await idp.ask("POST", "/Users", 201, json=body)).json()
        assert "password" not in bo
        assert (await us.get("admin", f"/users/{bo['id']}"))["can_sign_in"] is False
        assert (await idp.ask("POST", "/Users", 409, json=body)).json()["scimType"] == "uniqueness"
        read = (await idp.ask("GET", f"/Users/{bo['id']}", 200)).json()
        read["name"]["familyName"], read["displayName"] = "Lundh", "Bo Lundh"
        put = (await idp.ask("PUT", f"/Users/{bo['id']}", 200, json=read)).json()
        assert (put["displayName"], put["externalId"]) == ("Bo Lundh", "00ujl29u0le5T6Aj10h7")
        person = us.people["viewer"].__class__(bo["id"], us.people["viewer"].tenant_id, "bo@example.org")
        session, key = await add_session(us.database, person), await add_key(us.database, person)
        async with asking(us.app) as client:
            for headers in (cookie(session), bearer(key)):
                assert (await client.get("/me", headers=headers)).status_code == 200
            await idp.patch(f"/Users/{bo['id']}", {"op": "replace", "value": {"active": False}})
            for headers in (cookie(session), bearer(key)):
                assert (await client.get("/me", headers=headers)).status_code == 401
        await idp.patch(f"/Users/{bo['id']}", {"op": "replace", "value": {"active": True}})
        assert (await us.get("admin", f"/users/{bo['id']}"))["active"] is True

    async def test_pushes_a_group(self, idp: IdentityProvider) -> None:
        ids = [(await idp.user(f"user{number}@example.org"))["id"] for number in range(3)]
        group = await idp.group("Finance", ids[0])
        path = f"/Groups/{group['id']}"
        await idp.patch(path, {"op": "replace", "value": {"id": group["id"], "displayName": "Finance team"}})
        await idp.patch(
            path,
            {"op": "remove", "path": f'members[value eq "{ids[0]}"]'},
            {"op": "add", "path": "members", "value": [{"value": ids[1], "display": "user1@example.org"}]},
        )
        assert [one["value"] for one in (await idp.ask("GET", path, 200)).json()["members"]] == [ids[1]]
        await idp.patch(path, {"op": "replace", "path": "members", "value": [{"value": ids[0]}, {"value": ids[2]}]})
        whole = (await idp.ask("GET", path, 200)).json()
        assert [one["value"] for one in whole["members"]] == sorted([ids[0], ids[2]])
        assert whole["displayName"] == "Finance team"
        replaced = (await idp.ask("PUT", path, 200, json={**whole, "members": [{"value": ids[1]}]})).json()
        assert [one["value"] for one in replaced["members"]] == [ids[1]]
        await idp.ask("DELETE", path, 204)


class TestGroupsGiveRoles:
    async def test_in_spaces_beside_those_that_were_assigned(self, us: Team, idp: IdentityProvider) -> None:
        ann, bea = [(await idp.user(name))["id"] for name in ("ann@example.org", "bea@example.org")]
        members = f"/spaces/{us.space}/members"
        assert (await us.ask("admin", "PUT", f"{members}/{bea}", json={"role": "runner"})).status_code == 200
        group, other = await idp.group("Editors", ann, bea), await idp.group("Viewers", ann)
        await self._map(us, group, Role.EDITOR)
        await self._map(us, other, Role.VIEWER)
        assert await self._roles(us, ann, bea) == {ann: ("editor", None, "editor"), bea: ("editor", "runner", "editor")}
        refused = await us.ask("admin", "DELETE", f"{members}/{ann}")
        assert (refused.status_code, refused.json()["code"]) == (409, "member_of_group")
        await idp.patch(f"/Groups/{group['id']}", {"op": "replace", "path": "members", "value": []})
        assert await self._roles(us, ann, bea) == {ann: ("viewer", None, "viewer"), bea: ("runner", "runner", None)}
        await idp.patch(f"/Groups/{group['id']}", {"op": "add", "path": "members", "value": [{"value": bea}]})
        assert (await us.ask("admin", "DELETE", f"{members}/{bea}")).status_code == 204
        assert (await self._roles(us, ann, bea))[bea] == ("editor", None, "editor")
        await idp.ask("DELETE", f"/Groups/{other['id']}", 204)
        assert await self._roles(us, ann, bea) == {bea: ("editor", None, "editor")}
        await self._map(us, group, Role.RUNNER)
        assert (await self._roles(us, ann, bea))[bea] == ("runner", None, "runner")
        path = f"/directory/groups/{group['id']}/roles/{us.space}"
        assert (await us.ask("admin", "DELETE", path)).status_code == 204
        assert await self._roles(us, ann, bea) == {}
        assert (await us.ask("admin", "DELETE", path)).json()["code"] == "directory_group_not_mapped"

    async def _map(self, us: Team, group: Any, role: Role) -> None:
        path = f"/directory/groups/{group['id']}/roles/{us.space}"
        answer = await us.ask("admin", "PUT", path, json={"role": role.value})
        assert answer.status_code == 200, answer.text

    async def _roles(self, us: Team, *ids: str) -> dict[str, tuple[str, str | None, str | None]]:
        items = (await us.get("admin", f"/spaces/{us.space}/members", params={"limit": 200}))["items"]
        return {
            one["user_id"]: (one["role"], one["assigned_role"], one["directory_role"])
            for one in items
            if one["user_id"] in ids
        }
