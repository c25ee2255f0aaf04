"""What a directory may and may not do: tokens, tenants, admins, hostile requests, requests at once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from headgate.features.access.principal import DEFAULT_TENANT_ID, Actor
from headgate.features.accounts.directory.tables import DirectoryGroupMember, DirectoryUser
from headgate.features.accounts.single_sign_on.errors import EmailMissing, ShutOut
from headgate.features.accounts.single_sign_on.service import admit
from headgate.features.accounts.single_sign_on.sign_on import ProviderIdentity
from headgate.features.accounts.tables import SpaceMember, User
from headgate.features.accounts.tenants.service import create_tenant
from headgate.features.audit.tables import AuditEvent
from headgate.foundation.ids import new_id
from headgate.foundation.settings import RateLimitSettings, Settings, SingleSignOnSettings
from tests.support.directory import PATCH, SCIM, USER, IdentityProvider, provider, token_of
from tests.support.people import add_key, asking, bearer
from tests.support.team import Team, team

MANY = 10_000
BAD_FILTERS = [
    "(" * 900 + 'userName eq "x"' + ")" * 900,
    "not (" * 300 + 'userName eq "x"' + ")" * 300,
    " or ".join(['id eq "x"'] * 200),
    'userName eq "' + "x" * 5000 + '"',
    'userName like "x"',
    "userName eq",
    'password_hash eq "x"',
    'User.password_hash eq "x"',
    "active gt true",
    'meta.created gt "yesterday"',
    "userName eq 5",
    'userName eq "x" userName',
    "userName eq \"x'; DROP TABLE users; --",
    'userName eq "\\u0000"',
    'members[value eq "x"]',
]
BAD_BODIES = [
    b'{"userName": "a@x.org", "USERNAME": "b@x.org"}',
    b'{"userName": "a@x.org", "urn:ietf:params:scim:schemas:core:2.0:User:userName": "b@x.org"}',
    b"[1]",
    b"nothing",
    b'{"userName": NaN}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\xff\xfe",
]
BAD_VALUES: list[dict[str, Any]] = [
    {"userName": None},
    {"userName": "no address"},
    {"userName": "x" * 300 + "@example.org"},
    {"userName": "a\x00@example.org"},
    {"displayName": "turned \u202e around"},
    {"displayName": ["a"]},
    {"active": "perhaps"},
    {"active": 1},
    {"emails": "a@example.org"},
    {"emails": [{"value": "no address"}]},
    {"name": "Anna"},
    {"externalId": "x" * 300},
]
BAD_OPERATIONS: list[tuple[dict[str, Any], str]] = [
    ({"op": "move", "path": "active", "value": True}, "invalidSyntax"),
    ({"op": "remove"}, "noTarget"),
    ({"op": "replace", "value": "x"}, "invalidValue"),
    ({"op": "replace", "path": "active["}, "invalidValue"),
    ({"op": "replace", "path": "active[", "value": True}, "invalidPath"),
    ({"op": "replace", "path": 5, "value": True}, "invalidPath"),
    ({"op": "replace", "path": "emails[" + "(" * 1000, "value": "x"}, "invalidPath"),
    ({"op": "replace", "path": 'emails[type ne "work"].value', "value": "x@y.z"}, "noTarget"),
    ({"op": "remove", "path": "userName"}, "invalidValue"),
]


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(api_per_minute=100_000)) as found:
        yield found


@pytest.fixture
async def idp(us: Team) -> AsyncIterator[IdentityProvider]:
    async with provider(us.app, await token_of(us.database)) as found:
        yield found


async def actions(us: Team) -> list[str]:
    """What the audit log has, oldest first."""
    async with us.database.reading() as session:
        return list((await session.execute(select(AuditEvent.action).order_by(AuditEvent.seq))).scalars())


class TestToken:
    async def test_is_created_rotated_and_revoked_by_admins_and_shown_once(self, us: Team) -> None:
        reads = await us.answers("GET", "/directory")
        assert {who for who, status in reads.items() if status == 200} == {"admin"}
        for who in ("owner", "viewer", "stranger"):
            assert (await us.ask(who, "POST", "/directory/token", json={})).status_code == 403
        assert (await us.get("admin", "/directory"))["token"] is None
        assert (await us.ask("admin", "DELETE", "/directory/token")).json()["code"] == "directory_not_connected"
        first = await us.make("admin", "/directory/token")
        shown = await us.get("admin", "/directory")
        assert shown["address"] == SCIM
        assert shown["token"]["prefix"] == first["prefix"] == first["token"][:16]
        assert first["token"] not in str(shown)
        async with provider(us.app, first["token"]) as idp:
            await idp.ask("GET", "/Users", 200)
            second = await us.make("admin", "/directory/token")
            refused = await idp.ask("GET", "/Users", 401)
            assert refused.json()["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
            assert refused.headers["www-authenticate"] == "Bearer"
        async with provider(us.app, second["token"]) as idp:
            await idp.user("anna@example.org")
            seen = await us.get("admin", "/directory")
            assert (seen["users"], seen["token"]["last_used_address"]) == (1, "127.0.0.1")
            assert seen["last_change_at"] is not None
            assert (await us.ask("admin", "DELETE", "/directory/token")).status_code == 204
            await idp.ask("GET", "/Users", 401)
        found = await actions(us)
        assert [one for one in found if one.startswith("directory.")] == [
            "directory.token_created",
            "directory.token_rotated",
            "directory.disconnected",
        ]
        async with us.database.reading() as session:
            rows = (await session.execute(select(AuditEvent.payload))).scalars().all()
        assert not any(token in str(rows) for token in (first["token"], second["token"]))

    async def test_works_at_scim_alone_and_api_keys_do_not(self, us: Team) -> None:
        token, key = await token_of(us.database), await add_key(us.database, us.people["admin"])
        async with asking(us.app) as client:
            assert (await client.get("/users", headers=bearer(token))).status_code == 401
            assert (await client.get("/me", headers={"x-api-key": token})).status_code == 401
            for headers in (bearer(key), bearer(""), {}, {**bearer(token), "x-api-key": key}):
                assert (await client.get(f"{SCIM}/Users", headers=headers)).status_code == 401

    async def test_is_bound_to_networks(self, us: Team) -> None:
        token = await token_of(us.database, networks=["192.0.2.0/24"])
        async with provider(us.app, token, "192.0.2.7") as idp:
            await idp.ask("GET", "/Users", 200)
        async with provider(us.app, token, "198.51.100.1") as idp:
            assert "192.0.2" not in (await idp.ask("GET", "/Users", 403)).text

    async def test_of_a_directory_that_is_rotated_in_the_middle_changes_nothing(self, us: Team) -> None:
        """The change waits for the rotation, and then holds an old token."""
        token = await token_of(us.database)
        async with provider(us.app, token) as idp:
            answers = await asyncio.gather(
                us.ask("admin", "POST", "/directory/token", json={}),
                *(idp.ask("POST", "/Users", json={"schemas": [USER], "userName": f"u{n}@x.org"}) for n in range(5)),
            )
            statuses = {one.status_code for one in answers[1:]}
            assert statuses <= {201, 401}
            assert (await idp.ask("GET", "/Users")).status_code == 401


class TestUsers:
    async def test_of_the_same_address_are_linked_and_only_then_seen(self, us: Team, idp: IdentityProvider) -> None:
        viewer = us.people["viewer"]
        assert await idp.names("/Users", 'userName eq "viewer@example.org"') == []
        await idp.ask("GET", f"/Users/{viewer.id}", 404)
        await idp.ask("DELETE", f"/Users/{viewer.id}", 404)
        linked = await idp.user("viewer@example.org", displayName="Vera", externalId="v1")
        assert linked["id"] == viewer.id
        assert (await us.get("viewer", f"/spaces/{us.space}"))["role"] == "viewer"
        assert (await us.get("admin", f"/users/{viewer.id}"))["name"] == "Vera"
        assert "user.directory_linked" in await actions(us)

    async def test_include_no_admin_whose_address_a_directory_could_take(self, us: Team, idp: IdentityProvider) -> None:
        admin = await idp.user("admin@example.org")
        operation = {"op": "replace", "path": "userName", "value": "mallory@example.org"}
        refused = await idp.patch(f"/Users/{admin['id']}", operation, expect=409)
        assert "admin" in refused.json()["detail"]
        assert (await us.get("admin", f"/users/{admin['id']}"))["email"] == "admin@example.org"
        assert (await idp.ask("GET", f"/Users/{admin['id']}", 200)).json()["userName"] == "admin@example.org"

    async def test_include_a_last_admin_whom_no_directory_shuts_out(self, us: Team, idp: IdentityProvider) -> None:
        admin = us.people["admin"]
        async with us.database.writing() as session:
            await session.execute(update(User).where(User.id == admin.id).values(password_hash="x"))
        inactive = {"schemas": [USER], "userName": "admin@example.org", "active": False}
        refused = await idp.ask("POST", "/Users", 409, json=inactive)
        assert "only admin" in refused.json()["detail"]
        assert await idp.names("/Users", "userName pr") == []
        await idp.user("admin@example.org")
        off = {"op": "replace", "value": {"active": False}}
        assert "only admin" in (await idp.patch(f"/Users/{admin.id}", off, expect=409)).json()["detail"]
        assert "only admin" in (await idp.ask("DELETE", f"/Users/{admin.id}", 409)).json()["detail"]
        assert (await us.get("admin", f"/users/{admin.id}"))["active"] is True
        async with us.database.writing() as session:
            other = {"role": "admin", "password_hash": "x"}
            await session.execute(update(User).where(User.id == us.people["owner"].id).values(**other))
        await idp.patch(f"/Users/{admin.id}", off)

    async def test_created_twice_at_once_are_one(self, us: Team, idp: IdentityProvider) -> None:
        body = {"schemas": [USER], "userName": "twin@example.org", "externalId": "t"}
        answers = await asyncio.gather(*(idp.ask("POST", "/Users", json=body) for _ in range(6)))
        assert sorted(one.status_code for one in answers) == [201, *[409] * 5]
        assert {one.json().get("scimType") for one in answers} == {None, "uniqueness"}
        async with us.database.reading() as session:
            count = select(func.count()).select_from(User).where(User.email == "twin@example.org")
            assert (await session.execute(count)).scalar_one() == 1

    async def test_deleted_here_are_gone_from_the_directory(self, us: Team, idp: IdentityProvider) -> None:
        anna = await idp.user("anna@example.org", externalId="a-1", name={"givenName": "Anna", "familyName": "Ek"})
        group = await idp.group("Staff", anna["id"])
        before = (await idp.ask("GET", f"/Groups/{group['id']}", 200)).headers["etag"]
        assert (await us.ask("admin", "DELETE", f"/users/{anna['id']}")).status_code == 204
        await idp.ask("GET", f"/Users/{anna['id']}", 404)
        after = await idp.ask("GET", f"/Groups/{group['id']}", 200)
        assert after.json()["members"] == []
        assert after.headers["etag"] != before
        async with us.database.reading() as session:
            assert (await session.execute(select(DirectoryUser))).all() == []

    async def test_follow_their_user_name_where_it_is_their_address(self, us: Team, idp: IdentityProvider) -> None:
        anna = await idp.user("anna@example.org")
        await idp.patch(f"/Users/{anna['id']}", {"op": "replace", "value": {"userName": "anna.ek@example.org"}})
        assert (await us.get("admin", f"/users/{anna['id']}"))["email"] == "anna.ek@example.org"
        bo = await idp.user("bo", emails=[{"value": "Bo@example.org"}])
        await idp.patch(f"/Users/{bo['id']}", {"op": "replace", "path": "userName", "value": "bosse"})
        assert (await us.get("admin", f"/users/{bo['id']}"))["email"] == "bo@example.org"
        taken = {"op": "replace", "path": "userName", "value": "ANNA.ek@example.org"}
        assert (await idp.patch(f"/Users/{bo['id']}", taken, expect=409)).json()["scimType"] == "uniqueness"


class TestSignIn:
    async def test_through_the_provider_finds_users_of_the_directory(self, us: Team, idp: IdentityProvider) -> None:
        settings = SingleSignOnSettings()
        anna = await idp.user("anna@example.org", externalId="00u1")
        bo = await idp.user("bo@example.org", externalId="twice")
        await idp.user("cy@example.org", externalId="twice")
        assert await self._admitted(us, "00u1", None, settings) == anna["id"]
        assert await self._admitted(us, "00u1", None, settings) == anna["id"]
        assert await self._admitted(us, "other", "bo@example.org", settings) == bo["id"]
        for subject in ("twice", "00u2", "00U1"):
            with pytest.raises(EmailMissing):
                await self._admitted(us, subject, None, settings)
        await idp.patch(f"/Users/{anna['id']}", {"op": "replace", "value": {"active": False}})
        with pytest.raises(ShutOut):
            await self._admitted(us, "00u1", None, settings)

    async def _admitted(self, us: Team, subject: str, email: str | None, settings: SingleSignOnSettings) -> str:
        issuer = "https://login.example.org"
        vouched = ProviderIdentity(
            issuer, subject, email, email_verified=email is not None, name="Somebody", admin=None
        )
        async with us.database.writing() as session:
            return (await admit(session, vouched, settings, address="")).id


class TestVersions:
    async def test_refuse_a_change_of_something_else_than_was_read(self, us: Team, idp: IdentityProvider) -> None:
        anna = await idp.user("anna@example.org")
        path, version = f"/Users/{anna['id']}", anna["meta"]["version"]
        unchanged = await idp.ask("GET", path, 304, headers={"If-None-Match": version})
        assert unchanged.content == b""
        await us.ask("admin", "PATCH", f"/users/{anna['id']}", json={"name": "Changed here"})
        body = {"schemas": [USER], "userName": "anna@example.org", "displayName": "Old"}
        refused = await idp.ask("PUT", path, 412, json=body, headers={"If-Match": version})
        assert refused.json()["status"] == "412"
        fresh = (await idp.ask("GET", path, 200)).headers["etag"]
        await idp.ask("PUT", path, 200, json=body, headers={"If-Match": fresh})
        group = await idp.group("Staff")
        at = f"/Groups/{group['id']}"
        await idp.patch(at, {"op": "add", "path": "members", "value": [{"value": anna["id"]}]})
        await idp.ask("DELETE", at, 412, headers={"If-Match": group["meta"]["version"]})
        await idp.ask("DELETE", at, 204, headers={"If-Match": "*"})


class TestLists:
    async def test_are_filtered_sorted_and_cut(self, us: Team, idp: IdentityProvider) -> None:
        for number, name in enumerate(("åsa", "bo", "Cecilia")):
            await idp.user(f"{name.lower()}@example.org", displayName=name, externalId=f"X{number}", active=number != 1)
        expected = {
            'displayName eq "Åsa" or displayName eq "åsa"': ["åsa@example.org"],
            'userName co "EXAMPLE" and not (active eq true)': ["bo@example.org"],
            'emails[type eq "work" and value sw "ceci"]': ["cecilia@example.org"],
            'externalId eq "x0"': [],
            'externalId sw "X" and externalId ne "X0"': ["bo@example.org", "cecilia@example.org"],
            'userName ew "o@example.org"': ["bo@example.org"],
            'name.familyName pr or displayName eq "BO"': ["bo@example.org"],
            'meta.created gt "2000-01-01T00:00:00Z" and userName sw "b"': ["bo@example.org"],
            'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "bo@example.org"': ["bo@example.org"],
            'userName co "%" or userName co "_"': [],
            'groups.value eq "x"': [],
        }
        for text, names in expected.items():
            assert await idp.names("/Users", text) == names, text

        async def page(**params: Any) -> Any:
            return (await idp.ask("GET", "/Users", 200, params=params)).json()

        assert (await page(count=0))["totalResults"] == 3
        assert (await page(count=0))["Resources"] == []
        assert (await page(count=10**40, startIndex=10**40))["itemsPerPage"] == 0
        assert (await page(count=-5, startIndex=-7))["startIndex"] == 1
        second = await page(sortBy="externalId", sortOrder="descending", startIndex=2, count=1)
        assert [one["userName"] for one in second["Resources"]] == ["bo@example.org"]
        few = (await page(attributes="userName,emails.value,GROUPS"))["Resources"][0]
        assert set(few) == {"schemas", "id", "userName", "emails", "groups"}
        assert set(few["emails"][0]) == {"value"}
        less = (await page(excludedAttributes="name.givenName, emails,id"))["Resources"][0]
        assert "emails" not in less
        assert "id" in less

    async def test_refuse_filters_that_cannot_be_used(self, idp: IdentityProvider) -> None:
        for text in BAD_FILTERS:
            answer = await idp.ask("GET", "/Users", 400, params={"filter": text})
            assert (answer.json()["scimType"], answer.json()["status"]) == ("invalidFilter", "400"), text


class TestHostileRequests:
    async def test_that_are_no_user_are_refused(self, idp: IdentityProvider) -> None:
        for body in BAD_BODIES:
            answer = await idp.ask("POST", "/Users", 400, content=body)
            assert answer.json()["scimType"] == "invalidSyntax", body[:50]

    async def test_with_wrong_values_create_nobody(self, idp: IdentityProvider) -> None:
        for more in BAD_VALUES:
            body = {"schemas": [USER], "userName": "a@example.org", **more}
            assert (await idp.ask("POST", "/Users", 400, json=body)).json()["scimType"] == "invalidValue", more
        assert (await idp.ask("GET", "/Users", 200)).json()["totalResults"] == 0

    async def test_with_wrong_operations_change_nothing(self, idp: IdentityProvider) -> None:
        anna = await idp.user("anna", emails=[{"value": "anna@example.org"}])
        path = f"/Users/{anna['id']}"
        first = {"op": "replace", "path": "displayName", "value": "Changed"}
        for operation, kind in BAD_OPERATIONS:
            answer = await idp.patch(path, first, operation, expect=400)
            assert answer.json()["scimType"] == kind, operation
        assert (await idp.ask("GET", path, 200)).json() == anna

    async def test_for_what_is_not_supported_are_answered_in_its_form(self, idp: IdentityProvider) -> None:
        config = (await idp.ask("GET", "/ServiceProviderConfig", 200)).json()
        assert (config["bulk"]["supported"], config["patch"]["supported"]) == (False, True)
        for method, path in (("POST", "/Bulk"), ("GET", "/Me"), ("GET", "/Users/x"), ("GET", "/Schemas/x")):
            answer = await idp.ask(method, path, 404)
            assert answer.headers["content-type"].startswith("application/scim+json")
            assert answer.json()["status"] == "404"
        schemas = (await idp.ask("GET", "/Schemas", 200)).json()["Resources"]
        for one in schemas:
            assert (await idp.ask("GET", f"/Schemas/{one['id']}", 200)).json() == one
        assert (await idp.ask("GET", "/ResourceTypes/User", 200)).json()["endpoint"] == "/Users"

    async def test_with_ten_thousand_members_are_one_change(self, us: Team, idp: IdentityProvider) -> None:
        ids = [new_id() for _ in range(MANY)]
        async with us.database.writing() as session:
            who = [(one, f"u{number}", {"tenant_id": DEFAULT_TENANT_ID}) for number, one in enumerate(ids)]
            users = [{"id": one, "name": name, "email": f"{name}@x.org", **of} for one, name, of in who]
            await session.execute(insert(User), users)
            entries = [{"user_id": one, "user_name": name, "user_name_key": name, **of} for one, name, of in who]
            await session.execute(insert(DirectoryUser), entries)
        group = await idp.group("Everybody")
        path = f"/directory/groups/{group['id']}/roles/{us.space}"
        assert (await us.ask("admin", "PUT", path, json={"role": "viewer"})).status_code == 200
        operation = {"op": "add", "path": "members", "value": [{"value": one} for one in ids]}
        foreign = {"op": "add", "path": "members", "value": [*operation["value"], {"value": new_id()}]}
        refused = await idp.patch(f"/Groups/{group['id']}", foreign, expect=400)
        assert refused.json()["scimType"] == "invalidValue"
        assert await self._counts(us) == (0, 0)
        await idp.patch(f"/Groups/{group['id']}", operation)
        assert await self._counts(us) == (MANY, MANY)
        assert len((await idp.ask("GET", f"/Groups/{group['id']}", 200)).json()["members"]) == MANY
        await idp.patch(f"/Groups/{group['id']}", {"op": "remove", "path": "members"})
        assert await self._counts(us) == (0, 0)
        too_many = {"op": "add", "path": "members", "value": [{"value": "x"}] * 20_001}
        refused = await idp.patch(f"/Groups/{group['id']}", too_many, expect=400)
        assert refused.json()["scimType"] == "tooMany"
        operations = [{"op": "add", "path": "displayName", "value": "x"}] * 1001
        body = {"schemas": [PATCH], "Operations": operations}
        assert (await idp.ask("PATCH", f"/Groups/{group['id']}", 400, json=body)).json()["scimType"] == "tooMany"

    async def _counts(self, us: Team) -> tuple[int, int]:
        async with us.database.reading() as session:
            in_group = select(func.count()).select_from(DirectoryGroupMember)
            by_group = select(func.count()).select_from(SpaceMember).where(SpaceMember.directory_role.is_not(None))
            return (await session.execute(in_group)).scalar_one(), (await session.execute(by_group)).scalar_one()


class TestGroups:
    async def test_changed_at_once_leave_the_role_that_both_give(self, us: Team, idp: IdentityProvider) -> None:
        """Two groups give one user a role; each change sees the other's, whichever comes first."""
        anna = await idp.user("anna@example.org")
        made = [await idp.group(f"Group {number}") for number in range(2)]
        for one, role in zip(made, ("editor", "viewer"), strict=True):
            await us.ask("admin", "PUT", f"/directory/groups/{one['id']}/roles/{us.space}", json={"role": role})
        add = {"op": "add", "path": "members", "value": [{"value": anna["id"]}]}
        await asyncio.gather(*(idp.patch(f"/Groups/{one['id']}", add) for one in made))
        assert await self._role(us, anna["id"]) == "editor"
        remove = {"op": "remove", "path": f'members[value eq "{anna["id"]}"]'}
        await asyncio.gather(
            idp.patch(f"/Groups/{made[0]['id']}", remove),
            us.ask("admin", "PUT", f"/directory/groups/{made[1]['id']}/roles/{us.space}", json={"role": "runner"}),
        )
        assert await self._role(us, anna["id"]) == "runner"

    async def _role(self, us: Team, user_id: str) -> str:
        items = (await us.get("admin", f"/spaces/{us.space}/members", params={"limit": 200}))["items"]
        return str({one["user_id"]: one["role"] for one in items}[user_id])

    async def test_are_mapped_by_admins_to_spaces_that_are_there(self, us: Team, idp: IdentityProvider) -> None:
        group = await idp.group("Staff")
        path = f"/directory/groups/{group['id']}/roles"
        for who in ("owner", "stranger"):
            assert (await us.ask(who, "PUT", f"{path}/{us.space}", json={"role": "owner"})).status_code == 403
        assert (await us.ask("admin", "PUT", f"{path}/{new_id()}", json={"role": "owner"})).status_code == 404
        nowhere = f"/directory/groups/{new_id()}/roles/{us.space}"
        assert (await us.ask("admin", "PUT", nowhere, json={"role": "owner"})).status_code == 404
        assert (await us.ask("admin", "PUT", f"{path}/{us.space}", json={"role": "king"})).status_code == 422
        assert (await us.ask("admin", "PUT", f"{path}/{us.space}", json={"role": "owner"})).status_code == 200
        (shown,) = (await us.get("admin", "/directory/groups"))["items"]
        roles = [{"space_id": us.space, "space_name": "Research", "role": "owner"}]
        assert shown == {"id": group["id"], "name": "Staff", "members": 0, "roles": roles}


