"""A directory of an organisation in front of the real application, as an identity provider calls it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from fastapi import FastAPI

from headgate.features.access.principal import DEFAULT_TENANT_ID, Actor
from headgate.features.accounts.directory.schemas import TokenIn
from headgate.features.accounts.directory.service import create_token
from headgate.features.accounts.tenants.service import get_operator
from headgate.foundation.database import Database

SCIM = "http://127.0.0.1:7411/scim/v2"
USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


class IdentityProvider:
    """Sends SCIM requests."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def ask(self, method: str, path: str, expect: int | None = None, **more: Any) -> httpx2.Response:
        """A request, whose status must be the expected one."""
        if "json" in more:
            more.setdefault("headers", {}).setdefault("content-type", "application/scim+json")
        answer = await self.client.request(method, path, **more)
        assert expect is None or answer.status_code == expect, f"{answer.status_code} {answer.text}"
        return answer

    async def user(self, user_name: str, /, **more: Any) -> Any:
        """A user who is created."""
        body = {"schemas": [USER], "userName": user_name, "active": True, **more}
        return (await self.ask("POST", "/Users", 201, json=body)).json()

    async def group(self, name: str, /, *members: str) -> Any:
        """A group that is created."""
        listed = [{"value": one} for one in members]
        body = {"schemas": [GROUP], "displayName": name, "members": listed}
        return (await self.ask("POST", "/Groups", 201, json=body)).json()

    async def patch(self, path: str, *operations: dict[str, Any], expect: int | None = None) -> httpx2.Response:
        """Changes of a user or group."""
        if expect is None:
            expect = 204 if path.startswith("/Groups") else 200
        return await self.ask("PATCH", path, expect, json={"schemas": [PATCH], "Operations": list(operations)})

    async def names(self, path: str, filter_: str) -> list[str]:
        """What fits a filter: user names or names of groups."""
        found = (await self.ask("GET", path, 200, params={"filter": filter_})).json()["Resources"]
        return sorted(one.get("userName") or one["displayName"] for one in found)


async def token_of(database: Database, tenant: str = DEFAULT_TENANT_ID, **more: Any) -> str:
    """A new token of a tenant's directory."""
    async with database.writing() as session:
        operator = await get_operator(session, Actor("command", "test"), tenant=tenant)
        return (await create_token(session, operator, token_in=TokenIn(**more))).token


@asynccontextmanager
async def provider(app: FastAPI, token: str, address: str = "127.0.0.1") -> AsyncIterator[IdentityProvider]:
    """An identity provider with a token."""
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False, client=(address, 5))
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(transport=transport, base_url=SCIM, headers=headers) as client:
        yield IdentityProvider(client)
