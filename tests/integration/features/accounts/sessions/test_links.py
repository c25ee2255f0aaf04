import asyncio
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

from headgate.features.access.permissions import TenantRole
from headgate.features.accounts.sessions.tokens import hash_of
from headgate.features.accounts.tables import OneTimeLink
from headgate.foundation.database import now
from headgate.foundation.settings import Settings
from tests.support.sign_in import PASSWORD, Browser, House, house_of

ADMIN, BO = "admin@example.org", "bo@example.org"
NEW = "four odd words here"


async def admin_of(house: House) -> Browser:
    await house.add(ADMIN, role=TenantRole.ADMIN)
    return await house.signed_in(ADMIN)


async def invited(admin: Browser, email: str = BO) -> dict[str, Any]:
    answer = await admin.post("/users", {"email": email})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def token_of(link: dict[str, Any]) -> str:
    parts = urlsplit(link["url"])
    assert (parts.path, parts.query) == ("/set-password", "")
    (token,) = parse_qs(parts.fragment)["token"]
    return str(token)


async def the_link(house: House, token: str) -> OneTimeLink:
    async with house.database.reading() as session:
        return (await session.execute(select(OneTimeLink).where(OneTimeLink.token_hash == hash_of(token)))).scalar_one()


class TestInvitation:
    async def test_lets_the_person_set_a_password_and_come_in(self, house: House) -> None:
        made = await invited(await admin_of(house))
        token = token_of(made["link"])
        browser = await house.browser()
        looked = await browser.post("/password-links/look", {"token": token})
        assert looked.json() == {"email": BO, "name": "bo", "organisation": "Default"}
        used = await browser.post("/password-links/use", {"token": token, "password": NEW})
        assert (used.status_code, used.json()["user"]["id"]) == (200, made["id"])
        me = (await browser.get("/me")).json()
        assert (me["signed_in_by"], me["space"]["name"]) == ("link", "bo")
        assert (await (await house.browser()).sign_in(BO, NEW)).status_code == 200

    async def test_works_once(self, house: House) -> None:
        token = token_of((await invited(await admin_of(house)))["link"])
        body = {"token": token, "password": NEW}
        assert (await (await house.browser()).post("/password-links/use", body)).status_code == 200
        again = await (await house.browser()).post("/password-links/use", body)
        assert (again.status_code, again.json()["code"]) == (404, "link_refused")
        assert "set-cookie" not in again.headers

    async def test_made_anew_by_several_at_once_leaves_one(self, house: House) -> None:
        admin = await admin_of(house)
        path = f"/users/{(await invited(admin))['id']}/password-link"
        made = await asyncio.gather(*(admin.post(path) for _ in range(5)))
        browser = await house.browser()
        looked = [await browser.post("/password-links/look", {"token": token_of(one.json())}) for one in made]
        assert sorted(one.status_code for one in looked) == [200, 404, 404, 404, 404]

    async def test_expires(self, house: House) -> None:
        token = token_of((await invited(await admin_of(house)))["link"])
        await house.change(await the_link(house, token), expires_at=now() - timedelta(seconds=1))
        browser = await house.browser()
        for path, more in (("look", {}), ("use", {"password": NEW})):
            answer = await browser.post(f"/password-links/{path}", {"token": token, **more})
            assert (answer.status_code, answer.json()["code"]) == (404, "link_refused")

    async def test_does_nothing_for_who_was_shut_out(self, house: House) -> None:
        admin = await admin_of(house)
        made = await invited(admin)
        assert (await admin.send("PATCH", f"/users/{made['id']}", {"active": False})).status_code == 200
        body = {"token": token_of(made["link"]), "password": NEW}
        assert (await (await house.browser()).post("/password-links/use", body)).status_code == 404

    async def test_stays_usable_when_the_password_is_refused(self, house: House) -> None:
        token = token_of((await invited(await admin_of(house)))["link"])
        browser = await house.browser()
        refused = await browser.post("/password-links/use", {"token": token, "password": "bo@example.org"})
        assert (refused.status_code, refused.json()["code"]) == (422, "password_refused")
        assert (await browser.post("/password-links/use", {"token": token, "password": NEW})).status_code == 200

    @pytest.mark.parametrize("token", ["", "x", "x" * 43, "x" * 201, "a b", "\x00", None])
    async def test_is_not_guessed(self, house: House, token: str | None) -> None:
        answer = await (await house.browser()).post("/password-links/use", {"token": token, "password": NEW})
        assert answer.status_code in {404, 422}
        assert NEW not in answer.text

    async def test_is_kept_as_a_hash_and_never_audited(self, house: House) -> None:
        token = token_of((await invited(await admin_of(house)))["link"])
        assert token not in str(vars(await the_link(house, token)))
        events = await house.audited()
        assert {"user.created", "user.password_link_created"} <= {event.action for event in events}
        assert token not in "".join(str(vars(event)) for event in events)

    async def test_tries_are_counted(self, settings: Settings) -> None:
        async with house_of(settings, tries=1) as house:
            browser = await house.browser()
            codes = [(await browser.post("/password-links/look", {"token": "x" * 43})).status_code for _ in range(3)]
            assert codes == [404, 404, 429]


class TestReset:
    async def test_ends_all_sessions_and_the_former_password(self, house: House) -> None:
        admin = await admin_of(house)
        bo = await house.add(BO)
        there = await house.signed_in(BO)
        link = (await admin.post(f"/users/{bo.id}/password-link")).json()
        assert (await there.get("/me")).status_code == 200
        here = await house.browser()
        used = await here.post("/password-links/use", {"token": token_of(link), "password": NEW})
        assert used.status_code == 200
        assert (await there.get("/me")).status_code == 401
        assert (await here.get("/me")).status_code == 200
        assert (await there.sign_in(BO, PASSWORD)).status_code == 401

    async def test_makes_older_links_stop_working(self, house: House) -> None:
        admin = await admin_of(house)
        made = await invited(admin)
        newer = (await admin.post(f"/users/{made['id']}/password-link")).json()
        browser = await house.browser()
        older = {"token": token_of(made["link"]), "password": NEW}
        assert (await browser.post("/password-links/use", older)).status_code == 404
        assert (
            await browser.post("/password-links/use", {"token": token_of(newer), "password": NEW})
        ).status_code == 200

    async def test_names_the_address_that_people_open(self, settings: Settings) -> None:
        async with house_of(settings, public_url="https://headgate.example.org") as house:
            bo = await house.add(BO)
            await house.add(ADMIN, role=TenantRole.ADMIN)
            admin = await house.browser(base_url="https://headgate.example.org")
            assert (await admin.sign_in(ADMIN)).status_code == 200
            link = (await admin.post(f"/users/{bo.id}/password-link")).json()
            assert link["url"].startswith("https://headgate.example.org/set-password#token=")
