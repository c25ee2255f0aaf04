"""Authorization servers that answer with what nobody expects."""

import json
from typing import Any

import pytest

from headgate.features.mcptools.discovery import Authority, find_authority, register
from headgate.features.mcptools.errors import McpNotAuthorizable
from headgate.foundation.guarded_http import HttpAnswer

SERVER = "https://tools.example.org/mcp"
ISSUER = "https://login.example.org"
PROTECTED = {"resource": SERVER, "authorization_servers": [ISSUER]}
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "registration_endpoint": f"{ISSUER}/register",
    "revocation_endpoint": f"{ISSUER}/revoke",
    "code_challenge_methods_supported": ["S256"],
}


class Provider:
    """Answers by URL; everything else is 404."""

    def __init__(self, challenge: str = "Bearer", **metadata: Any) -> None:
        self.challenge = challenge
        self.answers: dict[str, Any] = {
            "https://tools.example.org/.well-known/oauth-protected-resource/mcp": PROTECTED,
            f"{ISSUER}/.well-known/oauth-authorization-server": {**METADATA, **metadata},
        }

    async def request(self, method: str, url: str, **_: Any) -> HttpAnswer:
        if url == SERVER:
            return HttpAnswer(401, {"www-authenticate": self.challenge}, b"", "text/plain", url)
        answer = self.answers.get(url)
        status = 404 if answer is None else 201 if method == "POST" else 200
        return HttpAnswer(status, {}, json.dumps(answer).encode(), "application/json", url)


async def registered(**members: Any) -> Any:
    provider = Provider()
    provider.answers[f"{ISSUER}/register"] = {"client_id": "ours", "redirect_uris": ["https://h.example/cb"], **members}
    authority: Authority = await find_authority(provider, SERVER)
    return await register(provider, authority, redirect_uri="https://h.example/cb")


async def test_finds_the_authority() -> None:
    authority = await find_authority(Provider(), SERVER)
    assert (str(authority.metadata.issuer), authority.resource) == (ISSUER, SERVER)


@pytest.mark.parametrize("name", ["authorization", "token", "registration", "revocation"])
async def test_every_address_of_a_provider_is_encrypted(name: str) -> None:
    with pytest.raises(McpNotAuthorizable, match="without encryption"):
        await find_authority(Provider(**{f"{name}_endpoint": "http://login.example.org/x"}), SERVER)


@pytest.mark.parametrize("address", ["http://a:b:c/", "https://x.example/\x00"])
async def test_an_address_of_metadata_that_is_no_url_is_said(address: str) -> None:
    with pytest.raises(McpNotAuthorizable, match="not a URL"):
        await find_authority(Provider(f'Bearer resource_metadata="{address}"'), SERVER)


async def test_a_challenge_with_other_letters_is_read() -> None:
    assert await find_authority(Provider('Bearer realm="r\u00e4knare"'), SERVER)


@pytest.mark.parametrize("seconds", [0, -1, 10**15, 10**30])
async def test_a_secret_that_expires_at_no_time_of_the_calendar_does_not_expire(seconds: int) -> None:
    client = await registered(client_secret="s", client_secret_expires_at=seconds)
    assert (client.secret, client.expires_at) == ("s", None)