class TestTenants:
    async def test_see_and_change_nothing_of_another(self, us: Team, idp: IdentityProvider) -> None:
        async with us.database.writing() as session:
            await create_tenant(session, Actor("command", "test"), name="Other")
        anna = await idp.user("anna@example.org", externalId="a")
        group = await idp.group("Staff", anna["id"])
        async with provider(us.app, await token_of(us.database, "Other")) as them:
            twin = await them.user("anna@example.org", externalId="a")
            assert twin["id"] != anna["id"]
            other = await them.group("Staff")
            mine = f'id eq "{anna["id"]}"'
            assert await them.names("/Users", mine) == []
            assert await them.names("/Groups", f'id eq "{group["id"]}" or members.value eq "{anna["id"]}"') == []
            assert await them.names("/Users", f'groups.value eq "{group["id"]}"') == []
            off = {"op": "replace", "value": {"active": False, "displayName": "x"}}
            for path in (f"/Users/{anna['id']}", f"/Groups/{group['id']}"):
                await them.ask("GET", path, 404)
                await them.ask("PUT", path, 404, json={"userName": "x@y.z", "displayName": "x"})
                await them.patch(path, off, expect=404)
                await them.ask("DELETE", path, 404)
            add = {"op": "add", "path": "members", "value": [{"value": anna["id"]}]}
            refused = await them.patch(f"/Groups/{other['id']}", add, expect=400)
            never = await them.patch(f"/Groups/{other['id']}", {**add, "value": [{"value": new_id()}]}, expect=400)
            assert refused.json()["detail"][:28] == never.json()["detail"][:28]
            remove = {"op": "remove", "path": f'members[value eq "{anna["id"]}"]'}
            await them.patch(f"/Groups/{other['id']}", remove)
        assert (await idp.ask("GET", f"/Users/{anna['id']}", 200)).json()["active"] is True
        whole = (await idp.ask("GET", f"/Groups/{group['id']}", 200)).json()
        assert ([one["value"] for one in whole["members"]], whole["displayName"]) == ([anna["id"]], "Staff")


class TestLastUse:
    async def test_is_written_once_a_minute(self, us: Team, idp: IdentityProvider) -> None:
        await idp.ask("GET", "/Users", 200)
        first = (await us.get("admin", "/directory"))["token"]["last_used_at"]
        await idp.ask("GET", "/Users", 200)
        assert (await us.get("admin", "/directory"))["token"]["last_used_at"] == first
        assert first is not None
