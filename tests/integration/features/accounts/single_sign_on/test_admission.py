"""Whom a person of the provider is here, over the API, with a provider that says what the test wants."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import select

from headgate.features.access.permissions import TenantRole
from headgate.features.accounts.sessions.own_path import HOME
from headgate.features.accounts.single_sign_on import sign_on
from headgate.features.accounts.single_sign_on.errors import LinkedToAnother
from headgate.features.accounts.single_sign_on.service import admit
from headgate.features.accounts.single_sign_on.sign_on import ProviderIdentity
from headgate.features.accounts.tables import SpaceMember, User
from headgate.foundation.settings import Settings, SingleSignOnSettings
from tests.support.hostile_provider import CLIENT_ID, HostileProvider
from tests.support.scripted_server import Reply
from tests.support.sign_in import Browser, House, house_of
from tests.support.single_sign_on import BEGIN, ended_at, error_of, signed_in_person

ADA = "ada@example.org"
Opening = Callable[..., AbstractAsyncContextManager[House]]


@pytest.fixture
def provider() -> Iterator[HostileProvider]:
    with HostileProvider() as found:
        yield found


@pytest.fixture
def opened(settings: Settings, provider: HostileProvider) -> Opening:
    """Opens the application with this provider and further settings of single sign-on."""

    @asynccontextmanager
    async def opening(tries: int = 1000, server: dict[str, Any] | None = None, **more: Any) -> AsyncIterator[House]:
        given = {"issuer": provider.issuer, "client_id": CLIENT_ID} | more
        changed = settings.model_copy(update={"single_sign_on": SingleSignOnSettings(**given)})
        async with house_of(changed, tries=tries, **(server or {})) as house:
            yield house

    return opening


async def come_back(browser: Browser, provider: HostileProvider, **params: str) -> str:
    """There and back. Returns the path that the browser ends at."""
    answer = await browser.get(BEGIN, params=params)
    brought = provider.leave(answer.headers["location"])
    answer = await browser.get("/sign-in/oidc/callback", params={"code": brought["nonce"], "state": brought["state"]})
    return ended_at(answer)


async def user_of(house: House, user_id: str) -> User:
    async with house.database.reading() as session:
        return (await session.execute(select(User).where(User.id == user_id))).scalar_one()


class TestFirstSignIn:
    async def test_links_the_person_of_the_verified_address(self, opened: Opening, provider: HostileProvider) -> None:
        async with opened() as house:
            ada = await house.add(ADA)
            browser = await house.browser()
            assert await come_back(browser, provider) == HOME
            assert (await signed_in_person(browser))["id"] == ada.id
            found = await user_of(house, ada.id)
            assert (found.sso_issuer, found.sso_subject) == (provider.issuer, "person-1")
            linked, started = (await house.audited())[-2:]
            assert (linked.action, linked.actor_name, linked.resource_id) == ("user.linked", ADA, ada.id)
            assert '"subject":"person-1"' in linked.payload.replace(" ", "")
            assert '"method":"single_sign_on"' in started.payload.replace(" ", "")

    @pytest.mark.parametrize(
        ("claims", "more", "code"),
        [
            ({}, {}, "sso_not_invited"),
            ({"email": None}, {"create_users": True}, "sso_email_missing"),
            ({"email": "no address"}, {"create_users": True}, "sso_email_missing"),
            ({"email": "ada@example.or\N{KELVIN SIGN}"}, {"create_users": True}, "sso_email_missing"),
            ({"email_verified": False}, {"create_users": True}, "sso_email_unverified"),
            ({"email_verified": None}, {"create_users": True}, "sso_email_unverified"),
            ({"email_verified": "no"}, {"create_users": True}, "sso_email_unverified"),
            ({}, {"create_users": True, "allowed_domains": ["town.example"]}, "sso_domain"),
            (
                {"email": "x@eviltown.example"},
                {"create_users": True, "allowed_domains": ["town.example"]},
                "sso_domain",
            ),
            ({}, {"create_users": True, "tenant": "nowhere"}, "sso_tenant"),
        ],
    )
    async def test_is_refused_and_makes_nobody(
        self,
        opened: Opening,
        provider: HostileProvider,
        claims: dict[str, Any],
        more: dict[str, Any],
        code: str,
    ) -> None:
        provider.claims = claims
        async with opened(**more) as house:
            browser = await house.browser()
            assert error_of(await come_back(browser, provider)) == code
            assert await signed_in_person(browser) is None
            assert await house.actions() == []
            async with house.database.reading() as session:
                assert len((await session.execute(select(User))).scalars().all()) == 1

    async def test_makes_a_member_with_a_space_where_that_is_set(
        self, opened: Opening, provider: HostileProvider
    ) -> None:
        provider.claims = {"name": "Ada\x00 Love\x07lace"}
        async with opened(create_users=True, allowed_domains=["Example.org"]) as house:
            browser = await house.browser()
            assert await come_back(browser, provider) == HOME
            person = await signed_in_person(browser)
            assert (person["name"], person["email"], person["role"]) == ("Ada Lovelace", ADA, "member")
            async with house.database.reading() as session:
                query = select(SpaceMember.role).where(SpaceMember.user_id == person["id"])
                assert (await session.execute(query)).scalars().all() == ["owner"]
            made = next(event for event in await house.audited() if event.action == "user.created")
            assert (made.actor_kind, made.actor_name, made.address) == ("system", "Single sign-on", "127.0.0.1")

    async def test_believes_an_unverified_address_only_when_told_to(
        self, opened: Opening, provider: HostileProvider
    ) -> None:
        provider.claims = {"email_verified": None}
        async with opened(trust_email=True) as house:
            await house.add(ADA)
            assert await come_back(await house.browser(), provider) == HOME

    async def test_stays_in_the_tenant_that_is_set(self, opened: Opening, provider: HostileProvider) -> None:
        async with opened() as house:
            other = await house.add_tenant("Other")
            await house.add(ADA, tenant_id=other)
            assert error_of(await come_back(await house.browser(), provider)) == "sso_not_invited"
        for called in (other, "OTHER"):
            async with opened(tenant=called) as house:
                browser = await house.browser()
                assert await come_back(browser, provider) == HOME
                assert (await browser.get("/me")).json()["tenant"]["id"] == other

    async def test_of_one_person_in_many_browsers_at_once_makes_one(
        self, opened: Opening, provider: HostileProvider
    ) -> None:
        async with opened(create_users=True) as house:
            browsers = [await house.browser() for _ in range(6)]
            assert await asyncio.gather(*(come_back(one, provider) for one in browsers)) == [HOME] * 6
            assert len({(await signed_in_person(one))["id"] for one in browsers}) == 1
            actions = await house.actions()
            assert [actions.count(one) for one in ("user.created", "user.linked", "session.started")] == [1, 1, 6]

    async def test_of_one_subject_with_two_addresses_at_once_links_one(
        self, opened: Opening, provider: HostileProvider
    ) -> None:
        async with opened() as house:
            people = [await house.add(f"{name}@example.org") for name in ("ada", "grace")]
            vouched = [
                ProviderIdentity(provider.issuer, "person-1", f"{name}@example.org", True, name, None)
                for name in ("ada", "grace")
            ]
            settings = house.app.state.single_sign_on.settings

            async def enter(one: ProviderIdentity) -> str:
                async with house.database.writing() as session:
                    return (await admit(session, one, settings, address="")).id

            entered = await asyncio.gather(*map(enter, vouched), return_exceptions=True)
            linked = [person.id for person in people if (await user_of(house, person.id)).sso_subject is not None]
            assert len(linked) == 1
            assert all(one in linked or isinstance(one, LinkedToAnother) for one in entered)


class TestLaterSignIn:
    async def test_goes_by_the_subject_whatever_the_address_is(
        self, opened: Opening, provider: HostileProvider
    ) -> None:
        async with opened() as house:
            ada, boss = await house.add(ADA), await house.add("boss@example.org", role=TenantRole.ADMIN)
            await come_back(await house.browser(), provider)
            provider.claims = {"email": "boss@example.org"}
            browser = await house.browser()
            assert await come_back(browser, provider) == HOME
            assert (await signed_in_person(browser))["id"] == ada.id
            assert (await user_of(house, ada.id)).email == ADA
            assert (await user_of(house, boss.id)).sso_subject is None

    async def test_of_another_subject_with_the_same_address_is_refused(
        self, opened: Opening, provider: HostileProvider
    ) -> None:
        async with opened(create_users=True) as house:
            ada = await house.add(ADA)
            await come_back(await house.browser(), provider)
            provider.claims = {"sub": "person-2"}
            browser = await house.browser()
            assert error_of(await come_back(browser, provider)) == "sso_linked"
            assert await signed_in_person(browser) is None
            assert (await user_of(house, ada.id)).sso_subject == "person-1"

    async def test_of_another_subject_is_let_in_when_an_admin_unlinked(
        self, opened: Opening, provider: HostileProvider
    ) -> None:
        async with opened() as house:
            ada = await house.add(ADA)
            await house.add("boss@example.org", role=TenantRole.ADMIN)
            await come_back(await house.browser(), provider)
            boss, member = await house.signed_in("boss@example.org"), await house.signed_in(ADA)
            path = f"/users/{ada.id}/single-sign-on"
            assert (await member.send("DELETE", path)).json()["code"] == "permission_missing"
            assert (await boss.send("DELETE", path)).status_code == 204
            assert (await boss.send("DELETE", path)).json()["code"] == "sso_not_linked"
            assert (await boss.send("DELETE", "/users/nobody/single-sign-on")).status_code == 404
            assert (await house.actions())[-1] == "user.unlinked"
            provider.claims = {"sub": "person-2"}
            assert await come_back(await house.browser(), provider) == HOME

    async def test_of_somebody_shut_out_is_refused(self, opened: Opening, provider: HostileProvider) -> None:
        async with opened(create_users=True) as house:
            ada = await house.add(ADA)
            await house.change(ada, active=False)
            assert error_of(await come_back(await house.browser(), provider)) == "sso_shut_out"
            await house.change(ada, active=True)
            await come_back(await house.browser(), provider)
            await house.change(ada, active=False)
            assert error_of(await come_back(await house.browser(), provider)) == "sso_shut_out"

    async def test_with_another_provider_links_anew(self, opened: Opening, provider: HostileProvider) -> None:
        async with opened() as house:
            ada = await house.add(ADA)
            await house.change(ada, sso_issuer="https://before.example.org", sso_subject="old")
            assert await come_back(await house.browser(), provider) == HOME
            assert (await user_of(house, ada.id)).sso_issuer == provider.issuer

    async def test_from_a_domain_that_is_no_longer_admitted_is_refused(
        self, opened: Opening, provider: HostileProvider
    ) -> None:
        async with opened() as house:
            await house.add(ADA)
            await come_back(await house.browser(), provider)
        async with opened(allowed_domains=["town.example"]) as house:
            assert error_of(await come_back(await house.browser(), provider)) == "sso_domain"

    async def test_ends_the_session_that_the_browser_had(self, opened: Opening, provider: HostileProvider) -> None:
        async with opened() as house:
            await house.add(ADA)
            browser = await house.browser()
            await come_back(browser, provider)
            before = browser.token
            await come_back(browser, provider)
            assert browser.token != before
            assert len((await browser.get("/me/sessions")).json()["items"]) == 1


BOSSES: dict[str, Any] = {"create_users": True, "admin_claim": "groups", "admin_value": "bosses"}


class TestAdminClaim:
    async def role(self, house: House, provider: HostileProvider, *groups: str) -> str:
        provider.claims = provider.claims | {"groups": list(groups)}
        browser = await house.browser()
        assert await come_back(browser, provider) == HOME
        role: str = (await signed_in_person(browser))["role"]
        return role

    async def test_gives_and_takes_the_role_at_each_sign_in(self, opened: Opening, provider: HostileProvider) -> None:
        async with opened(**BOSSES) as house:
            await house.add("boss@example.org", role=TenantRole.ADMIN)
            assert await self.role(house, provider, "staff") == "member"
            assert await self.role(house, provider, "staff", "bosses") == "admin"
            assert await self.role(house, provider) == "member"
            changed = [event for event in await house.audited() if event.action == "user.changed"]
            assert [(event.actor_kind, event.actor_name) for event in changed] == [("system", "Single sign-on")] * 2

    async def test_leaves_the_last_admin(self, opened: Opening, provider: HostileProvider) -> None:
        async with opened(**BOSSES) as house:
            assert await self.role(house, provider, "bosses") == "admin"
            assert await self.role(house, provider, "staff") == "admin"
            assert "user.changed" in await house.actions()

    async def test_changes_nothing_where_it_is_not_set(self, opened: Opening, provider: HostileProvider) -> None:
        async with opened() as house:
            await house.add(ADA, role=TenantRole.ADMIN)
            assert await self.role(house, provider, "staff") == "admin"


class TestRoutes:
    async def test_keep_what_the_browser_holds_from_scripts_and_other_sites(
        self, opened: Opening, provider: HostileProvider
    ) -> None:
        async with opened(server={"public_url": "https://headgate.example.org"}) as house:
            browser = await house.browser(base_url="https://headgate.example.org")
            answer = await browser.get(BEGIN)
            assert answer.status_code == 303
            assert answer.headers["cache-control"] == "no-store"
            brought = provider.leave(answer.headers["location"])
            assert brought["redirect_uri"] == "https://headgate.example.org/api/v1/sign-in/oidc/callback"
            cookie = answer.headers["set-cookie"]
            assert cookie.startswith("__Host-headgate-oidc=")
            assert cookie.endswith("; HttpOnly; Max-Age=600; Path=/; SameSite=lax; Secure")
            assert not any(brought[name] in cookie for name in ("state", "nonce"))

    async def test_take_the_cookie_back_whatever_happened(self, opened: Opening, provider: HostileProvider) -> None:
        async with opened() as house:
            for params in ({"error": "access_denied"}, {"code": "a-code"}, {"code": "a-code", "iss": "https://x"}):
                browser = await house.browser()
                state = provider.leave((await browser.get(BEGIN)).headers["location"])["state"]
                await browser.get("/sign-in/oidc/callback", params=params | {"state": state})
                assert "headgate-oidc" not in browser.http.cookies

    async def test_are_not_disturbed_by_another_site_that_opens_them(
        self, opened: Opening, provider: HostileProvider
    ) -> None:
        async with opened() as house:
            await house.add(ADA)
            browser = await house.browser()
            brought = provider.leave((await browser.get(BEGIN)).headers["location"])
            await browser.get("/sign-in/oidc/callback", params={"code": "theirs", "state": "theirs"})
            answer = await browser.get("/sign-in/oidc/callback", params={"code": "ours", "state": brought["state"]})
            assert ended_at(answer) == HOME

    @pytest.mark.parametrize("wanted", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x"])
    async def test_never_send_anybody_to_another_site(
        self, opened: Opening, provider: HostileProvider, wanted: str
    ) -> None:
        async with opened() as house:
            await house.add(ADA)
            assert await come_back(await house.browser(), provider, next=wanted) == HOME

    async def test_show_nothing_that_the_provider_wrote(self, opened: Opening, provider: HostileProvider) -> None:
        async with opened() as house:
            browser = await house.browser()
            state = provider.leave((await browser.get(BEGIN)).headers["location"])["state"]
            params = {"state": state, "error": "<script>alert(1)</script>", "error_description": "<b>"}
            answer = await browser.get("/sign-in/oidc/callback", params=params)
            assert answer.headers["location"] == "/sign-in?error=sso_refused"
            assert "script" not in answer.text

    @pytest.mark.parametrize("query", ["", "?code=x", "?state=x&code=y", "?state=%00&code=%ff&iss=%F0%9F%98%80"])
    async def test_refuse_who_comes_from_nowhere(self, opened: Opening, query: str) -> None:
        async with opened() as house:
            browser = await house.browser()
            for held in (None, "x", "gAAAAAAA"):
                if held is not None:
                    browser.http.cookies.set("headgate-oidc", held)
                assert error_of(ended_at(await browser.get(f"/sign-in/oidc/callback{query}"))) == "sso_lost"

    async def test_tell_a_provider_that_is_broken(self, opened: Opening, provider: HostileProvider) -> None:
        provider.replies["/.well-known/openid-configuration"] = Reply((b"<html>",), media_type="text/html")
        async with opened() as house:
            assert error_of(ended_at(await (await house.browser()).get(BEGIN))) == "sso_provider"

    async def test_count_tries(self, opened: Opening) -> None:
        async with opened(tries=1) as house:
            browser = await house.browser()
            codes = [
                error_of(where) if (where := (await browser.get(BEGIN)).headers["location"])[0] == "/" else None
                for _ in range(11)
            ]
            assert codes == [None] * 10 + ["rate_limited"]

    async def test_name_the_extra_that_is_missing(self, opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "headgate.features.accounts.single_sign_on.protocol", None)
        monkeypatch.delattr("headgate.features.accounts.single_sign_on.protocol", raising=False)
        async with opened() as house:
            answer = await (await house.browser()).get(BEGIN)
            assert answer.status_code == 503
            assert "pip install 'headgate[sso]'" in answer.json()["remedy"]

    async def test_are_not_there_without_a_provider(self, house: House) -> None:
        browser = await house.browser()
        for path in (BEGIN, "/sign-in/oidc/callback?state=x"):
            answer = await browser.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, "sso_off")
        assert (await browser.get("/sign-in")).json()["single_sign_on"] is None

    async def test_are_named_to_the_sign_in_page(self, opened: Opening) -> None:
        async with opened(name="Town Hall") as house:
            assert (await (await house.browser()).get("/sign-in")).json()["single_sign_on"] == "Town Hall"


class TestMemory:
    async def test_of_answers_that_were_used_does_not_grow_for_ever(
        self, opened: Opening, provider: HostileProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sign_on, "LIFETIME_SECONDS", -1)
        async with opened() as house:
            await house.add(ADA)
            for _ in range(3):
                await come_back(await house.browser(), provider)
            assert len(house.app.state.single_sign_on._used) == 1
