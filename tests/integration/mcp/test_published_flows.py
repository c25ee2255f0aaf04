"""Published flows as tools of MCP clients, and which version `run_flow` runs."""

from typing import Any

import httpx2
import pytest
from mcp.client import Client

from headgate.agents.assistant.generation.personal import PersonalComponents
from tests.support.mcp_client import FLOW, Mode, connected, done, refused

FORM = """name: Travel request!
description: Answers a travel request.
form:
  city: text
    label: City
    required: true
    max: 20
  days: number
    min: 1
    max: 30
  class: select
    options: ["economy", "business"]
nodes:
  words: PromptTemplate
    template: "{{flow_input.city}} for {{flow_input.days}} days"
  out: ChatOutput
edges:
  words.text -> out.input
"""


async def publish(url: str, spec: str) -> str:
    """Create and publish a flow; return its id."""
    async with httpx2.AsyncClient(base_url=f"{url}/api/v1", trust_env=False, timeout=60) as client:
        made = await client.post("/flows", json={"spec": spec})
        assert made.status_code == 201, made.text
        flow_id = str(made.json()["id"])
        answer = await client.post(f"/flows/{flow_id}/publish", json={})
        assert answer.status_code in {200, 201}, answer.text
    return flow_id


async def tools_of(client: Client) -> dict[str, Any]:
    """The tools by name."""
    return {tool.name: tool for tool in (await client.list_tools()).tools}


class TestFlows:
    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    async def test_the_form_is_the_schema_and_the_published_version_runs(self, url: str, mode: Mode) -> None:
        await publish(url, FORM)
        async with connected(url, mode, path="/mcp/flows") as client:
            tools = await tools_of(client)
            assert set(tools) == {"travel_request", "upload_file", "read_run", "cancel_run"}
            tool = tools["travel_request"]
            assert tool.description == "Answers a travel request."
            assert tool.input_schema == {
                "type": "object",
                "properties": {
                    "city": {"title": "City", "type": "string", "maxLength": 20},
                    "days": {"type": "number", "minimum": 1, "maximum": 30},
                    "class": {"type": "string", "enum": ["economy", "business"]},
                },
                "additionalProperties": False,
                "required": ["city"],
            }
            ran = await done(client, "travel_request", city="Lund", days=3)
            assert (ran["status"], ran["version"]) == ("completed", "published")
            assert "Lund for 3 days" in str(ran["outputs"])
            assert (await done(client, "read_run", run_id=ran["run_id"]))["status"] == "completed"
            assert "city" in (await refused(client, "travel_request", days=3))["error"]
            assert "days" in (await refused(client, "travel_request", city="Lund", days=99))["error"]
            assert "town" in (await refused(client, "travel_request", city="Lund", town="x"))["error"]
            assert (await refused(client, "create_flow", name="x"))["code"] == "unknown_tool"

    async def test_components_of_the_caller_are_read_once_for_all_flows(
        self, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for _ in range(3):
            await publish(url, FLOW)
        reads: list[Any] = []
        read = PersonalComponents.own_components

        async def counted(components: PersonalComponents, *arguments: Any) -> Any:
            reads.append(arguments)
            return await read(components, *arguments)

        async with connected(url, path="/mcp/flows") as client:
            monkeypatch.setattr(PersonalComponents, "own_components", counted)
            assert len(await tools_of(client)) == 6
        assert len(reads) == 1

    async def test_flows_with_the_same_name_are_told_apart_and_a_chat_has_a_text(self, url: str) -> None:
        ids = [await publish(url, FLOW) for _ in range(2)]
        async with connected(url, path="/mcp/flows") as client:
            names = sorted(name for name in await tools_of(client) if name.startswith("talk"))
            assert names == sorted(f"talk_{flow_id.replace('-', '')[-12:]}" for flow_id in ids)
            assert "hello" in str((await done(client, names[0], input_value="hello"))["outputs"])

    async def test_a_draft_is_no_tool(self, url: str) -> None:
        async with httpx2.AsyncClient(base_url=f"{url}/api/v1", trust_env=False) as http:
            await http.post("/flows", json={"spec": FORM})
        async with connected(url, path="/mcp/flows") as client:
            assert "travel_request" not in await tools_of(client)


class TestVersionOfRunFlow:
    async def test_is_the_published_one_where_there_is_one_and_the_answer_says_so(self, url: str) -> None:
        flow_id = await publish(url, FLOW)
        async with connected(url) as client:
            await done(client, "add_component", flow_id=flow_id, component_type="Approval")
            ran = await done(client, "run_flow", flow_id=flow_id, input_value="hello")
            assert (ran["status"], ran["version"]) == ("completed", "published")
            made = await done(client, "create_flow_from_spec", spec=FLOW)
            draft = await done(client, "run_flow", flow_id=made["flow_id"], input_value="hello")
            assert (draft["status"], draft["version"]) == ("completed", "draft")
