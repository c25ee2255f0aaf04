"""Requests of flows with the credential of a connection: what is sent, where, and what nobody sees."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.foundation.settings import Settings
from tests.support.connections import connect, create, run_request
from tests.support.web_server import WebServer, answer, redirect

SECRET = "canary-7f3c9a51e0b2"


def files_with(text: str, folder: Path) -> list[Path]:
    """The files in a folder that contain a text."""
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


class TestCredentials:
    @pytest.mark.parametrize(
        ("kind", "fields", "secrets", "header", "value"),
        [
            ("api_key_header", {"header": "X-Key", "prefix": "Token"}, {"key": SECRET}, "x-key", f"Token {SECRET}"),
            ("bearer", {}, {"token": SECRET}, "authorization", f"Bearer {SECRET}"),
            (
                "basic",
                {"user": "ann"},
                {"password": SECRET},
                "authorization",
                "Basic YW5uOmNhbmFyeS03ZjNjOWE1MWUwYjI=",
            ),
        ],
    )
    async def test_the_client_adds_the_header(  # noqa: PLR0917 - cases and fixtures
        self,
        client: httpx2.AsyncClient,
        api: WebServer,
        kind: str,
        fields: dict[str, Any],
        secrets: dict[str, str],
        header: str,
        value: str,
    ) -> None:
        api.on("/items", answer(200, "fine", content_type="text/plain"))
        await connect(client, "crm", kind, fields={"url": api.origin, **fields}, secrets=secrets)
        run = await run_request(client, "/items", "crm")
        assert run["status"] == "completed", run
        (request,) = api.requests
        assert request.headers[header] == value

    async def test_a_key_in_the_url_is_sent_and_not_shown(
        self, client: httpx2.AsyncClient, api: WebServer, settings: Settings
    ) -> None:
        api.on(f"/items?q=1&key={SECRET}", answer(200, f"you sent {SECRET}", content_type="text/plain"))
        await connect(
            client, "crm", "api_key_query", fields={"url": api.origin, "parameter": "key"}, secrets={"key": SECRET}
        )
        run = await run_request(client, "/items?q=1", "crm")
        assert run["status"] == "completed", run
        evidence = await client.get(f"/flow-runs/{run['id']}/evidence")
        assert SECRET not in evidence.text + json.dumps(run)
        assert "you sent [redacted]" in json.dumps(run)

    async def test_a_flow_cannot_replace_the_header(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        await connect(client, "crm", "bearer", fields={"url": api.origin}, secrets={"token": SECRET})
        spec = """name: Own header
nodes:
  call: HTTPRequest
    url: /items
    connection: crm
    headers:
      Authorization:
        secret: OTHER
  out: ChatOutput
edges:
  call.text -> out.input
