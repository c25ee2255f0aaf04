"""One registry: the assistant, MCP clients and the development agent have the same tools under the same names."""

import json
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from headgate.agents.assistant.loop.agent import PROMPT, _more
from headgate.agents.codev.domains.headgate import discovery, editing
from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.toolkit.flow.catalogue import catalogue_lines
from headgate.toolkit.operations import ONLY_ASSISTANT, ONLY_MCP, OPERATIONS
from headgate.toolkit.registry import FLOW_ID, GROUPS, IN_GROUP, OTHER_PARAMETERS, TOOLS

ASSISTANT = {tool.name: tool for tool in TOOLS}
SHARED = sorted(ASSISTANT.keys() & OPERATIONS.keys())
MOST_TOKENS = 5_000
MOST_TOKENS_WITH_A_GROUP = 5_500
CHARACTERS_A_TOKEN = 3.9
"""An estimate, derived from an earlier measurement; no provider has counted these tools as they are."""


def parameters(schema: dict[str, Any]) -> dict[str, Any]:
    """Name to kind, without what words say of it."""
    return {
        name: {key: value for key, value in one.items() if key in {"type", "enum", "items", "anyOf"}}
        for name, one in schema.get("properties", {}).items()
    }


class TestBothDoors:
    def test_have_the_same_tools_but_for_the_named_ones(self) -> None:
        assert ASSISTANT.keys() - OPERATIONS.keys() == ONLY_ASSISTANT.keys()
        assert OPERATIONS.keys() - ASSISTANT.keys() == ONLY_MCP.keys()
        assert all([*ONLY_ASSISTANT.values(), *ONLY_MCP.values()])

    @pytest.mark.parametrize("name", SHARED)
    def test_have_the_same_parameters_of_the_same_kind(self, name: str) -> None:
        ours, theirs = ASSISTANT[name].schema, OPERATIONS[name].schema
        omitted = {*OTHER_PARAMETERS.get(name, {})}
        if FLOW_ID in theirs.get("required", ()):
            omitted.add(FLOW_ID)
        mcp = {key: value for key, value in parameters(theirs).items() if key not in omitted}
        assert parameters(ours) == mcp
        required = {key for key in theirs.get("required", ()) if key not in omitted}
        assert set(ours.get("required", ())) == required - ({"revision"} if name == "undo" else set())
        assert ASSISTANT[name].kind == OPERATIONS[name].kind
        if name != "run_flow":  # the draft of the open flow is a test run; a published version is started
            assert ASSISTANT[name].permission == OPERATIONS[name].permission

    def test_the_development_agent_takes_its_tools_from_here(self) -> None:
        assert {reading.operation.name for reading in discovery.READINGS} - OPERATIONS.keys() == {
            "describe_flow",
            "describe_template",
        }
        assert set(editing._EDITING) <= ASSISTANT.keys()

    @pytest.mark.parametrize("name", ["dry_run", "list_runs", "read_run", "list_models", "list_mcp_servers"])
    def test_have_what_a_model_needs_to_look_around(self, name: str) -> None:
        assert name in ASSISTANT
        assert name in OPERATIONS


class TestSizes:
    @pytest.mark.parametrize("group", ["", *GROUPS])
    def test_of_prompt_tools_and_catalogue_stay_below_a_limit(self, group: str) -> None:
        sent = [
            {
                "type": "function",
                "function": {"name": one.name, "description": one.description, "parameters": one.schema},
            }
            for one in TOOLS
            if one.name not in IN_GROUP or one.name in GROUPS.get(group, ())
        ]
        sent.append(convert_to_openai_tool(_more()))
        tools = json.dumps(sent, separators=(",", ":"))
        characters = len(tools) + len(PROMPT) + len(catalogue_lines(Registry(BUILTINS)))
        assert characters / CHARACTERS_A_TOKEN < (MOST_TOKENS_WITH_A_GROUP if group else MOST_TOKENS)

    def test_the_catalogue_has_a_line_for_every_component(self) -> None:
        lines = catalogue_lines(Registry(BUILTINS)).splitlines()
        assert [line.partition(":")[0] for line in lines] == list(Registry(BUILTINS).types())
