"""Admins class one model at the same moment."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from headgate.foundation.settings import Settings
from tests.support.team import Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


class TestClassing:
    async def test_one_model_many_times_at_once_is_no_fault(self, us: Team) -> None:
        path = "/model-classes/openai/gpt-5-mini"
        found = await asyncio.gather(*(us.ask("admin", "PUT", path, json={"level": level % 3}) for level in range(6)))
        assert [answer.status_code for answer in found] == [200] * 6
        shown = await us.get("admin", "/model-classes")
        assert [one["name"] for one in shown["items"]] == ["gpt-5-mini"]
