"""Who sent a request: keys, sessions, neither, both, and what is wrong with them. The real application."""

import asyncio
from datetime import timedelta

import httpx2
import pytest
from fastapi import FastAPI, Request
from sqlalchemy import delete, update

from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, LOCAL, Principal
from headgate.features.accounts.credentials.credential import Kind
from headgate.features.accounts.errors import NotSignedIn, SessionOver
from headgate.features.accounts.keys.secret import new_key, prefix_of
from headgate.features.accounts.sessions.tokens import hash_of
from headgate.features.accounts.tables import ApiKey, Space, SpaceMember, User, UserSession
from headgate.foundation.database import Database, now
from headgate.foundation.settings import Settings
from tests.support.people import (
    Person,
    add_key,
    add_session,
    add_space_row,
    add_tenant_row,
    add_user,
    asking,
    bearer,
    cookie,
    running,
    signed_in,
)

MINE = "/api-keys"
"""An address that every signed-in person may read."""


async def ana(database: Database) -> Person:
    """Somebody who runs flows in the first space."""
    return await add_user(database, "ana@example.org", roles={DEFAULT_SPACE_ID: Role.RUNNER})


async def told(app: FastAPI, *headers: tuple[str, str]) -> Principal:
    """Who the application takes a GET with these headers for."""
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "scheme": "http",
        "server": ("127.0.0.1", 7411),
        "query_string": b"",
        "headers": raw,
        "client": ("192.0.2.7", 5),
    }
    found: Principal = await app.state.identity.identify(Request(scope))
    return found


class TestNobody:
    async def test_is_let_in(self, stranger: httpx2.AsyncClient) -> None:
        answer = await stranger.get(MINE)
        assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")
        assert answer.headers["WWW-Authenticate"] == "Bearer"

    async def test_comes_in_with_another_scheme(self, stranger: httpx2.AsyncClient) -> None:
        answer = await stranger.get(MINE, headers={"Authorization": "Basic dXNlcjpwYXNz"})
        assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")


