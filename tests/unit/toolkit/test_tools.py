"""The tools, as an agent calls them."""

from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from headgate.features.access.permissions import TABLE, Permission, Role
from headgate.features.access.principal import LOCAL, Access
from headgate.graph.model import Flow
from headgate.toolkit.ports import RunOutcome
from headgate.toolkit.registry import TOOLS, tools_for
from headgate.toolkit.tool import ToolDefinition
from headgate.toolkit.workbench import Workbench
from tests.support.logs import captured_logs

SPEC = """name: Greeting
nodes:
  source: Source
    text: hi
  shout: Shout
edges:
  source.said -> shout.text
"""
BY_NAME = {tool.name: tool for tool in TOOLS}


async def call(bench: Workbench, tool: str, **arguments: Any) -> dict[str, Any]:
    return await BY_NAME[tool].call(bench, arguments)


class TestDefinitions:
    def test_describe_themselves_and_every_argument(self) -> None:
        for tool in TOOLS:
            assert tool.description
            schema = tool.arguments.model_json_schema()
            Draft202012Validator.check_schema(schema)
            for name, argument in schema.get("properties", {}).items():
                assert argument.get("description") or name == "offset", f"{tool.name}.{name} has no description"

    def test_never_show_the_bench_to_the_model(self) -> None:
        assert all("bench" not in tool.arguments.model_fields for tool in TOOLS)

    async def test_answer_a_wrong_argument_with_a_correction(self, bench: Workbench) -> None:
        answer = await call(bench, "add_component", kind="Shout")
        assert answer["ok"] is False
        assert "component_type" in answer["error"]
        assert answer["remedy"]


def working_as(bench: Workbench, role: Role, *scopes: Permission) -> Workbench:
    """The bench of somebody with a role in its space, or with an API key of theirs that is for these permissions."""
    access = Access(roles={bench.space_id: role}, scopes=frozenset(scopes) or None)
    return replace(bench, principal=replace(LOCAL, access=access))


class TestPermissions:
    @pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
    async def test_of_each_tool_are_declared_and_asked_for(self, tool: ToolDefinition, bench: Workbench) -> None:
        assert tool.permission in TABLE
        nobody = replace(bench, principal=replace(LOCAL, access=Access(scopes=frozenset())))
        answer = await tool.call(nobody, {})
        assert (answer["ok"], answer["code"]) == (False, "permission_missing")
        assert str(tool.permission) in str(answer["error"])
        assert not nobody.changed

    def test_decide_what_is_offered(self, bench: Workbench) -> None:
        def offered(role: Role, *scopes: Permission) -> set[str]:
            return {tool.name for tool in tools_for(working_as(bench, role, *scopes))}

        catalogue = {"search_components", "describe_component", "read_grammar"}
        reading = {*catalogue, "read_flow", "get_field_value", "describe_flow_io"}
        assert offered(Role.VIEWER) == offered(Role.RUNNER) == reading
        assert offered(Role.EDITOR) == offered(Role.OWNER) == {tool.name for tool in TOOLS if tool.uses is None}
        assert offered(Role.OWNER, Permission.RUNS_START) == set()
        assert offered(Role.OWNER, Permission.RUNS_TEST) == {"run_flow"}
        assert offered(Role.VIEWER, Permission.FLOWS_VIEW, Permission.FLOWS_EDIT) == reading - catalogue

    async def test_hold_in_another_space_too(self, bench: Workbench) -> None:
        elsewhere = replace(working_as(bench, Role.OWNER), space_id="00000000-0000-7000-8000-00000000abcd")
        assert {tool.name for tool in tools_for(elsewhere)} == {
            "search_components",
            "describe_component",
            "read_grammar",
        }
        assert (await call(elsewhere, "build_flow", spec=SPEC))["code"] == "permission_missing"


