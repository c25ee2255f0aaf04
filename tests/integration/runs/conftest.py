"""Stores and engines on real databases."""

from collections.abc import AsyncIterator

import pytest

from headgate.features.runs.engine import build_store
from headgate.features.runs.store import RunStore
from headgate.foundation.database import Database


@pytest.fixture
async def store(database: Database) -> AsyncIterator[RunStore]:
    found = build_store(database)
    await found.open()
    yield found
    await found.close()
