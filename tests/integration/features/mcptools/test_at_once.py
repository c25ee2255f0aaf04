"""Two owners register a server of one name at the same moment."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from headgate.foundation.settings import Settings
from tests.support.team import Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


class TestRegistering:
    async def test_one_name_many_times_at_once_keeps_one_and_tells_the_others(self, us: Team) -> None:
        body = {"name": "weather", "transport": "http", "url": "https://example.com/mcp", "space_id": us.space}
        found = await asyncio.gather(*(us.ask("owner", "POST", "/mcp-servers", json=body) for _ in range(6)))
        assert sorted(answer.status_code for answer in found) == [201, 409, 409, 409, 409, 409]
        assert {one.json()["code"] for one in found if one.status_code == 409} == {"mcp_server_name_taken"}
        assert [one["name"] for one in (await us.get("owner", "/mcp-servers"))["items"]] == ["weather"]
