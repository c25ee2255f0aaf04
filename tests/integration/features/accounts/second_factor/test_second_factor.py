"""Authenticator apps and recovery codes, through the real application."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from headgate.features.access.permissions import TenantRole
from headgate.features.accounts.second_factor import totp
from headgate.features.accounts.tables import RecoveryCode, Tenant, TotpAuthenticator, UserSession
from headgate.foundation.database import now
from headgate.foundation.settings import Settings
from tests.support.sign_in import PASSWORD, Browser, House, house_of

ANNA = "anna@example.org"
ADMIN = "admin@example.org"


class Clock:
    """The authenticator's and the server's time."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(totp, "clock", made)
    return made


def code_of(secret: str, clock: Clock, *, steps: int = 0) -> str:
    return totp.code_at(secret, int(clock.now) // totp.STEP_SECONDS + steps)


async def enrolled(browser: Browser, clock: Clock) -> tuple[str, list[str]]:
    """Set up an authenticator app. Returns its secret and the recovery codes; the next step begins."""
    begun = await browser.post("/me/second-factor/totp")
    assert begun.status_code == 201, begun.text
    secret = begun.json()["secret"]
    done = await browser.post("/me/second-factor/totp/confirm", {"code": code_of(secret, clock)})
    assert done.status_code == 200, done.text
    clock.now += totp.STEP_SECONDS
    return secret, done.json()["recovery_codes"]


async def age(house: House, **columns: Any) -> None:
    """Change all sessions behind the application's back."""
    async with house.database.writing() as session:
        await session.execute(update(UserSession).values(**columns))


class TestEnrolment:
    async def test_counts_after_the_first_code_and_ends_other_sessions(self, house: House, clock: Clock) -> None:
        await house.add(ANNA)
        elsewhere = await house.signed_in(ANNA)
        browser = await house.signed_in(ANNA)
        begun = (await browser.post("/me/second-factor/totp")).json()
        assert begun["qr"].startswith("data:image/svg+xml")
        assert f"secret={begun['secret']}" in begun["uri"]
        before = (await browser.get("/me/second-factor")).json()
        assert (before["totp_since"], before["methods"]) == (None, [])
        assert (await (await house.browser()).sign_in(ANNA)).status_code == 200
        secret, codes = await enrolled(browser, clock)
        assert secret != begun["secret"]
        assert len(set(codes)) == 10
        shown = (await browser.get("/me/second-factor")).json()
        assert shown["totp_since"] is not None
        assert (shown["recovery_codes_left"], shown["required"], shown["missing"]) == (10, False, False)
        assert (await elsewhere.get("/me")).status_code == 401
        assert (await browser.post("/me/second-factor/totp")).json()["code"] == "authenticator_exists"

    async def test_keeps_no_secret_readable(self, house: House, clock: Clock) -> None:
        await house.add(ANNA)
        secret, codes = await enrolled(await house.signed_in(ANNA), clock)
        async with house.database.reading() as session:
            rows = [
                *(await session.execute(select(TotpAuthenticator))).scalars(),
                *(await session.execute(select(RecoveryCode))).scalars(),
            ]
        kept = " ".join(str(vars(one)) for one in [*rows, *await house.audited()])
        assert len(rows) == 11
        assert secret not in kept
        assert not [code for code in codes if code in kept or code.replace("-", "") in kept]

    async def test_refuses_a_wrong_first_code(self, house: House) -> None:
        await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        missing = await browser.post("/me/second-factor/totp/confirm", {"code": "123456"})
        assert missing.json()["code"] == "enrolment_missing"
        await browser.post("/me/second-factor/totp")
        wrong = await browser.post("/me/second-factor/totp/confirm", {"code": "000000"})
        assert (wrong.status_code, wrong.json()["code"]) == (403, "confirmation_refused")
        assert (await (await house.browser()).sign_in(ANNA)).status_code == 200


class TestSignIn:
    async def test_needs_the_code_after_the_password_and_only_then_discloses_it(
        self, house: House, clock: Clock
    ) -> None:
        await house.add(ANNA)
        secret, _ = await enrolled(await house.signed_in(ANNA), clock)
        browser = await house.browser()
        wrong = await browser.sign_in(ANNA, "not the password at all", code=code_of(secret, clock))
        assert (wrong.status_code, wrong.json()["code"]) == (401, "sign_in_refused")
        asked = await browser.sign_in(ANNA)
        assert (asked.status_code, asked.json()["code"]) == (409, "second_factor_needed")
        assert asked.json()["methods"] == ["totp", "recovery"]
        assert not browser.http.cookies
        refused = await browser.sign_in(ANNA, code="000000")
        assert (refused.status_code, refused.json()["code"]) == (401, "second_factor_refused")
        assert not browser.http.cookies
        assert (await browser.sign_in(ANNA, code=f" {code_of(secret, clock)} ")).status_code == 200
        (session,) = [one for one in (await browser.get("/me/sessions")).json()["items"] if one["current"]]
        assert session["second_factor"] == "totp"
        assert "user.sign_in_refused" in await house.actions()

    async def test_accepts_each_code_once_however_many_come_at_once(self, house: House, clock: Clock) -> None:
        await house.add(ANNA)
        secret, codes = await enrolled(await house.signed_in(ANNA), clock)
        for code in (code_of(secret, clock), codes[0]):
            browsers = [await house.browser() for _ in range(4)]
            answers = await asyncio.gather(*(browser.sign_in(ANNA, code=code) for browser in browsers))
            assert sorted(answer.status_code for answer in answers) == [200, 401, 401, 401]
        clock.now += totp.STEP_SECONDS
        late = code_of(secret, clock, steps=-1)
        assert (await (await house.browser()).sign_in(ANNA, code=late)).status_code == 401
        early = code_of(secret, clock, steps=1)
        assert (await (await house.browser()).sign_in(ANNA, code=early)).status_code == 200
        assert (await (await house.browser()).sign_in(ANNA, code=code_of(secret, clock))).status_code == 401

    async def test_takes_recovery_codes_as_people_type_them(self, house: House, clock: Clock) -> None:
        await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        _, codes = await enrolled(browser, clock)
        typed = codes[3].replace("-", " ").upper()
        assert (await (await house.browser()).sign_in(ANNA, code=typed)).status_code == 200
        assert (await browser.get("/me/second-factor")).json()["recovery_codes_left"] == 9

    async def test_counts_tries_of_codes_from_everywhere(self, settings: Settings, clock: Clock) -> None:
        async with house_of(settings, tries=5) as house:
            anna = await house.add(ANNA)
            await enrolled(await house.signed_in(ANNA), clock)
            answers = []
            for number in range(6):
                browser = await house.browser(address=f"192.0.2.{number}")
                answers.append((await browser.sign_in(ANNA, code="000000")).status_code)
            assert answers == [401] * 4 + [429] * 2, "one try was the first code"
            assert anna.id

    async def test_with_a_link_needs_it_too_and_the_link_stays(self, house: House, clock: Clock) -> None:
        anna = await house.add(ANNA)
        secret, _ = await enrolled(await house.signed_in(ANNA), clock)
        await house.add(ADMIN, role=TenantRole.ADMIN)
        url = (await (await house.signed_in(ADMIN)).post(f"/users/{anna.id}/password-link")).json()["url"]
        body = {"token": url.partition("#token=")[2], "password": "another horse battery"}
        browser = await house.browser()
        assert (await browser.post("/password-links/use", body)).json()["code"] == "second_factor_needed"
        assert (await browser.post("/password-links/use", body | {"code": "000000"})).status_code == 401
        used = await browser.post("/password-links/use", body | {"code": code_of(secret, clock)})
        assert used.status_code == 200
        assert used.json()["second_factor_missing"] is False


class TestPolicy:
    async def test_leaves_a_session_without_one_nothing_but_setting_it_up(self, house: House, clock: Clock) -> None:
        await house.add(ANNA)
        await house.add(ADMIN, role=TenantRole.ADMIN)
        admin, before = await house.signed_in(ADMIN), await house.signed_in(ANNA)
        key = (await before.post("/api-keys", {"name": "of a program"})).json()["key"]
        changed = await admin.send("PUT", "/sign-in-policy", {"second_factor_required": True})
        assert changed.json() == {"second_factor_required": True}
        for browser in (before, admin):
            refused = await browser.get("/flows")
            assert (refused.status_code, refused.json()["code"]) == (403, "second_factor_missing")
            assert (await browser.post("/api-keys", {"name": "way around"})).status_code == 403
            assert (await browser.send("PUT", "/sign-in-policy", {"second_factor_required": False})).status_code == 403
            assert (await browser.get("/me")).json()["second_factor_missing"] is True
        program = await house.browser()
        assert (await program.get("/flows", headers={"x-api-key": key})).status_code == 200
        browser = await house.browser()
        assert (await browser.sign_in(ANNA)).json()["second_factor_missing"] is True
        await enrolled(browser, clock)
        assert (await browser.get("/flows")).status_code == 200
        assert (await browser.get("/me")).json()["second_factor_missing"] is False
        assert (await browser.send("DELETE", "/me/second-factor/totp")).json()["code"] == "second_factor_required"

    async def test_lets_an_earlier_session_confirm_with_a_factor_that_exists(self, house: House, clock: Clock) -> None:
        anna = await house.add(ANNA)
        secret, _ = await enrolled(await house.signed_in(ANNA), clock)
        browser = await house.browser()
        await browser.sign_in(ANNA, code=code_of(secret, clock))
        await age(house, second_factor=None)
        async with house.database.writing() as session:
            await session.execute(update(Tenant).where(Tenant.id == anna.tenant_id).values(second_factor_required=True))
        assert (await browser.get("/flows")).status_code == 403
        assert (await browser.post("/me/confirm", {"password": PASSWORD})).status_code == 403
        clock.now += totp.STEP_SECONDS
        assert (await browser.post("/me/confirm", {"code": code_of(secret, clock)})).status_code == 204
        assert (await browser.get("/flows")).status_code == 200


class TestConfirmation:
    async def test_is_needed_for_sensitive_changes_ten_minutes_after_signing_in(
        self, house: House, clock: Clock
    ) -> None:
        await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        long_ago = now() - timedelta(minutes=11)
        await age(house, confirmed_at=long_ago)
        refused = await browser.post("/me/second-factor/totp")
        assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_needed")
        assert refused.json()["methods"] == ["password"]
        wrong = await browser.post("/me/confirm", {"password": "not the password at all"})
        assert (wrong.status_code, wrong.json()["code"]) == (403, "confirmation_refused")
        assert (await browser.post("/me/confirm", {"password": PASSWORD})).status_code == 204
        secret, _ = await enrolled(browser, clock)
        await age(house, confirmed_at=long_ago)
        changing = {"current": PASSWORD, "new": "another horse battery"}
        for method, path, body in (
            ("DELETE", "/me/second-factor/totp", None),
            ("POST", "/me/second-factor/recovery-codes", None),
            ("POST", "/me/password", changing),
        ):
            answer = await browser.send(method, path, body)
            assert (answer.status_code, answer.json()["code"]) == (403, "confirmation_needed"), path
            assert answer.json()["methods"] == ["totp", "recovery"]
        by_password = await browser.post("/me/confirm", {"password": PASSWORD})
        assert by_password.json()["code"] == "confirmation_needed", "the second factor is what it takes now"
        assert (await browser.post("/me/confirm", {"code": code_of(secret, clock)})).status_code == 204
        assert (await browser.post("/me/password", changing)).status_code == 204
        assert len((await browser.post("/me/second-factor/recovery-codes")).json()["recovery_codes"]) == 10
        assert (await browser.send("DELETE", "/me/second-factor/totp")).status_code == 204
        assert (await (await house.browser()).sign_in(ANNA, "another horse battery")).status_code == 200
        assert {"user.second_factor_added", "user.second_factor_removed", "user.recovery_codes_made"} <= set(
            await house.actions()
        )

    async def test_is_for_browsers_and_not_for_keys(self, house: House) -> None:
        await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        key = (await browser.post("/api-keys", {"name": "of a program"})).json()["key"]
        program = await house.browser()
        answer = await program.http.post("/api/v1/me/second-factor/totp", headers={"x-api-key": key})
        assert (answer.status_code, answer.json()["code"]) == (403, "browser_needed")


class TestReset:
    async def test_by_an_admin_removes_everything_and_ends_the_sessions(self, house: House, clock: Clock) -> None:
        anna = await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        await enrolled(browser, clock)
        await house.add(ADMIN, role=TenantRole.ADMIN)
        admin = await house.signed_in(ADMIN)
        assert (await browser.send("DELETE", f"/users/{anna.id}/second-factor")).status_code == 403
        assert (await admin.send("DELETE", f"/users/{anna.id}/second-factor")).status_code == 204
        assert (await browser.get("/me")).status_code == 401
        assert (await browser.sign_in(ANNA)).status_code == 200
        assert (await browser.get("/me/second-factor")).json()["recovery_codes_left"] == 0
        assert "user.second_factor_reset" in await house.actions()