class TestKey:
    async def test_opens_what_its_person_may(self, stranger: httpx2.AsyncClient, database: Database) -> None:
        key = await add_key(database, await ana(database))
        for headers in (bearer(key), {"x-api-key": key}, {"Authorization": f"bearer {key}"}):
            answer = await stranger.get(MINE, headers=headers)
            assert (answer.status_code, [one["prefix"] for one in answer.json()["items"]]) == (200, [prefix_of(key)])

    async def test_needs_no_proof_of_origin(self, stranger: httpx2.AsyncClient, database: Database) -> None:
        key = await add_key(database, await ana(database))
        answer = await stranger.post(MINE, headers=bearer(key), json={"name": "second"})
        assert answer.status_code == 201, answer.text

    async def test_is_named_as_the_actor(self, guarded: FastAPI, database: Database) -> None:
        person = await ana(database)
        key = await add_key(database, person, scopes=["runs.start"], space_ids=[DEFAULT_SPACE_ID])
        found = await told(guarded, ("Authorization", f"Bearer {key}"))
        assert (found.tenant_id, found.user_id) == (DEFAULT_TENANT_ID, person.id)
        assert (found.actor.kind, found.actor.name, found.actor.key_prefix) == ("key", person.email, prefix_of(key))
        assert found.actor.key_id is not None
        assert found.actor.address == "192.0.2.7"
        assert found.access.scopes == frozenset({Permission.RUNS_START})
        assert found.access.spaces == frozenset({DEFAULT_SPACE_ID})
        assert found.access.roles == {DEFAULT_SPACE_ID: Role.RUNNER}

    async def test_that_was_never_made_is_refused(self, stranger: httpx2.AsyncClient) -> None:
        answer = await stranger.get(MINE, headers=bearer(new_key()))
        assert (answer.status_code, answer.json()["code"]) == (401, "key_refused")
        assert answer.headers["WWW-Authenticate"] == "Bearer"

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            ({"revoked_at": now()}, "was revoked"),
            ({"expires_at": now() - timedelta(seconds=1)}, "has expired"),
        ],
    )
    async def test_that_is_over_is_refused_and_told_why(
        self, stranger: httpx2.AsyncClient, database: Database, more: dict[str, object], says: str
    ) -> None:
        key = await add_key(database, await ana(database), **more)
        answer = await stranger.get(MINE, headers=bearer(key))
        assert (answer.status_code, answer.json()["code"]) == (401, "key_refused")
        assert says in answer.json()["detail"]
        assert key not in answer.text

    async def test_of_somebody_who_was_shut_out_is_dead_at_once(
        self, stranger: httpx2.AsyncClient, database: Database
    ) -> None:
        person = await ana(database)
        key = await add_key(database, person)
        assert (await stranger.get(MINE, headers=bearer(key))).status_code == 200
        async with database.writing() as session:
            await session.execute(update(User).where(User.id == person.id).values(active=False))
        answer = await stranger.get(MINE, headers=bearer(key))
        assert (answer.status_code, answer.json()["code"]) == (401, "key_refused")

    async def test_goes_with_its_person(self, stranger: httpx2.AsyncClient, database: Database) -> None:
        person = await ana(database)
        key = await add_key(database, person)
        async with database.writing() as session:
            await session.execute(delete(User).where(User.id == person.id))
        assert (await stranger.get(MINE, headers=bearer(key))).status_code == 401

    async def test_loses_what_its_person_loses_at_once(self, guarded: FastAPI, database: Database) -> None:
        person = await ana(database)
        headers = ("Authorization", f"Bearer {await add_key(database, person)}")
        assert (await told(guarded, headers)).may(Permission.RUNS_START, DEFAULT_SPACE_ID)
        async with database.writing() as session:
            await session.execute(update(SpaceMember).where(SpaceMember.user_id == person.id).values(role="viewer"))
        fewer = await told(guarded, headers)
        assert fewer.may(Permission.RUNS_VIEW, DEFAULT_SPACE_ID)
        assert not fewer.may(Permission.RUNS_START, DEFAULT_SPACE_ID)
        async with database.writing() as session:
            await session.execute(delete(SpaceMember).where(SpaceMember.user_id == person.id))
        assert not (await told(guarded, headers)).sees(DEFAULT_SPACE_ID)

    async def test_of_an_admin_who_is_none_any_more_manages_nothing(self, guarded: FastAPI, database: Database) -> None:
        person = await add_user(database, "boss@example.org", admin=True)
        headers = ("x-api-key", await add_key(database, person))
        assert (await told(guarded, headers)).may(Permission.KEYS_MANAGE)
        async with database.writing() as session:
            await session.execute(update(User).where(User.id == person.id).values(role="member"))
        assert not (await told(guarded, headers)).may(Permission.KEYS_MANAGE)

    async def test_without_the_scope_is_told_which_and_that_it_is_the_key(
        self, stranger: httpx2.AsyncClient, database: Database
    ) -> None:
        key = await add_key(database, await ana(database), scopes=["account.view"])
        answer = await stranger.post(MINE, headers=bearer(key), json={"name": "second"})
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_missing")
        assert answer.json()["permission"] == "account.change"
        assert answer.json()["detail"].startswith("Your API key lacks")
        assert "Use a key with that scope" in answer.json()["remedy"]

    async def test_with_no_scope_that_this_version_knows_may_nothing(
        self, stranger: httpx2.AsyncClient, database: Database
    ) -> None:
        key = await add_key(database, await ana(database), scopes=["moon.fly"])
        assert (await stranger.get(MINE, headers=bearer(key))).status_code == 403

    async def test_sees_only_its_spaces(self, guarded: FastAPI, database: Database) -> None:
        other = await add_space_row(database, "Other")
        person = await add_user(
            database,
            "bo@example.org",
            roles={DEFAULT_SPACE_ID: Role.OWNER, other: Role.OWNER},
            home=DEFAULT_SPACE_ID,
        )
        found = await told(guarded, ("x-api-key", await add_key(database, person, space_ids=[other])))
        assert found.visible_spaces == frozenset({other})
        assert found.space_id == other, "new things go to where the key may go"
        assert not found.may(Permission.FLOWS_VIEW, DEFAULT_SPACE_ID)

    async def test_of_another_tenant_is_of_that_tenant(self, guarded: FastAPI, database: Database) -> None:
        tenant_id = await add_tenant_row(database, "Other")
        space_id = await add_space_row(database, "Personal", tenant_id=tenant_id)
        person = await add_user(database, "ana@example.org", tenant_id=tenant_id, roles={space_id: Role.OWNER})
        found = await told(guarded, ("x-api-key", await add_key(database, person)))
        assert found.tenant_id == tenant_id
        assert found.visible_spaces == frozenset({space_id})
        assert found.space_id == space_id


