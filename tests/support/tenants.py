"""A second tenant beside the default one, for tests that nothing crosses."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from headgate.features.access.principal import Access, Actor, Principal
from headgate.features.accounts.tables import Space, Tenant, User
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id


async def add_tenant(database: Database, name: str = "Other") -> Principal:
    """A tenant with one user and one space; returns its user."""
    principal = Principal(
        tenant_id=new_id(),
        user_id=new_id(),
        space_id=new_id(),
        access=Access(admin=True),
        actor=Actor("user", "them"),
    )
    at = now()
    async with database.writing() as session:
        session.add(Tenant(id=principal.tenant_id, name=name, created_at=at))
        await session.flush()
        session.add(User(id=principal.user_id, tenant_id=principal.tenant_id, name="them", created_at=at))
        await session.flush()
        session.add(
            Space(
                id=principal.space_id,
                tenant_id=principal.tenant_id,
                name="Personal",
                owner_user_id=principal.user_id,
                created_at=at,
            )
        )
    return principal


class ActingAs:
    """An ASGI application whose requests all come from one person, as signing in will say it."""

    def __init__(self, app: Callable[..., Awaitable[None]], principal: Principal) -> None:
        self._app = app
        self._principal = principal

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        await self._app({**scope, "state": {"principal": self._principal}}, receive, send)
