"""What preflight refuses really breaks, and what it passes really works: cases of the breakage matrix, asked again."""

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from headgate.agents.codev.domains.flowise.answers import StoredCredential
from headgate.agents.codev.domains.flowise.assembly import assemble
from headgate.agents.codev.domains.flowise.catalogue import Catalogue, Memory
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.agents.codev.domains.flowise.errors import FlowiseFailed
from headgate.agents.codev.domains.flowise.node_schema import NodeSchema
from headgate.agents.codev.domains.flowise.preflight import faults_of
from headgate.agents.codev.domains.flowise.spec import read_spec
from tests.flowise.written import agent, chain, function, reply, two_functions
from tests.support.openai_server import OpenAIServer

Definition = dict[str, Any]
Break = Callable[[Definition], object]


@pytest.fixture
async def nodes(client: FlowiseClient) -> Mapping[str, NodeSchema]:
    return await Catalogue(client, Memory(60), "real").nodes()


@pytest.fixture
async def credential(client: FlowiseClient) -> StoredCredential:
    await client.create_credential("of preflight", "openAIApi", {"openAIApiKey": "sk-x"})
    return next(one for one in await client.list_credentials() if one.name == "of preflight")


async def _runs(client: FlowiseClient, definition: Definition, expected: str, type_: str = "CHATFLOW") -> bool:
    """Whether the real server saves it and answers as it should."""
    try:
        made = await client.create_chatflow("tried", type_, json.dumps(definition))
        return (await client.predict(made.id, {"question": "abc"})).text == expected
    except FlowiseFailed:
        return False
    finally:
        for one in await client.list_chatflows(page=1, limit=100):
            if one.name == "tried":
                await client.delete_chatflow(one.id)


def _lacking(definition: Definition, nodes: Mapping[str, NodeSchema]) -> list[str]:
    """Faults of a template, beside the credentials that none has."""
    return [str(one) for one in faults_of(definition, nodes, None) if "requires a credential of type" not in str(one)]


def _without(*names: str) -> Break:
    def work(definition: Definition) -> None:
        for node in definition["nodes"]:
            for name in names:
                node["data"].pop(name, None)

    return work


def _with(name: str, value: Any) -> Break:
    def work(definition: Definition) -> None:
        for node in definition["nodes"]:
            node["data"][name] = copy.deepcopy(value)

    return work


def _unreferred(definition: Definition) -> None:
    for node in definition["nodes"]:
        inputs = node["data"]["inputs"]
        node["data"]["inputs"] = {k: "" if "data.instance" in str(v) else v for k, v in inputs.items()}


BREAKS: dict[str, Break] = {
    "no inputParams": _without("inputParams"),
    "empty inputParams": _with("inputParams", []),
    "no anchors at all": _without("inputAnchors", "inputParams", "outputAnchors"),
    "no outputs": _without("outputs"),
    "no inputs": _without("inputs"),
    "no name": _without("name"),
    "a name that is not there": _with("name", "noSuchNode"),
    "no edges": lambda one: one.update(edges=[]),
    "no list of edges": lambda one: one.pop("edges"),
    "an edge from nowhere": lambda one: one["edges"][0].update(source="ghost_0"),
    "an edge to nowhere": lambda one: one["edges"][-1].update(target="ghost_0"),
    "references taken out": _unreferred,
    "nothing": lambda one: (one.pop("nodes"), one.pop("edges")),
    "no nodes": lambda one: one.update(nodes=[], edges=[]),
}
OF_CHAINS: dict[str, Break] = {
    "no category": _without("category"),
    "no id": _without("id"),
    "a chain that gives its prediction": lambda one: one["nodes"][-1]["data"].update(
        outputs={"output": "outputPrediction"}
    ),
}
ONLY_DRAWN: dict[str, Break] = {
    "no inputAnchors": _without("inputAnchors"),
    "no outputAnchors": _without("outputAnchors"),
    "edges without handles": lambda one: [edge.pop("sourceHandle") for edge in one["edges"]],
}
"""These run, but the canvas cannot draw them: refused all the same."""


