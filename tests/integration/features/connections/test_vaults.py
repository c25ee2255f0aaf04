"""Secrets that are stored outside: a vault over HTTP, files, the environment."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.features.access.principal import LOCAL
from headgate.features.connections.errors import VaultFailed
from headgate.features.connections.outside.values import OutsideValues
from headgate.features.connections.sealed import OutsideValue
from headgate.features.runs.transitions import RunKey
from headgate.foundation import secret_values
from headgate.foundation.secret_values import SecretValues
from headgate.foundation.settings import ConnectionSettings, Settings
from tests.integration.features.connections.conftest import LOOPBACK
from tests.support.connections import connect, run_request
from tests.support.web_server import WebServer, answer, web_server

SECRET = "canary-of-the-vault-1b2c3d"
VAULT_TOKEN = "hvs.token-of-the-vault"


@pytest.fixture
async def vault() -> AsyncIterator[WebServer]:
    """A server with the API of HashiCorp Vault's KV engine, version 2."""
    async with web_server() as server:
        content = {"data": {"data": {"token": SECRET, "number": 5}, "metadata": {"version": 3}}}
        path = f"/v1/secret/data/headgate/{LOCAL.tenant_id}/team/crm"
        server.on(path, answer(200, json.dumps(content), content_type="application/json"))
        server.on(f"/v1/secret/data/headgate/{LOCAL.tenant_id}/closed", answer(403, "{}"))
        yield server