class TestHome:
    async def test_is_the_space_that_is_theirs(self, guarded: FastAPI, database: Database) -> None:
        other = await add_space_row(database, "Other")
        person = await add_user(
            database, "bo@example.org", roles={DEFAULT_SPACE_ID: Role.OWNER, other: Role.VIEWER}, home=other
        )
        assert (await told(guarded, ("x-api-key", await add_key(database, person)))).space_id == other

    async def test_is_none_when_it_is_gone(self, guarded: FastAPI, database: Database) -> None:
        gone = await add_space_row(database, "Gone")
        person = await add_user(database, "bo@example.org", admin=True, home=gone)
        async with database.writing() as session:
            await session.execute(delete(Space).where(Space.id == gone))
        assert (await told(guarded, ("x-api-key", await add_key(database, person)))).space_id == ""

    async def test_is_none_where_they_are_no_member_any_more(self, guarded: FastAPI, database: Database) -> None:
        person = await add_user(database, "bo@example.org", home=DEFAULT_SPACE_ID)
        assert (await told(guarded, ("x-api-key", await add_key(database, person)))).space_id == ""


class TestHeaders:
    @pytest.mark.parametrize(
        "value",
        ["", "Bearer", "Bearer ", "Bearer  ", "bearer hg_", "Bearer sk-something", "Bearer \xe5\xe4\xf6", "Bearer a b"],
    )
    async def test_that_hold_no_key_open_nothing(self, stranger: httpx2.AsyncClient, value: str) -> None:
        answer = await stranger.get(MINE, headers={b"Authorization": value.encode("latin-1")})
        assert answer.status_code == 401, answer.text

    async def test_of_ten_kilobytes_open_nothing(self, stranger: httpx2.AsyncClient) -> None:
        answer = await stranger.get(MINE, headers=bearer("hg_" + "a" * 10_240))
        assert answer.status_code in {401, 431}, answer.text

    @pytest.mark.parametrize("form", ["Bearer  {} ", "BEARER {}", "bearer\t{}", "Bearer {}\t"])
    async def test_may_have_spaces_around_a_key(
        self, stranger: httpx2.AsyncClient, database: Database, form: str
    ) -> None:
        key = await add_key(database, await ana(database))
        answer = await stranger.get(MINE, headers={"Authorization": form.format(key)})
        assert answer.status_code == 200, answer.text

    async def test_may_say_the_same_key_twice(self, guarded: FastAPI, database: Database) -> None:
        person = await ana(database)
        key = await add_key(database, person)
        both = ("Authorization", f"Bearer {key}"), ("x-api-key", key), ("Authorization", f"Bearer {key}")
        assert (await told(guarded, *both)).user_id == person.id

    @pytest.mark.parametrize("names", [("Authorization", "Authorization"), ("Authorization", "x-api-key")])
    async def test_with_two_different_keys_open_nothing(
        self, stranger: httpx2.AsyncClient, database: Database, names: tuple[str, str]
    ) -> None:
        person = await ana(database)
        keys = [await add_key(database, person), await add_key(database, person)]
        headers = [
            (name, key if name == "x-api-key" else f"Bearer {key}") for name, key in zip(names, keys, strict=True)
        ]
        answer = await stranger.get(MINE, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "key_refused")

    async def test_with_a_wrong_key_never_fall_back_to_the_cookie(
        self, stranger: httpx2.AsyncClient, database: Database
    ) -> None:
        token = await add_session(database, await ana(database))
        assert (await stranger.get(MINE, headers=cookie(token))).status_code == 200
        for wrong in (bearer(new_key()), {"x-api-key": "nonsense"}, {"x-api-key": ""}, bearer("")):
            answer = await stranger.get(MINE, headers=cookie(token) | wrong)
            assert (answer.status_code, answer.json()["code"]) == (401, "key_refused"), wrong

    async def test_with_a_key_and_a_cookie_are_the_keys_alone(self, guarded: FastAPI, database: Database) -> None:
        person, other = await ana(database), await add_user(database, "other@example.org")
        token, key = await add_session(database, other), await add_key(database, person, scopes=["runs.view"])
        found = await told(guarded, ("Cookie", cookie(token)["Cookie"]), ("x-api-key", key))
        assert (found.user_id, found.access.scopes) == (person.id, frozenset({Permission.RUNS_VIEW}))

    async def test_of_a_proxy_leave_the_cookie_its_say(self, guarded: FastAPI, database: Database) -> None:
        person = await ana(database)
        token = await add_session(database, person)
        basic = ("Authorization", "Basic dXNlcjpwYXNz")
        assert (await told(guarded, basic, ("Cookie", cookie(token)["Cookie"]))).user_id == person.id


