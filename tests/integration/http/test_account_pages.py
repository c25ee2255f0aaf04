"""The addresses at which people sign in. What stands there is the studio's page; tests/e2e/test_sign_in.py uses it."""

import httpx2
import pytest

from headgate.entrypoints.http.studio import page
from headgate.foundation.settings import Settings, SingleSignOnSettings
from tests.integration.http.conftest import serving


class TestAccountPages:
    async def test_are_the_studio_s_page_under_its_strict_policy(self, settings: Settings) -> None:
        if not page.is_built():
            pytest.fail("The page is not built: run `make page`.")
        async with serving(settings, auto_login=False) as closed:
            for address in ("/sign-in", "/set-password"):
                answer = await closed.get(address)
                assert (answer.status_code, '<div id="root">' in answer.text) == (200, True)
                assert "script-src 'self';" in answer.headers["content-security-policy"]
                assert answer.headers["cache-control"] == "no-store"

    async def test_ask_nothing_with_auto_login(self, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/sign-in", params={"next": "/health"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/health")

    @pytest.mark.parametrize("wanted", ["//evil.example", "https://evil.example", "/\\evil.example", ""])
    async def test_lead_to_no_other_site(self, client: httpx2.AsyncClient, wanted: str) -> None:
        assert (await client.get("/sign-in", params={"next": wanted})).headers["location"] == "/"

    async def test_say_which_other_way_in_there_is(self, settings: Settings) -> None:
        other = SingleSignOnSettings(issuer="https://login.example.org", client_id="headgate", name="Entra <ID>")
        changed = settings.model_copy(update={"single_sign_on": other})
        async with serving(changed, auto_login=False, public_url="https://127.0.0.1:7411") as client:
            assert (await client.get("/api/v1/sign-in")).json()["single_sign_on"] == "Entra <ID>"
