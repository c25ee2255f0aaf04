from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI

from headgate.foundation.settings import Settings
from tests.support.databases import SqliteFiles, make_settings
from tests.support.mcp_client import served
from tests.support.people import running


@pytest.fixture
def one_database(sqlite_files: SqliteFiles, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a fresh, migrated SQLite database."""
    folder = tmp_path_factory.mktemp("one")
    sqlite_files.fresh(folder)
    return make_settings(folder)


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    """The application of one local user."""
    async with running(settings) as found:
        yield found


@pytest.fixture
async def url(app: FastAPI) -> AsyncIterator[str]:
    """Where it answers."""
    async with served(app) as found:
        yield found
