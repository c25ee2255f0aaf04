"""Signing out at the provider, and from there."""

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from headgate.features.accounts.single_sign_on import service as admission
from headgate.foundation.settings import Settings, SingleSignOnSettings
from tests.support.hostile_provider import CLIENT_ID, HostileProvider, new_key
from tests.support.sign_in import Browser, House, house_of

LOGOUT = "/api/v1/sign-in/oidc/back-channel-logout"


@pytest.fixture
def provider() -> Iterator[HostileProvider]:
    with HostileProvider() as found:
        yield found


@pytest.fixture
async def house(settings: Settings, provider: HostileProvider) -> AsyncIterator[House]:
    provider.document["end_session_endpoint"] = f"{provider.issuer}/sign-out?realm=town"
    other = SingleSignOnSettings(
        issuer=provider.issuer, client_id=CLIENT_ID, client_secret=SecretStr("a secret"), create_users=True
    )
    async with house_of(settings.model_copy(update={"single_sign_on": other})) as found:
        yield found


async def arrived(house: House, provider: HostileProvider, **claims: Any) -> Browser:
    """Somebody who came through the provider."""
    provider.claims = claims
    browser = await house.browser()
    left = provider.leave((await browser.get("/sign-in/oidc")).headers["location"])
    await browser.get("/sign-in/oidc/callback", params={"code": left["nonce"], "state": left["state"]})
    me = await browser.get("/me")
    assert me.status_code == 200, me.text
    browser.csrf = me.json()["csrf_token"]
    return browser


async def told(house: House, token: str) -> int:
    """What the provider is answered."""
    call = await house.browser()
    return (await call.http.post(LOGOUT, data={"logout_token": token})).status_code


async def is_in(browser: Browser) -> bool:
    return (await browser.get("/me")).status_code == 200


class TestBackChannel:
    async def test_ends_the_one_session_that_it_names(self, house: House, provider: HostileProvider) -> None:
        first = await arrived(house, provider, sid="session-1")
        second = await arrived(house, provider, sid="session-2")
        assert await told(house, provider.logout_token(sid="session-1")) == 200
        assert [await is_in(first), await is_in(second)] == [False, True]
        assert await told(house, provider.logout_token(sub=None, sid="session-2")) == 200
        assert not await is_in(second)
        assert (await house.actions()).count("session.ended") == 2

    async def test_ends_all_sessions_of_a_person_and_of_nobody_else(
        self, house: House, provider: HostileProvider
    ) -> None:
        ada = [await arrived(house, provider) for _ in range(2)]
        bo = await arrived(house, provider, sub="person-2", email="bo@example.org")
        await house.add("cy@example.org")
        cy = await house.signed_in("cy@example.org")
        assert await told(house, provider.logout_token()) == 200
        assert [await is_in(one) for one in (*ada, bo, cy)] == [False, False, True, True]

    async def test_of_an_earlier_token_ends_nothing_that_began_since(
        self, house: House, provider: HostileProvider
    ) -> None:
        earlier = int(time.time() - admission.CLOCK_LEEWAY.total_seconds() - 30)
        ada = await arrived(house, provider)
        assert await told(house, provider.logout_token(iat=earlier)) == 200
        assert await is_in(ada)

    @pytest.mark.parametrize(
        "claims",
        [
            {"iss": "https://elsewhere.example"},
            {"aud": "another-client"},
            {"iat": None},
            {"iat": 1_000_000_000},
            {"exp": 1_000_000_000},
            {"jti": None},
            {"events": None},
            {"events": {"http://schemas.openid.net/event/backchannel-logout": "yes"}},
            {"nonce": "of an ID token"},
            {"sub": None},
        ],
        ids=lambda claims: next(iter(claims)),
    )
    async def test_refuses_what_is_no_logout_token(
        self, house: House, provider: HostileProvider, claims: dict[str, Any]
    ) -> None:
        ada = await arrived(house, provider)
        assert await told(house, provider.logout_token(**claims)) == 401
        assert await is_in(ada)

    async def test_refuses_a_signature_of_others(self, house: House, provider: HostileProvider) -> None:
        ada = await arrived(house, provider)
        own = dict(provider.keys)
        provider.keys = {"one": new_key()}
        forged = provider.logout_token()
        provider.alg = "none"
        unsigned = provider.logout_token()
        provider.alg, provider.keys = "HS256", own
        shared = provider.logout_token()
        provider.alg = "RS256"
        assert [await told(house, token) for token in (forged, unsigned, shared, "a.b.c", "x")] == [401] * 5
        assert await is_in(ada)


class TestAtProvider:
    async def test_is_led_there_and_back(self, house: House, provider: HostileProvider) -> None:
        answer = await (await house.browser()).get("/sign-in/oidc/sign-out")
        assert answer.status_code == 303
        back = "http%3A%2F%2F127.0.0.1%3A7411%2Fsign-in"
        assert answer.headers["location"] == (
            f"{provider.issuer}/sign-out?realm=town&client_id={CLIENT_ID}&post_logout_redirect_uri={back}"
        )

    async def test_ends_on_the_sign_in_page_where_the_provider_has_none(
        self, house: House, provider: HostileProvider
    ) -> None:
        provider.document["end_session_endpoint"] = None
        answer = await (await house.browser()).get("/sign-in/oidc/sign-out")
        assert answer.headers["location"] == "/sign-in"