class TestSession:
    async def test_is_its_person(self, guarded: FastAPI, database: Database) -> None:
        person = await ana(database)
        token = await add_session(database, person)
        found = await told(guarded, ("Cookie", cookie(token)["Cookie"]))
        assert (found.user_id, found.actor.kind, found.actor.name) == (person.id, "user", person.email)
        assert found.actor.key_id is None
        assert found.access.scopes is None

    @pytest.mark.parametrize(
        "more",
        [{"lasts": timedelta(seconds=-1)}, {"seen": now() - timedelta(hours=25)}],
        ids=["it lasted long enough", "it rested too long"],
    )
    async def test_ends(self, stranger: httpx2.AsyncClient, database: Database, more: dict[str, timedelta]) -> None:
        token = await add_session(database, await ana(database), **more)  # type: ignore[arg-type]
        answer = await stranger.get(MINE, headers=cookie(token))
        assert (answer.status_code, answer.json()["code"]) == (401, "session_over")

    async def test_ends_with_its_row_and_with_its_person(
        self, stranger: httpx2.AsyncClient, database: Database
    ) -> None:
        person = await ana(database)
        first, second = await add_session(database, person), await add_session(database, person)
        async with database.writing() as session:
            await session.execute(delete(UserSession).where(UserSession.token_hash == hash_of(first)))
        assert (await stranger.get(MINE, headers=cookie(first))).json()["code"] == "session_over"
        assert (await stranger.get(MINE, headers=cookie(second))).status_code == 200
        async with database.writing() as session:
            await session.execute(update(User).where(User.id == person.id).values(active=False))
        for token in (second, "x" * 43):
            assert (await stranger.get(MINE, headers=cookie(token))).json()["code"] == "session_over"

    async def test_changes_nothing_without_proof_of_origin(
        self, stranger: httpx2.AsyncClient, database: Database
    ) -> None:
        person = await ana(database)
        token, other = await add_session(database, person), await add_session(database, person)
        body = {"name": "mine"}
        for headers in (
            cookie(token, proof=False),
            cookie(token) | {"X-CSRF-Token": cookie(other)["X-CSRF-Token"]},
            cookie(token) | {"X-CSRF-Token": ""},
        ):
            answer = await stranger.post(MINE, headers=headers, json=body)
            assert (answer.status_code, answer.json()["code"]) == (403, "csrf_missing")
        assert (await stranger.get(MINE, headers=cookie(token, proof=False))).json()["items"] == []
        assert (await stranger.post(MINE, headers=cookie(token), json=body)).status_code == 201