class TestSearchAndDescribe:
    async def test_find_a_component_by_what_it_does(self, bench: Workbench) -> None:
        answer = await call(bench, "search_components", query="capital letters")
        assert answer["components"][0]["type"] == "Shout"

    async def test_say_what_is_known_when_nothing_fits(self, bench: Workbench) -> None:
        answer = await call(bench, "search_components", query="zzzz qqqq")
        assert answer["components"] == []
        assert answer["hint"].startswith("Nothing fits: no component is about 'zzzz', 'qqqq'")
        assert "Shout" in answer["hint"]

    async def test_say_which_words_nothing_is_about(self, bench: Workbench) -> None:
        answer = await call(bench, "search_components", query="zzzz in capital letters")
        assert answer["components"][0]["type"] == "Shout"
        assert "zzzz" in answer["hint"]

    async def test_describe_inputs_and_outputs(self, bench: Workbench) -> None:
        answer = await call(bench, "describe_component", component_type="Shout")
        assert answer["inputs"][0]["accepts"] == ["Text"]
        assert answer["outputs"] == [{"name": "loud", "type": "Text", "what": ""}]
        assert answer["usable_as_tool"] is True

    async def test_name_the_nearest_type(self, bench: Workbench) -> None:
        answer = await call(bench, "describe_component", component_type="Shot")
        assert "Shout" in answer["error"]


class TestBuildFlow:
    async def test_replaces_the_flow_and_tells_it(self, bench: Workbench) -> None:
        told: list[dict[str, Any]] = []
        bench.on_action = told.append
        answer = await call(bench, "build_flow", spec=SPEC)
        assert (answer["ok"], answer["nodes"], answer["edges"], answer["issues"]) == (True, 2, 1, [])
        assert [action["action"] for action in told] == ["set_flow"]
        assert bench.flow.name == "Greeting"

    async def test_changes_nothing_when_anything_is_wrong(self, bench: Workbench) -> None:
        answer = await call(bench, "build_flow", spec=SPEC.replace("shout.text", "shout.txet"))
        assert answer["ok"] is False
        assert "text" in answer["error"]
        assert answer["issues"][0]["line"]
        assert bench.flow == Flow()
        assert not bench.changed

    async def test_refuses_a_loose_component(self, bench: Workbench) -> None:
        answer = await call(bench, "build_flow", spec=SPEC.replace("edges:", "  rows: Rows\nedges:"))
        assert answer["ok"] is False
        assert "rows" in answer["error"]


