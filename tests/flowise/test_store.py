"""Chatflows written, found again and taken back on the real server, as the journal of writes does it."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from headgate.agents.codev.domain import Change, Held
from headgate.agents.codev.domains.flowise.assembly import assemble
from headgate.agents.codev.domains.flowise.catalogue import Catalogue, Memory
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.agents.codev.domains.flowise.drawn import split
from headgate.agents.codev.domains.flowise.errors import ChatflowNotFound, FlowiseFailed
from headgate.agents.codev.domains.flowise.spec import read_spec
from headgate.agents.codev.domains.flowise.store import Store
from headgate.agents.codev.errors import WriteConflict
from headgate.foundation.ids import new_id
from tests.flowise.written import two_functions


@pytest.fixture
def store(client: FlowiseClient) -> Store:
    return Store(client)


@pytest.fixture
async def change(client: FlowiseClient) -> Change:
    return await _change(client, "got")


@pytest.fixture
async def made(store: Store, change: Change) -> AsyncIterator[Held]:
    held = await store.write(change, None, new_id())
    yield held
    await store.remove(held.flow_id, (await store.read(held.flow_id)).mark)


async def _change(client: FlowiseClient, word: str) -> Change:
    nodes = await Catalogue(client, Memory(60), "real").nodes()
    definition, layout = split(assemble(read_spec(two_functions(word)), nodes))
    return Change(definition, "writes", name="stored", about={"type": "CHATFLOW", "layout": layout})


class TestStore:
    async def test_reads_what_it_wrote(self, store: Store, made: Held) -> None:
        assert await store.read(made.flow_id) == made

    async def test_writes_over_what_it_knows(self, store: Store, made: Held, client: FlowiseClient) -> None:
        after = await store.write(await _change(client, "has"), made, new_id())
        assert after.flow_id == made.flow_id
        assert (await client.predict(made.flow_id, {"question": "abc"})).text == "has ABC"

    async def test_takes_back_what_it_wrote(self, store: Store, made: Held, client: FlowiseClient) -> None:
        after = await store.write(await _change(client, "has"), made, new_id())
        back = Change(made.definition, "back", name=made.name, about=made.about)
        assert (await store.write(back, after, new_id())).mark == made.mark
        assert (await client.predict(made.flow_id, {"question": "abc"})).text == "got ABC"

    async def test_does_not_write_over_what_somebody_else_wrote(
        self, store: Store, made: Held, client: FlowiseClient, wire: httpx2.Client
    ) -> None:
        theirs = json.loads(wire.get(f"/api/v1/chatflows/{made.flow_id}").json()["flowData"])
        theirs["nodes"][0]["data"]["inputs"]["functionName"] = "theirs"
        wire.put(f"/api/v1/chatflows/{made.flow_id}", json={"flowData": json.dumps(theirs)})
        with pytest.raises(WriteConflict):
            await store.write(await _change(client, "has"), made, new_id())
        assert "theirs" in (await client.get_chatflow(made.flow_id)).flow_data

    async def test_finds_a_write_by_its_token(self, store: Store, change: Change) -> None:
        token = new_id()
        held = await store.write(change, None, token)
        assert await store.find_written(token) == held
        assert await store.find_written(new_id()) is None
        await store.remove(held.flow_id, held.mark)

    async def test_finds_the_ghost_that_the_server_kept_and_called_an_error(
        self, store: Store, change: Change, client: FlowiseClient
    ) -> None:
        """Without a list of edges the server saves, then fails; pre-flight lets nothing of the kind come here."""
        broken: dict[str, Any] = {key: value for key, value in change.definition.items() if key != "edges"}
        with pytest.raises(FlowiseFailed):
            await client.create_chatflow("ghost", "CHATFLOW", json.dumps(broken))
        count = await self._ghosts(client)
        held = await store.write(Change(broken, "writes", name="ghost", about=change.about), None, new_id())
        assert await self._ghosts(client) == count + 1
        assert held.name == "ghost"
        await store.remove(held.flow_id, held.mark)
        assert await self._ghosts(client) == count

    async def _ghosts(self, client: FlowiseClient) -> int:
        return sum(one.name == "ghost" for one in await client.list_chatflows(page=1, limit=100))

    async def test_does_not_remove_what_somebody_else_changed(
        self, store: Store, made: Held, client: FlowiseClient
    ) -> None:
        with pytest.raises(WriteConflict):
            await store.remove(made.flow_id, "0" * 64)
        assert (await client.get_chatflow(made.flow_id)).id == made.flow_id

    async def test_says_when_one_is_gone(self, store: Store, change: Change) -> None:
        held = await store.write(change, None, new_id())
        await store.remove(held.flow_id, held.mark)
        await store.remove(held.flow_id, held.mark)
        with pytest.raises(ChatflowNotFound):
            await store.write(change, held, new_id())
