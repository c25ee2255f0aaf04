"""What is assembled from a description runs on the real server; what Flowise drew itself is left as it is."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from headgate.agents.codev.domains.flowise.answers import StoredCredential
from headgate.agents.codev.domains.flowise.assembly import assemble
from headgate.agents.codev.domains.flowise.catalogue import Catalogue, Memory
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.agents.codev.domains.flowise.compact import compact
from headgate.agents.codev.domains.flowise.drawn import mark_of
from headgate.agents.codev.domains.flowise.node_schema import NodeSchema
from headgate.agents.codev.domains.flowise.preflight import faults_of
from headgate.agents.codev.domains.flowise.spec import read_spec
from tests.flowise.written import agent, chain, model, reply, two_functions
from tests.support.openai_server import OpenAIServer

Nodes = Mapping[str, NodeSchema]
MENDED = {"Context Chat Engine", "Query Engine"}
"""Templates that are older than their components: an edge begins where there is nothing any more."""


@pytest.fixture
async def nodes(client: FlowiseClient) -> Nodes:
    return await Catalogue(client, Memory(60), "real").nodes()


async def _answer(client: FlowiseClient, definition: dict[str, Any], type_: str = "CHATFLOW") -> str:
    made = await client.create_chatflow("assembled", type_, json.dumps(definition))
    try:
        return (await client.predict(made.id, {"question": "abc"})).text
    finally:
        await client.delete_chatflow(made.id)


class TestAssembled:
    async def test_functions_in_a_chain_run(self, client: FlowiseClient, nodes: Nodes) -> None:
        assert await _answer(client, assemble(read_spec(two_functions()), nodes)) == "got ABC"

    async def test_an_agentflow_runs(self, client: FlowiseClient, nodes: Nodes) -> None:
        assert await _answer(client, assemble(read_spec(reply()), nodes), "AGENTFLOW") == "You said abc"

    async def test_an_agent_asks_its_model_with_the_credential(
        self, client: FlowiseClient, nodes: Nodes, echo: OpenAIServer
    ) -> None:
        await client.create_credential("of the agent", "openAIApi", {"openAIApiKey": "sk-of-the-agent"})
        credential = await _named(client, "of the agent")
        for spec in (model(echo.base_url, "of the agent"), agent(echo.base_url, "of the agent")):
            definition = assemble(read_spec(spec), nodes, [credential])
            assert faults_of(definition, nodes, [credential], type_="AGENTFLOW") == []
            assert await _answer(client, definition, "AGENTFLOW") == "echo: abc"
            assert echo.asked[-1].headers["authorization"] == "Bearer sk-of-the-agent"

    async def test_a_chain_asks_its_model_with_the_credential(
        self, client: FlowiseClient, nodes: Nodes, echo: OpenAIServer
    ) -> None:
        await client.create_credential("of the chain", "openAIApi", {"openAIApiKey": "sk-of-the-chain"})
        credential = await _named(client, "of the chain")
        definition = assemble(read_spec(chain(echo.base_url)), nodes, [credential])
        assert await _answer(client, definition) == "echo: Say: abc"
        assert echo.asked[0].headers["authorization"] == "Bearer sk-of-the-chain"
        assert "sk-of-the-chain" not in json.dumps(definition)


class TestDrawnByFlowise:
    async def test_is_left_as_it_is(self, client: FlowiseClient, nodes: Nodes) -> None:
        """Told compactly and assembled again without a change, a template does what it did."""
        compared = 0
        for template in (await Catalogue(client, Memory(60), "real").templates()).values():
            drawn = json.loads(template.flow_data or "{}")
            if not drawn.get("nodes") or template.name in MENDED:
                continue
            assert mark_of(assemble(compact(drawn, nodes), nodes, [], drawn)) == mark_of(drawn), template.name
            compared += 1
        assert compared >= 35


async def _named(client: FlowiseClient, name: str) -> StoredCredential:
    return next(one for one in await client.list_credentials() if one.name == name)
