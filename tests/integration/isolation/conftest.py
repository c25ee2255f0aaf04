"""Two tenants with the same names in everything, on one application."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.features.access.principal import LOCAL
from headgate.foundation.database import Database
from headgate.foundation.settings import EngineSettings, LimitSettings, Settings
from tests.integration.isolation.visitors import Tenant, two_spaces
from tests.integration.isolation.worlds import World, make_world
from tests.support.tenants import add_tenant

MINE, THEIRS = "marker-of-mine-Rk3bqz", "marker-of-theirs-Vw7xjp"


def small_app(settings: Settings) -> FastAPI:
    limits = LimitSettings(max_inline_text_bytes=256, max_inline_preview_bytes=64)
    engine = EngineSettings(recover_on_start=False)
    return create_app(settings.model_copy(update={"limits": limits, "engine": engine}))


@pytest.fixture(scope="session")
def document() -> dict[str, Any]:
    """What the application says of its routes; it takes as long to make as hundreds of requests."""
    return small_app(Settings(_env_file=None)).openapi()


@pytest.fixture
async def app(settings: Settings, document: dict[str, Any]) -> AsyncIterator[FastAPI]:
    made = small_app(settings)
    made.openapi_schema = document
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
async def mine(app: FastAPI, database: Database) -> AsyncIterator[World]:
    """The tenant that asks."""
    found = await make_world(app, database, await add_tenant(database, "The same tenant"), MINE)
    yield found
    await found.close()


@pytest.fixture
async def theirs(app: FastAPI, database: Database) -> AsyncIterator[World]:
    """The tenant that is asked about: the default one, which every mistake would fall back to."""
    found = await make_world(app, database, LOCAL, THEIRS)
    yield found
    await found.close()


@pytest.fixture
async def tenant(app: FastAPI, database: Database) -> AsyncIterator[Tenant]:
    """A tenant with the same things in two spaces."""
    async with two_spaces(app, database) as found:
        yield found
