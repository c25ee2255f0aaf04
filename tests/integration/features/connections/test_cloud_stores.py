"""Secrets in the stores of AWS, Google and Azure, read through the real libraries of the three."""

import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs

import boto3
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from moto.server import ThreadedMotoServer

from headgate.features.connections.errors import VaultFailed, VaultRefused
from headgate.features.connections.outside.values import OutsideValues
from headgate.features.connections.sealed import OutsideValue
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.guarded_http.outgoing import VAULT
from headgate.foundation.settings import ConnectionSettings, HttpSettings, OutgoingSettings
from tests.support.web_server import WebServer, answer, web_server

SECRET = "canary-of-the-cloud-4d5e6f"
TENANT = "01990000-0000-7000-8000-000000000001"
PREFIX = f"headgate-{TENANT}-"
STORES = ("aws", "google", "azure")
VALUES = {"crm": json.dumps({"token": SECRET, "number": 5}), "plain": SECRET, "empty": ""}


@pytest.fixture(scope="module")
def aws_url() -> Iterator[str]:
    """The URL of AWS Secrets Manager with `VALUES`."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    client = boto3.client(
        "secretsmanager",
        endpoint_url=url,
        region_name="eu-north-1",
        aws_access_key_id="AKIATEST",
        aws_secret_access_key="x",
    )
    for name, value in VALUES.items():
        client.create_secret(Name=f"{PREFIX}{name}", SecretString=value or "\n")
    yield url
    server.stop()


@pytest.fixture
def aws(aws_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-key-of-aws")
    return aws_url


@pytest.fixture
async def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WebServer]:
    """A server with the token and secret services of Google and Azure."""
    async with web_server() as server:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        account = {
            "type": "service_account",
            "client_email": "headgate@example.org",
            "private_key": key.decode(),
            "token_uri": f"{server.origin}/token",
        }
        (tmp_path / "account.json").write_text(json.dumps(account))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{server.origin}/msi")
        monkeypatch.setenv("IDENTITY_HEADER", "header-of-the-identity")
        as_json: dict[str, Any] = {"content_type": "application/json"}
        server.on(
            "/token",
            answer(200, json.dumps({"access_token": "g-token", "expires_in": 3600, "token_type": "Bearer"}), **as_json),
        )
        expires = {"access_token": "a-token", "expires_on": "4102444800", "token_type": "Bearer"}
        server.on(
            "/msi?api-version=2019-08-01&resource=https://vault.azure.net", answer(200, json.dumps(expires), **as_json)
        )
        for name, value in VALUES.items():
            data = base64.b64encode((value or "\n").encode()).decode()
            path = f"/v1/projects/studio-1/secrets/{PREFIX}{name}/versions/latest:access"
            server.on(path, answer(200, json.dumps({"payload": {"data": data}}), **as_json))
            server.on(
                f"/secrets/{PREFIX}{name}?api-version=7.4",
                answer(200, json.dumps({"value": value or "\n"}), **as_json),
            )
        yield server


Read = Callable[..., Awaitable[str]]


@pytest.fixture
async def read(aws: str, cloud: WebServer) -> AsyncIterator[Read]:
    """Reads a value of a store, as a connection of an organisation does."""
    settings = ConnectionSettings(
        aws_region="eu-north-1",
        aws_url=aws,
        google_project="studio-1",
        google_url=cloud.origin,
        azure_url=cloud.origin,
    )
    web = GuardedHttp(VAULT.limits(HttpSettings()), OutgoingSettings())
    values = OutsideValues(settings, web)

    async def _read(source: str, path: str, key: str = "", tenant_id: str = TENANT) -> str:
        value = OutsideValue.model_validate({"from": source, "path": path, "key": key})
        return (await values.read(value, tenant_id=tenant_id, space_id="s")).get_secret_value()

    yield _read
    await web.close()


@pytest.mark.parametrize("source", STORES)
class TestStores:
    async def test_give_a_value_or_a_member_of_it(self, read: Read, source: str) -> None:
        assert await read(source, "plain") == SECRET
        assert await read(source, "crm", "token") == SECRET

    async def test_give_nothing_of_another_organisation(self, read: Read, source: str) -> None:
        with pytest.raises(VaultFailed, match="has no such value"):
            await read(source, "plain", tenant_id="01990000-0000-7000-8000-000000000002")

    @pytest.mark.parametrize(
        ("path", "key", "message"),
        [
            ("none", "", "has no such value"),
            ("crm", "password", "has no text 'password'"),
            ("crm", "number", "has no text 'number'"),
            ("empty", "", "is empty"),
        ],
    )
    async def test_say_what_is_missing(self, read: Read, source: str, path: str, key: str, message: str) -> None:
        with pytest.raises(VaultFailed, match=message) as caught:
            await read(source, path, key)
        assert caught.value.remedy
        assert SECRET not in str(caught.value)

    @pytest.mark.parametrize("path", ["other?x=", "crm\n", "crm#1", "crm%2fx", "cr m", "\u00e5"])
    async def test_refuse_what_is_no_name(self, read: Read, source: str, path: str) -> None:
        with pytest.raises(VaultRefused, match="is not a name in the store"):
            await read(source, path)

    async def test_say_that_the_server_has_no_identity(
        self, read: Read, monkeypatch: pytest.MonkeyPatch, source: str
    ) -> None:
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "IDENTITY_ENDPOINT", "IDENTITY_HEADER"):
            monkeypatch.delenv(variable)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/account.json")
        monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
        with pytest.raises(VaultFailed, match=f"(?i)no identity for {source}") as caught:
            await read(source, "plain")
        assert "/nowhere" not in str(caught.value)

    async def test_say_which_setting_is_missing(self, source: str) -> None:
        value = OutsideValue.model_validate({"from": source, "path": "plain"})
        with pytest.raises(VaultRefused) as caught:
            await OutsideValues(ConnectionSettings(), cast("Any", None)).read(value, tenant_id=TENANT, space_id="s")
        assert f"HEADGATE_CONNECTIONS__{source.upper()}_" in str(caught.value.remedy)


async def test_are_asked_with_the_identity_of_the_server(read: Read, cloud: WebServer) -> None:
    for source in ("google", "azure"):
        await read(source, "plain")
        await read(source, "crm", "token")
    asked = {request.path.partition("?")[0]: request for request in cloud.requests}
    google = asked[f"/v1/projects/studio-1/secrets/{PREFIX}plain/versions/latest:access"]
    assert google.headers["authorization"] == "Bearer g-token"
    assert asked[f"/secrets/{PREFIX}plain"].headers["authorization"] == "Bearer a-token"
    assert [path for path in (request.path for request in cloud.requests) if path == "/token"] == ["/token"]
    grant = parse_qs(asked["/token"].body.decode())
    assert grant["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
