"""What happens to a flow as its watchers are received, over the bus of one process and over Redis."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from headgate.entrypoints.own_services import OwnRedis
from headgate.features.access.principal import LOCAL
from headgate.features.flows import live, service, versions
from headgate.features.flows.errors import DraftNotFound, NothingToUndo, StaleRevision
from headgate.features.flows.live import FlowStream, announce_run_started
from headgate.features.flows.tables import FlowRow
from headgate.features.flows.undo import undo_draft
from headgate.foundation.database import Database
from headgate.foundation.event_relay import EventRelay, RelayFeed
from headgate.foundation.events import EventBus, EventFeed
from headgate.foundation.sse import SseEvent
from headgate.graph.issues import FlowInvalid
from headgate.graph.model import Edge, Flow
from tests.integration.features.flows.test_flows import FLOW, REGISTRY, flow, saying
from tests.support.patience import PATIENCE_SECONDS

__all__ = ["flow"]


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRedis]:
    server = OwnRedis(tmp_path_factory.mktemp("redis"), durable=False)
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["bus", "relay"])
async def feed(request: pytest.FixtureRequest, database: Database) -> AsyncIterator[EventFeed]:
    """What is listened to, while the database tells of its commits."""
    if request.param == "bus":
        bus = EventBus()
        database.bus = bus
        yield bus
        return
    redis: OwnRedis = request.getfixturevalue("redis")
    relay = EventRelay(redis.url(0), 60)
    database.bus = relay
    yield RelayFeed(relay.client)
    await relay.aclose()


class Watcher:
    """Somebody who has a flow open."""

    def __init__(self, database: Database, feed: EventFeed, flow_id: str) -> None:
        self._events = FlowStream(database, feed, LOCAL.tenant_id, flow_id).events()

    async def next(self) -> SseEvent:
        """The next event."""
        return await asyncio.wait_for(anext(self._events), PATIENCE_SECONDS)

    async def leave(self) -> None:
        """Stop watching."""
        await self._events.aclose()


async def save(database: Database, row: FlowRow, revision: int, words: str) -> None:
    async with database.writing() as session:
        await service.save_draft(session, LOCAL, REGISTRY, row.id, revision=revision, definition=saying(words))


class TestFlowStream:
    async def test_begins_with_how_things_stand(self, database: Database, feed: EventFeed, flow: FlowRow) -> None:
        await save(database, flow, 1, "before anybody watched")
        watcher = Watcher(database, feed, flow.id)
        received = await watcher.next()
        assert (received.kind, received.data) == (
            "flow_state",
            {"revision": 2, "name": "Talk", "published_version": None},
        )
        await watcher.leave()

    async def test_tells_every_watcher_of_every_change(
        self, database: Database, feed: EventFeed, flow: FlowRow
    ) -> None:
        watchers = [Watcher(database, feed, flow.id) for _ in range(2)]
        for watcher in watchers:
            await watcher.next()
        await save(database, flow, 1, "hello")
        async with database.writing() as session:
            await service.rename_flow(session, LOCAL, flow.id, name="Chat", description=None)
        async with database.writing() as session:
            await service.delete_flow(session, LOCAL, flow.id)
        for watcher in watchers:
            saved, renamed, deleted = [await watcher.next() for _ in range(3)]
            assert saved.kind == "draft_saved"
            assert saved.data["revision"] == 2
            assert saved.data["changes"] == ['~ node \'say\' params.text: "hi" -> "hello"']
            assert saved.data["by"] == {"kind": "user", "name": "Local user", "user_id": LOCAL.user_id}
            assert _changed(saved) == ["say"]
            assert (renamed.kind, renamed.data["name"], renamed.data["revision"]) == ("renamed", "Chat", 3)
            assert deleted.kind == "deleted"
            with pytest.raises(StopAsyncIteration):
                await watcher.next()

    async def test_begins_with_the_present_state_for_a_reader_that_comes_back(
        self, database: Database, feed: EventFeed, flow: FlowRow
    ) -> None:
        first = Watcher(database, feed, flow.id)
        await first.next()
        await save(database, flow, 1, "one")
        seen = await first.next()
        await first.leave()
        await save(database, flow, 2, "two")
        await save(database, flow, 3, "three")
        again = Watcher(database, feed, flow.id)
        received = [await again.next()]
        await save(database, flow, 4, "four")
        while received[-1].data["revision"] != 5:  # events that were on their way to Redis arrive as well
            received.append(await again.next())
        received = [received[0], received[-1]]
        assert [(event.kind, event.data["revision"]) for event in received] == [("flow_state", 4), ("draft_saved", 5)]
        assert seen.data["revision"] == 2
        await again.leave()

    async def test_tells_of_what_a_process_without_the_bus_changed(
        self, database: Database, feed: EventFeed, flow: FlowRow, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        watcher = Watcher(database, feed, flow.id)
        await watcher.next()
        database.bus = None
        await save(database, flow, 1, "unheard")
        received = await watcher.next()
        assert (received.kind, received.data["revision"]) == ("flow_state", 2)
        async with database.writing() as session:
            await service.delete_flow(session, LOCAL, flow.id)
        assert (await watcher.next()).kind == "deleted"

    async def test_says_nothing_of_what_was_not_committed(
        self, database: Database, feed: EventFeed, flow: FlowRow
    ) -> None:
        watcher = Watcher(database, feed, flow.id)
        await watcher.next()
        with pytest.raises(RuntimeError, match="changed my mind"):
            await _save_and_fail(database, flow)
        with pytest.raises(FlowInvalid):
            await _save(database, flow, _circular())
        await save(database, flow, 1, "for good")
        received = await watcher.next()
        assert received.data["changes"] == ['~ node \'say\' params.text: "hi" -> "for good"']
        await watcher.leave()

    async def test_tells_of_versions_and_runs(self, database: Database, feed: EventFeed, flow: FlowRow) -> None:
        watcher = Watcher(database, feed, flow.id)
        await watcher.next()
        await save(database, flow, 1, "changed")
        async with database.writing() as session:
            kept = await versions.keep_draft(session, LOCAL, REGISTRY, flow.id)
        await save(database, flow, 2, "changed again")
        async with database.writing() as session:
            await versions.restore_version(session, LOCAL, REGISTRY, flow.id, kept.version, revision=3)
        assert database.bus is not None
        announce_run_started(database.bus, LOCAL, flow_id=flow.id, run_id="r1", version=kept.version)
        received = [await watcher.next() for _ in range(4)]
        assert [one.kind for one in received] == ["draft_saved", "draft_saved", "draft_saved", "run_started"]
        assert received[2].data["changes"] == ['~ node \'say\' params.text: "changed again" -> "changed"']
        assert (received[3].data["run_id"], received[3].data["version"]) == ("r1", kept.version)
        await watcher.leave()

    async def test_leaves_a_very_long_difference_out(
        self, database: Database, feed: EventFeed, flow: FlowRow, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(live, "LONGEST_DIFF_BYTES", 100)
        monkeypatch.setattr(live, "MOST_LINES", 0)
        watcher = Watcher(database, feed, flow.id)
        await watcher.next()
        await save(database, flow, 1, "long " * 100)
        received = await watcher.next()
        assert (received.data["diff"], received.data["changes"]) == (None, ["... and 1 more"])
        await watcher.leave()


class TestUndoDraft:
    async def test_goes_back_change_by_change_and_forward_again_by_revision(
        self, database: Database, flow: FlowRow
    ) -> None:
        for revision, text in enumerate(("two", "three", "four"), start=1):
            await save(database, flow, revision, text)
        assert [await undo(database, flow, revision) for revision in (4, 5, 6)] == [
            (5, 3, "three"),
            (6, 2, "two"),
            (7, 1, "hi"),
        ]
        with pytest.raises(NothingToUndo):
            await undo(database, flow, 7)
        assert await undo(database, flow, 7, to=4) == (8, 4, "four")
        assert await undo(database, flow, 8, to=6) == (9, 2, "two")
        await save(database, flow, 9, "five")
        assert await undo(database, flow, 10) == (11, 2, "two")
        assert await undo(database, flow, 11) == (12, 1, "hi")

    async def test_reaches_no_revision_that_is_not_kept(
        self, database: Database, flow: FlowRow, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(service, "MOST_DRAFTS", 2)
        for revision, text in enumerate(("two", "three", "four"), start=1):
            await save(database, flow, revision, text)
        for revision in (1, 4, 5):
            with pytest.raises(DraftNotFound):
                await undo(database, flow, 4, to=revision)
        assert await undo(database, flow, 4, to=2) == (5, 2, "two")

    async def test_takes_a_new_name_back(self, database: Database, flow: FlowRow) -> None:
        async with database.writing() as session:
            await service.rename_flow(session, LOCAL, flow.id, name="Chat", description="Once more")
        async with database.writing() as session:
            row = await undo_draft(session, LOCAL, REGISTRY, flow.id, revision=2)
        assert (row.name, row.description) == ("Talk", "")

    async def test_never_takes_back_what_somebody_else_did_since(self, database: Database, flow: FlowRow) -> None:
        await save(database, flow, 1, "mine")
        await save(database, flow, 2, "theirs")
        with pytest.raises(StaleRevision):
            await undo(database, flow, 2)

    async def test_has_nothing_to_do_on_a_new_flow(self, database: Database, flow: FlowRow) -> None:
        with pytest.raises(NothingToUndo):
            await undo(database, flow, 1)


async def undo(database: Database, flow: FlowRow, revision: int, to: int = 0) -> tuple[int, int | None, Any]:
    """The new revision, the revision that it restores, and its text."""
    async with database.writing() as session:
        row = await undo_draft(session, LOCAL, REGISTRY, flow.id, revision=revision, to=to)
        return row.revision, row.restores, service.definition_of(row).nodes[0].params["text"]


def _changed(event: SseEvent) -> list[str]:
    diff: Any = event.data["diff"]
    return [one["id"] for one in diff["nodes_changed"]]


def _circular() -> Flow:
    return FLOW.model_copy(
        update={"edges": (*FLOW.edges, Edge(source="hear", output="heard", target="hear", input="text"))}
    )


async def _save(database: Database, row: FlowRow, definition: Flow) -> None:
    async with database.writing() as session:
        await service.save_draft(session, LOCAL, REGISTRY, row.id, revision=1, definition=definition)


async def _save_and_fail(database: Database, row: FlowRow) -> None:
    async with database.writing() as session:
        await service.save_draft(session, LOCAL, REGISTRY, row.id, revision=1, definition=saying("half of it"))
        raise RuntimeError("changed my mind")