class TestRefused:
    @pytest.mark.parametrize("broken", BREAKS)
    async def test_functions_do_not_run(
        self, client: FlowiseClient, nodes: Mapping[str, NodeSchema], broken: str
    ) -> None:
        definition = assemble(read_spec(two_functions()), nodes)
        BREAKS[broken](definition)
        assert not await _runs(client, definition, "got ABC")
        assert faults_of(definition, nodes, [], type_="CHATFLOW")

    @pytest.mark.parametrize("broken", [*BREAKS, *OF_CHAINS])
    async def test_chains_do_not_run(
        self,
        client: FlowiseClient,
        nodes: Mapping[str, NodeSchema],
        credential: StoredCredential,
        echo: OpenAIServer,
        broken: str,
    ) -> None:
        definition = assemble(read_spec(chain(echo.base_url)), nodes, [credential])
        (BREAKS | OF_CHAINS)[broken](definition)
        assert not await _runs(client, definition, "echo: Say: abc")
        assert faults_of(definition, nodes, [credential], type_="CHATFLOW")

    async def test_a_chain_without_a_credential_does_not_run(
        self, client: FlowiseClient, nodes: Mapping[str, NodeSchema], echo: OpenAIServer
    ) -> None:
        definition = assemble(read_spec(chain(echo.base_url)), nodes, [])
        assert not await _runs(client, definition, "echo: Say: abc")
        assert ["openAIApi" in str(fault) for fault in faults_of(definition, nodes, [])] == [True]

    @pytest.mark.parametrize("broken", ONLY_DRAWN)
    async def test_what_cannot_be_drawn_runs_and_is_refused(
        self, client: FlowiseClient, nodes: Mapping[str, NodeSchema], broken: str
    ) -> None:
        definition = assemble(read_spec(two_functions()), nodes)
        ONLY_DRAWN[broken](definition)
        assert await _runs(client, definition, "got ABC")
        assert faults_of(definition, nodes, [])

    @pytest.mark.parametrize("gone", ["agentModelConfig", "FLOWISE_CREDENTIAL_ID"])
    async def test_an_agent_whose_model_is_not_set_up_does_not_run(
        self,
        client: FlowiseClient,
        nodes: Mapping[str, NodeSchema],
        credential: StoredCredential,
        echo: OpenAIServer,
        gone: str,
    ) -> None:
        definition: Any = assemble(read_spec(agent(echo.base_url, "of preflight")), nodes, [credential])
        inputs = definition["nodes"][1]["data"]["inputs"]
        (inputs if gone in inputs else inputs["agentModelConfig"]).pop(gone)
        assert not await _runs(client, definition, "echo: abc", "AGENTFLOW")
        assert faults_of(definition, nodes, [credential])

    @pytest.mark.parametrize("gone", ["startAgentflow_0", "directReplyAgentflow_0"])
    async def test_half_an_agentflow_does_not_run(
        self, client: FlowiseClient, nodes: Mapping[str, NodeSchema], gone: str
    ) -> None:
        definition: Definition = assemble(read_spec(reply()), nodes)
        left = [node for node in definition["nodes"] if node["id"] != gone]
        definition |= {"nodes": left, "edges": []}
        assert not await _runs(client, definition, "You said abc", "AGENTFLOW")
        assert faults_of(definition, nodes, [], type_="AGENTFLOW")


class TestPassed:
    async def test_functions_run(self, client: FlowiseClient, nodes: Mapping[str, NodeSchema]) -> None:
        for wanted, expected in ((two_functions(), "got ABC"), (function("return 'one';"), "one")):
            definition = assemble(read_spec(wanted), nodes)
            assert faults_of(definition, nodes, [], type_="CHATFLOW") == []
            assert await _runs(client, definition, expected)

    async def test_chains_run(
        self,
        client: FlowiseClient,
        nodes: Mapping[str, NodeSchema],
        credential: StoredCredential,
        echo: OpenAIServer,
    ) -> None:
        definition = assemble(read_spec(chain(echo.base_url)), nodes, [credential])
        assert faults_of(definition, nodes, [credential], type_="CHATFLOW") == []
        assert await _runs(client, definition, "echo: Say: abc")

    async def test_nodes_of_an_earlier_release_run(
        self,
        client: FlowiseClient,
        nodes: Mapping[str, NodeSchema],
        credential: StoredCredential,
        echo: OpenAIServer,
    ) -> None:
        """Flowise adds inputs to components without another version; whoever drew the node before has not got them."""
        definition: Any = assemble(read_spec(chain(echo.base_url)), nodes, [credential])
        data = next(node["data"] for node in definition["nodes"] if node["id"] == "chatOpenAI_0")
        data["inputParams"] = [one for one in data["inputParams"] if one["name"] != "strictToolCalling"]
        del data["inputs"]["strictToolCalling"]
        assert await _runs(client, definition, "echo: Say: abc")
        assert faults_of(definition, nodes, [credential]) == []

    async def test_agentflows_run(self, client: FlowiseClient, nodes: Mapping[str, NodeSchema]) -> None:
        definition = assemble(read_spec(reply()), nodes)
        assert faults_of(definition, nodes, [], type_="AGENTFLOW") == []
        assert await _runs(client, definition, "You said abc", "AGENTFLOW")

    async def test_agentflows_of_flowise_itself_are_passed(
        self, client: FlowiseClient, nodes: Mapping[str, NodeSchema]
    ) -> None:
        templates = (await Catalogue(client, Memory(60), "real").templates()).values()
        refused = {one.name: _lacking(json.loads(one.flow_data), nodes) for one in templates if "V2" in one.type}
        refused = {name: found for name, found in refused.items() if found}
        assert list(refused) in ([], ["Interacting With API"]), refused  # which has an empty address, to be filled in
