"""`/mcp` as a part of the application: who comes in, what is let in, and what is answered."""

import asyncio
from importlib import import_module
from typing import Any

import httpx2
import pytest

from headgate.entrypoints.mcp import studio
from headgate.foundation.database import Database
from headgate.foundation.settings import ServerSettings, Settings
from tests.support.logs import captured_logs
from tests.support.mcp_client import FLOW, REVISIONS, Mode, connected, done, refused, served, text_of
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import add_key, add_session, add_user, bearer, cookie, running, signed_in

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPT = {"accept": "application/json, text/event-stream"}


async def post(url: str, content: Any = INITIALIZE, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
        return await http.post(f"{url}/mcp", json=content, headers=ACCEPT | headers)


@pytest.mark.parametrize("mode", REVISIONS)
class TestCallers:
    @pytest.mark.parametrize("header", ["Authorization", "x-api-key"])
    async def test_come_in_with_a_key(self, one_database: Settings, mode: Mode, header: str) -> None:
        async with running(signed_in(one_database)) as app, served(app) as url:
            database: Database = app.state.database
            key = await add_key(database, await add_user(database, "ana@example.org", admin=True))
            headers = {header: f"Bearer {key}" if header == "Authorization" else key}
            async with connected(url, mode, headers) as client:
                assert (await done(client, "count_components"))["components"] > 20

    async def test_come_in_with_a_session_and_its_proof(self, one_database: Settings, mode: Mode) -> None:
        async with running(signed_in(one_database)) as app, served(app) as url:
            database: Database = app.state.database
            token = await add_session(database, await add_user(database, "ana@example.org", admin=True))
            async with connected(url, mode, cookie(token)) as client:
                assert await client.list_tools()
            assert (await post(url, **cookie(token, proof=False))).status_code == 403


class TestAnswers:
    async def test_ask_strangers_for_a_key(self, one_database: Settings) -> None:
        async with running(signed_in(one_database)) as app, served(app) as url:
            for headers in ({}, bearer("hg_not_a_key")):
                answer = await post(url, **headers)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
                assert answer.headers["content-type"] == "application/problem+json"

    async def test_refuse_other_methods_other_hosts_and_other_sites(self, one_database: Settings) -> None:
        async with running(one_database) as app, served(app) as url:
            async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
                for method in ("GET", "DELETE"):
                    answer = await http.request(method, f"{url}/mcp", headers=ACCEPT)
                    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
            assert (await post(url, host="evil.example")).json()["code"] == "host_refused"
            assert (await post(url, origin="https://evil.example")).json()["code"] == "origin_refused"

    async def test_bound_what_is_sent(self, one_database: Settings) -> None:
        small = one_database.model_copy(update={"server": ServerSettings(max_body_bytes=20_000)})
        async with running(small) as app, served(app) as url:
            assert (await post(url, INITIALIZE | {"padding": "x" * 30_000})).json()["code"] == "body_too_large"

    @pytest.mark.parametrize(
        "content",
        [[], [INITIALIZE, INITIALIZE], "text", 7, {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "id": 1, "method": "no/such"}],
    )
    @pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28", "1999-01-01"])
    async def test_are_errors_of_the_protocol_for_what_is_none(
        self, one_database: Settings, content: Any, revision: str
    ) -> None:
        async with running(one_database) as app, served(app) as url:
            answer = await post(url, content, **{"mcp-protocol-version": revision})
            assert answer.status_code in {200, 202, 400, 404}, answer.text
            if answer.status_code != 202 and answer.headers["content-type"] == "application/json":
                assert "error" in answer.json()

    async def test_say_how_to_install_what_is_missing(
        self, one_database: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def missing(_name: str) -> Any:
            raise ModuleNotFoundError("No module named 'mcp'", name="mcp")

        monkeypatch.setattr(studio, "import_module", missing)
        async with running(one_database) as app, served(app) as url:
            answer = await post(url)
            assert answer.status_code == 503
            assert answer.json()["code"] == "mcp_not_installed"
            assert "pip install 'headgate[mcp]'" in answer.json()["remedy"]
            monkeypatch.setattr(studio, "import_module", import_module)
            assert (await post(url)).status_code == 200, "it is tried again when it has been installed"


class TestCalls:
    async def test_are_counted_and_logged_without_what_they_were_given(self, one_database: Settings) -> None:
        async with running(one_database) as app, served(app) as url, connected(url) as client:
            with captured_logs() as lines:
                await done(client, "search_components", query="a very private question")
                await refused(client, "get_flow", flow_id="nothing with this id")
                await refused(client, "no_such_tool", secret="hush")
            page = app.state.telemetry.metrics.page().decode()
        assert 'headgate_mcp_tool_invocations_total{success="true",tool="search_components"} 1.0' in page
        assert 'headgate_mcp_tool_invocations_total{success="false",tool="get_flow"} 1.0' in page
        assert 'headgate_mcp_tool_invocations_total{success="false",tool="unknown"} 1.0' in page
        assert 'headgate_mcp_tool_duration_ms_count{tool="get_flow"} 1.0' in page
        told = [line for line in lines if line["event"] == "mcp.tool.called"]
        assert [(one["tool"], one["success"]) for one in told] == [
            ("search_components", True),
            ("get_flow", False),
            ("unknown", False),
        ]
        assert "private" not in str(lines)
        assert "hush" not in str(lines)

    async def test_at_once_are_kept_apart(self, one_database: Settings) -> None:
        async with running(one_database) as app, served(app) as url, connected(url) as one, connected(url) as other:
            made = await asyncio.gather(
                *(done((one, other)[turn % 2], "create_flow", name=f"Flow {turn}") for turn in range(20))
            )
            assert [answer["name"] for answer in made] == [f"Flow {turn}" for turn in range(20)]

    async def test_on_one_flow_at_once_lose_no_change(self, one_database: Settings) -> None:
        async with running(one_database) as app, served(app) as url, connected(url) as one, connected(url) as other:
            flow_id = (await done(one, "create_flow_from_spec", spec=FLOW))["flow_id"]
            await asyncio.gather(
                *(
                    done((one, other)[turn % 2], "add_component", flow_id=flow_id, component_type="ChatOutput")
                    for turn in range(12)
                )
            )
            summary = await done(one, "get_flow_structure_summary", flow_id=flow_id)
            assert summary["types"] == {"ChatInput": 1, "ChatOutput": 13}


class TestLists:
    @pytest.mark.parametrize("mode", REVISIONS)
    async def test_tell_what_a_tool_does_to_the_world(self, one_database: Settings, mode: Mode) -> None:
        async with running(one_database) as app, served(app) as url, connected(url, mode) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        reads, replaces, runs = tools["list_flows"], tools["build_flow"], tools["run_flow"]
        assert reads.annotations is not None
        assert (reads.annotations.read_only_hint, reads.annotations.idempotent_hint) == (True, True)
        assert replaces.annotations is not None
        assert (replaces.annotations.read_only_hint, replaces.annotations.destructive_hint) == (False, True)
        assert runs.annotations is not None
        assert runs.annotations.open_world_hint is True
        for tool in tools.values():
            assert tool.description
            assert tool.output_schema is not None
            described = tool.input_schema.get("properties", {})
            assert all(one.get("description") for one in described.values()), tool.name

    async def test_are_small(self, one_database: Settings) -> None:
        async with running(one_database) as app, served(app) as url, connected(url) as client:
            for _ in range(30):
                await done(client, "create_flow_from_spec", spec=FLOW)
            for tool, arguments in (
                ("search_components", {"query": "read a web page and summarise it"}),
                ("search_templates", {"query": "summarise a page"}),
                ("list_flows", {"query": "talk"}),
                ("get_component", {"component_type": "ChatOutput"}),
            ):
                found = await client.call_tool(tool, arguments)
                assert len(text_of(found)) < 3_000, tool

    async def test_name_flows_as_resources(self, one_database: Settings) -> None:
        async with running(one_database) as app, served(app) as url, connected(url) as client:
            flow_id = (await done(client, "create_flow_from_spec", spec=FLOW))["flow_id"]
            listed = (await client.list_resources()).resources
            assert [(one.uri, one.title) for one in listed] == [(f"headgate://flows/{flow_id}/spec", "Talk")]
            templates = (await client.list_resource_templates()).resource_templates
            kinds = {one.uri_template.rpartition("/")[2] for one in templates}
            assert kinds == {"spec", "diagram", "evidence", "{document_id}"}
            prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
            assert prompts == {"build_a_flow", "debug_a_run", "document_a_flow"}
            filled = await client.get_prompt("build_a_flow", {"job": "Say {hello}"})
            assert "Say {hello}" in str(filled.messages[0].content)
