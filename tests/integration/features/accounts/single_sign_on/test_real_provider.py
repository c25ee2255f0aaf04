"""The whole way through a certified provider in a process of its own, as a browser goes it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from headgate.features.accounts.sessions.own_path import HOME
from headgate.foundation.settings import Settings, SingleSignOnSettings
from tests.support.openid_provider import OpenIdProvider, openid_provider
from tests.support.patience import PATIENCE_SECONDS
from tests.support.sign_in import House, house_of
from tests.support.single_sign_on import CALLBACK, Traveller, ended_at, error_of, signed_in_person

SECRET = "a+secret%with/all:kinds&of=letters"
ADA = "ada@example.org"
ACCOUNTS: dict[str, dict[str, Any]] = {
    "ada": {"email": "Ada@Example.org", "email_verified": True, "name": "Ada Lovelace", "groups": ["bosses"]},
    "bob": {"email": "bob@example.org", "email_verified": False, "name": "Bob"},
    "cy": {"name": "Cy"},
}


def client(**settings: Any) -> dict[str, Any]:
    return {"redirect_uris": [CALLBACK], "grant_types": ["authorization_code"], "response_types": ["code"], **settings}


CLIENTS = [
    client(client_id="secret", client_secret=SECRET),
    client(client_id="public", token_endpoint_auth_method="none"),
    client(client_id="elliptic", token_endpoint_auth_method="none", id_token_signed_response_alg="ES256"),
    client(client_id="edwards", token_endpoint_auth_method="none", id_token_signed_response_alg="Ed25519"),
]


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    with openid_provider(CLIENTS, ACCOUNTS) as found:
        yield found


def with_provider(settings: Settings, provider: OpenIdProvider, **more: Any) -> Settings:
    """Settings for the confidential client, or the one that is named."""
    given: dict[str, Any] = {"client_id": "secret", "client_secret": SecretStr(SECRET), "issuer": provider.issuer}
    return settings.model_copy(update={"single_sign_on": SingleSignOnSettings(**(given | more))})


@asynccontextmanager
async def travelling(house: House) -> AsyncIterator[Traveller]:
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
        yield Traveller(await house.browser(), http)


class TestSignIn:
    async def test_takes_an_invited_person_where_they_wanted_to_be(
        self, settings: Settings, provider: OpenIdProvider
    ) -> None:
        async with house_of(with_provider(settings, provider)) as house, travelling(house) as traveller:
            ada = await house.add(ADA, password=None)
            assert await traveller.sign_in("ada", "/flows?tab=mine") == "/flows?tab=mine"
            assert (await signed_in_person(traveller.browser))["id"] == ada.id
            me = (await traveller.browser.get("/me")).json()
            assert me["signed_in_by"] == "single_sign_on"
            assert (await house.actions())[-2:] == ["user.linked", "session.started"]
            traveller.browser.csrf = me["csrf_token"]
            assert (await traveller.browser.post("/sign-out")).status_code == 204
            assert await signed_in_person(traveller.browser) is None

    async def test_knows_them_again(self, settings: Settings, provider: OpenIdProvider) -> None:
        async with house_of(with_provider(settings, provider)) as house, travelling(house) as traveller:
            ada = await house.add(ADA, password=None)
            await traveller.sign_in("ada")
            async with travelling(house) as again:
                assert await again.sign_in("ada") == HOME
                assert (await signed_in_person(again.browser))["id"] == ada.id
            assert (await house.actions()).count("user.linked") == 1

    @pytest.mark.parametrize(
        "more",
        [
            {"client_id": "public", "client_secret": None},
            {"client_id": "elliptic", "client_secret": None},
            {"client_id": "edwards", "client_secret": None},
        ],
        ids=["public client", "ES256", "Ed25519"],
    )
    async def test_works_for_clients_of_every_kind(
        self, settings: Settings, provider: OpenIdProvider, more: dict[str, Any]
    ) -> None:
        async with house_of(with_provider(settings, provider, **more)) as house, travelling(house) as traveller:
            await house.add(ADA, password=None)
            assert await traveller.sign_in("ada") == HOME

    async def test_reads_claims_of_the_id_token_itself(self, settings: Settings) -> None:
        with openid_provider(CLIENTS, ACCOUNTS, claims_in_id_token=True) as provider:
            made = with_provider(
                settings,
                provider,
                create_users=True,
                scopes="openid email profile groups",
                admin_claim="groups",
                admin_value="bosses",
            )
            async with house_of(made) as house, travelling(house) as traveller:
                assert await traveller.sign_in("ada") == HOME
                person = await signed_in_person(traveller.browser)
                assert (person["name"], person["email"], person["role"]) == ("Ada Lovelace", ADA, "admin")

    async def test_turns_strangers_away(self, settings: Settings, provider: OpenIdProvider) -> None:
        async with house_of(with_provider(settings, provider)) as house:
            for name, code in (
                ("ada", "sso_not_invited"),
                ("bob", "sso_email_unverified"),
                ("cy", "sso_email_missing"),
            ):
                async with travelling(house) as traveller:
                    assert error_of(await traveller.sign_in(name)) == code
                    assert await signed_in_person(traveller.browser) is None

    async def test_can_be_cancelled(self, settings: Settings, provider: OpenIdProvider) -> None:
        async with house_of(with_provider(settings, provider)) as house, travelling(house) as traveller:
            page = await traveller.begin()
            assert error_of(ended_at(await traveller.cancel(page))) == "sso_cancelled"


class TestComingBack:
    async def test_works_once(self, settings: Settings, provider: OpenIdProvider) -> None:
        made = with_provider(settings, provider)
        async with house_of(made) as house, travelling(house) as traveller:
            await house.add(ADA, password=None)
            page = await traveller.begin()
            held = dict(traveller.browser.http.cookies)
            page = await traveller.submit(page, login="ada", password="any")
            await traveller.submit(page)
            stolen = await house.browser()
            stolen.http.cookies.update(held)
            assert error_of(ended_at(await stolen.http.get(traveller.came_back))) == "sso_lost"
            assert error_of(ended_at(await traveller.browser.http.get(traveller.came_back))) == "sso_lost"
        async with house_of(made) as other:  # another server of the installation: the provider refuses the code
            stolen = await other.browser()
            stolen.http.cookies.update(held)
            assert error_of(ended_at(await stolen.http.get(traveller.came_back))) == "sso_refused"
            assert await signed_in_person(stolen) is None

    async def test_with_a_code_of_another_browser_is_refused_by_pkce(
        self, settings: Settings, provider: OpenIdProvider
    ) -> None:
        async with house_of(with_provider(settings, provider)) as house:
            await house.add(ADA, password=None)
            async with travelling(house) as victim, travelling(house) as thief:
                page = await victim.submit(await victim.begin(), login="ada", password="any")
                answer = await thief.browser.get("/sign-in/oidc")
                state = httpx2.URL(answer.headers["location"]).params["state"]
                victim.browser = await house.browser()  # the answer never reaches the victim's own browser
                await victim.submit(page)
                code = httpx2.URL(victim.came_back).params["code"]
                issuer = provider.issuer
                answer = await thief.browser.get(
                    "/sign-in/oidc/callback", params={"code": code, "state": state, "iss": issuer}
                )
                assert error_of(ended_at(answer)) == "sso_refused"
                assert await signed_in_person(thief.browser) is None
