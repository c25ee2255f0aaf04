"""A service account has roles, API keys and triggers; no way of signing in accepts it."""

from typing import Any

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError

from headgate.features.access.permissions import TenantRole
from headgate.features.access.principal import DEFAULT_TENANT_ID, system_principal
from headgate.features.accounts.sessions.errors import ServiceAccountRefused
from headgate.features.accounts.sessions.links import create_link
from headgate.features.accounts.sessions.repository import find_active
from headgate.features.accounts.sessions.service import start_session
from headgate.features.accounts.sessions.tokens import hash_of, new_token
from headgate.features.accounts.tables import OneTimeLink, Passkey, TotpAuthenticator, User, UserSession
from headgate.features.accounts.users.service import set_password
from headgate.foundation.database import now
from headgate.foundation.ids import new_id
from headgate.foundation.settings import AccountSettings
from tests.support.sign_in import PASSWORD, Browser, House

ADMIN, BO, BOT = "admin@example.org", "bo@example.org", "nightly-import"
BODIES: dict[str, Any] = {
    "/sign-in": {"email": BOT, "password": PASSWORD},
    "/me/password": {"current": PASSWORD, "new": "another correct horse"},
    "/me/confirm": {"password": PASSWORD},
    "/me/second-factor/totp": {},
    "/me/second-factor/totp/confirm": {"code": "123456"},
    "/me/second-factor/recovery-codes": {},
    "/me/passkeys/begin": {},
    "/me/passkeys": {"credential": {"id": "AA"}, "name": "mine"},
}
_DOORS = ("sign-in", "password", "passkey", "second-factor", "confirm", "link", "sessions", "single-sign-on")


async def made(house: House, role: str = "member") -> tuple[Browser, dict[str, Any], str]:
    """An admin's browser, a new service account and one of its keys."""
    await house.add(ADMIN, role=TenantRole.ADMIN)
    admin = await house.signed_in(ADMIN)
    account = (await admin.post("/users/service-accounts", {"name": BOT, "role": role})).json()
    key = (await admin.post(f"/users/{account['id']}/api-keys", {"name": "cron"})).json()["key"]
    return admin, account, key


def doors(house: House) -> list[tuple[str, str]]:
    """Every documented route of a way of signing in: method and path."""
    return [
        (method.upper(), path.removeprefix("/api/v1"))
        for path, operations in house.app.openapi()["paths"].items()
        for method in operations
        if any(door in path for door in _DOORS)
    ]


class TestServiceAccount:
    async def test_acts_with_a_key_within_its_roles_and_is_audited(self, house: House) -> None:
        admin, account, key = await made(house)
        assert (account["kind"], account["email"], account["can_sign_in"], account["role"]) == (
            "service", None, False, "member",
        )  # fmt: skip
        space = (await admin.post("/spaces", {"name": "Imports"})).json()["id"]
        bot = await house.browser()
        headers = {"authorization": f"Bearer {key}"}
        assert (await bot.get("/spaces", headers=headers)).json()["items"] == []
        put = await admin.send("PUT", f"/spaces/{space}/members/{account['id']}", {"role": "editor"})
        assert put.status_code in {200, 201}, put.text
        me = (await bot.get("/me", headers=headers)).json()
        assert (me["user"]["name"], me["user"]["kind"], me["space"]["id"], me["signed_in_by"]) == (
            BOT, "service", space, "key",
        )  # fmt: skip
        made_flow = await bot.http.post("/api/v1/flows", json={"name": "Load", "space_id": space}, headers=headers)
        assert made_flow.status_code == 201, made_flow.text
        flow_events = [event for event in await house.audited() if event.action == "flow.created"]
        assert [(event.actor_kind, event.actor_name) for event in flow_events] == [("key", BOT)]
        assert (await house.actions()).count("user.created") == 2

    async def test_is_listed_renamed_disabled_and_deleted_by_administrators(self, house: House) -> None:
        admin, account, key = await made(house)
        path = f"/users/{account['id']}"
        listed = (await admin.get("/users", params={"kind": "service"})).json()["items"]
        assert [item["id"] for item in listed] == [account["id"]]
        assert BOT not in (await admin.get("/users", params={"kind": "user"})).text
        keys = (await admin.get(f"/users/{account['id']}/api-keys")).json()["items"]
        assert [item["name"] for item in keys] == ["cron"]
        assert (await admin.send("PATCH", path, {"name": "importer"})).json()["name"] == "importer"
        bot = await house.browser()
        assert (await admin.send("PATCH", path, {"active": False})).json()["active"] is False
        assert (await bot.get("/me", headers={"x-api-key": key})).status_code == 401
        assert (await admin.send("PATCH", path, {"active": True, "role": "admin"})).json()["role"] == "admin"
        assert (await bot.get("/me", headers={"x-api-key": key})).status_code == 200
        assert (await admin.send("DELETE", path)).status_code == 204
        assert (await bot.get("/me", headers={"x-api-key": key})).status_code == 401
        again = await admin.post("/users/service-accounts", {"name": "importer"})
        assert again.status_code == 201, "the name of a deleted account is free"

    async def test_has_a_name_that_no_other_has_and_no_address_could_be(self, house: House) -> None:
        admin, _, _ = await made(house)
        other = (await admin.post("/users/service-accounts", {"name": "other"})).json()["id"]
        answers = [
            await admin.post("/users/service-accounts", {"name": BOT}),
            await admin.send("PATCH", f"/users/{other}", {"name": BOT}),
            await admin.post("/users/service-accounts", {"name": ADMIN}),
            await admin.send("PATCH", f"/users/{other}", {"name": ADMIN}),
        ]
        assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [
            *[(409, "service_name_taken")] * 2,
            *[(422, "service_name_invalid")] * 2,
        ]

    async def test_gets_keys_from_administrators_who_get_none_of_users(self, house: House) -> None:
        admin, account, _ = await made(house)
        bo_row = await house.add(BO)
        bo = await house.signed_in(BO)
        for answer in (
            await bo.post("/users/service-accounts", {"name": "mine"}),
            await bo.post(f"/users/{account['id']}/api-keys", {"name": "x"}),
            await bo.get(f"/users/{account['id']}/api-keys"),
        ):
            assert answer.status_code == 403
        refused = await admin.post(f"/users/{bo_row.id}/api-keys", {"name": "x"})
        assert (refused.status_code, refused.json()["code"]) == (422, "not_service_account")
        narrow = (await admin.post("/api-keys", {"name": "n", "scopes": ["runner"]})).json()["key"]
        client = (await house.browser()).http
        path = f"/api/v1/users/{account['id']}/api-keys"
        wider = await client.post(path, json={"name": "x"}, headers={"x-api-key": narrow})
        assert wider.status_code == 403, "a key without keys.manage creates none for others"

    async def test_does_not_count_as_the_last_owner_or_admin(self, house: House) -> None:
        admin, account, _ = await made(house, role="admin")
        bo_row = await house.add(BO)
        bo = await house.signed_in(BO)
        space = (await bo.post("/spaces", {"name": "Imports"})).json()["id"]
        await bo.send("PUT", f"/spaces/{space}/members/{account['id']}", {"role": "owner"})
        left = await bo.send("DELETE", f"/spaces/{space}/members/{bo_row.id}")
        assert (left.status_code, left.json()["code"]) == (409, "last_owner")
        me = (await admin.get("/me")).json()["user"]["id"]
        demoted = await admin.send("PATCH", f"/users/{me}", {"role": "member"})
        assert (demoted.status_code, demoted.json()["code"]) == (409, "last_admin")


