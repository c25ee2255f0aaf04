"""MCP servers of several spaces, and who may register programs, over the real application on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import select

from headgate.features.audit.tables import AuditEvent
from headgate.foundation.ids import new_id
from headgate.foundation.settings import McpSettings, Settings
from tests.integration.features.mcptools.conftest import LOOPBACK
from tests.support.mcp_server import ACCESS, COMMAND, McpProcess
from tests.support.open_python import for_any_user
from tests.support.people import add_key, bearer
from tests.support.team import EVERYBODY, Team, team

MANAGERS = {"owner", "admin"}
INSIDERS = {*EVERYBODY} - {"stranger"}
ADDRESS = "https://tools.example.org/mcp"
PROGRAM = {"name": "program", "transport": "stdio", "command": COMMAND, "access": ACCESS}
FLOW = """name: Weather
nodes:
  heard: ChatInput
  mcp: McpTools
    server: {server}
  boss: Agent
    model: openai/gpt-5-mini
  said: ChatOutput
edges:
  mcp.tools -> boss.tools
  heard.text -> boss.input
  boss.response -> said.input
"""


@pytest.fixture
async def us(settings: Settings, mcp_settings: McpSettings) -> AsyncIterator[Team]:
    async with team(settings, http=LOOPBACK, mcp=mcp_settings) as found:
        yield found


async def actions(us: Team, server_id: str) -> list[str]:
    async with us.database.reading() as session:
        query = select(AuditEvent.action).where(AuditEvent.resource_id == server_id).order_by(AuditEvent.seq)
        return list((await session.execute(query)).scalars())


class TestServers:
    async def test_are_seen_by_who_sees_their_space_and_managed_by_owners(self, us: Team, server: McpProcess) -> None:
        made = await us.make("owner", "/mcp-servers", name="weather", url=server.url)
        one = f"/mcp-servers/{made['id']}"
        assert await us.allowed("POST", f"{one}/refresh") == MANAGERS
        assert await us.allowed("POST", f"{one}/test") == MANAGERS
        assert await us.allowed("GET", one) == INSIDERS
        assert await us.allowed("GET", f"{one}/tools") == INSIDERS
        assert await us.allowed("PATCH", one, json={"enabled": True}) == MANAGERS
        assert await us.allowed("PATCH", f"{one}/tools/add", json={"enabled": False}) == MANAGERS
        assert await us.allowed("GET", "/mcp-servers", params={"space_id": us.space}) == INSIDERS
        for who in EVERYBODY:
            listed = [item["id"] for item in (await us.get(who, "/mcp-servers"))["items"]]
            assert listed == ([] if who == "stranger" else [made["id"]])
        for who in ("viewer", "publisher"):
            assert (await us.ask(who, "DELETE", one)).status_code == 403
        assert (await us.ask("owner", "DELETE", one)).status_code == 204
        found = await actions(us, made["id"])
        assert found[:2] == ["mcp_server.registered", "mcp_server.refreshed"]
        assert found[-2:] == ["mcp_server.tool_switched", "mcp_server.removed"]

    async def test_are_registered_by_owners_of_the_space(self, us: Team) -> None:
        for who in EVERYBODY:
            body = {"name": f"of-{who}", "url": ADDRESS, "space_id": us.space}
            status = (await us.ask(who, "POST", "/mcp-servers", json=body)).status_code
            assert status == (201 if who in MANAGERS else 404 if who == "stranger" else 403)
        for space_id in (us.elsewhere, new_id()):
            body = {"name": "weather", "url": ADDRESS, "space_id": space_id}
            answer = await us.ask("owner", "POST", "/mcp-servers", json=body)
            assert (answer.status_code, answer.json()["code"]) == (404, "space_not_found")

    async def test_are_named_by_what_one_sees(self, us: Team) -> None:
        ours = await us.make("owner", "/mcp-servers", name="weather", url=ADDRESS)
        theirs = await us.make("stranger", "/mcp-servers", name="weather", url=ADDRESS)
        only_theirs = await us.make("stranger", "/mcp-servers", name="forecast", url=ADDRESS)
        assert (await us.get("viewer", "/mcp-servers/weather"))["id"] == ours["id"]
        assert (await us.get("stranger", "/mcp-servers/weather"))["id"] == theirs["id"]
        assert (await us.get("admin", "/mcp-servers/weather"))["id"] == ours["id"]
        assert (await us.get("admin", "/mcp-servers/forecast"))["id"] == only_theirs["id"]
        for which in ("forecast", "forecasts", only_theirs["id"]):
            answer = await us.ask("viewer", "GET", f"/mcp-servers/{which}")
            assert answer.status_code == 404
            told = answer.json()["detail"] + answer.json()["remedy"]
            assert (
                told
                == f"There is no MCP server '{which}'.Registered: weather. Add one with `headgate mcp-servers add`."
            )

    async def test_of_two_spaces_are_told_apart_by_their_ids(self, us: Team) -> None:
        space = await us.make("admin", "/spaces", name="Third")
        one = await us.make("stranger", "/mcp-servers", name="weather", url=ADDRESS)
        other = await us.make("admin", "/mcp-servers", name="weather", url=ADDRESS, space_id=space["id"])
        answer = await us.ask("admin", "GET", "/mcp-servers/weather")
        assert (answer.status_code, answer.json()["code"]) == (422, "mcp_server_ambiguous")
        assert set(answer.json()["servers"]) == {one["id"], other["id"]}

    async def test_are_managed_with_a_key_for_that_alone(self, us: Team, server: McpProcess) -> None:
        client = us.clients["owner"]
        client.headers.clear()
        client.headers.update(bearer(await add_key(us.database, us.people["owner"], scopes=["mcp_servers.manage"])))
        assert (await client.post("/mcp-servers", json={"name": "weather", "url": server.url})).status_code == 201
        for method, path, body in (
            ("POST", "/refresh", None),
            ("POST", "/test", None),
            ("PATCH", "", {"enabled": True}),
            ("PATCH", "/tools/add", {"enabled": False}),
        ):
            answer = await client.request(method, f"/mcp-servers/weather{path}", json=body)
            assert answer.status_code == 200, answer.text
        assert (await client.get("/mcp-servers/weather")).status_code == 403
        assert (await client.delete("/mcp-servers/weather")).status_code == 204


class TestPrograms:
    async def test_are_registered_by_admins_of_the_tenant(self, us: Team) -> None:
        refused = await us.ask("owner", "POST", "/mcp-servers", json=PROGRAM)
        assert (refused.status_code, refused.json()["permission"]) == (403, "mcp_servers.programs")
        made = await us.make("admin", "/mcp-servers", **PROGRAM)
        one = f"/mcp-servers/{made['id']}"
        bodies: list[dict[str, Any]] = [{"command": ["true"]}, {"env": {"A": "b"}}, {"access": {}}]
        for body in bodies:
            refused = await us.ask("owner", "PATCH", one, json=body)
            assert (refused.status_code, refused.json()["permission"]) == (403, "mcp_servers.programs")
            assert (await us.ask("admin", "PATCH", one, json=body)).status_code == 200

    @for_any_user
    async def test_are_refreshed_and_switched_by_owners_of_the_space(self, us: Team) -> None:
        made = await us.make("admin", "/mcp-servers", **PROGRAM)
        one = f"/mcp-servers/{made['id']}"
        assert await us.allowed("POST", f"{one}/refresh") == MANAGERS
        assert await us.allowed("PATCH", one, json={"enabled": False}) == MANAGERS

    async def test_are_not_for_a_key_that_is_bound_to_a_space(self, us: Team) -> None:
        client = us.clients["admin"]
        client.headers.clear()
        key = bearer(await add_key(us.database, us.people["admin"], space_ids=[us.space]))
        refused = await client.post("/mcp-servers", headers=key, json=PROGRAM)
        assert (refused.status_code, refused.json()["permission"]) == (403, "mcp_servers.programs")
        other = {"name": "weather", "url": ADDRESS}
        assert (await client.post("/mcp-servers", headers=key, json=other)).status_code == 201
        hidden = await client.post("/mcp-servers", headers=key, json=other | {"space_id": us.elsewhere})
        assert (hidden.status_code, hidden.json()["code"]) == (404, "space_not_found")


class TestFlows:
    async def test_use_servers_of_their_own_space(self, us: Team, server: McpProcess) -> None:
        made = await us.make("stranger", "/mcp-servers", name="weather", url=server.url)
        await us.make("stranger", f"/mcp-servers/{made['id']}/refresh")
        await us.make("owner", "/mcp-servers", name="ours", url=ADDRESS)
        key = {"value": "sk-test-0123456789"}  # nothing is published without one
        assert (await us.ask("admin", "PUT", "/organisation/variables/OPENAI_API_KEY", json=key)).is_success
        issues: dict[str, Any] = {}
        for who, space_id in (("owner", us.space), ("admin", us.space), ("stranger", us.elsewhere)):
            flow = await us.make(who, "/flows", spec=FLOW.format(server="weather"), space_id=space_id)
            issues[who] = await us.ask(who, "POST", f"/flows/{flow['id']}/publish", json={})
        assert issues["stranger"].status_code == 200, issues["stranger"].text
        for who in ("owner", "admin"):
            assert issues[who].status_code == 422
            assert "Registered: ours." in issues[who].text
