"""A team, a flow that fails on what is no JSON, and questions to the attention list."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.foundation.settings import Settings
from tests.support.team import Team, team

BROKEN = (
    "name: Import\nnodes:\n  heard: ChatInput\n  parse: ParseJSON\n  pick: SelectData\n    expression: '@'\n"
    "  said: ChatOutput\n"
    "edges:\n  heard.text -> parse.text\n  parse.data -> pick.data\n  pick.text -> said.input\n"
)


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def flow_of(house: Team, spec: str = BROKEN, *, published: bool = True) -> str:
    flow_id: str = (await house.make("publisher", "/flows", spec=spec))["id"]
    if published:
        await house.make("publisher", f"/flows/{flow_id}/publish")
    return flow_id


async def run(house: Team, flow_id: str, text: str = "no JSON", *, version: Any = None) -> str:
    body = {"text": text, "wait": True} | ({"version": version} if version else {})
    run_id: str = (await house.make("publisher", f"/flows/{flow_id}/runs", **body))["id"]
    return run_id


async def items(house: Team, who: str = "viewer", **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await house.get(who, "/attention", params=asked))["items"]
    return found


async def results(house: Team, action: str, *keys: str, who: str = "runner", **members: Any) -> dict[str, Any]:
    body = {"action": action, "keys": list(keys), **members}
    answer: dict[str, Any] = await house.make(who, "/attention/actions", **body)
    return answer


async def act(
    house: Team, action: str, *keys: str, who: str = "runner", **members: Any
) -> list[tuple[bool, str | None]]:
    """What was done with each, and the code of the problem."""
    answer = await results(house, action, *keys, who=who, **members)
    return [(one["done"], one["problem"] and one["problem"]["code"]) for one in answer["items"]]
