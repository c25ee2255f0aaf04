from datetime import timedelta

import pytest
from sqlalchemy import select

from headgate.features.access.permissions import TenantRole
from headgate.features.accounts.passwords import hashing
from headgate.features.accounts.passwords.hashing import Passwords, is_outdated
from headgate.features.accounts.sessions.sign_in import SignIn
from headgate.features.accounts.sessions.tokens import hash_of
from headgate.features.accounts.tables import User, UserSession
from headgate.foundation.database import now
from headgate.foundation.settings import AccountSettings, Settings
from tests.support.sign_in import HERE, PASSWORD, House, house_of

ANNA = "anna@example.org"


async def sessions_of(house: House, user: User) -> list[UserSession]:
    async with house.database.reading() as session:
        query = select(UserSession).where(UserSession.user_id == user.id).order_by(UserSession.id)
        return list((await session.execute(query)).scalars().all())


class TestSignIn:
    async def test_welcomes_who_knows_the_password(self, house: House) -> None:
        anna = await house.add(ANNA, name="Anna Berg")
        browser = await house.browser()
        answer = await browser.sign_in("  Anna@Example.ORG ")
        assert answer.status_code == 200
        person = {"id": anna.id, "name": "Anna Berg", "kind": "user", "email": ANNA, "role": "member"}
        assert answer.json()["user"] == person
        assert answer.headers["cache-control"] == "no-store"
        me = (await browser.get("/me")).json()
        assert (me["user"]["id"], me["signed_in_by"]) == (anna.id, "password")
        assert me["csrf_token"] == answer.json()["csrf_token"]

    async def test_keeps_no_secret(self, house: House) -> None:
        anna = await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        (row,) = await sessions_of(house, anna)
        assert row.token_hash == hash_of(browser.token)
        assert browser.token not in str(vars(row))
        async with house.database.reading() as session:
            kept = (await session.execute(select(User.password_hash).where(User.id == anna.id))).scalar_one()
        assert kept is not None
        assert kept.startswith("$argon2id$")
        for event in await house.audited():
            assert browser.token not in str(vars(event))
            assert PASSWORD not in str(vars(event))

    async def test_hands_out_a_cookie_that_scripts_and_other_sites_do_not_get(self, house: House) -> None:
        await house.add(ANNA)
        plain = (await (await house.browser()).sign_in(ANNA)).headers["set-cookie"]
        assert plain.startswith("headgate=")
        assert plain.endswith("; HttpOnly; Max-Age=604800; Path=/; SameSite=lax")
        secure = (await (await house.browser(base_url="https://127.0.0.1:7411")).sign_in(ANNA)).headers["set-cookie"]
        assert secure.startswith("__Host-headgate=")
        assert secure.endswith("; HttpOnly; Max-Age=604800; Path=/; SameSite=lax; Secure")

    async def test_gives_a_new_token_each_time_and_ends_the_one_before(self, house: House) -> None:
        anna = await house.add(ANNA)
        browser = await house.browser()
        browser.http.cookies.set("headgate", "planted-by-somebody", domain="127.0.0.1", path="/")
        await browser.sign_in(ANNA)
        first = {cookie.value for cookie in browser.http.cookies.jar}
        assert hash_of("planted-by-somebody") not in {row.token_hash for row in await sessions_of(house, anna)}
        browser.http.cookies.delete("headgate", domain="127.0.0.1", path="/")
        await browser.sign_in(ANNA)
        assert browser.token not in first
        before = browser.token
        await browser.sign_in(ANNA)
        assert browser.token != before
        assert hash_of(before) not in {row.token_hash for row in await sessions_of(house, anna)}

    async def test_says_the_same_whatever_is_wrong(self, house: House) -> None:
        await house.add(ANNA)
        await house.add("invited@example.org", password=None)
        shut = await house.add("shut@example.org")
        await house.change(shut, active=False)
        browser = await house.browser()
        answers = [
            await browser.sign_in(ANNA, "wrong horse battery"),
            await browser.sign_in("nobody@example.org"),
            await browser.sign_in("invited@example.org"),
            await browser.sign_in("shut@example.org"),
            await browser.sign_in("shut@example.org", "wrong horse battery"),
            await browser.sign_in(ANNA, organisation="No such"),
        ]
        assert {answer.status_code for answer in answers} == {401}
        assert len({answer.text for answer in answers}) == 1
        assert answers[0].json()["code"] == "sign_in_refused"
        assert all("set-cookie" not in answer.headers for answer in answers)

    async def test_does_the_same_work_for_an_address_that_nobody_has(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Counted, not timed: one full hash for everybody who is refused, and the answer waits for no write."""
        await house.add(ANNA)
        await house.add("invited@example.org", password=None)
        verified: list[str | None] = []
        verify = Passwords.verify

        async def counting(self: Passwords, kept: str | None, password: str) -> bool:
            verified.append(kept)
            return await verify(self, kept, password)

        monkeypatch.setattr(Passwords, "verify", counting)
        browser = await house.browser()
        for email in (ANNA, "nobody@example.org", "invited@example.org"):
            verified.clear()
            assert (await browser.sign_in(email, "wrong horse battery")).status_code == 401
            assert len(verified) == 1, email

    async def test_is_written_down(self, house: House) -> None:
        anna = await house.add(ANNA)
        browser = await house.browser()
        await browser.sign_in(ANNA, "wrong horse battery")
        await browser.sign_in("nobody@example.org")
        await house.app.state.sign_in.close()
        await browser.sign_in(ANNA)
        refused, started = (await house.audited())[-2:]
        assert (refused.action, refused.resource_id, refused.address) == ("user.sign_in_refused", anna.id, "127.0.0.1")
        assert (started.action, started.actor_name, started.address) == ("session.started", ANNA, "127.0.0.1")
        assert [one.action for one in await house.audited()].count("user.sign_in_refused") == 1
        assert "horse" not in refused.payload + started.payload

    async def test_asks_which_organisation_when_both_know_the_password(self, house: House) -> None:
        here = await house.add(ANNA)
        there = await house.add(ANNA, tenant_id=await house.add_tenant("Other town"))
        browser = await house.browser()
        answer = await browser.sign_in(ANNA)
        assert (answer.status_code, answer.json()["code"]) == (409, "organisation_needed")
        assert answer.json()["organisations"] == ["Default", "Other town"]
        assert "set-cookie" not in answer.headers
        assert (await browser.sign_in(ANNA, organisation="other TOWN")).json()["user"]["id"] == there.id
        assert (await browser.sign_in(ANNA, organisation="Default")).json()["user"]["id"] == here.id

    async def test_goes_by_the_password_where_the_organisations_have_different_ones(self, house: House) -> None:
        await house.add(ANNA)
        tenant_id = await house.add_tenant("Other town")
        there = await house.add(ANNA, tenant_id=tenant_id, password="another horse battery")
        answer = await (await house.browser()).sign_in(ANNA, "another horse battery")
        assert (answer.json()["user"]["id"], answer.json()["tenant"]["name"]) == (there.id, "Other town")
        assert "session.started" not in await house.actions()
        assert "session.started" in await house.actions(tenant_id)

    async def test_says_nothing_of_organisations_to_who_does_not_know_the_password(self, house: House) -> None:
        await house.add(ANNA)
        await house.add(ANNA, tenant_id=await house.add_tenant("Other town"))
        answer = await (await house.browser()).sign_in(ANNA, "wrong horse battery")
        assert answer.status_code == 401
        assert "town" not in answer.text

    async def test_renews_a_hash_of_former_costs(self, house: House) -> None:
        anna = await house.add(ANNA)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hashing, "COSTS", hashing.Costs(passes=2, memory_kib=16, lanes=1))
            former = await Passwords().hash(PASSWORD)
        await house.change(anna, password_hash=former)
        await house.signed_in(ANNA)
        async with house.database.reading() as session:
            kept = (await session.execute(select(User.password_hash).where(User.id == anna.id))).scalar_one()
        assert kept is not None
        assert kept != former
        assert not is_outdated(kept)
        assert (await (await house.browser()).sign_in(ANNA)).status_code == 200

    async def test_refuses_a_password_that_is_changed_while_it_is_compared(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        anna = await house.add(ANNA)
        newer_hash = SignIn._newer_hash

        async def meanwhile(self: SignIn, user: User, password: str) -> str | None:
            await house.change(anna, password_hash=await Passwords().hash("quite another one"))
            return await newer_hash(self, user, password)

        monkeypatch.setattr(SignIn, "_newer_hash", meanwhile)
        assert (await (await house.browser()).sign_in(ANNA)).status_code == 401
        assert await sessions_of(house, anna) == []

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"email": ANNA},
            {"email": "a\x00b", "password": PASSWORD},
            {"email": ANNA, "password": ""},
            {"email": ANNA, "password": "x" * 1025},
            {"email": ANNA, "password": PASSWORD, "organisation": "a\x00"},
            {"email": "x" * 255, "password": PASSWORD},
            {"email": [ANNA], "password": PASSWORD},
            {"email": ANNA, "password": PASSWORD, "more": 1},
        ],
    )
    async def test_refuses_what_is_no_sign_in(self, house: House, body: dict[str, object]) -> None:
        answer = await (await house.browser()).post("/sign-in", body)
        assert answer.status_code == 422
        assert PASSWORD not in answer.text

    async def test_refuses_letters_that_are_none(self, house: House) -> None:
        browser = await house.browser()
        answer = await browser.http.post(
            "/api/v1/sign-in",
            content=b'{"email": "a@b", "password": "\\ud800\\ud800 \\ud800"}',
            headers={"Content-Type": "application/json"},
        )
        assert answer.status_code in {401, 422}

    async def test_of_the_page_says_what_there_is(self, house: House) -> None:
        answer = await (await house.browser()).get("/sign-in")
        assert answer.json() == {"auto_login": False, "passkeys": False, "single_sign_on": None}


class TestThrottle:
    async def test_stops_who_guesses_a_password_and_nobody_else(self, settings: Settings) -> None:
        async with house_of(settings, tries=3) as house:
            await house.add(ANNA)
            await house.add("bo@example.org")
            browser = await house.browser(address="192.0.2.7")
            for _ in range(3):
                assert (await browser.sign_in(ANNA, "wrong horse battery")).status_code == 401
            stopped = await browser.sign_in(ANNA)
            assert (stopped.status_code, stopped.json()["code"]) == (429, "rate_limited")
            assert int(stopped.headers["retry-after"]) >= 1
            assert (await browser.sign_in("bo@example.org")).status_code == 200
            elsewhere = await house.browser(address="192.0.2.8")
            assert (await elsewhere.sign_in(ANNA)).status_code == 200

    async def test_stops_who_tries_many_people_from_one_place(self, settings: Settings) -> None:
        async with house_of(settings, tries=1) as house:
            await house.add(ANNA)
            codes = []
            for number in range(12):  # ten times as many are allowed; an IPv6 network counts as one place
                browser = await house.browser(address=f"2001:db8::{number + 1:x}")
                codes.append((await browser.sign_in(f"nobody{number}@example.org")).status_code)
            assert codes == [401] * 10 + [429] * 2

    async def test_counts_tries_to_say_the_present_password(self, settings: Settings) -> None:
        async with house_of(settings, tries=2) as house:
            await house.add(ANNA)
            browser = await house.signed_in(ANNA)
            body = {"current": "wrong horse battery", "new": "entirely new words"}
            codes = [(await browser.post("/me/password", body)).status_code for _ in range(3)]
            assert codes == [403, 403, 429]


class TestSessions:
    async def test_show_where_one_is_signed_in(self, house: House) -> None:
        await house.add(ANNA)
        await house.signed_in(ANNA)
        here = await house.signed_in(ANNA)
        items = (await here.get("/me/sessions")).json()["items"]
        assert sorted(item["current"] for item in items) == [False, True]
        assert {item["user_agent"] for item in items} == {"Test"}
        assert {item["address"] for item in items} == {"127.0.0.1"}
        assert here.token not in str(items)

    async def test_are_ended_one_by_one(self, house: House) -> None:
        await house.add(ANNA)
        there, here = await house.signed_in(ANNA), await house.signed_in(ANNA)
        (other,) = [one for one in (await here.get("/me/sessions")).json()["items"] if not one["current"]]
        assert (await here.send("DELETE", f"/me/sessions/{other['id']}")).status_code == 204
        assert (await there.get("/me")).status_code == 401
        assert (await here.get("/me")).status_code == 200
        gone = await here.send("DELETE", f"/me/sessions/{other['id']}")
        assert (gone.status_code, gone.json()["code"]) == (404, "session_not_found")
        assert (await house.actions())[-1] == "session.ended"

    async def test_of_others_are_not_there(self, house: House) -> None:
        await house.add(ANNA)
        bo = await house.add("bo@example.org")
        theirs = await house.signed_in("bo@example.org")
        browser = await house.signed_in(ANNA)
        (row,) = await sessions_of(house, bo)
        assert (await browser.send("DELETE", f"/me/sessions/{row.id}")).status_code == 404
        assert (await browser.send("DELETE", "/me/sessions/%00")).status_code == 404
        assert (await theirs.get("/me")).status_code == 200
        assert len((await browser.get("/me/sessions")).json()["items"]) == 1

    async def test_end_with_signing_out(self, house: House) -> None:
        anna = await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        token = browser.token
        answer = await browser.post("/sign-out")
        assert answer.status_code == 204
        assert "Max-Age=0" in answer.headers["set-cookie"]
        assert await sessions_of(house, anna) == []
        browser.http.cookies.set("headgate", token, domain="127.0.0.1", path="/")
        assert (await browser.get("/me")).status_code == 401

    async def test_end_after_their_time_and_when_nothing_is_asked(self, settings: Settings) -> None:
        async with house_of(settings, accounts=AccountSettings(session_hours=10, idle_hours=1)) as house:
            anna = await house.add(ANNA)
            browser = await house.signed_in(ANNA)
            (row,) = await sessions_of(house, anna)
            await house.change(row, last_seen_at=now() - timedelta(minutes=61))
            assert (await browser.get("/me")).status_code == 401
            await house.change(row, last_seen_at=now() - timedelta(minutes=59))
            assert (await browser.get("/me")).status_code == 200
            await house.change(row, expires_at=now() - timedelta(seconds=1), last_seen_at=now())
            assert (await browser.get("/me")).status_code == 401
            again = await house.signed_in(ANNA)
            assert len((await again.get("/me/sessions")).json()["items"]) == 1
            assert [one.id for one in await sessions_of(house, anna)] != [row.id]
            assert len(await sessions_of(house, anna)) == 1

    async def test_end_at_once_when_somebody_is_shut_out(self, house: House) -> None:
        anna = await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        await house.change(anna, active=False)
        assert (await browser.get("/me")).status_code == 401

    @pytest.mark.parametrize("wrong", ["", "0" * 64, "another"])
    async def test_change_nothing_without_the_pages_own_token(self, house: House, wrong: str) -> None:
        await house.add(ANNA)
        other = await house.signed_in(ANNA)
        browser = await house.signed_in(ANNA)
        given = other.csrf if wrong == "another" else wrong
        answer = await browser.send("POST", "/sign-out", csrf=given)
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf_missing")
        assert (await browser.get("/me")).status_code == 200

    async def test_change_nothing_for_another_sites_page(self, house: House) -> None:
        await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        answer = await browser.http.post(
            "/api/v1/sign-out", headers={"Origin": "https://evil.example", "X-CSRF-Token": browser.csrf}
        )
        assert answer.status_code == 403
        assert (await browser.get("/me")).status_code == 200

    async def test_do_nothing_with_a_cookie_of_the_other_name(self, house: House) -> None:
        await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        secure = await house.browser(base_url=HERE.replace("http", "https"))
        secure.http.cookies.set("headgate", browser.token, domain="127.0.0.1", path="/")
        assert (await secure.get("/me")).status_code == 401

    async def test_all_others_end_at_once_and_the_one_that_asks_stays(self, house: House) -> None:
        await house.add(ANNA)
        others = [await house.signed_in(ANNA) for _ in range(2)]
        browser = await house.signed_in(ANNA)
        stranger = await house.add("bo@example.org")
        bo = await house.signed_in(stranger.email or "")
        ended = await browser.send("DELETE", "/me/sessions")
        assert ended.json() == {"ended": 2}
        assert [(await other.get("/me")).status_code for other in others] == [401, 401]
        (left,) = (await browser.get("/me/sessions")).json()["items"]
        assert left["current"] is True
        assert (await bo.get("/me")).status_code == 200
        assert (await browser.send("DELETE", "/me/sessions")).json() == {"ended": 0}
        assert (await house.actions()).count("user.sessions_ended") == 2

    async def test_of_a_user_are_listed_and_ended_by_admins_alone(self, house: House) -> None:
        anna = await house.add(ANNA)
        await house.add("admin@example.org", role=TenantRole.ADMIN)
        browser, admin = await house.signed_in(ANNA), await house.signed_in("admin@example.org")
        (listed,) = (await admin.get(f"/users/{anna.id}/sessions")).json()["items"]
        assert (listed["address"], listed["user_agent"], listed["current"]) == ("127.0.0.1", "Test", False)
        for method in ("GET", "DELETE"):
            assert (await browser.send(method, f"/users/{anna.id}/sessions")).status_code == 403
        assert (await admin.send("DELETE", f"/users/{anna.id}/sessions")).json() == {"ended": 1}
        assert (await browser.get("/me")).status_code == 401
        assert (await admin.get("/me")).status_code == 200


class TestPassword:
    async def test_is_changed_by_who_knows_it_and_ends_the_other_sessions(self, house: House) -> None:
        await house.add(ANNA)
        there, here = await house.signed_in(ANNA), await house.signed_in(ANNA)
        body = {"current": PASSWORD, "new": "entirely new words"}
        assert (await here.post("/me/password", body)).status_code == 204
        assert (await here.get("/me")).status_code == 200
        assert (await there.get("/me")).status_code == 401
        assert (await there.sign_in(ANNA)).status_code == 401
        assert (await there.sign_in(ANNA, "entirely new words")).status_code == 200
        assert "user.password_changed" in await house.actions()

    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ({"current": "wrong horse battery", "new": "entirely new words"}, 403, "password_wrong"),
            ({"current": PASSWORD, "new": "short"}, 422, "password_refused"),
            ({"current": PASSWORD, "new": "anna@example.org"}, 422, "password_refused"),
            ({"current": PASSWORD}, 422, "bad_request"),
        ],
    )
    async def test_stays_when_something_is_wrong(
        self, house: House, body: dict[str, str], status: int, code: str
    ) -> None:
        await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        answer = await browser.post("/me/password", body)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert (await (await house.browser()).sign_in(ANNA)).status_code == 200

    async def test_of_somebody_who_has_none_is_not_changed(self, house: House) -> None:
        anna = await house.add(ANNA)
        browser = await house.signed_in(ANNA)
        await house.change(anna, password_hash=None)
        answer = await browser.post("/me/password", {"current": PASSWORD, "new": "entirely new words"})
        assert (answer.status_code, answer.json()["code"]) == (409, "no_password")
