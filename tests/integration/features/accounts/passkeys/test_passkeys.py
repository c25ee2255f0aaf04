"""Passkeys, with an authenticator in software; tests/e2e/test_second_factor.py uses a browser's own."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx2
from sqlalchemy import update

from headgate.features.access.permissions import TenantRole
from headgate.features.accounts.tables import PasskeyChallenge, Tenant, UserSession
from headgate.foundation.database import now
from tests.support.passkey import SoftPasskey
from tests.support.sign_in import Browser, House

HERE = "http://localhost:7411"
ANNA, BO = "anna@example.org", "bo@example.org"


async def signed_in(house: House, email: str) -> Browser:
    browser = await house.browser(base_url=HERE)
    assert (await browser.sign_in(email)).status_code == 200
    return browser


async def registered(browser: Browser, name: str = "Laptop") -> tuple[SoftPasskey, dict[str, Any]]:
    """A new passkey, and what the API answered."""
    begun = await browser.post("/me/passkeys/options")
    assert begun.status_code == 200, begun.text
    passkey = SoftPasskey(HERE)
    made = await browser.post("/me/passkeys", {"name": name, "credential": passkey.make(begun.json()["options"])})
    assert made.status_code == 201, made.text
    return passkey, made.json()


async def options(browser: Browser, path: str = "/sign-in/passkey/options") -> dict[str, Any]:
    begun = await browser.post(path)
    assert begun.status_code == 200, begun.text
    found: dict[str, Any] = begun.json()["options"]
    return found


async def use(browser: Browser, credential: dict[str, Any], path: str = "/sign-in/passkey") -> httpx2.Response:
    answer = await browser.post(path, {"credential": credential})
    if answer.status_code == 200:
        browser.csrf = answer.json()["csrf_token"]
    return answer


class TestPasskey:
    async def test_signs_in_without_a_password_and_makes_the_password_alone_too_little(self, house: House) -> None:
        anna = await house.add(ANNA)
        browser = await signed_in(house, ANNA)
        passkey, made = await registered(browser)
        assert len(made["recovery_codes"]) == 10
        second, more = await registered(browser, "Phone")
        assert more["recovery_codes"] is None
        stranger = await house.browser(base_url=HERE)
        asked = await options(stranger)
        assert (asked["rpId"], asked["userVerification"], asked["allowCredentials"]) == ("localhost", "required", [])
        assert (await use(stranger, passkey.sign(asked))).status_code == 200
        me = (await stranger.get("/me")).json()
        assert (me["user"]["id"], me["signed_in_by"]) == (anna.id, "passkey")
        listed = (await stranger.get("/me/passkeys")).json()
        assert [one["name"] for one in listed["items"]] == ["Laptop", "Phone"]
        assert listed["items"][0]["last_used_at"] is not None
        refused = await (await house.browser(base_url=HERE)).sign_in(ANNA)
        assert refused.json()["methods"] == ["passkey", "recovery"]
        by_code = await (await house.browser()).sign_in(ANNA, code=made["recovery_codes"][0])
        assert by_code.status_code == 200
        assert second.id != passkey.id

    async def test_answers_a_challenge_once_and_in_the_browser_that_asked(self, house: House) -> None:
        await house.add(ANNA)
        passkey, _ = await registered(await signed_in(house, ANNA))
        browser, other = await house.browser(base_url=HERE), await house.browser(base_url=HERE)
        answer = passkey.sign(await options(browser))
        assert (await use(other, answer)).json()["code"] == "passkey_refused"
        both = await asyncio.gather(*(use(browser, answer) for _ in range(3)))
        assert sorted(one.status_code for one in both) == [200, 401, 401]
        late = passkey.sign(await options(browser))
        async with house.database.writing() as session:
            await session.execute(update(PasskeyChallenge).values(expires_at=now() - timedelta(seconds=1)))
        assert (await use(browser, late)).status_code == 401

    async def test_is_refused_for_another_origin_an_unverified_user_and_a_counter_that_goes_back(
        self, house: House
    ) -> None:
        anna = await house.add(ANNA)
        passkey, _ = await registered(await signed_in(house, ANNA))
        browser = await house.browser(base_url=HERE)
        passkey.origin = "http://evil.example"
        assert (await use(browser, passkey.sign(await options(browser)))).status_code == 401
        passkey.origin, passkey.verified = HERE, False
        assert (await use(browser, passkey.sign(await options(browser)))).status_code == 401
        passkey.verified = True
        assert (await use(browser, passkey.sign(await options(browser)))).status_code == 200
        passkey.count = 1  # a copy of it
        assert (await use(browser, passkey.sign(await options(browser)))).status_code == 401
        unknown = SoftPasskey(HERE)
        assert (await use(browser, unknown.sign(await options(browser)))).json()["code"] == "passkey_refused"
        assert (await use(browser, {"rawId": 7})).json()["code"] == "passkey_refused"
        await house.change(anna, active=False)
        passkey.count = 50
        assert (await use(browser, passkey.sign(await options(browser)))).status_code == 401

    async def test_confirms_the_session_of_its_own_user_only(self, house: House) -> None:
        await house.add(ANNA)
        await house.add(BO)
        anna, bo = await signed_in(house, ANNA), await signed_in(house, BO)
        passkey, _ = await registered(anna)
        await registered(bo)
        async with house.database.writing() as session:
            await session.execute(update(UserSession).values(confirmed_at=now() - timedelta(hours=1)))
        needed = await anna.post("/me/passkeys/options")
        assert (needed.json()["code"], needed.json()["methods"]) == ("confirmation_needed", ["passkey", "recovery"])
        asked = await options(bo, "/me/confirm/passkey/options")
        assert (await use(bo, passkey.sign(asked), "/me/confirm/passkey")).status_code == 401
        of_sign_in = passkey.sign(await options(anna))
        assert (await use(anna, of_sign_in, "/me/confirm/passkey")).status_code == 401
        asked = await options(anna, "/me/confirm/passkey/options")
        assert (await use(anna, passkey.sign(asked), "/me/confirm/passkey")).status_code == 204
        assert (await anna.post("/me/passkeys/options")).status_code == 200

    async def test_is_renamed_and_removed_by_its_user_unless_it_is_required(self, house: House) -> None:
        anna = await house.add(ANNA)
        browser, bo = await signed_in(house, ANNA), None
        _, made = await registered(browser)
        await house.add(BO, role=TenantRole.ADMIN)
        bo = await signed_in(house, BO)
        path = f"/me/passkeys/{made['id']}"
        for method, body in (("PATCH", {"name": "Mine"}), ("DELETE", None)):
            assert (await bo.send(method, path, body)).json()["code"] == "passkey_not_found"
        assert (await browser.send("PATCH", path, {"name": "Old laptop"})).json()["name"] == "Old laptop"
        async with house.database.writing() as session:
            await session.execute(update(Tenant).where(Tenant.id == anna.tenant_id).values(second_factor_required=True))
        assert (await browser.send("DELETE", path)).json()["code"] == "second_factor_required"
        async with house.database.writing() as session:
            await session.execute(update(Tenant).values(second_factor_required=False))
        assert (await browser.send("DELETE", path)).status_code == 204
        assert (await browser.get("/me/second-factor")).json()["recovery_codes_left"] == 0
        assert (await (await house.browser()).sign_in(ANNA)).status_code == 200
        actions = await house.actions()
        assert {"user.second_factor_added", "user.second_factor_renamed", "user.second_factor_removed"} <= set(actions)


class TestPlace:
    async def test_is_a_name_and_no_number(self, house: House) -> None:
        browser = await house.browser()
        assert (await browser.get("/sign-in")).json()["passkeys"] is False
        assert (await browser.post("/sign-in/passkey/options")).json()["code"] == "passkeys_off"
        assert (await (await house.browser(base_url=HERE)).get("/sign-in")).json()["passkeys"] is True