class TestEditing:
    async def test_adds_connects_and_configures(self, bench: Workbench) -> None:
        assert (await call(bench, "add_component", component_type="Source"))["node_id"] == "source"
        added = await call(bench, "add_component", component_type="Shout", node_id="loudly")
        assert added["inputs"] == ["text"]
        joined = await call(
            bench,
            "connect_components",
            source_id="source",
            source_output="said",
            target_id="loudly",
            target_input="text",
        )
        assert joined["edge"] == "source.said -> loudly.text"
        done = await call(bench, "configure_component", node_id="source", params={"text": "ho"})
        assert done["patch"][0]["path"].endswith("/params") or done["patch"][0]["path"].endswith("/params/text")
        node = bench.flow.node("source")
        assert node is not None
        assert node.params == {"text": "ho"}

    async def test_clears_a_value_with_null(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        await call(bench, "configure_component", node_id="source", params={"text": None})
        node = bench.flow.node("source")
        assert node is not None
        assert node.params == {}

    async def test_refuses_types_that_do_not_fit(self, bench: Workbench) -> None:
        await call(bench, "add_component", component_type="Rows")
        await call(bench, "add_component", component_type="Thinker")
        answer = await call(
            bench,
            "connect_components",
            source_id="rows",
            source_output="rows",
            target_id="thinker",
            target_input="model",
        )
        assert answer["ok"] is False
        assert "Table" in answer["error"]

    async def test_gives_a_component_to_an_agent_as_a_tool(self, bench: Workbench) -> None:
        told: list[dict[str, Any]] = []
        await call(bench, "add_component", component_type="Shout")
        await call(bench, "add_component", component_type="Thinker")
        bench.on_action = told.append
        answer = await call(
            bench,
            "connect_components",
            source_id="shout",
            source_output="tool",
            target_id="thinker",
            target_input="tools",
        )
        assert answer["ok"] is True
        assert [action["action"] for action in told] == ["set_connection_mode", "connect"]

    async def test_removes_a_node_with_its_edges(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        answer = await call(bench, "remove_component", node_id="shout")
        assert answer["edges_removed"] == ["source.said -> shout.text"]
        assert bench.flow.edges == ()

    async def test_renames_and_takes_back(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        before = bench.flow
        await call(bench, "rename_component", node_id="shout", new_id="yell")
        assert bench.flow.edges[0].target == "yell"
        await call(bench, "undo")
        assert bench.flow == before

    async def test_names_the_nearest_node(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        answer = await call(bench, "remove_component", node_id="shuot")
        assert "shout" in answer["error"]


class TestNewIssues:
    """What prevents a run since an edit is in its result."""

    async def test_of_an_edge_to_an_output_that_a_policy_no_longer_adds(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        edge = {"source_id": "source", "source_output": "error", "target_id": "shout", "target_input": "text"}
        refused = await call(bench, "connect_components", **edge)
        assert "Set on_error to error_edge in the policy of 'source'" in refused["remedy"]
        set_ = await call(bench, "configure_component", node_id="source", policy={"on_error": "error_edge"})
        assert [issue["field"] for issue in set_["issues"]] == ["on_error"]
        await call(bench, "disconnect_components", **(edge | {"source_output": "said"}))
        assert "issues" not in await call(bench, "connect_components", **edge)
        unset = await call(bench, "configure_component", node_id="source", policy={"on_error": None})
        assert [issue["code"] for issue in unset["issues"]] == ["unknown_output"]

    async def test_are_none_of_another_id(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        await call(bench, "configure_component", node_id="source", policy={"on_error": "error_edge"})
        assert "issues" not in await call(bench, "rename_component", node_id="source", new_id="first")


class TestGetFieldValue:
    async def test_reads_a_value_or_its_default(self, bench: Workbench) -> None:
        await call(bench, "build_flow", spec=SPEC)
        assert (await call(bench, "get_field_value", node_id="source", field="text"))["value"] == "hi"

    async def test_never_shows_a_secret(self, bench: Workbench) -> None:
        await call(bench, "add_component", component_type="Shout", params={"text": "sk-12345678901234"})
        answer = await call(bench, "get_field_value", node_id="shout", field="text")
        assert "sk-" not in str(answer)
        assert answer["set"] is True


class TestRunFlow:
    async def test_reports_what_the_run_came_to(self, bench: Workbench) -> None:
        class Runner:
            async def run(
                self, flow: Flow, *, text: str, form: Any, file_ids: Any = (), outside: Any = ()
            ) -> RunOutcome:
                assert flow.name == "Greeting"
                return RunOutcome(run_id="r", status="completed", outputs={"shout": text.upper()}, files=[])

        await call(bench, "build_flow", spec=SPEC)
        bench.runner = Runner()
        answer = await call(bench, "run_flow", text="hey")
        assert answer["outputs"] == {"shout": "HEY"}
        assert bench.runs[0].run_id == "r"

    async def test_says_when_there_is_nothing_to_run(self, bench: Workbench) -> None:
        assert (await call(bench, "run_flow"))["ok"] is False

    @pytest.mark.parametrize("status", ["failed", "cancelled"])
    async def test_is_not_ok_unless_the_run_completed(self, bench: Workbench, status: str) -> None:
        class Runner:
            async def run(
                self, flow: Flow, *, text: str, form: Any, file_ids: Any = (), outside: Any = ()
            ) -> RunOutcome:
                return RunOutcome(run_id="r", status=status, outputs={}, files=[], error="it broke")

        await call(bench, "build_flow", spec=SPEC)
        bench.runner = Runner()
        answer = await call(bench, "run_flow")
        assert answer["ok"] is False
        assert answer["error"] == "it broke"

    async def test_tells_a_mistake_of_its_own_in_the_log_and_not_in_the_answer(self, bench: Workbench) -> None:
        class Runner:
            async def run(
                self, flow: Flow, *, text: str, form: Any, file_ids: Any = (), outside: Any = ()
            ) -> RunOutcome:
                raise TypeError("an inside of ours")

        await call(bench, "build_flow", spec=SPEC)
        bench.runner = Runner()
        with captured_logs() as logged:
            answer = await call(bench, "run_flow")
        assert answer["ok"] is False
        assert "inside" not in str(answer)
        assert [(line["event"], line["tool"]) for line in logged] == [("tool failed", "run_flow")]
