"""API keys through the real application: made once, listed without their secret, revoked, and never widened."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import select

from headgate.features.access.permissions import Role, TenantRole, of_role, of_tenant_role
from headgate.features.access.principal import DEFAULT_SPACE_ID
from headgate.features.accounts.keys import service
from headgate.features.accounts.keys.secret import hash_of, is_key, prefix_of
from headgate.features.accounts.tables import ApiKey
from headgate.features.audit.tables import AuditEvent
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id
from tests.support.people import (
    Person,
    add_key,
    add_session,
    add_space_row,
    add_tenant_row,
    add_user,
    bearer,
    cookie,
)


@dataclass(frozen=True)
class Desk:
    """A person who is signed in, and what they send."""

    client: httpx2.AsyncClient
    database: Database
    person: Person
    headers: dict[str, str]

    async def make(self, headers: dict[str, str] | None = None, **body: Any) -> httpx2.Response:
        return await self.client.post("/api-keys", headers=headers or self.headers, json={"name": "robot", **body})

    async def made(self, **body: Any) -> dict[str, Any]:
        answer = await self.make(**body)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def listed(self, **params: Any) -> list[dict[str, Any]]:
        answer = await self.client.get("/api-keys", headers=self.headers, params=params)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["items"]
        return found

    async def other(self, email: str = "other@example.org", *, admin: bool = False, tenant_id: str = "") -> "Desk":
        person = await add_user(
            self.database, email, admin=admin, tenant_id=tenant_id or self.person.tenant_id, roles={}
        )
        return Desk(self.client, self.database, person, cookie(await add_session(self.database, person)))


@pytest.fixture
async def desk(stranger: httpx2.AsyncClient, database: Database) -> Desk:
    person = await add_user(database, "ana@example.org", roles={DEFAULT_SPACE_ID: Role.PUBLISHER})
    return Desk(stranger, database, person, cookie(await add_session(database, person)))


class TestMaking:
    async def test_shows_the_key_once_and_keeps_its_hash(self, desk: Desk) -> None:
        made = await desk.made()
        key = made["key"]
        assert is_key(key)
        assert made["prefix"] == prefix_of(key)
        (listed,) = await desk.listed()
        assert listed == {name: value for name, value in made.items() if name != "key"}
        assert listed["user"] == {"id": desk.person.id, "name": "ana", "email": "ana@example.org"}
        async with desk.database.reading() as session:
            row = (await session.execute(select(ApiKey))).scalar_one()
        assert row.secret_hash == hash_of(key)
        assert key[len(row.prefix) :] not in repr(vars(row))

    async def test_gives_a_key_that_works(self, desk: Desk) -> None:
        key = (await desk.made())["key"]
        answer = await desk.client.get("/api-keys", headers=bearer(key))
        assert answer.status_code == 200

    async def test_expands_a_role_when_the_key_is_made(self, desk: Desk) -> None:
        made = await desk.made(scopes=["runner", "account.view"])
        assert made["scopes"] == sorted({*of_role(Role.RUNNER), "account.view"})

    async def test_may_ask_for_more_than_one_has_in_a_space_and_gets_nothing_by_it(self, desk: Desk) -> None:
        made = await desk.made(scopes=["spaces.manage", "account.view"])
        answer = await desk.client.patch(
            f"/spaces/{DEFAULT_SPACE_ID}", headers=bearer(made["key"]), json={"name": "Renamed"}
        )
        assert (answer.status_code, answer.json()["permission"]) == (403, "spaces.manage")
        assert answer.json()["detail"].startswith("You lack"), "the key has it, the person has not"

    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ({"scopes": ["runs.strat"]}, 422, "scope_unknown"),
            ({"scopes": []}, 422, "bad_request"),
            ({"space_ids": []}, 422, "bad_request"),
            ({"name": ""}, 422, "bad_request"),
            ({"name": "a\x00b"}, 422, "bad_request"),
            ({"name": "x" * 101}, 422, "bad_request"),
            ({"expires_at": "2020-01-01T00:00:00Z"}, 422, "expiry_past"),
            ({"expires_at": "2120-01-01T00:00:00"}, 422, "bad_request"),
            ({"space_ids": [new_id()]}, 404, "space_not_found"),
            ({"space_ids": ["a' OR 1=1"]}, 422, "bad_request"),
            ({"user_id": "somebody"}, 422, "bad_request"),
            ({"secret_hash": "0" * 64}, 422, "bad_request"),
        ],
    )
    async def test_refuses(self, desk: Desk, body: dict[str, Any], status: int, code: str) -> None:
        answer = await desk.make(**body)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        assert await desk.listed() == []

    async def test_is_for_spaces_that_one_sees(self, desk: Desk) -> None:
        assert (await desk.made(space_ids=[DEFAULT_SPACE_ID]))["space_ids"] == [DEFAULT_SPACE_ID]
        hidden = await add_space_row(desk.database, "Hidden")
        answer = await desk.make(space_ids=[DEFAULT_SPACE_ID, hidden])
        assert (answer.status_code, answer.json()["code"]) == (404, "space_not_found")

    async def test_of_an_admin_stays_in_their_tenant(self, desk: Desk) -> None:
        admin = await desk.other("boss@example.org", admin=True)
        theirs = await add_space_row(
            desk.database, "Theirs", tenant_id=await add_tenant_row(desk.database, "Other tenant")
        )
        answer = await admin.make(space_ids=[theirs])
        assert (answer.status_code, answer.json()["code"]) == (404, "space_not_found")

    async def test_ends_at_so_many_working_keys(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "MOST_KEYS", 3)
        made = [await desk.made() for _ in range(3)]
        assert (await desk.make()).json()["code"] == "too_many_keys"
        await desk.client.delete(f"/api-keys/{made[0]['id']}", headers=desk.headers)
        await desk.made()

    async def test_goes_into_the_audit_log_without_the_secret(self, desk: Desk) -> None:
        made = await desk.made(scopes=["runs.start"])
        await desk.client.delete(f"/api-keys/{made['id']}", headers=desk.headers)
        await desk.client.delete(f"/api-keys/{made['id']}", headers=desk.headers)
        async with desk.database.reading() as session:
            rows = (await session.execute(select(AuditEvent).order_by(AuditEvent.seq))).scalars().all()
        rows = [row for row in rows if row.resource_kind == "api_key"]
        assert [(row.action, row.resource_id, row.actor_id) for row in rows] == [
            ("api_key.created", made["id"], desk.person.id),
            ("api_key.revoked", made["id"], desk.person.id),
        ]
        assert rows[0].after_digest == rows[1].before_digest
        for row in rows:
            assert made["key"][12:] not in repr(
                {column.key: getattr(row, column.key) for column in row.__table__.columns}
            )


class TestAKeyThatMakesKeys:
    async def test_hands_on_what_it_has(self, desk: Desk) -> None:
        until = (now() + timedelta(days=1)).isoformat()
        first = await desk.made(
            scopes=["account.change", "account.view", "runs.start"], space_ids=[DEFAULT_SPACE_ID], expires_at=until
        )
        answer = await desk.make(
            bearer(first["key"]), scopes=["runs.start"], space_ids=[DEFAULT_SPACE_ID], expires_at=until
        )
        assert answer.status_code == 201, answer.text
        assert answer.json()["user"]["id"] == desk.person.id

    async def test_takes_them_along_when_it_is_revoked(self, desk: Desk) -> None:
        own = await desk.made(name="made by the person")
        stolen = await desk.made(name="stolen")
        more = (await desk.make(bearer(stolen["key"]), name="more of it")).json()
        again = (await desk.make(bearer(more["key"]), name="and again")).json()
        answer = await desk.client.delete(f"/api-keys/{stolen['id']}", headers=desk.headers)
        assert answer.status_code == 200, answer.text
        for key, status in ((own, 200), (stolen, 401), (more, 401), (again, 401)):
            assert (await desk.client.get("/me", headers=bearer(key["key"]))).status_code == status, key["name"]
        async with desk.database.reading() as session:
            query = select(AuditEvent.resource_name).where(AuditEvent.action == "api_key.revoked")
            assert set(await session.scalars(query)) == {"stolen", "more of it", "and again"}

    async def test_makes_none_that_outlives_being_revoked_at_the_same_moment(self, desk: Desk) -> None:
        stolen = await desk.made()
        *made, _ = await asyncio.gather(
            *(desk.make(bearer(stolen["key"]), name=f"more {number}") for number in range(5)),
            desk.client.delete(f"/api-keys/{stolen['id']}", headers=desk.headers),
        )
        for answer in made:
            assert answer.status_code in {201, 401, 403}, answer.text
            if answer.status_code == 201:
                used = await desk.client.get("/me", headers=bearer(answer.json()["key"]))
                assert used.status_code == 401

    @pytest.mark.parametrize(
        "wish",
        [
            {"scopes": None},
            {"scopes": ["account.change", "runs.view"]},
            {"scopes": ["owner"]},
            {"scopes": ["admin"]},
            {"space_ids": None},
            {"expires_at": None},
            {"expires_at": (now() + timedelta(days=2)).isoformat()},
        ],
        ids=["every scope", "another scope", "an owner", "an admin", "every space", "no end", "a later end"],
    )
    async def test_never_makes_a_wider_one(self, desk: Desk, wish: dict[str, Any]) -> None:
        mine = {
            "scopes": ["account.change"],
            "space_ids": [DEFAULT_SPACE_ID],
            "expires_at": (now() + timedelta(days=1)).isoformat(),
        }
        first = await desk.made(**mine)
        answer = await desk.make(bearer(first["key"]), **{**mine, **wish})
        assert (answer.status_code, answer.json()["code"]) == (403, "key_too_wide"), answer.text
        assert len(await desk.listed()) == 1

    @pytest.mark.parametrize("role", list(Role))
    async def test_of_a_member_names_nothing_that_only_admins_may(self, desk: Desk, role: Role) -> None:
        """It would allow nothing today, and everything on the day its person becomes an admin."""
        person = await desk.other(f"{role}@example.org")
        only = sorted(of_tenant_role(TenantRole.ADMIN) - of_tenant_role(TenantRole.MEMBER))
        for scopes in (["admin"], ["runner", "admin"], *([one] for one in only)):
            answer = await person.make(scopes=scopes)
            assert (answer.status_code, answer.json()["code"]) == (403, "key_too_wide"), (role, scopes)
        for scopes in (["member"], [role.value], ["runs.start"]):
            assert (await person.make(scopes=scopes)).status_code == 201

    async def test_reaches_no_space_that_it_is_not_for(self, desk: Desk) -> None:
        other = await add_space_row(desk.database, "Other")
        owner = await add_user(desk.database, "bo@example.org", roles={DEFAULT_SPACE_ID: Role.OWNER, other: Role.OWNER})
        key = await add_key(desk.database, owner, space_ids=[DEFAULT_SPACE_ID])
        answer = await desk.make(bearer(key), space_ids=[other])
        assert (answer.status_code, answer.json()["code"]) == (404, "space_not_found")

    async def test_of_a_narrow_admin_key_gets_no_further(self, desk: Desk) -> None:
        admin = await desk.other("boss@example.org", admin=True)
        key = await add_key(desk.database, admin.person, scopes=["account.change"])
        for scopes in (None, ["admin"], ["keys.manage"], ["account.change", "audit.view"]):
            assert (await desk.make(bearer(key), scopes=scopes)).json()["code"] == "key_too_wide"


class TestListing:
    async def test_shows_ones_own_alone(self, desk: Desk) -> None:
        mine = await desk.made()
        other = await desk.other()
        await other.made()
        assert [one["id"] for one in await desk.listed()] == [mine["id"]]

    async def test_of_everybody_needs_the_permission(self, desk: Desk) -> None:
        answer = await desk.client.get("/api-keys", headers=desk.headers, params={"everyone": True})
        assert (answer.status_code, answer.json()["permission"]) == (403, "keys.manage")

    async def test_of_everybody_stays_in_the_tenant(self, desk: Desk) -> None:
        mine = await desk.made()
        foreign = await desk.other("ana@example.org", tenant_id=await add_tenant_row(desk.database, "Other"))
        await foreign.made()
        admin = await desk.other("boss@example.org", admin=True)
        assert [one["id"] for one in await admin.listed(everyone=True)] == [mine["id"]]

    async def test_comes_in_pages(self, desk: Desk) -> None:
        made = [(await desk.made())["id"] for _ in range(3)]
        first = await desk.client.get("/api-keys", headers=desk.headers, params={"limit": 2})
        assert [one["id"] for one in first.json()["items"]] == made[:2]
        assert [one["id"] for one in await desk.listed(cursor=first.json()["next_cursor"])] == made[2:]


class TestRevoking:
    async def test_ends_a_key_at_once(self, desk: Desk) -> None:
        made = await desk.made()
        assert (await desk.client.get("/api-keys", headers=bearer(made["key"]))).status_code == 200
        answer = await desk.client.delete(f"/api-keys/{made['id']}", headers=desk.headers)
        assert answer.status_code == 200
        assert answer.json()["revoked_at"] is not None
        refused = await desk.client.get("/api-keys", headers=bearer(made["key"]))
        assert (refused.status_code, refused.json()["code"]) == (401, "key_refused")
        assert "was revoked" in refused.json()["detail"]

    async def test_twice_changes_nothing(self, desk: Desk) -> None:
        made = await desk.made()
        first = await desk.client.delete(f"/api-keys/{made['id']}", headers=desk.headers)
        second = await desk.client.delete(f"/api-keys/{made['id']}", headers=desk.headers)
        assert (second.status_code, second.json()) == (200, first.json())

    async def test_of_somebody_elses_is_not_found(self, desk: Desk) -> None:
        made = await desk.made()
        other = await desk.other()
        for key_id in (made["id"], made["prefix"], new_id(), "%"):
            answer = await desk.client.delete(f"/api-keys/{key_id}", headers=other.headers)
            assert (answer.status_code, answer.json()["code"]) == (404, "key_not_found")

    async def test_of_somebody_elses_is_an_admins(self, desk: Desk) -> None:
        made = await desk.made()
        admin = await desk.other("boss@example.org", admin=True)
        foreign = await desk.other(
            "boss@example.org", admin=True, tenant_id=await add_tenant_row(desk.database, "Other")
        )
        refused = await desk.client.delete(f"/api-keys/{made['id']}", headers=foreign.headers)
        assert refused.status_code == 404
        assert (await desk.client.delete(f"/api-keys/{made['id']}", headers=admin.headers)).status_code == 200
        (listed,) = await desk.listed()
        assert listed["revoked_at"] is not None
