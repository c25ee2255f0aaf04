"""What a server that means harm can do with what it was given: its key, and room in our memory."""

import json
import tracemalloc

import pytest

from headgate.agents.codev.domain import Workplace
from headgate.agents.codev.domains.flowise.catalogue import Catalogue, Memory
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.foundation.errors import HeadgateError
from headgate.foundation.settings import MEBIBYTE
from headgate.graph.cases import TestCase
from tests.support import flowise_server as hostile
from tests.support.flowise_recordings import recorded_flow
from tests.support.flowise_server import KEY, FlowiseServer

REFLECTED = json.dumps({"statusCode": 500, "success": False, "message": f"You sent {KEY}"})


class TestReflectedKey:
    """Whoever watches a session, and the provider of its model, are told nothing of the server's key."""

    async def test_is_in_no_error(self, server: FlowiseServer, client: FlowiseClient) -> None:
        server.hostile["/nodes"] = hostile.whole(REFLECTED, status=500)
        with pytest.raises(HeadgateError) as caught:
            await client.list_nodes()
        assert KEY not in str(caught.value)

    async def test_is_in_no_answer_of_a_trial(self, server: FlowiseServer, place: Workplace) -> None:
        server.answers = lambda _question: f"The key is {KEY}."
        flow = server.add("talkative", recorded_flow("two_customfunction"))
        found = await place.run_case(flow, TestCase(name="asks"), session="s-1")
        assert found.answer
        assert KEY not in found.answer

    async def test_is_in_no_component(self, server: FlowiseServer, client: FlowiseClient) -> None:
        server.nodes = [{"name": "a", "label": KEY, "category": "x", "description": f"Use {KEY}"}]
        found = (await Catalogue(client, Memory(0), "dev").nodes())["a"]
        assert KEY not in json.dumps([found.slim(), found.described(), found.data("a_0")])

    async def test_stays_in_a_chatflow_that_somebody_put_it_in(
        self, server: FlowiseServer, client: FlowiseClient
    ) -> None:
        """What is read there is written back."""
        flow = recorded_flow("two_customfunction")
        flow["nodes"][0]["data"]["inputs"]["functionName"] = KEY
        assert KEY in (await client.get_chatflow(server.add("its own key", flow))).flow_data


class TestMemory:
    async def test_of_half_a_million_empty_lists_is_little(self, server: FlowiseServer, client: FlowiseClient) -> None:
        """Three characters of JSON become sixty bytes."""
        lists = "[" + ",".join(["[]"] * 500_000) + "]"
        server.hostile["/nodes"] = hostile.whole(f'[{{"name":"a","label":"x","more":{lists}}}]')
        tracemalloc.start()
        try:
            with pytest.raises(HeadgateError, match="is too large"):
                await client.list_nodes()
            assert tracemalloc.get_traced_memory()[1] < 64 * MEBIBYTE
        finally:
            tracemalloc.stop()