class TestSignIn:
    @pytest.mark.parametrize(
        "values",
        [
            {"email": "bot@example.org"},
            {"password_hash": "x"},
            {"sso_subject": "subject"},
            {"sso_issuer": "https://idp.example.org"},
        ],
    )
    async def test_is_refused_by_the_database(self, house: House, values: dict[str, str]) -> None:
        _, account, _ = await made(house)
        with pytest.raises(IntegrityError):
            async with house.database.writing() as session:
                await session.execute(update(User).where(User.id == account["id"]).values(**values))

    async def test_is_refused_by_every_route_of_a_sign_in(self, house: House) -> None:
        """Whatever the account sends with its key, and an administrator for it, nothing to sign in with exists."""
        admin, account, key = await made(house, role="admin")
        tried = 0
        for method, path in doors(house):
            for headers, client in (({"x-api-key": key}, await house.browser()), ({}, admin)):
                if client is admin and "{user_id}" not in path:
                    continue
                address = path.replace("{user_id}", account["id"]).replace("{", "").replace("}", "")
                given = {"X-CSRF-Token": client.csrf} if client.csrf else headers
                answer = await client.http.request(
                    method, f"/api/v1{address}", json=BODIES.get(path, {}), headers=given, follow_redirects=False
                )
                assert answer.status_code != 500, (method, path, answer.text)
                assert "set-cookie" not in answer.headers or 'headgate="' not in answer.headers["set-cookie"]
                tried += 1
        assert tried > 20
        async with house.database.reading() as session:
            for table in (UserSession, OneTimeLink, TotpAuthenticator, Passkey):
                count = select(func.count()).select_from(table).where(table.user_id == account["id"])
                assert (await session.execute(count)).scalar_one() == 0, table.__tablename__

    async def test_names_the_reason_to_administrators(self, house: House) -> None:
        admin, account, _ = await made(house)
        for answer in (
            await admin.post(f"/users/{account['id']}/password-link"),
            await admin.send("DELETE", f"/users/{account['id']}/second-factor"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (409, "service_account_refused")

    async def test_is_refused_by_the_functions_behind_the_routes(self, house: House) -> None:
        _, account, _ = await made(house)
        operator, settings = system_principal(DEFAULT_TENANT_ID), AccountSettings()
        async with house.database.writing() as session:
            row = (await session.execute(select(User).where(User.id == account["id"]))).scalar_one()
            with pytest.raises(ServiceAccountRefused):
                await start_session(session, row, settings, address="", user_agent="", method="passkey")
            with pytest.raises(ServiceAccountRefused):
                await create_link(session, operator, row, settings)
            with pytest.raises(ServiceAccountRefused):
                await set_password(session, operator, row, password_hash="x")
            assert await find_active(session, row.id, tenant_id=row.tenant_id) is None

    async def test_is_refused_with_a_session_that_was_forced_into_the_database(self, house: House) -> None:
        _, account, _ = await made(house)
        token, at = new_token(), now()
        later = at.replace(year=at.year + 1)
        async with house.database.writing() as session:
            session.add(
                UserSession(
                    id=new_id(),
                    tenant_id=DEFAULT_TENANT_ID,
                    user_id=account["id"],
                    token_hash=hash_of(token),
                    created_at=at,
                    last_seen_at=at,
                    expires_at=later,
                )
            )
        browser = await house.browser()
        browser.http.cookies.set("headgate", token)
        answer = await browser.get("/me")
        assert (answer.status_code, answer.json()["code"]) == (401, "session_over")
