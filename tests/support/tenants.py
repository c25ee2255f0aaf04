"""A second tenant beside the default one, for tests that nothing crosses."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from headgate.features.access.permissions import Role, TenantRole
from headgate.features.access.principal import DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, Access, Actor, Principal
from headgate.features.accounts.tables import Space, SpaceMember, Tenant, User
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id


async def add_tenant(database: Database, name: str = "Other") -> Principal:
    """A tenant with one user, its admin, and one space; returns its user."""
    principal = Principal(
        tenant_id=new_id(),
        user_id=new_id(),
        space_id=new_id(),
        access=Access(admin=True),
        actor=Actor("user", "them"),
    )
    async with database.writing() as session:
        session.add(Tenant(id=principal.tenant_id, name=name, created_at=now()))
    await add_person(database, principal, name="them")
    await add_space(database, principal, name="Personal")
    return principal


async def add_person(database: Database, principal: Principal, *, name: str) -> None:
    """The row of a person; their roles in spaces are `add_member`'s."""
    async with database.writing() as session:
        session.add(
            User(
                id=principal.user_id,
                tenant_id=principal.tenant_id,
                name=name,
                email=f"{name}@example.org",
                role=(TenantRole.ADMIN if principal.access.admin else TenantRole.MEMBER).value,
                home_space_id=principal.space_id or None,
                created_at=now(),
            )
        )


async def add_space(database: Database, principal: Principal, *, name: str) -> None:
    """The principal's space, which they own."""
    async with database.writing() as session:
        session.add(
            Space(
                id=principal.space_id,
                tenant_id=principal.tenant_id,
                name=name,
                owner_user_id=principal.user_id,
                created_at=now(),
            )
        )
    await add_member(database, principal, principal.space_id, Role.OWNER)


async def add_member(database: Database, principal: Principal, space_id: str, role: Role) -> None:
    """A person's role in a space."""
    async with database.writing() as session:
        session.add(
            SpaceMember(
                space_id=space_id,
                user_id=principal.user_id,
                tenant_id=principal.tenant_id,
                role=role.value,
                created_at=now(),
            )
        )


async def add_colleague(
    database: Database, name: str, role: Role, *, space_id: str = DEFAULT_SPACE_ID, **access: Any
) -> Principal:
    """A person of the default tenant with a role in one of its spaces; `access` is what an API key narrows."""
    principal = Principal(
        tenant_id=DEFAULT_TENANT_ID,
        user_id=new_id(),
        space_id=space_id,
        access=Access(roles={space_id: role}, **access),
        actor=Actor("user", name),
    )
    await add_person(database, principal, name=name)
    await add_member(database, principal, space_id, role)
    return principal


class ActingAs:
    """An ASGI application whose requests all come from one person, as signing in says it."""

    def __init__(self, app: Callable[..., Awaitable[None]], principal: Principal) -> None:
        self._app = app
        self._principal = principal

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        await self._app({**scope, "state": {"principal": self._principal}}, receive, send)