@pytest.fixture
async def app(
    settings: Settings, vault: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[FastAPI]:
    files = tmp_path / "run-secrets"
    own = files / LOCAL.tenant_id
    for folder in (own, files / "another-organisation"):
        folder.mkdir(parents=True)
        (folder / "crm").write_text(f"{SECRET}\n")
    (files / "outside").write_text("of the operator")
    (own / "link").symlink_to(files / "another-organisation" / "crm")
    token = tmp_path / "vault-token"
    token.write_text(f"{VAULT_TOKEN}\n")
    monkeypatch.setenv("CRM_TOKEN", SECRET)
    monkeypatch.setenv("OTHER_TOKEN", "other")
    outside = ConnectionSettings(environment=["CRM_TOKEN"], files=files, vault_url=vault.origin, vault_token_file=token)
    made = create_app(settings.model_copy(update={"http": LOOPBACK, "connections": outside}))
    async with made.router.lifespan_context(made):
        yield made


def reference(source: str, path: str, key: str = "") -> dict[str, Any]:
    return {"token": {"from": source, "path": path, "key": key}}


def key_of(run: dict[str, Any]) -> RunKey:
    return RunKey(run["id"], LOCAL.tenant_id, run["flow_id"], run["version"])


class TestRedaction:
    """Another process has read the secret: this one reads it again, before it stores what may contain it."""

    async def test_fails_until_the_vault_answers_again(
        self, app: FastAPI, client: httpx2.AsyncClient, api: WebServer, vault: WebServer
    ) -> None:
        api.on("/items", answer(200, "fine", content_type="text/plain"))
        given = reference("vault", "team/crm", "token")
        await connect(client, "crm", "bearer", fields={"url": api.origin}, secrets=given)
        run = await run_request(client, "/items", "crm")
        app.state.services.opener.outside.forget()
        path = f"/v1/secret/data/headgate/{LOCAL.tenant_id}/team/crm"
        content = vault.routes[path]
        vault.on(path, answer(503, "{}"))
        values = SecretValues()
        secret_values.use(values)
        for _ in range(2):
            with pytest.raises(VaultFailed, match="answered 503"):
                await app.state.services.secrets.recall(key_of(run))
        vault.routes[path] = content
        await app.state.services.secrets.recall(key_of(run))
        assert values.text(SECRET) == "[redacted]"

    async def test_knows_every_connection_that_the_name_may_have_meant(
        self, app: FastAPI, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        api.on("/items", answer(200, "fine", content_type="text/plain"))
        of_connection: dict[str, Any] = {"fields": {"url": api.origin}}
        await connect(client, "crm", "bearer", secrets={"token": "secret-of-the-space"}, **of_connection)
        run = await run_request(client, "/items", "crm")
        await connect(client, "crm", "bearer", personal=True, secrets={"token": "secret-of-the-user"}, **of_connection)
        values = SecretValues()
        secret_values.use(values)
        await app.state.services.secrets.recall(key_of(run))
        assert values.text("secret-of-the-user secret-of-the-space") == "[redacted] [redacted]"


class TestOrganisations:
    async def test_without_a_folder_read_no_file_of_another(self, tmp_path: Path) -> None:
        for path in ("another/crm", "crm"):
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(SECRET)
        values = OutsideValues(ConnectionSettings(files=tmp_path), cast("Any", None))
        for path in ("another/crm", "crm"):
            value = OutsideValue.model_validate({"from": "file", "path": path})
            with pytest.raises(VaultFailed, match="cannot be read"):
                await values.read(value, tenant_id="newcomer", space_id="s")


class TestReferences:
    @pytest.mark.parametrize(
        ("source", "path", "key"),
        [("vault", "team/crm", "token"), ("file", "crm", ""), ("environment", "CRM_TOKEN", "")],
    )
    async def test_are_read_when_a_run_uses_them(  # noqa: PLR0917 - cases and fixtures
        self, client: httpx2.AsyncClient, api: WebServer, settings: Settings, source: str, path: str, key: str
    ) -> None:
        api.on("/items", answer(200, f"sent {SECRET}", content_type="text/plain"))
        await connect(client, "crm", "bearer", fields={"url": api.origin}, secrets=reference(source, path, key))
        run = await run_request(client, "/items", "crm")
        assert run["status"] == "completed", json.dumps(run)
        assert api.requests[0].headers["authorization"] == f"Bearer {SECRET}"
        assert SECRET not in json.dumps(run)

    async def test_the_vault_is_asked_once_in_minutes(
        self, client: httpx2.AsyncClient, api: WebServer, vault: WebServer
    ) -> None:
        api.on("/items", answer(200, "fine", content_type="text/plain"))
        await connect(
            client, "crm", "bearer", fields={"url": api.origin}, secrets=reference("vault", "team/crm", "token")
        )
        for _ in range(3):
            await run_request(client, "/items", "crm")
        (request,) = vault.requests
        assert request.headers["x-vault-token"] == VAULT_TOKEN

    @pytest.mark.parametrize(
        ("source", "path", "key", "message"),
        [
            ("vault", "team/none", "token", "has no such value"),
            ("vault", "closed", "token", "refuses the token"),
            ("vault", "team/crm", "password", "has no 'password'"),
            ("vault", "team/crm", "number", "is no text"),
            ("vault", "../../sys/seal", "token", "is not a path in the vault"),
            ("file", "../outside", "", "is outside of the organisation"),
            ("file", "/etc/passwd", "", "is outside of the organisation"),
            ("file", "outside", "", "cannot be read"),
            ("file", "another-organisation/crm", "", "cannot be read"),
            ("file", "../another-organisation/crm", "", "is outside of the organisation"),
            ("file", "link", "", "is outside of the organisation"),
            ("file", "none", "", "cannot be read"),
            ("environment", "OTHER_TOKEN", "", "may not refer to the environment variable OTHER_TOKEN"),
            ("environment", "HEADGATE_SECRET_KEY", "", "may not refer to the environment variable"),
        ],
    )
    async def test_that_cannot_be_read_are_named(  # noqa: PLR0917 - cases and fixtures
        self, client: httpx2.AsyncClient, api: WebServer, source: str, path: str, key: str, message: str
    ) -> None:
        await connect(client, "crm", "bearer", fields={"url": api.origin}, secrets=reference(source, path, key))
        outcome = (await client.post("/connections/crm/test")).json()
        assert message in outcome["message"]
        assert outcome["remedy"]
        assert VAULT_TOKEN not in json.dumps(outcome)
        assert api.requests == []
