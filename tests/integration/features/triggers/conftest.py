"""A team, a published flow, and what tests of triggers wait for."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from headgate.features.triggers import scheduler
from headgate.foundation.settings import RateLimitSettings, Settings
from tests.support.team import FLOW, Team, team

PATIENCE = 60.0


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(enabled=False)) as people:
        yield people


async def published(us: Team, spec: str = FLOW) -> str:
    """A published flow; returns its id."""
    flow = await us.make("publisher", "/flows", spec=spec)
    answer = await us.ask("publisher", "POST", f"/flows/{flow['id']}/publish", json={})
    assert answer.status_code == 200, answer.text
    return str(flow["id"])


async def add(us: Team, flow_id: str, *, name: str = "Nightly", who: str = "publisher", **members: Any) -> Any:
    """A trigger of a flow."""
    return await us.make(who, f"/flows/{flow_id}/triggers", name=name, **members)


async def occurrences(us: Team, trigger_id: str, who: str = "viewer") -> list[dict[str, Any]]:
    """Its occurrences, oldest first."""
    found = await us.get(who, f"/triggers/{trigger_id}/occurrences", params={"limit": 200})
    return list(reversed(found["items"]))


async def until(check: Callable[[], Awaitable[Any]]) -> Any:
    """What a check returns as soon as it is true."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if value := await check():
                return value
            await asyncio.sleep(0.05)


@pytest.fixture(autouse=True)
def polls_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "POLL_SECONDS", 0.1)
