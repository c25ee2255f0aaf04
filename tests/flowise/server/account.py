"""The first account of a Flowise, and an API key with the permissions that the development agent asks for."""

import secrets

import httpx2

EMAIL = "owner@example.org"
PERMISSIONS = [
    *(f"{what}:{may}" for what in ("chatflows", "agentflows", "credentials") for may in ("view", "create", "update")),
    *(f"{what}:delete" for what in ("chatflows", "agentflows", "credentials")),
    "templates:marketplace",
]


def make_key(origin: str, name: str = "tests", permissions: list[str] | None = None) -> str:
    """Register the first account when there is none, sign in, make a key; the key."""
    password = "Aa1!" + secrets.token_urlsafe(12)
    person = {"name": "owner", "email": EMAIL, "credential": password}
    with httpx2.Client(base_url=f"{origin}/api/v1", trust_env=False, timeout=30) as client:
        client.post("/account/register", json={"user": person}).raise_for_status()
        client.post("/auth/login", json={"email": EMAIL, "password": password}).raise_for_status()
        keys = client.post(
            "/apikey",
            json={"keyName": name, "permissions": permissions or PERMISSIONS},
            headers={"x-request-from": "internal"},
        )
        keys.raise_for_status()
        return str(next(key["apiKey"] for key in keys.json() if key["keyName"] == name))
