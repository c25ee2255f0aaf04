"""From compact descriptions to what Flowise keeps, and back."""

import copy
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.agents.codev.domains.flowise.answers import StoredCredential
from headgate.agents.codev.domains.flowise.assembly import assemble, is_agentflow
from headgate.agents.codev.domains.flowise.compact import compact, shown
from headgate.agents.codev.domains.flowise.drawn import mark_of
from headgate.agents.codev.domains.flowise.errors import BadSpec
from headgate.agents.codev.domains.flowise.preflight import faults_of
from headgate.agents.codev.domains.flowise.spec import Spec, read_spec
from tests.support.flowise_recordings import CREDENTIAL, recorded_flow, schemas
from tests.unit.agents.codev.domains.flowise.flows import AGENT, AGENTFLOW, LLM_CHAIN, TWO_FUNCTIONS

SCHEMAS = schemas()
CREDENTIALS = [StoredCredential(CREDENTIAL, "fake-openai2", "openAIApi")]


def made(spec: dict[str, Any], before: dict[str, Any] | None = None) -> dict[str, Any]:
    return assemble(read_spec(copy.deepcopy(spec)), SCHEMAS, CREDENTIALS, before)


def drawn_alike(definition: dict[str, Any], *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Nodes and edges by id, but for where they stand."""
    nodes = copy.deepcopy(definition["nodes"])
    for node in nodes:
        node["position"] = {"x": 0, "y": 0}
        for name in without:
            node["data"]["inputs"].pop(name, None)
        node["data"].pop("loadMethods", None)
    return {"nodes": {one["id"]: one for one in nodes}, "edges": {one["id"]: one for one in definition["edges"]}}


class TestAssembling:
    def test_makes_a_chain_as_flowise_itself_has_it(self) -> None:
        recorded = drawn_alike(recorded_flow("llmchain"))
        assert drawn_alike(made(LLM_CHAIN), without=("credential",)) == recorded

    def test_makes_functions_as_flowise_itself_has_them(self) -> None:
        assert drawn_alike(made(TWO_FUNCTIONS)) == drawn_alike(recorded_flow("two_customfunction"))

    def test_names_a_credential_where_flowise_runs_by_it_and_where_its_checks_look(self) -> None:
        data = made(LLM_CHAIN)["nodes"][0]["data"]
        assert data["credential"] == data["inputs"]["credential"] == CREDENTIAL
        assert data["inputParams"][0]["type"] == "credential"

    @pytest.mark.parametrize("named", [None, "fake-openai2", "openAIApi"])
    def test_finds_the_only_credential_that_fits(self, named: str | None) -> None:
        spec = copy.deepcopy(LLM_CHAIN)
        spec["nodes"][0]["credential"] = named
        assert made(spec)["nodes"][0]["data"]["credential"] == CREDENTIAL

    def test_lets_models_not_stream(self) -> None:
        assert made(LLM_CHAIN)["nodes"][0]["data"]["inputs"]["streaming"] is False

    def test_draws_an_agentflow(self) -> None:
        flow = made(AGENTFLOW)
        assert is_agentflow(read_spec(AGENTFLOW), SCHEMAS)
        assert [one["type"] for one in flow["nodes"]] == ["agentFlow"] * 4
        ends = [(one["sourceHandle"], one["targetHandle"]) for one in flow["edges"]]
        assert ends == [
            ("startAgentflow_0-output-startAgentflow", "conditionAgentflow_0"),
            ("conditionAgentflow_0-output-0", "directReplyAgentflow_0"),
            ("conditionAgentflow_0-output-2", "directReplyAgentflow_1"),
        ]
        assert faults_of(flow, SCHEMAS, CREDENTIALS) == []

    def test_gives_agents_the_values_of_their_model_and_tools(self) -> None:
        """As the canvas keeps them; Flowise fails at an agent whose model has none."""
        inputs = made(AGENT)["nodes"][1]["data"]["inputs"]
        config = inputs["agentModelConfig"]
        assert (config["modelName"], config["temperature"], config["streaming"]) == ("gpt-4o-mini", 0.9, False)
        assert (config["agentModel"], config["FLOWISE_CREDENTIAL_ID"]) == ("chatOpenAI", CREDENTIAL)
        tool = {"agentSelectedTool": "calculator", "agentSelectedToolConfig": {"agentSelectedTool": "calculator"}}
        assert inputs["agentTools"] == [tool]
        assert faults_of(made(AGENT), SCHEMAS, CREDENTIALS) == []

    def test_takes_the_credential_of_a_model_by_name(self) -> None:
        spec = copy.deepcopy(AGENT)
        spec["nodes"][1]["inputs"]["agentModelConfig"]["credential"] = "fake-openai2"
        config = made(spec)["nodes"][1]["data"]["inputs"]["agentModelConfig"]
        assert (config["credential"], config["FLOWISE_CREDENTIAL_ID"]) == ("", CREDENTIAL)

    def test_places_nodes_in_columns(self) -> None:
        found = {one["id"]: one["position"]["x"] for one in made(LLM_CHAIN)["nodes"]}
        assert found["chatOpenAI_0"] == found["promptTemplate_0"] < found["llmChain_0"]

    def test_connects_what_only_an_input_refers_to(self) -> None:
        spec = {**TWO_FUNCTIONS, "edges": []}
        assert made(spec)["edges"] == made(TWO_FUNCTIONS)["edges"]

    def test_finds_the_anchor_that_fits_when_none_is_named(self) -> None:
        edges = [{"from": "chatOpenAI_0", "to": "llmChain_0"}, {"from": "promptTemplate_0", "to": "llmChain_0"}]
        assert drawn_alike(made({**LLM_CHAIN, "edges": edges})) == drawn_alike(made(LLM_CHAIN))

    def test_fills_anchors_that_take_several_with_a_list(self) -> None:
        spec = {
            "nodes": [
                {"id": "c1", "name": "calculator"},
                {"id": "c2", "name": "calculator"},
                {"id": "f", "name": "customFunction", "inputs": {"javascriptFunction": "return 1"}},
            ],
            "edges": [{"from": "c1", "to": "f.tools"}, {"from": "c2", "to": "f.tools"}],
        }
        flow = made(spec)
        assert flow["nodes"][2]["data"]["inputs"]["tools"] == ["{{c1.data.instance}}", "{{c2.data.instance}}"]
        assert flow["nodes"][2]["data"]["outputs"] == {"output": "EndingNode"}


class TestRefusals:
    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda one: one["nodes"].append({"id": "x", "name": "chatOpenAi"}), "did you mean 'chatOpenAI'"),
            (lambda one: one["nodes"].append({"id": "llmChain_0", "name": "llmChain"}), "Two nodes have the id"),
            (lambda one: one["nodes"][0]["inputs"].update(temprature=1), "did you mean 'temperature'"),
            (
                lambda one: one["nodes"][0].update(anchors=[]),
                ("Values belong in 'inputs'; anchors and handles are created automatically"),
            ),
            (lambda one: one["edges"].append({"from": "nope", "to": "llmChain_0.model"}), "no such node"),
            (lambda one: one["edges"].append({"from": "chatOpenAI_0", "to": "llmChain_0.modle"}), "mean 'model'"),
            (lambda one: one["edges"].append({"from": "chatOpenAI_0", "to": "llmChain_0.chainName"}), "no connection"),
            (lambda one: one["nodes"][2].update(inputs={"outputParser": "json"}), "takes a node"),
            (lambda one: one["nodes"][2].update(output="nope"), "has no output 'nope'"),
            (lambda one: one["nodes"][2].update(credential="x"), "takes no credential"),
            (lambda one: one.update(nodes="all"), "must be lists"),
            (
                lambda one: one["nodes"][1]["inputs"].update(template={"kept": 9}),
                ("should be kept, but has no value yet"),
            ),
            (lambda one: one["nodes"][1]["inputs"].update(template="a\x00b"), "cannot be stored"),
        ],
    )
    def test_say_what_is_wrong_and_what_to_do(self, change: Any, words: str) -> None:
        spec = copy.deepcopy(LLM_CHAIN)
        change(spec)
        with pytest.raises(BadSpec, match=words):
            made(spec)

    def test_name_a_second_connection_where_one_fits(self) -> None:
        spec = copy.deepcopy(LLM_CHAIN)
        spec["nodes"].append({"id": "second", "name": "chatOpenAI"})
        spec["edges"].append({"from": "second", "to": "llmChain_0.model"})
        with pytest.raises(BadSpec, match="takes one connection"):
            made(spec)

    def test_name_an_input_that_the_model_of_an_agent_does_not_have(self) -> None:
        spec = copy.deepcopy(AGENT)
        spec["nodes"][1]["inputs"]["agentModelConfig"] = {"temprature": 1}
        with pytest.raises(BadSpec, match=r"'agentAgentflow_0\.agentModelConfig' has no input 'temprature'.*mean"):
            made(spec)

    @pytest.mark.parametrize("first", [[], [{"id": "note", "name": "stickyNote"}], [{"id": "x", "name": "unknown"}]])
    def test_keep_both_kinds_of_flow_apart(self, first: list[dict[str, Any]]) -> None:
        spec = {"nodes": [*first, *AGENTFLOW["nodes"], *LLM_CHAIN["nodes"]], "edges": []}
        with pytest.raises(BadSpec, match="cannot be in one flow"):
            is_agentflow(read_spec(spec), SCHEMAS)


class TestChangingWhatIsThere:
    def test_keeps_what_it_does_not_know_of(self) -> None:
        flow = recorded_flow("llmchain")
        flow["nodes"][0] |= {"position": {"x": 7, "y": 8}, "parentNode": "frame"}
        flow["nodes"][0]["data"] |= {"ours": [1], "version": 2}
        flow["nodes"][0]["data"]["inputs"]["modelConfig"] = {"a": 1}
        flow["extra"] = True
        spec = compact(flow, SCHEMAS)
        spec.node("promptTemplate_0").inputs["template"] = "Sing: {q}"
        after: Any = assemble(spec, SCHEMAS, CREDENTIALS, flow)
        assert after["nodes"][0] == flow["nodes"][0] | {"data": after["nodes"][0]["data"]}
        assert after["nodes"][2] == flow["nodes"][2]
        assert after["edges"] == flow["edges"]
        assert after["extra"] is True
        changed = copy.deepcopy(flow["nodes"][1])
        changed["data"]["inputs"]["template"] = "Sing: {q}"
        assert after["nodes"][1] == changed

    def test_leaves_what_is_written_as_it_was_shown(self) -> None:
        """Joiners, which a model is not shown, are letters in Persian and Hindi, and make one emoji of several."""
        flow = recorded_flow("llmchain")
        flow["nodes"][1]["data"]["inputs"]["template"] = "می\u200cخواهم \U0001f469\u200d\U0001f4bb {q}"
        before = copy.deepcopy(flow)
        spec: Any = copy.deepcopy(shown(flow, SCHEMAS))
        assert "\u200c" not in str(spec)
        assert mark_of(made(spec, flow)) == mark_of(before)
        prompt = next(one for one in spec["nodes"] if one["id"] == "promptTemplate_0")
        prompt["inputs"]["template"] += "!"
        assert "\u200c" not in str(made(spec, flow)["nodes"][1]["data"]["inputs"]["template"])

    def test_starts_afresh_with_another_model(self) -> None:
        flow = made(AGENT)
        spec = compact(flow, SCHEMAS)
        spec.node("agentAgentflow_0").inputs["agentModel"] = "calculator"
        after: Any = assemble(spec, SCHEMAS, CREDENTIALS, flow)
        assert after["nodes"][1]["data"]["inputs"]["agentModelConfig"] == {"agentModel": "calculator"}
        assert flow["nodes"][1]["data"]["inputs"]["agentModelConfig"]["agentModel"] == "chatOpenAI"

    def test_keeps_the_output_of_a_node_that_gives_by_its_conditions(self) -> None:
        """Outputs of a condition are made as people name them; what it was first set to may be none of them."""
        flow = recorded_flow("two_customfunction")
        data = flow["nodes"][0]["data"]
        options = [{"id": "o-grading", "name": "grading", "type": "Condition", "isAnchor": True}]
        data |= {"outputs": {"output": "next"}, "outputAnchors": [{"name": "output", "options": options}]}
        flow["edges"] = []
        flow["nodes"][1]["data"]["inputs"]["functionInputVariables"] = ""
        after = assemble(compact(flow, SCHEMAS), SCHEMAS, CREDENTIALS, flow)
        assert mark_of(after) == mark_of(flow)

    def test_keeps_a_list_that_names_a_node_twice_and_adds_no_input(self) -> None:
        flow = made({
            "nodes": [
                {"id": "c1", "name": "calculator"},
                {"id": "f", "name": "customFunction", "inputs": {"javascriptFunction": "return 1"}},
                *LLM_CHAIN["nodes"],
            ],
            "edges": [{"from": "c1", "to": "f.tools"}, *LLM_CHAIN["edges"]],
        })  # fmt: skip
        flow["nodes"][1]["data"]["inputs"]["tools"] *= 2
        del flow["nodes"][2]["data"]["inputs"]["cache"]
        after = assemble(compact(flow, SCHEMAS), SCHEMAS, CREDENTIALS, flow)
        assert mark_of(after) == mark_of(flow)

    def test_puts_what_is_left_out_back_to_what_a_new_node_has(self) -> None:
        flow = made(LLM_CHAIN)
        spec = copy.deepcopy(LLM_CHAIN)
        spec["nodes"][0]["inputs"] = {}
        inputs = made(spec, flow)["nodes"][0]["data"]["inputs"]
        assert (inputs["temperature"], inputs["basepath"], inputs["streaming"]) == (0.9, "", False)

    def test_leaves_the_component_as_it_is(self) -> None:
        """Every session shares what is remembered of a server."""
        flow = made(AGENTFLOW)
        spec = copy.deepcopy(AGENTFLOW)
        del spec["nodes"][1]["inputs"]["conditions"]
        spec["edges"].pop()
        again = made(spec, flow)["nodes"][1]["data"]["inputs"]["conditions"]
        again.append("theirs")
        assert "theirs" not in SCHEMAS["conditionAgentflow"].defaults()["conditions"]  # type: ignore[operator]

    def test_empties_an_anchor_whose_node_is_gone(self) -> None:
        spec = {"nodes": LLM_CHAIN["nodes"][1:], "edges": LLM_CHAIN["edges"][1:]}
        flow = made(spec, made(LLM_CHAIN))
        assert flow["nodes"][1]["data"]["inputs"]["model"] == ""
        assert "'model' (Language Model) is required" in str(faults_of(flow, SCHEMAS, CREDENTIALS)[0])

    def test_does_not_show_long_or_secret_values_and_keeps_them(self) -> None:
        flow = made(LLM_CHAIN)
        inputs = flow["nodes"][1]["data"]["inputs"]
        inputs["template"] = "long " * 3000
        flow["nodes"][0]["data"]["inputs"]["baseOptions"] = '{"Authorization": "Bearer sk-abcdefghijklmnop123456"}'
        flow["nodes"][2]["data"]["inputParams"].append({"name": "pass", "type": "password", "id": "p"})
        flow["nodes"][2]["data"]["inputs"]["pass"] = "hunter2"
        told = shown(flow, SCHEMAS)
        assert "sk-abcdefghijklmnop123456" not in str(told)
        assert "hunter2" not in str(told)
        assert len(str(told)) < 3000
        assert mark_of(made(told, flow)) == mark_of(flow)


values = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20),
    st.integers(-5, 5),
    st.booleans(),
)
_PARAMS = {
    "chatOpenAI": ["temperature", "maxTokens", "basepath", "streaming"],
    "promptTemplate": ["template", "promptValues"],
    "llmChain": ["chainName"],
    "customFunction": ["javascriptFunction", "functionName"],
    "ifElseFunction": ["functionName", "ifFunction"],
}


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    """Nodes of all sorts, with every connection that the description allows."""
    names = draw(st.lists(st.sampled_from(sorted(_PARAMS)), min_size=1, max_size=6))
    nodes: list[dict[str, Any]] = []
    for number, name in enumerate(names):
        inputs = draw(st.dictionaries(st.sampled_from(_PARAMS[name]), values, max_size=3))
        nodes.append({"id": f"{name}_{number}", "name": name, "inputs": inputs})
    edges: list[dict[str, Any]] = []
    for chain in [one for one in nodes if one["name"] == "llmChain"]:
        for kind, anchor in (("chatOpenAI", "model"), ("promptTemplate", "prompt")):
            found = [str(one["id"]) for one in nodes if one["name"] == kind]
            source = draw(st.sampled_from([*found, ""]))
            if source:
                edges.append({"from": source, "to": f"{chain['id']}.{anchor}"})
    functions = [one for one in nodes if one["name"] == "customFunction"]
    for before, target in itertools.pairwise(functions):
        target["inputs"]["functionInputVariables"] = {"x": f"{{{{{before['id']}.data.instance}}}}"}
    return {"nodes": nodes, "edges": edges}


class TestRoundTrip:
    @given(specs())
    def test_is_stable(self, spec: dict[str, Any]) -> None:
        first = made(spec)
        told: Spec = compact(first, SCHEMAS)
        again = made(told.plain())
        assert drawn_alike(again) == drawn_alike(first)
        assert mark_of(assemble(told, SCHEMAS, CREDENTIALS, first)) == mark_of(first)
        assert compact(again, SCHEMAS).plain() == told.plain()

    @pytest.mark.parametrize("name", ["llmchain", "two_customfunction"])
    def test_of_a_recorded_flow_leaves_it_as_it_is(self, name: str) -> None:
        flow = recorded_flow(name)
        after = assemble(compact(flow, SCHEMAS), SCHEMAS, CREDENTIALS, flow)
        assert drawn_alike(after, without=("credential",)) == drawn_alike(flow)

    @pytest.mark.parametrize("spec", [AGENTFLOW, AGENT], ids=["replies", "agent"])
    def test_of_an_agentflow_is_stable(self, spec: dict[str, Any]) -> None:
        first = made(spec)
        assert made(compact(first, SCHEMAS).plain()) == first
        assert assemble(compact(first, SCHEMAS), SCHEMAS, CREDENTIALS, first) == first
