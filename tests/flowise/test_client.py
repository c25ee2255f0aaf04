"""Headgate's client and catalogue against the real server: what they read, what they remember, what they say."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from headgate.agents.codev.domains.flowise.catalogue import Catalogue, Memory
from headgate.agents.codev.domains.flowise.client import MOST_BYTES, MOST_PARTS, FlowiseClient, Server
from headgate.agents.codev.domains.flowise.errors import ChatflowNotFound, FlowiseFailed, KeyRefused
from tests.flowise.conftest import opened
from tests.flowise.exchanges import MISSING, recorded

Record = Callable[[str, object], None]


class TestDiscovery:
    async def test_reads_every_component(self, client: FlowiseClient) -> None:
        raw = await client.list_nodes()
        assert len(await Catalogue(client, Memory(60), "real").nodes()) == len(raw) > 250

    async def test_is_slim(self, client: FlowiseClient, wire: httpx2.Client, record_property: Record) -> None:
        catalogue = Catalogue(client, Memory(60), "real")
        for path, told in (
            ("/nodes", [one.slim() for one in (await catalogue.nodes()).values()]),
            ("/marketplaces/templates", [one.about for one in (await catalogue.templates()).values()]),
        ):
            raw = wire.get(f"/api/v1{path}").content
            whole, slim = len(raw), len(json.dumps(told, separators=(",", ":")))
            assert slim < whole / 20
            assert whole < MOST_BYTES / 2
            assert raw.count(b"{") + raw.count(b"[") < MOST_PARTS / 2
            record_property(
                "figures", f"{path}: {whole:,} bytes, {slim:,} told, {raw.count(b'{') + raw.count(b'['):,} parts"
            )

    async def test_is_remembered(self, client: FlowiseClient) -> None:
        memory = Memory(60)
        first = await Catalogue(client, memory, "real").nodes()
        began = time.perf_counter()
        assert await Catalogue(client, memory, "real").nodes() is first
        assert time.perf_counter() - began < 0.02
        assert await Catalogue(client, memory, "another").nodes() is not first

    async def test_splits_inputs_as_the_canvas_does(self, client: FlowiseClient) -> None:
        """Flowise's own templates were drawn on its canvas: those of today's components have the same anchors."""
        catalogue = Catalogue(client, Memory(60), "real")
        nodes = await catalogue.nodes()
        compared = 0
        for template in (await catalogue.templates()).values():
            for node in json.loads(template.flow_data or "{}").get("nodes", []):
                schema = nodes.get(node["data"]["name"])
                if schema is None or schema.version != node["data"].get("version"):
                    continue
                assert _ids(schema.data(node["id"])["inputAnchors"]) == _ids(node["data"].get("inputAnchors", []))
                compared += 1
        assert compared > 50


class TestErrors:
    async def test_say_that_a_chatflow_is_missing(self, client: FlowiseClient) -> None:
        """The server has three answers for it: 404, 400 for what is no UUID, and 500 where one deletes."""
        for gone in (MISSING, "nope"):
            with pytest.raises(ChatflowNotFound):
                await client.get_chatflow(gone)
            with pytest.raises(ChatflowNotFound):
                await client.delete_chatflow(gone)
        with pytest.raises(ChatflowNotFound):
            await client.update_chatflow(MISSING, '{"nodes":[],"edges":[]}')
        with pytest.raises(ChatflowNotFound):
            await client.predict(MISSING, {"question": "x"})

    async def test_say_that_the_key_is_wrong_and_not_which(self, place: Server) -> None:
        async with opened(replace(place, key=SecretStr("wrong-key-of-a-stranger"))) as stranger:
            with pytest.raises(KeyRefused) as caught:
                await stranger.list_nodes()
        assert "wrong-key" not in str(caught.value) + repr(caught.value)

    async def test_say_that_the_address_is_wrong(self, place: Server) -> None:
        """Flowise answers its page to what it does not know, and says that all is well."""
        async with opened(replace(place, endpoint=f"{place.endpoint}/api/v1")) as lost:
            with pytest.raises(FlowiseFailed, match="html instead of JSON") as caught:
                await lost.list_nodes()
        assert "is the URL of Flowise 3, without a path" in caught.value.remedy

    async def test_hand_on_what_a_broken_chatflow_says(self, client: FlowiseClient) -> None:
        made = await client.create_chatflow("broken", "CHATFLOW", '{"nodes":[],"edges":[]}')
        with pytest.raises(FlowiseFailed, match="Ending nodes not found"):
            await client.predict(made.id, {"question": "x"})
        await client.delete_chatflow(made.id)


class TestChatflows:
    async def test_are_made_read_written_and_deleted(self, client: FlowiseClient) -> None:
        given: dict[str, Any] = recorded("chatflow_create")["request"]["body"]
        made = await client.create_chatflow("first", "CHATFLOW", given["flowData"])
        assert (await client.predict(made.id, {"question": "abc"})).text.startswith("got ABC")
        renamed = await client.update_chatflow(made.id, given["flowData"], name="second")
        assert (renamed.id, renamed.name, renamed.flow_data) == (made.id, "second", given["flowData"])
        assert await client.get_chatflow(made.id) == renamed
        assert made.id in {one.id for one in await client.list_chatflows(page=1, limit=10)}
        await client.delete_chatflow(made.id)
        assert made.id not in {one.id for one in await client.list_chatflows(page=1, limit=10)}


class TestCredentials:
    async def test_are_known_by_name_and_type_alone(self, client: FlowiseClient) -> None:
        await client.create_credential("ours", "openAIApi", {"openAIApiKey": "sk-not-to-be-seen"})
        found = next(one for one in await client.list_credentials() if one.name == "ours")
        assert found.type == "openAIApi"
        assert "sk-not-to-be-seen" not in repr(found)

    async def test_say_what_they_want(self, client: FlowiseClient) -> None:
        found = {one.type: one for one in await client.list_credential_schemas()}
        assert [one["name"] for one in found["openAIApi"].fields] == ["openAIApiKey"]
        assert len(found) > 90


def _ids(anchors: list[dict[str, Any]]) -> set[str]:
    return {str(anchor["id"]) for anchor in anchors}
