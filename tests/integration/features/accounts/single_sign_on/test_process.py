"""A server process and a provider process, and a browser between them: nothing is replaced."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from headgate.features.accounts.sessions.own_path import HOME
from tests.support.openid_provider import openid_provider
from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port
from tests.support.sign_in import Browser
from tests.support.single_sign_on import Traveller, error_of, signed_in_person

ACCOUNTS = {
    "ada": {"email": "ada@example.org", "email_verified": True, "name": "Ada"},
    "eve": {"email": "eve@example.org", "email_verified": True, "name": "Eve"},
}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of `headgate serve` with a provider, where Ada was invited on the command line."""
    port = free_port()
    callback = f"http://127.0.0.1:{port}/api/v1/sign-in/oidc/callback"
    clients = [{"client_id": "headgate", "client_secret": "a secret", "redirect_uris": [callback]}]
    with openid_provider(clients, ACCOUNTS) as provider:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HEADGATE_")}
        environment = {
            **kept,
            "HEADGATE_DATA_DIR": str(tmp_path / "data"),
            "HEADGATE_SERVER__AUTO_LOGIN": "false",
            "HEADGATE_SERVER__PORT": str(port),
            "HEADGATE_SINGLE_SIGN_ON__ISSUER": provider.issuer,
            "HEADGATE_SINGLE_SIGN_ON__CLIENT_ID": "headgate",
            "HEADGATE_SINGLE_SIGN_ON__CLIENT_SECRET": "a secret",
        }
        headgate = [sys.executable, "-m", "headgate"]
        invite = [*headgate, "users", "create", "ada@example.org", "--admin", "--link", "--json"]
        subprocess.run(invite, env=environment, cwd=tmp_path, check=True, capture_output=True, timeout=60)
        server = subprocess.Popen(
            [*headgate, "serve", "--json"], env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.terminate()
            server.communicate(timeout=30)


class TestServer:
    async def test_signs_in_who_was_invited_and_nobody_else(self, served: str) -> None:
        async with (
            httpx2.AsyncClient(base_url=served, timeout=PATIENCE_SECONDS) as http,
            httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as provider,
        ):
            ada = Browser(http)
            assert await Traveller(ada, provider).sign_in("ada") == HOME
            person = await signed_in_person(ada)
            assert (person["email"], person["role"]) == ("ada@example.org", "admin")
        async with (
            httpx2.AsyncClient(base_url=served, timeout=PATIENCE_SECONDS) as http,
            httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as provider,
        ):
            eve = Browser(http)
            assert error_of(await Traveller(eve, provider).sign_in("eve")) == "sso_not_invited"
            assert await signed_in_person(eve) is None
