"""The pages with which people sign in, as the server sends them."""

import re
from collections.abc import AsyncIterator

import httpx2
import pytest

from headgate.foundation.settings import Settings
from headgate.foundation.single_sign_on_settings import SingleSignOnSettings
from tests.integration.http.conftest import serving

PAGES = ("/sign-in", "/set-password")


@pytest.fixture
async def closed(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the application where everybody signs in."""
    async with serving(settings, auto_login=False) as found:
        yield found


class TestAccountPages:
    async def test_keep_the_strict_policy(self, closed: httpx2.AsyncClient) -> None:
        for page in PAGES:
            answer = await closed.get(page)
            assert answer.status_code == 200
            policy = answer.headers["content-security-policy"]
            assert "script-src 'self';" in policy
            assert "style-src 'self';" in policy
            assert answer.headers["cache-control"] == "no-store"
            assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", answer.text)

    async def test_load_nothing_from_elsewhere(self, closed: httpx2.AsyncClient) -> None:
        for page in PAGES:
            text = (await closed.get(page)).text
            wanted = set(re.findall(r'(?:src|href)="([^"]+)"', text)) - {"data:,"}
            assert wanted >= {"/pages/account.css", "/pages/account.js"}
            assert all(one.startswith("/") and not one.startswith("//") for one in wanted)
        for name, kind in (("account.css", "text/css"), ("account.js", "text/javascript")):
            answer = await closed.get(f"/pages/{name}")
            assert (answer.status_code, answer.headers["content-type"]) == (200, f"{kind}; charset=utf-8")
            assert "http" not in answer.text.replace("https://", "http://").replace("httpOnly", "")

    async def test_never_put_a_password_into_an_address(self, closed: httpx2.AsyncClient) -> None:
        for page in PAGES:
            assert '<form id="' in (await closed.get(page)).text
            assert 'method="post"' in (await closed.get(page)).text

    async def test_speak_two_languages(self, closed: httpx2.AsyncClient) -> None:
        swedish = await closed.get("/sign-in", headers={"Accept-Language": "sv-SE,sv;q=0.9"})
        assert (swedish.headers["content-language"], swedish.headers["vary"]) == ("sv", "Accept-Language")
        assert "Logga in" in swedish.text
        assert 'lang="en"' in (await closed.get("/sign-in")).text

    async def test_lead_to_no_other_site(self, closed: httpx2.AsyncClient) -> None:
        for wanted in ("//evil.example", "https://evil.example", "/\\evil.example", '"><script>alert(1)</script>'):
            text = (await closed.get("/sign-in", params={"next": wanted})).text
            assert 'data-home="/docs"' in text
            assert "evil.example" not in text
            assert "alert(" not in text
        assert (
            'data-home="/flows?a=1&amp;b=&quot;"'
            in (await closed.get("/sign-in", params={"next": '/flows?a=1&b="'})).text
        )

    async def test_offer_the_other_way_in_where_there_is_one(self, settings: Settings) -> None:
        other = SingleSignOnSettings(issuer="https://login.example.org", client_id="headgate", name="Entra <ID>")
        changed = settings.model_copy(update={"single_sign_on": other})
        async with serving(changed, auto_login=False, public_url="https://127.0.0.1:7411") as client:
            text = (await client.get("/sign-in", params={"next": "/flows"})).text
            assert '<a class="secondary" href="/api/v1/sign-in/oidc?next=%2Fflows">' in text
            assert "Entra &lt;ID&gt;" in text
            assert '<div class="other" hidden>' not in text
            assert (await client.get("/api/v1/sign-in")).json()["single_sign_on"] == "Entra <ID>"

    async def test_hide_it_where_there_is_none(self, closed: httpx2.AsyncClient) -> None:
        assert '<div class="other" hidden>' in (await closed.get("/sign-in")).text

    async def test_ask_nothing_with_auto_login(self, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/sign-in", params={"next": "/health"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/health")
