"""The world of the 20 tasks."""

from collections.abc import AsyncIterator

import pytest

from headgate.foundation.settings import Settings
from tests.integration.tasks.world import World, opened
from tests.support.databases import Postgres


@pytest.fixture
async def world(settings: Settings, postgres: Postgres) -> AsyncIterator[World]:
    """The application with auto-login and the servers, all on loopback."""
    with postgres.empty() as uri:
        async with opened(settings, uri) as made:
            yield made
