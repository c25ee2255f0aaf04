"""The application where everybody signs in."""

from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI

from headgate.features.accounts.passwords import hashing
from headgate.foundation.settings import Settings
from tests.support.people import asking, running, signed_in
from tests.support.sign_in import House, house_of


@pytest.fixture(autouse=True)
def _quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords cost a thousandth here; what they really cost is a unit's matter."""
    monkeypatch.setattr(hashing, "COSTS", hashing.Costs(passes=1, memory_kib=8, lanes=1))


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with house_of(settings) as found:
        yield found


@pytest.fixture
async def guarded(settings: Settings) -> AsyncIterator[FastAPI]:
    """The application, where nobody comes in without saying who they are."""
    async with running(signed_in(settings)) as app:
        yield app


@pytest.fixture
async def stranger(guarded: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that sends no credentials of its own."""
    async with asking(guarded) as client:
        yield client
