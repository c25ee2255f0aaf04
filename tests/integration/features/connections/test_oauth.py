"""OAuth 2 with a real provider: every grant, expiry, rotation, two processes, revocation."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from fastapi import FastAPI

from headgate.features.access.principal import LOCAL
from headgate.features.connections.oauth.provider import TokenSet, unseal
from headgate.features.connections.opening import Connections
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import Unavailable
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import Settings
from tests.integration.features.connections.conftest import LOOPBACK
from tests.support.connections import connect, run_request
from tests.support.oauth_provider import CLIENT_SECRET, OAuthProvider, oauth_provider
from tests.support.patience import PATIENCE_SECONDS
from tests.support.web_server import WebServer, answer


@pytest.fixture
def provider() -> Iterator[OAuthProvider]:
    """A provider."""
    with oauth_provider() as server:
        yield server


async def authorize(client: httpx2.AsyncClient, provider: OAuthProvider, name: str = "crm") -> httpx2.Response:
    """Add a connection and authorize it as a browser does."""
    await connect(client, name, "oauth2_code", fields=provider.fields, secrets={"client_secret": CLIENT_SECRET})
    started = (await client.post(f"/connections/{name}/authorize")).json()
    return await finish(client, await consent(started["url"]))


async def consent(url: str) -> dict[str, str]:
    """Agree at the provider, and return what it sends the browser back with."""
    async with httpx2.AsyncClient(trust_env=False) as browser:
        answer = await browser.get(url)
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["location"])
    assert back.path == "/settings/connections"
    return dict(parse_qsl(back.query))


async def finish(client: httpx2.AsyncClient, query: dict[str, str]) -> httpx2.Response:
    """Complete an authorization as the page does."""
    return await client.post("/connections/authorizations", json=query)


async def statuses(settings: Settings, times: int) -> list[list[int]]:
    """The answers of two processes that call the API at the same time."""
    text = json.dumps(plain(settings.model_copy(update={"http": LOOPBACK})))
    command = [sys.executable, "-m", "tests.support.refreshing_process", text, "crm", str(times)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        while (line := await asyncio.to_thread(process.stdout.readline)) != "ready\n":
            assert line, "the process has ended"
    outputs = await asyncio.gather(*(asyncio.to_thread(process.communicate, "\n") for process in processes))
    return [json.loads(output[0].strip().splitlines()[-1]) for output in outputs]


def plain(settings: Settings) -> dict[str, Any]:
    """The settings as JSON, with their secrets."""
    document: dict[str, Any] = json.loads(settings.model_dump_json(exclude_unset=True))
    document["database"]["url"] = settings.database.url
    document["http"] = {"allowed_internal_cidrs": ["127.0.0.0/8"]}
    return document


class TestAuthorizationCode:
    async def test_a_flow_calls_the_api_of_the_user(self, client: httpx2.AsyncClient, provider: OAuthProvider) -> None:
        done = await authorize(client, provider)
        assert done.json()["status"] == "ready", done.text
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "completed", json.dumps(run)
        assert len(provider.calls) == 1

    async def test_needs_the_verifier_of_this_authorization(
        self, client: httpx2.AsyncClient, provider: OAuthProvider
    ) -> None:
        """A code that was stolen and injected is refused: PKCE."""
        await connect(client, "crm", "oauth2_code", fields=provider.fields, secrets={"client_secret": CLIENT_SECRET})
        first, second = [(await client.post("/connections/crm/authorize")).json()["url"] for _ in range(2)]
        stolen, own = await consent(first), await consent(second)
        answer = await finish(client, {**own, "code": stolen["code"]})
        assert answer.status_code == 502
        assert "Authorize the connection again." in answer.text

    async def test_more_parameters_replace_none_of_the_protocol(
        self, client: httpx2.AsyncClient, provider: OAuthProvider
    ) -> None:
        fields = {**provider.fields, "parameters": "access_type=offline&state=fixed&redirect_uri=https://x.example.org"}
        await connect(client, "crm", "oauth2_code", fields=fields, secrets={"client_secret": CLIENT_SECRET})
        url = (await client.post("/connections/crm/authorize")).json()["url"]
        query = dict(parse_qsl(urlsplit(url).query))
        assert (query["access_type"], query["redirect_uri"]) == (
            "offline",
            "http://127.0.0.1:7411/settings/connections",
        )
        assert query["state"] != "fixed"

    async def test_is_used_once(self, client: httpx2.AsyncClient, provider: OAuthProvider) -> None:
        await connect(client, "crm", "oauth2_code", fields=provider.fields, secrets={"client_secret": CLIENT_SECRET})
        query = await consent((await client.post("/connections/crm/authorize")).json()["url"])
        assert (await finish(client, query)).status_code == 200
        again = await finish(client, query)
        assert (again.status_code, again.json()["code"]) == (422, "authorization_lost")

    async def test_a_refusal_at_the_provider_is_named(
        self, client: httpx2.AsyncClient, provider: OAuthProvider
    ) -> None:
        await connect(client, "crm", "oauth2_code", fields=provider.fields, secrets={"client_secret": CLIENT_SECRET})
        url = (await client.post("/connections/crm/authorize")).json()["url"]
        state = dict(parse_qsl(urlsplit(url).query))["state"]
        answer = await finish(client, {"state": state, "error": "access_denied"})
        assert "did not authorize the connection 'crm'" in answer.text


class TestExpiry:
    async def test_an_expired_token_is_refreshed_before_it_is_sent(
        self, client: httpx2.AsyncClient, provider: OAuthProvider
    ) -> None:
        provider.lifetime = 1
        await authorize(client, provider)
        await asyncio.sleep(1.1)
        provider.lifetime = 3600
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "completed", json.dumps(run)
        assert len(provider.refreshes) == 1

    async def test_a_token_that_the_api_rejects_is_refreshed_once(
        self, client: httpx2.AsyncClient, provider: OAuthProvider
    ) -> None:
        await authorize(client, provider)
        provider.expire()
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "completed", json.dumps(run)
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "completed", json.dumps(run)
        assert len(provider.refreshes) == 1

    async def test_a_revoked_authorization_must_be_given_again(
        self, client: httpx2.AsyncClient, provider: OAuthProvider
    ) -> None:
        await authorize(client, provider)
        for token in provider.tokens:
            token.revoked = True
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "failed"
        assert "must be authorized again" in json.dumps(run)
        assert (await client.get("/connections/crm")).json()["status"] == "unauthorized"
        started = (await client.post("/connections/crm/authorize")).json()
        assert (await finish(client, await consent(started["url"]))).status_code == 200
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "completed", json.dumps(run)

    async def test_one_rejected_request_ends_no_authorization_without_refresh_token(
        self, client: httpx2.AsyncClient, provider: OAuthProvider
    ) -> None:
        provider.refreshable = False
        await authorize(client, provider)
        valid = provider.tokens[-1].expires_at
        provider.expire()
        run = await run_request(client, "/me", "crm")
        assert "must be authorized again" not in json.dumps(run)
        provider.tokens[-1].expires_at = valid
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "completed", json.dumps(run)

    async def test_a_rejected_token_without_refresh_token_asks_to_authorize_again(
        self, client: httpx2.AsyncClient, provider: OAuthProvider
    ) -> None:
        provider.refreshable = False
        await authorize(client, provider)
        provider.tokens[-1].revoked = True
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "failed", json.dumps(run)
        (shown,) = (await client.get("/connections")).json()["items"]
        assert (shown["status"], "401" in shown["error_message"]) == ("rejected", True)
        checked = (await client.get(f"/flows/{run['flow_id']}")).json()
        assert "must be authorized again" in json.dumps(checked)
        assert (await client.post("/connections/crm/test")).json()["ok"] is False
        assert (await client.get("/connections/crm")).json()["status"] == "rejected"
        started = (await client.post("/connections/crm/authorize")).json()
        assert (await finish(client, await consent(started["url"]))).status_code == 200
        assert (await client.get("/connections/crm")).json()["status"] == "ready"
        assert "must be authorized again" not in json.dumps((await client.get(f"/flows/{run['flow_id']}")).json())
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "completed", json.dumps(run)

    async def test_a_cancelled_run_loses_no_token_that_the_provider_has_replaced(
        self, app: FastAPI, client: httpx2.AsyncClient, provider: OAuthProvider
    ) -> None:
        await authorize(client, provider)
        provider.refresh_seconds = 0.3
        manager = app.state.connections
        row = await manager.find(LOCAL, "crm")
        rejected = provider.tokens[-1].access_token
        waiting = asyncio.create_task(manager.connections.tokens.access_token(row, CLIENT_SECRET, rejected=rejected))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not provider.arrived:  # noqa: ASYNC110 - a server in another thread
                await asyncio.sleep(0.005)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        provider.refresh_seconds = 0.0
        for _ in range(2):
            run = await run_request(client, "/me", "crm")
            assert run["status"] == "completed", json.dumps(run)
            provider.expire()
        assert provider.reused == []


class TestTwoProcesses:
    async def test_one_refreshes_and_both_use_the_new_token(
        self, client: httpx2.AsyncClient, provider: OAuthProvider, settings: Settings
    ) -> None:
        """With rotation, a second refresh of the same token would revoke everything."""
        await authorize(client, provider)
        provider.expire()
        provider.refresh_seconds = 0.3
        assert await statuses(settings, 5) == [[200] * 5, [200] * 5]
        assert (len(provider.refreshes), provider.reused) == (1, [])

    async def test_every_rotation_is_stored(
        self, client: httpx2.AsyncClient, provider: OAuthProvider, settings: Settings
    ) -> None:
        await authorize(client, provider)
        for _ in range(3):
            provider.expire()
            run = await run_request(client, "/me", "crm")
        assert run["status"] == "completed", json.dumps(run)
        assert (len(set(provider.refreshes)), provider.reused) == (3, [])


class TestOtherGrants:
    async def test_a_device_code_is_polled_until_it_is_entered(
        self, client: httpx2.AsyncClient, provider: OAuthProvider
    ) -> None:
        fields = {**provider.fields, "device_url": f"{provider.origin}/device"}
        del fields["authorization_url"]
        await connect(client, "crm", "oauth2_device", fields=fields, secrets={"client_secret": CLIENT_SECRET})
        started = (await client.post("/connections/crm/authorize")).json()
        assert started["state"] == "device"
        assert started["url"] == f"{provider.origin}/device"
        body = {"authorization": started["authorization"]}
        assert (await client.post("/connections/crm/authorize/poll", json=body)).json()["state"] == "pending"
        provider.confirmed.add(started["user_code"])
        assert (await client.post("/connections/crm/authorize/poll", json=body)).json()["state"] == "ready"
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "completed", json.dumps(run)
        assert (await client.post("/connections/crm/authorize/poll", json=body)).status_code == 422

    async def test_client_credentials_need_no_user(self, client: httpx2.AsyncClient, provider: OAuthProvider) -> None:
        fields = {name: value for name, value in provider.fields.items() if name != "authorization_url"}
        await connect(client, "crm", "oauth2_client", fields=fields, secrets={"client_secret": CLIENT_SECRET})
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "completed", json.dumps(run)
        provider.expire()
        run = await run_request(client, "/me", "crm")
        assert run["status"] == "completed", json.dumps(run)
        assert len(provider.tokens) == 2


class TestMoves:
    """Tokens and codes are for the servers that the connection named when the user agreed."""

    @pytest.mark.parametrize("field", ["url", "token_url"])
    async def test_tokens_are_not_kept_for_new_servers(
        self, client: httpx2.AsyncClient, provider: OAuthProvider, other: WebServer, field: str
    ) -> None:
        other.anything = answer(200, "{}", content_type="application/json")
        await authorize(client, provider)
        moved = {"fields": {**provider.fields, field: other.url("/x")}}
        assert (await client.patch("/connections/crm", json=moved)).status_code == 422
        changed = await client.patch("/connections/crm", json={**moved, "secrets": {"client_secret": "another"}})
        assert changed.json()["status"] == "unauthorized", changed.text
        assert "is not authorized" in json.dumps(await run_request(client, "/me", "crm"))
        assert (other.requests, len(provider.calls)) == ([], 0)

    async def test_tokens_of_a_public_client_are_not_kept_either(
        self, client: httpx2.AsyncClient, provider: OAuthProvider, other: WebServer
    ) -> None:
        provider.public = True
        await connect(client, "crm", "oauth2_code", fields=provider.fields)
        started = (await client.post("/connections/crm/authorize")).json()
        assert (await finish(client, await consent(started["url"]))).json()["status"] == "ready"
        moved = await client.patch("/connections/crm", json={"fields": {**provider.fields, "url": other.origin}})
        assert moved.json()["status"] == "unauthorized"
        assert "is not authorized" in json.dumps(await run_request(client, "/me", "crm"))
        assert other.requests == []

    async def test_a_code_is_sent_to_the_server_that_it_is_from_only(
        self, client: httpx2.AsyncClient, provider: OAuthProvider, other: WebServer
    ) -> None:
        await connect(client, "crm", "oauth2_code", fields=provider.fields, secrets={"client_secret": CLIENT_SECRET})
        query = await consent((await client.post("/connections/crm/authorize")).json()["url"])
        moved = {"fields": {**provider.fields, "token_url": other.url("/token")}, "secrets": {"client_secret": "x"}}
        assert (await client.patch("/connections/crm", json=moved)).status_code == 200
        assert (await finish(client, query)).json()["code"] == "authorization_lost"
        assert other.requests == []

    def test_a_refresh_that_began_before_the_change_leaves_no_tokens(self, tmp_path: Path) -> None:
        box = SecretBox(new_ring(Settings(data_dir=tmp_path)))
        sealed = TokenSet("access").seal(box, {"https://old.example.org"})
        options: dict[str, Any] = {"scopes": "", "expires_at": None}
        assert unseal(box, sealed, reach={"https://old.example.org"}, **options) is not None
        assert unseal(box, sealed, reach={"https://new.example.org"}, **options) is None


class TestDeletion:
    async def test_revokes_the_tokens(self, client: httpx2.AsyncClient, provider: OAuthProvider) -> None:
        await authorize(client, provider)
        assert (await client.delete("/connections/crm")).status_code == 204
        assert all(token.revoked for token in provider.tokens)

    async def test_does_not_wait_for_a_provider_that_is_gone(
        self, client: httpx2.AsyncClient, provider: OAuthProvider
    ) -> None:
        fields = {**provider.fields, "revocation_url": "http://127.0.0.1:9/revoke"}
        await connect(client, "crm", "oauth2_code", fields=fields, secrets={"client_secret": CLIENT_SECRET})
        started = (await client.post("/connections/crm/authorize")).json()
        await finish(client, await consent(started["url"]))
        assert (await client.delete("/connections/crm")).status_code == 204

    async def test_needs_no_secret_that_can_be_read(
        self, client: httpx2.AsyncClient, provider: OAuthProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await authorize(client, provider)

        async def unreadable(_self: Connections, _row: object) -> dict[str, object]:
            raise Unavailable("The vault does not answer.", remedy="Try again.")

        monkeypatch.setattr(Connections, "_secrets", unreadable)
        assert (await client.delete("/connections/crm")).status_code == 204
        assert (await client.get("/connections/crm")).status_code == 404


class TestSecrets:
    async def test_tokens_are_in_no_answer(
        self, app: FastAPI, client: httpx2.AsyncClient, provider: OAuthProvider, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The API echoes the access token: it is removed from the output of the step."""
        done = await authorize(client, provider)
        run = await run_request(client, "/me", "crm")
        texts = [done.text, json.dumps(run), caplog.text, (await client.get("/audit")).text]
        texts.append((await client.get(f"/flow-runs/{run['id']}/evidence")).text)
        shown = "".join(texts)
        secrets = [
            CLIENT_SECRET,
            *(value for one in provider.tokens for value in (one.access_token, one.refresh_token)),
        ]
        assert not [secret for secret in secrets if secret and secret in shown]
        assert "[redacted]" in shown
