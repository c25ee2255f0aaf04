"""People with roles, keys and sessions in the database, and a client that is one of them: nobody is injected."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Any

import httpx2
from fastapi import FastAPI
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.entrypoints.http.app import create_app
from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_TENANT_ID
from headgate.features.accounts.keys.secret import hash_of, new_key, prefix_of
from headgate.features.accounts.sessions import csrf, tokens
from headgate.features.accounts.sessions.cookie import PLAIN_COOKIE
from headgate.features.accounts.tables import ApiKey, Space, SpaceMember, Tenant, User, UserSession
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id
from headgate.foundation.settings import HttpSettings, ServerSettings, Settings

BASE = "http://127.0.0.1:7411/api/v1"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in the database."""

    id: str
    tenant_id: str
    email: str


async def add_tenant_row(database: Database, name: str) -> str:
    """An empty tenant; returns its id."""
    tenant_id = new_id()
    async with database.writing() as session:
        session.add(Tenant(id=tenant_id, name=name, created_at=now()))
    return tenant_id


def space_row(name: str, *, tenant_id: str = DEFAULT_TENANT_ID) -> Space:
    """The row of a space without members."""
    return Space(id=new_id(), tenant_id=tenant_id, name=name, created_at=now())


async def add_space_row(database: Database, name: str, *, tenant_id: str = DEFAULT_TENANT_ID) -> str:
    """A space without members; returns its id."""
    row = space_row(name, tenant_id=tenant_id)
    async with database.writing() as session:
        session.add(row)
        return row.id


async def add_user(
    database: Database,
    email: str,
    *,
    tenant_id: str = DEFAULT_TENANT_ID,
    admin: bool = False,
    roles: Mapping[str, Role] | None = None,
    home: str | None = None,
) -> Person:
    """A person with roles in spaces."""
    async with database.writing() as session:
        return await insert_user(session, email, tenant_id=tenant_id, admin=admin, roles=roles, home=home)


async def insert_user(
    session: AsyncSession,
    email: str,
    *,
    tenant_id: str = DEFAULT_TENANT_ID,
    admin: bool = False,
    roles: Mapping[str, Role] | None = None,
    home: str | None = None,
) -> Person:
    """A person with roles in spaces, in a transaction."""
    user_id, role = new_id(), "admin" if admin else "member"
    name = email.partition("@")[0]
    session.add(User(id=user_id, tenant_id=tenant_id, name=name, email=email, role=role, home_space_id=home))
    await session.flush()
    for space_id, held in (roles or {}).items():
        session.add(SpaceMember(space_id=space_id, user_id=user_id, tenant_id=tenant_id, role=held.value))
    return Person(user_id, tenant_id, email)


async def add_key(database: Database, person: Person, **more: Any) -> str:
    """A key of a person, as the table has it; returns the whole of it."""
    key = new_key()
    async with database.writing() as session:
        session.add(
            ApiKey(
                id=new_id(),
                tenant_id=person.tenant_id,
                user_id=person.id,
                name="test",
                prefix=prefix_of(key),
                secret_hash=hash_of(key),
                **more,
            )
        )
    return key


async def add_session(
    database: Database, person: Person, *, seen: datetime | None = None, lasts: timedelta = timedelta(hours=1)
) -> str:
    """A session of a person; returns its token."""
    row, token = session_row(person, seen=seen, lasts=lasts)
    async with database.writing() as session:
        session.add(row)
    return token


def session_row(
    person: Person, *, seen: datetime | None = None, lasts: timedelta = timedelta(hours=1)
) -> tuple[UserSession, str]:
    """The row of a session of a person, and its token."""
    token, at = tokens.new_token(), now()
    row = UserSession(
        id=new_id(),
        tenant_id=person.tenant_id,
        user_id=person.id,
        token_hash=tokens.hash_of(token),
        created_at=at,
        last_seen_at=seen or at,
        expires_at=at + lasts,
    )
    return row, token


def bearer(key: str) -> dict[str, str]:
    """Headers of a program with a key."""
    return {"Authorization": f"Bearer {key}"}


def cookie(token: str, *, proof: bool = True) -> dict[str, str]:
    """Headers of a browser with a session; without proof, of one that another site's page uses."""
    headers = {"Cookie": f"{PLAIN_COOKIE}={token}"}
    return headers | {csrf.CSRF_HEADER: csrf.token_for(token)} if proof else headers


LOOPBACK = HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.1/32")])
"""`signed_in(settings, http=LOOPBACK)`: where stored addresses of models lead to the test's own servers."""


def signed_in(settings: Settings, **groups: Any) -> Settings:
    """The settings where everybody signs in."""
    return settings.model_copy(update={"server": ServerSettings(auto_login=False), **groups})


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[FastAPI]:
    """The real application, started."""
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        yield app


@asynccontextmanager
async def asking(app: FastAPI, address: str = "127.0.0.1") -> AsyncIterator[httpx2.AsyncClient]:
    """A client of it at an address, which sends no credentials of its own."""
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False, client=(address, 5))
    async with httpx2.AsyncClient(transport=transport, base_url=BASE) as client:
        yield client