class TestLastUse:
    async def test_of_a_key_is_written_once_a_minute_beside_the_request(
        self, settings: Settings, database: Database
    ) -> None:
        key = await add_key(database, await ana(database))
        async with running(signed_in(settings)) as app, asking(app, "192.0.2.9") as client:
            assert (await client.get(MINE, headers=bearer(key))).status_code == 200
            first = await self._written(database)
            assert first.last_used_address == "192.0.2.9"
            assert (await client.get(MINE, headers=bearer(key))).status_code == 200
            again = await self._written(database)
            assert again.last_used_at == first.last_used_at
            async with database.writing() as session:
                await session.execute(update(ApiKey).values(last_used_at=now() - timedelta(seconds=61)))
            assert (await client.get(MINE, headers=bearer(key))).status_code == 200
        later = await self._written(database)
        assert later.last_used_at is not None
        assert first.last_used_at is not None
        assert later.last_used_at >= first.last_used_at

    async def test_of_a_session_keeps_it_alive(self, settings: Settings, database: Database) -> None:
        token = await add_session(database, await ana(database), seen=now() - timedelta(hours=23))
        async with running(signed_in(settings)) as app, asking(app) as client:
            assert (await client.get(MINE, headers=cookie(token))).status_code == 200
        async with database.reading() as session:
            row = (await session.execute(UserSession.__table__.select())).one()
        assert now() - row.last_seen_at < timedelta(minutes=1)

    async def test_is_not_written_for_what_is_refused(self, settings: Settings, database: Database) -> None:
        key = await add_key(database, await ana(database), revoked_at=now())
        async with running(signed_in(settings)) as app, asking(app) as client:
            assert (await client.get(MINE, headers=bearer(key))).status_code == 401
        assert (await self._written(database, wait=False)).last_used_at is None

    @staticmethod
    async def _written(database: Database, *, wait: bool = True) -> ApiKey:
        for _ in range(500 if wait else 1):
            async with database.reading() as session:
                row: ApiKey = (await session.execute(ApiKey.__table__.select())).one()  # type: ignore[assignment]
            if row.last_used_at is not None:
                break
            await asyncio.sleep(0.01)
        return row


class TestAgain:
    async def test_says_how_things_are_now(self, guarded: FastAPI, database: Database) -> None:
        person = await ana(database)
        token = await add_session(database, person)
        request = _get(cookie(token)["Cookie"])
        assert (await guarded.state.identity.again(request)).may(Permission.RUNS_START, DEFAULT_SPACE_ID)
        async with database.writing() as session:
            await session.execute(delete(SpaceMember).where(SpaceMember.user_id == person.id))
        assert not (await guarded.state.identity.again(request)).sees(DEFAULT_SPACE_ID)
        async with database.writing() as session:
            await session.execute(delete(UserSession))
        with pytest.raises(SessionOver):
            await guarded.state.identity.again(request)
        with pytest.raises(NotSignedIn):
            await guarded.state.identity.again(_get(""))


class TestAutoLogin:
    async def test_is_the_local_user_whatever_a_proxy_sends(self, settings: Settings) -> None:
        async with running(settings) as app:
            for headers in ((), (("Authorization", "Basic eDp5"),), (("Cookie", "headgate=nonsense"),)):
                assert (await told(app, *headers)).user_id == LOCAL.user_id

    async def test_takes_a_key_that_is_sent(self, settings: Settings, database: Database) -> None:
        person = await ana(database)
        key = await add_key(database, person, scopes=["runs.view"])
        async with running(settings) as app, asking(app) as client:
            found = await told(app, ("x-api-key", key))
            assert (found.user_id, found.access.scopes) == (person.id, frozenset({Permission.RUNS_VIEW}))
            assert (await client.get(MINE, headers=bearer(key))).status_code == 403
            assert (await client.get(MINE, headers=bearer(new_key()))).status_code == 401
            assert (await client.get(MINE)).status_code == 200


class TestCredentials:
    async def test_find_nothing_by_what_is_not_a_hash(self, guarded: FastAPI, database: Database) -> None:
        key = await add_key(database, await ana(database))
        credentials = guarded.state.identity._credentials
        for kind in Kind:
            for wrong in ("", key, prefix_of(key), "%", "' OR 1=1 --"):
                assert await credentials.find(kind, wrong) is None


def _get(cookies: str) -> Request:
    headers = [(b"cookie", cookies.encode())] if cookies else []
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "scheme": "http",
        "server": ("127.0.0.1", 7411),
        "query_string": b"",
        "headers": headers,
        "client": None,
    }
    return Request(scope)