"""
        variable = {"value": "other-secret", "hosts": [api.origin]}
        assert (await client.put("/variables/OTHER", json=variable)).status_code == 200
        flow = await create(client, spec)
        run = (await client.post(f"/flows/{flow}/runs", json={"text": "", "wait": True})).json()
        assert run["status"] == "failed"
        assert "is set by the connection 'crm'" in json.dumps(run)
        assert api.requests == []


class TestHosts:
    async def test_another_server_is_refused(
        self, client: httpx2.AsyncClient, api: WebServer, other: WebServer
    ) -> None:
        await connect(client, "crm", "bearer", fields={"url": api.origin}, secrets={"token": SECRET})
        run = await run_request(client, other.url("/items"), "crm")
        assert run["status"] == "failed"
        assert f"is not used for {other.origin}" in json.dumps(run)
        assert other.requests == []

    async def test_a_redirect_to_another_server_is_refused(
        self, client: httpx2.AsyncClient, api: WebServer, other: WebServer
    ) -> None:
        api.on("/items", redirect(other.url("/stolen")))
        await connect(client, "crm", "bearer", fields={"url": api.origin}, secrets={"token": SECRET})
        run = await run_request(client, "/items", "crm")
        assert run["status"] == "failed"
        assert "is not used for" in json.dumps(run)
        assert other.requests == []

    async def test_a_redirect_to_a_listed_host_keeps_the_credential(
        self, client: httpx2.AsyncClient, api: WebServer, other: WebServer
    ) -> None:
        api.on("/items", redirect(other.url("/moved"), 307))
        other.on("/moved", answer(200, "moved", content_type="text/plain"))
        fields = {"url": api.origin, "hosts": [other.origin]}
        await connect(client, "crm", "bearer", fields=fields, secrets={"token": SECRET})
        run = await run_request(client, "/items", "crm")
        assert run["status"] == "completed", run
        assert other.requests[0].headers["authorization"] == f"Bearer {SECRET}"

    async def test_secrets_are_not_kept_for_new_hosts(
        self, client: httpx2.AsyncClient, api: WebServer, other: WebServer
    ) -> None:
        await connect(client, "crm", "bearer", fields={"url": api.origin}, secrets={"token": SECRET})
        moved = await client.patch("/connections/crm", json={"fields": {"url": other.origin}})
        assert moved.status_code == 422
        assert "stored for other servers" in moved.text
        both = {"fields": {"url": other.origin}, "secrets": {"token": "another-secret"}}
        assert (await client.patch("/connections/crm", json=both)).json()["hosts"] == [other.origin]


class TestReadiness:
    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("crn", "uses the connection 'crn', which does not exist in this space; did you mean 'crm'?"),
            ("mailbox", "uses the connection 'mailbox', which is of the kind IMAP (read mail)."),
            ("signed", "uses the connection 'signed', which is not authorized."),
        ],
    )
    async def test_names_what_is_wrong(self, client: httpx2.AsyncClient, name: str, message: str) -> None:
        await connect(client, "crm", "bearer", fields={"url": "https://api.example.org"}, secrets={"token": SECRET})
        await connect(client, "mailbox", "imap", fields={"host": "mail.example.org"}, secrets={"password": SECRET})
        oauth = {
            "url": "https://api.example.org",
            "authorization_url": "https://id.example.org/authorize",
            "token_url": "https://id.example.org/token",
            "client_id": "studio",
        }
        await connect(client, "signed", "oauth2_code", fields=oauth)
        run = await run_request(client, "/items", name)
        assert message in json.dumps(run), run


class TestSecrets:
    async def test_are_in_no_answer_and_no_file(
        self, client: httpx2.AsyncClient, api: WebServer, settings: Settings, caplog: pytest.LogCaptureFixture
    ) -> None:
        api.on("/items", answer(401, f"bad token {SECRET}", content_type="text/plain"))
        made = await connect(client, "crm", "bearer", fields={"url": api.origin}, secrets={"token": SECRET})
        run = await run_request(client, "/items", "crm")
        assert run["status"] == "failed"
        flow = run["flow_id"]
        texts = [json.dumps(made), json.dumps(run), caplog.text]
        paths = ("/connections", "/connections/crm", "/audit", f"/flow-runs/{run['id']}/evidence")
        texts += [(await client.get(path)).text for path in paths]
        texts.append((await client.get(f"/flows/{flow}/export")).text)
        texts.append((await client.post("/connections/crm/test")).text)
        assert not [text for text in texts if SECRET in text]
        assert not files_with(SECRET, settings.data_dir)

    async def test_export_has_the_name_only(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        await connect(client, "crm", "bearer", fields={"url": api.origin}, secrets={"token": SECRET})
        run = await run_request(client, "/items", "crm")
        exported = await client.get(f"/flows/{run['flow_id']}/export")
        assert '"connection": "crm"' in exported.json()["content"]
        assert SECRET not in exported.text

    async def test_each_use_is_in_the_audit_log(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        api.on("/items", answer(200, "fine", content_type="text/plain"))
        await connect(client, "crm", "bearer", fields={"url": api.origin}, secrets={"token": SECRET})
        run = await run_request(client, "/items", "crm")
        entries = (await client.get("/audit")).json()["items"]
        (read,) = [entry for entry in entries if entry["action"] == "variable.read"]
        assert read["resource"]["name"] == "connection:crm"
        assert read["payload"]["run_id"] == run["id"]
