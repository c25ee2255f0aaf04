"""A variable is of one space unless an admin sets it for all: no other space's flows, lists and documents get it."""

from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import httpx2
import pytest

from headgate.features.access.principal import DEFAULT_TENANT_ID
from headgate.features.secrets import service
from headgate.foundation.settings import HttpSettings, Settings
from tests.support.secret_reads import NotedReads
from tests.support.team import Team, team
from tests.support.web_server import WebServer, answer, web_server

OURS, THEIRS, SHARED = "research-token-0123", "elsewhere-token-456", "organisation-token-789"
FLOW = """name: Call
nodes:
  call: HTTPRequest
    url: {url}
    headers:
      X-Key: {{"secret": "TOKEN"}}
  said: ChatOutput
edges:
  call.text -> said.input
"""


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with web_server() as found:
        found.anything = answer(200, "ok", content_type="text/plain")
        yield found


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, http=HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.0/8")])) as found:
        yield found


async def keep(us: Team, value: str, space: str | None) -> None:
    path = "/organisation/variables/TOKEN" if space is None else f"/variables/TOKEN?space_id={space}"
    assert (await us.ask("admin", "PUT", path, json={"value": value})).is_success


async def start(us: Team, server: WebServer, space: str) -> httpx2.Response:
    """What a start of a flow of a space that sends TOKEN is answered with."""
    made = await us.make("admin", "/flows", spec=FLOW.format(url=server.url("/hook")), space_id=space)
    server.requests.clear()
    body = {"text": "go", "wait": True, "version": "draft"}
    return await us.ask("admin", "POST", f"/flows/{made['id']}/runs", json=body)


async def run(us: Team, server: WebServer, space: str) -> tuple[dict[str, Any], list[str]]:
    """A run of a flow of a space that sends TOKEN, and the values that the server received."""
    found = await start(us, server, space)
    assert found.status_code == 201, found.text
    return found.json(), [one.headers["x-key"] for one in server.requests]


class TestRuns:
    async def test_get_their_spaces_variable_and_no_other_spaces(self, us: Team, server: WebServer) -> None:
        await keep(us, THEIRS, us.elsewhere)
        refused = await start(us, server, us.space)
        assert (refused.status_code, server.requests) == (422, [])
        assert "uses the variable TOKEN, which is not set." in refused.json()["detail"]
        assert THEIRS not in refused.text
        await keep(us, OURS, us.space)
        assert (await run(us, server, us.space))[1] == [OURS]
        assert (await run(us, server, us.elsewhere))[1] == [THEIRS]

    async def test_get_the_organisations_where_their_space_has_none(self, us: Team, server: WebServer) -> None:
        await keep(us, SHARED, None)
        assert (await run(us, server, us.space))[1] == [SHARED]
        await keep(us, OURS, us.space)
        assert (await run(us, server, us.space))[1] == [OURS]
        assert (await run(us, server, us.elsewhere))[1] == [SHARED]


class TestList:
    async def test_says_which_spaces_replace_a_variable_of_the_organisation(self, us: Team) -> None:
        for value, space in ((SHARED, None), (OURS, us.space), (THEIRS, us.elsewhere)):
            await keep(us, value, space)
        seen = {
            who: {item["space_id"]: item["replaced_in"] for item in (await us.get(who, "/variables"))["items"]}
            for who in ("viewer", "stranger")
        }
        assert seen["viewer"] == {us.space: [], None: [us.space]}
        assert seen["stranger"] == {us.elsewhere: [], None: [us.elsewhere]}


class TestDocuments:
    async def test_leave_out_no_value_of_another_space(self, us: Team) -> None:
        """Else a member could find out another space's secret by writing guesses and reading what is redacted."""
        for value, space in ((SHARED, None), (OURS, us.space), (THEIRS, us.elsewhere)):
            await keep(us, value, space)
        async with us.database.reading() as session:
            found = await service.secrets_of(
                session, us.app.state.box, NotedReads(), tenant_id=DEFAULT_TENANT_ID, space_id=us.space
            )
        assert sorted(found) == sorted([OURS, SHARED])


class TestDeletedSpace:
    async def test_takes_its_variables_along(self, us: Team) -> None:
        made = await us.make("admin", "/spaces", name="Short-lived")
        await keep(us, OURS, made["id"])
        assert (await us.ask("admin", "DELETE", f"/spaces/{made['id']}")).is_success
        assert (await us.get("admin", "/variables"))["items"] == []
