"""Edits and plans that a person decides on."""

from typing import Any, cast

import jsonpatch
import pytest

from headgate.foundation.secret_values import REDACTED
from headgate.graph.model import Flow
from headgate.toolkit.registry import TOOLS
from headgate.toolkit.workbench import Workbench
from tests.unit.toolkit.test_tools import SPEC, call

MUTATING = ["add_component", "build_flow", "configure_component", "remove_component", "run_flow", "propose_field_edit"]


@pytest.fixture
async def built(bench: Workbench) -> Workbench:
    await call(bench, "build_flow", spec=SPEC)
    return bench


class TestProposeFieldEdit:
    async def test_shows_old_and_new_and_applies_nothing(self, built: Workbench) -> None:
        told: list[dict[str, Any]] = []
        built.on_action = told.append
        before = built.flow
        answer = await call(
            built, "propose_field_edit", node_id="source", field="text", new_value="hello", description="Warmer."
        )
        assert answer["ok"] is True
        assert built.flow == before
        [action] = told
        assert (action["action"], action["component_id"], action["component_type"]) == (
            "edit_field",
            "source",
            "Source",
        )
        assert (action["old_value"], action["new_value"], action["description"]) == ("hi", "hello", "Warmer.")
        assert action["id"] == answer["proposal_id"]
        assert action["diff"] == ['~ node \'source\' params.text: "hi" -> "hello"']
        assert action["validation"] == {"runnable": True, "issues": []}
        assert built.proposals == [action]

    async def test_carries_a_json_patch_of_the_flow(self, built: Workbench) -> None:
        await call(built, "propose_field_edit", node_id="source", field="text", new_value="hello")
        patch = cast("list[dict[str, Any]]", built.proposals[0]["patch"])
        patched = jsonpatch.apply_patch(built.flow.model_dump(mode="json"), patch)
        node = Flow.model_validate(patched).node("source")
        assert node is not None
        assert node.params == {"text": "hello"}

    async def test_takes_the_default_for_the_old_value(self, bench: Workbench) -> None:
        await call(bench, "add_component", component_type="Source")
        await call(bench, "propose_field_edit", node_id="source", field="text", new_value="hey")
        assert bench.proposals[0]["old_value"] == "hello"

    async def test_never_shows_a_secret(self, bench: Workbench) -> None:
        await call(bench, "add_component", component_type="Shout", params={"text": "sk-12345678901234"})
        await call(bench, "propose_field_edit", node_id="shout", field="text", new_value="hi")
        action = bench.proposals[0]
        assert action["old_value"] == REDACTED
        assert "sk-1234" not in str(action)

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"node_id": "sauce", "field": "text", "new_value": "x"}, "source"),
            ({"node_id": "source", "field": "txt", "new_value": "x"}, "text"),
            ({"node_id": "source", "field": "text", "new_value": "hi"}, "already"),
            ({"node_id": "source", "field": "text"}, "new_value"),
        ],
    )
    async def test_refuses_what_could_not_be_applied(
        self, built: Workbench, arguments: dict[str, Any], said: str
    ) -> None:
        answer = await call(built, "propose_field_edit", **arguments)
        assert answer["ok"] is False
        assert said in answer["error"]
        assert built.proposals == []


class TestProposePlan:
    async def test_tells_the_plan_and_to_stop(self, bench: Workbench) -> None:
        told: list[dict[str, Any]] = []
        bench.on_action = told.append
        answer = await call(bench, "propose_plan", markdown="# Plan\n1. Fetch\n")
        assert told == [{"action": "propose_plan", "markdown": "# Plan\n1. Fetch"}]
        assert "Stop now" in answer["next"]
        assert bench.plan == "# Plan\n1. Fetch"

    @pytest.mark.parametrize("tool", MUTATING)
    async def test_lets_nothing_be_changed_until_it_is_approved(self, built: Workbench, tool: str) -> None:
        await call(built, "propose_plan", markdown="# Plan")
        before = built.flow
        answer = await call(built, tool)
        assert (answer["ok"], answer["error"]) == (False, "The plan you proposed is waiting for the user.")
        assert built.flow == before

    async def test_lets_everything_be_read(self, built: Workbench) -> None:
        await call(built, "propose_plan", markdown="# Plan")
        assert (await call(built, "describe_flow_io"))["ok"] is True

    @pytest.mark.parametrize("markdown", ["", "  \n", "x" * 20_001])
    async def test_refuses_an_empty_or_endless_one(self, bench: Workbench, markdown: str) -> None:
        assert (await call(bench, "propose_plan", markdown=markdown))["ok"] is False
        assert bench.plan == ""


class TestArguments:
    async def test_may_come_as_json_text(self, bench: Workbench) -> None:
        assert (await call(bench, "add_component", component_type="Source", params='{"text": "a"}'))["ok"] is True
        assert bench.flow.nodes[0].params == {"text": "a"}

    @pytest.mark.parametrize("params", ["{text: a}", "[1]", "7", '{"text": "a"'])
    async def test_that_are_no_json_object_are_answered_with_what_is_wrong(self, bench: Workbench, params: str) -> None:
        answer = await call(bench, "configure_component", node_id="source", params=params)
        assert answer["ok"] is False
        assert "JSON" in answer["error"]

    def test_are_shown_to_a_model_as_objects(self) -> None:
        schema = next(tool.schema for tool in TOOLS if tool.name == "configure_component")
        assert schema["properties"]["params"]["type"] == "object"
