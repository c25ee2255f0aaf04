"""Pre-flight against what really breaks: every case of the matrix that was measured on Flowise 3.1.4."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from headgate.agents.codev.domains.flowise.answers import StoredCredential
from headgate.agents.codev.domains.flowise.assembly import assemble
from headgate.agents.codev.domains.flowise.drawn import read_definition
from headgate.agents.codev.domains.flowise.errors import FlowiseFailed
from headgate.agents.codev.domains.flowise.preflight import faults_of
from headgate.agents.codev.domains.flowise.spec import read_spec
from tests.support.flowise_recordings import CREDENTIAL, recorded_flow, recording, schemas
from tests.unit.agents.codev.domains.flowise.flows import AGENT, AGENTFLOW, LLM_CHAIN

SCHEMAS = schemas()
CREDENTIALS = [StoredCredential(CREDENTIAL, "fake-openai2", "openAIApi")]
MATRIX = recording("breakage_matrix")
FLOWS = {"two-cf": "two_customfunction", "llm": "llmchain"}
STRICTER = {
    "without inputAnchors": "it runs, and the canvas cannot draw it any more",
    "without outputAnchors": "it runs, and the canvas cannot draw it any more",
    "edges w/o handles": "it runs, and the canvas draws no connection",
    "two-cf without id": "it runs as long as nothing refers to a node's instance by that id",
    "llm minimal + inputParams []": "it runs and answers wrongly: the variable is not filled in",
}
"""What Flowise runs and we do not write, and why."""


def without(*names: str) -> Callable[[dict[str, Any]], object]:
    def change(flow: dict[str, Any]) -> None:
        for node in flow["nodes"]:
            for name in names:
                node["data"].pop(name, None)

    return change


def minimal(flow: dict[str, Any], **more: Any) -> None:
    kept = ("id", "name", "category", "inputs", "outputs", "credential")
    for node in flow["nodes"]:
        node["data"] = {name: node["data"][name] for name in kept if name in node["data"]} | more


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "control": lambda _flow: None,
    "edges []": lambda flow: flow.update(edges=[]),
    "no edges key": lambda flow: flow.pop("edges"),
    "edges w/o handles": lambda flow: [
        edge.pop(name) for edge in flow["edges"] for name in ("sourceHandle", "targetHandle")
    ],
    "edge from unknown node": lambda flow: flow["edges"][0].update(source="ghost_0"),
    "edge to unknown node": lambda flow: [edge.update(target="ghost_0") for edge in flow["edges"]],
    "unknown node name": lambda flow: flow["nodes"][0]["data"].update(name="nope"),
    "minimal nodes(id,data{id,name,category,inputs,outputs})": minimal,
    "minimal + inputParams []": lambda flow: minimal(flow, inputParams=[]),
}


def drawn(case: str) -> Any:
    """The `flowData` of a case, as it was sent."""
    if case == "empty nodes":
        return json.dumps({"nodes": [], "edges": []})
    if case.startswith("flowData "):
        return {"{}": "{}", "not json": "not json", "empty string": "", "object not string": "[object Object]"}[
            case[9:]
        ]
    which, _, what = case.strip().partition(" ")
    flow = copy.deepcopy(recorded_flow(FLOWS[which]))
    change = CHANGES.get(what) or without(*what.removeprefix("without ").split("+"))
    change(flow)
    return json.dumps(flow)


def faults(flow_data: str, type_: str = "CHATFLOW") -> list[str]:
    """What keeps it from being written, as the workplace asks: reading first, then the checks."""
    try:
        definition = read_definition(flow_data, "x")
    except FlowiseFailed as error:
        return [str(error)]
    return [str(one) for one in faults_of(definition, SCHEMAS, CREDENTIALS, type_=type_)]


CASES = [one for one in MATRIX if "case" in one]
BODIES = [one for one in MATRIX if "body" in one]
REQUESTS = [one for one in MATRIX if "req" in one]


class TestMatrix:
    def test_is_whole(self) -> None:
        assert len(CASES) + len(BODIES) + len(REQUESTS) == len(MATRIX) == 60

    @pytest.mark.parametrize("case", CASES, ids=lambda one: one["case"].strip())
    def test_refuses_what_breaks_and_passes_what_works(self, case: dict[str, Any]) -> None:
        name = case["case"].strip()
        works = case["create"] == 200 and case["predict"][0] == 200
        expected = works and not any(one in name for one in STRICTER)
        found = faults(drawn(name))
        assert (found == []) is expected, found

    @pytest.mark.parametrize("case", BODIES, ids=lambda one: json.dumps(one["body"]))
    def test_refuses_bodies_that_flowise_refuses(self, case: dict[str, Any]) -> None:
        body = case["body"]
        assert case["resp"][0] >= 400
        assert faults(body.get("flowData", ""), body.get("type") or "none")

    @pytest.mark.parametrize("case", REQUESTS, ids=lambda one: " ".join(map(str, one["req"])))
    def test_refuses_changes_that_break(self, case: dict[str, Any]) -> None:
        body = case["req"][2] or {}
        if "flowData" in body:
            assert faults(body["flowData"])
        elif "type" in body:
            assert faults(json.dumps(recorded_flow("llmchain")), body["type"])
        else:  # of a chatflow that is not there: what the client makes of it is tested there
            assert case["resp"][0] in {404, 500}

    def test_every_exception_is_one(self) -> None:
        names = [one["case"].strip() for one in CASES if one["create"] == 200 and one["predict"][0] == 200]
        assert all(any(rule in name for name in names) for rule in STRICTER)


def changed(spec: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> list[str]:
    flow = assemble(read_spec(copy.deepcopy(spec)), SCHEMAS, CREDENTIALS)
    change(flow)
    return [str(one) for one in faults_of(flow, SCHEMAS, CREDENTIALS)]


class TestFaults:
    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda one: one["nodes"].append(one["nodes"][0]), "Two nodes have this id"),
            (lambda one: one["nodes"][1]["data"]["inputs"].update(template=""), "'template' (Template) is required"),
            (lambda one: one["nodes"][0]["data"].update(credential="no"), "Its credential does not exist"),
            (lambda one: one["edges"][0].update(sourceHandle="x"), "Its source handle is not an output of the node"),
            (
                lambda one: one["edges"][0].update(targetHandle="x"),
                ("Its target handle is not an input of the node that takes connections"),
            ),
            (lambda one: one["nodes"][2]["data"]["inputs"].update(model=""), "does not refer to the node"),
            (lambda one: one["nodes"][2]["data"]["outputs"].update(output="outputPrediction"), "is set to the output"),
            (
                lambda one: one["nodes"][2]["data"]["inputs"].update(chainName="{{gone.data.instance}}"),
                "'chainName' refers to 'gone'",
            ),
            (
                lambda one: one["edges"][0].update(targetHandle="llmChain_0-input-prompt-BasePromptTemplate"),
                "takes BasePromptTemplate, but the connected output is",
            ),
        ],
    )
    def test_name_the_node_and_the_remedy(self, change: Callable[[dict[str, Any]], object], words: str) -> None:
        assert any(words in one for one in changed(LLM_CHAIN, change)), changed(LLM_CHAIN, change)

    def test_of_a_credential_name_the_type_that_is_needed(self) -> None:
        flow: Any = assemble(read_spec(LLM_CHAIN), SCHEMAS, [])
        other = [StoredCredential(CREDENTIAL, "x", "anthropicApi")]
        assert "openAIApi is required" in str(faults_of(flow, SCHEMAS, other)[0])
        flow["nodes"][0]["data"].pop("credential")
        flow["nodes"][0]["data"]["inputs"].pop("credential")
        assert "It requires a credential of type openAIApi" in str(faults_of(flow, SCHEMAS, [])[0])

    def test_of_an_agentflow_without_its_start(self) -> None:
        spec = {"nodes": AGENTFLOW["nodes"][2:3], "edges": []}
        assert any("starts with one 'startAgentflow'" in one for one in changed(spec, lambda _flow: None))

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda one: one.pop("agentModelConfig"), "'agentModelConfig' is not set"),
            (lambda one: one["agentModelConfig"].pop("FLOWISE_CREDENTIAL_ID"),
             "'chatOpenAI' in 'agentModel' requires a credential of type openAIApi"),
            (lambda one: one["agentModelConfig"].update(FLOWISE_CREDENTIAL_ID="no"),
             "credential of 'chatOpenAI' in 'agentModel' does not exist"),
            (lambda one: one.update(agentModel="chatOpenAi"), "'agentModel' is 'chatOpenAi', which the server"),
            (lambda one: one["agentTools"][0].update(agentSelectedTool="abacus"), "'agentTools.0.agentSelectedTool'"),
            (lambda one: one.update(agentModel="promptTemplate"), "'template' of 'promptTemplate' is required"),
        ],
    )  # fmt: skip
    def test_of_an_agent_name_what_its_model_or_tool_lacks(
        self, change: Callable[[dict[str, Any]], object], words: str
    ) -> None:
        found = changed(AGENT, lambda flow: change(flow["nodes"][1]["data"]["inputs"]))
        assert any(words in one for one in found), found

    def test_are_none_for_what_stands_in_tabs(self) -> None:
        tabs = {"label": "Condition", "name": "condition", "type": "conditionFunction", "tabs": [{"name": "ui"}]}
        assert changed(LLM_CHAIN, lambda flow: flow["nodes"][1]["data"]["inputParams"].append(tabs)) == []

    def test_are_none_for_an_agentflow_that_was_really_run(self) -> None:
        spec = {
            "nodes": [AGENTFLOW["nodes"][0], AGENTFLOW["nodes"][2]],
            "edges": [{"from": "startAgentflow_0", "to": "directReplyAgentflow_0"}],
        }
        assert changed(spec, lambda _flow: None) == []

    @pytest.mark.parametrize("nodes", [None, "x", [1], [[]]])
    def test_of_what_is_no_flow_at_all(self, nodes: Any) -> None:
        assert "'nodes' must be a list" in str(faults_of({"nodes": nodes, "edges": []}, None, None)[0])

    def test_are_no_more_than_a_hundred(self) -> None:
        assert len(faults_of({"nodes": [{"data": 3}] * 4000, "edges": []}, SCHEMAS, None)) == 100
