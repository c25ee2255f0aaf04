"""An application where everybody signs in, and two people of it. One database is enough: files are on the disk."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_SPACE_ID
from headgate.features.workspace.places import Owner
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.support.databases import SqliteFiles, make_settings
from tests.support.people import LOOPBACK, Person, add_key, add_user, asking, bearer, running, signed_in


@dataclass
class Member:
    """Somebody, and a client that is them."""

    person: Person
    client: httpx2.AsyncClient

    @property
    def owner(self) -> Owner:
        """Who they are to the workspace."""
        return Owner(self.person.tenant_id, self.person.id)


@pytest.fixture
def settings(sqlite_files: SqliteFiles, tmp_path: Path) -> Settings:
    sqlite_files.fresh(tmp_path)
    return signed_in(make_settings(tmp_path), http=LOOPBACK)


@pytest.fixture
def base(settings: Settings) -> Path:
    return settings.data_dir / "workspace"


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    async with running(settings) as found:
        yield found


async def member(app: FastAPI, email: str) -> AsyncIterator[Member]:
    database: Database = app.state.database
    person = await add_user(database, email, roles={DEFAULT_SPACE_ID: Role.OWNER}, home=DEFAULT_SPACE_ID)
    key = await add_key(database, person)
    async with asking(app) as client:
        client.headers.update(bearer(key))
        yield Member(person, client)


@pytest.fixture
async def alice(app: FastAPI) -> AsyncIterator[Member]:
    async for found in member(app, "alice@example.org"):
        yield found


@pytest.fixture
async def bob(app: FastAPI) -> AsyncIterator[Member]:
    async for found in member(app, "bob@example.org"):
        yield found
