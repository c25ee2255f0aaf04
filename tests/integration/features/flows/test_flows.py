"""Flows and versions, on both databases."""

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from headgate.features.access.principal import LOCAL, Principal, system_principal
from headgate.features.accounts.spaces.errors import SpaceNotFound
from headgate.features.accounts.tables import Space, Tenant
from headgate.features.catalog.registry import Registry
from headgate.features.flows import history, service, versions
from headgate.features.flows.errors import FlowNotFound, StaleRevision, VersionNotFound
from headgate.features.flows.rules import FlowRules
from headgate.features.flows.tables import FlowRow
from headgate.foundation.database import Database
from headgate.graph.issues import FlowInvalid
from headgate.graph.model import Edge, Flow, Node, Position, StepPolicy
from headgate.sdk import Component, Text, field, output
from tests.support.readiness import rules_of

OTHER = system_principal("t2", "s2")


class Say(Component):
    """Say a text."""

    text: Text = field(default="", help="The text.")

    @output()
    def said(self) -> Text:
        return self.text


class Hear(Component):
    """Hear a text."""

    text: Text = field(help="The text.")

    @output()
    def heard(self) -> Text:
        return self.text


REGISTRY = Registry([Say, Hear])
FLOW = Flow(
    name="Talk",
    nodes=(Node(id="say", type="Say", params={"text": "hi"}), Node(id="hear", type="Hear")),
    edges=(Edge(source="say", output="said", target="hear", input="text"),),
)


def saying(words: str) -> Flow:
    return FLOW.model_copy(update={"nodes": (Node(id="say", type="Say", params={"text": words}), FLOW.nodes[1])})


@pytest.fixture
async def flow(database: Database) -> FlowRow:
    async with database.writing() as session:
        return await service.create_flow(session, LOCAL, REGISTRY, definition=FLOW)


@pytest.fixture
async def other_tenant(database: Database) -> Principal:
    async with database.writing() as session:
        session.add(Tenant(id="t2", name="Other"))
        await session.flush()
        session.add(Space(id="s2", tenant_id="t2", name="Theirs", owner_user_id=None))
    return OTHER


async def save(database: Database, flow_id: str, *, revision: int, definition: Flow) -> FlowRow:
    async with database.writing() as session:
        return await service.save_draft(session, LOCAL, REGISTRY, flow_id, revision=revision, definition=definition)


def rules(database: Database) -> FlowRules:
    return rules_of(database, REGISTRY)


async def publish(database: Database, flow_id: str) -> tuple[int, int | None]:
    async with database.writing() as session:
        row = await versions.publish_flow(session, LOCAL, rules(database), flow_id)
        return row.version, row.release


class TestDraft:
    async def test_is_read_back_as_it_was_saved(self, database: Database, flow: FlowRow) -> None:
        async with database.reading() as session:
            row = await service.get_flow(session, LOCAL, flow.id)
        assert service.definition_of(row) == FLOW
        assert row.revision == 1

    async def test_refuses_a_stale_revision_and_loses_nothing(self, database: Database, flow: FlowRow) -> None:
        await save(database, flow.id, revision=1, definition=saying("first"))
        with pytest.raises(StaleRevision) as refused:
            await save(database, flow.id, revision=1, definition=saying("second"))
        assert refused.value.problem()["revision"] == 2
        assert refused.value.status == 409
        async with database.reading() as session:
            assert service.definition_of(await service.get_flow(session, LOCAL, flow.id)) == saying("first")

    async def test_lets_one_of_two_editors_win(self, database: Database, flow: FlowRow) -> None:
        ended = await asyncio.gather(
            *(save(database, flow.id, revision=1, definition=saying(words)) for words in ("a", "b", "c")),
            return_exceptions=True,
        )
        assert sum(isinstance(one, FlowRow) for one in ended) == 1
        assert sum(isinstance(one, StaleRevision) for one in ended) == 2

    async def test_keeps_its_revision_when_nothing_changed(self, database: Database, flow: FlowRow) -> None:
        assert (await save(database, flow.id, revision=1, definition=FLOW)).revision == 1

    async def test_refuses_a_graph_that_does_not_hold_together(self, database: Database, flow: FlowRow) -> None:
        broken = FLOW.model_copy(update={"edges": (Edge(source="say", output="sayd", target="hear", input="text"),)})
        with pytest.raises(FlowInvalid, match="said"):
            await save(database, flow.id, revision=1, definition=broken)

    async def test_is_gone_after_deletion_but_its_versions_stay(self, database: Database, flow: FlowRow) -> None:
        version, _ = await publish(database, flow.id)
        async with database.writing() as session:
            await service.delete_flow(session, LOCAL, flow.id)
        async with database.reading() as session:
            with pytest.raises(FlowNotFound):
                await service.get_flow(session, LOCAL, flow.id)
        kept = await versions.read_definition(database, tenant_id=LOCAL.tenant_id, flow_id=flow.id, version=version)
        assert kept == FLOW
        with pytest.raises(FlowNotFound):
            await versions.pin_version(database, LOCAL, REGISTRY, flow.id, wanted="published")

    async def test_needs_a_space_of_the_tenant(self, database: Database, other_tenant: Principal) -> None:
        with pytest.raises(SpaceNotFound):
            async with database.writing() as session:
                await service.create_flow(session, LOCAL, REGISTRY, definition=FLOW, space_id=other_tenant.space_id)


class TestList:
    async def test_is_newest_first_and_paged(self, database: Database) -> None:
        async with database.writing() as session:
            made = [(await service.create_flow(session, LOCAL, REGISTRY, definition=FLOW)).id for _ in range(5)]
        async with database.reading() as session:
            first = [row.id for row in await service.list_flows(session, LOCAL, limit=3)]
            rest = [row.id for row in await service.list_flows(session, LOCAL, limit=3, before=first[-1])]
        assert first + rest == made[::-1]

    @pytest.mark.parametrize(("words", "found"), [("talk", 1), ("TALK", 1), ("100%", 0), ("t_lk", 0), ("nothing", 0)])
    async def test_finds_by_words(self, database: Database, flow: FlowRow, words: str, found: int) -> None:
        async with database.reading() as session:
            assert len(await service.list_flows(session, LOCAL, search=words)) == found

    async def test_knows_capitals_beyond_ascii(self, database: Database) -> None:
        async with database.writing() as session:
            named = FLOW.model_copy(update={"name": "Åtgärd ÖVRIGT"})
            made = await service.create_flow(session, LOCAL, REGISTRY, definition=named)
        async with database.reading() as session:
            assert [row.id for row in await service.list_flows(session, LOCAL, search="övrigt åTG")] == [made.id]
            assert (await service.get_flow_named(session, LOCAL, "åtgärd övrigt")).id == made.id


class TestTenants:
    async def test_never_see_each_other(self, database: Database, flow: FlowRow, other_tenant: Principal) -> None:
        version, _ = await publish(database, flow.id)
        async with database.reading() as session:
            assert await service.list_flows(session, other_tenant) == []
            with pytest.raises(FlowNotFound):
                await service.get_flow(session, other_tenant, flow.id)
            with pytest.raises(VersionNotFound):
                await history.get_version(session, other_tenant, flow.id, version)
        with pytest.raises(FlowNotFound):
            await versions.pin_version(database, other_tenant, REGISTRY, flow.id, wanted="published")


class TestVersions:
    async def test_are_numbered_by_content(self, database: Database, flow: FlowRow) -> None:
        assert await publish(database, flow.id) == (1, 1)
        assert await publish(database, flow.id) == (1, 1)
        await save(database, flow.id, revision=1, definition=saying("other"))
        assert await publish(database, flow.id) == (2, 2)
        await save(database, flow.id, revision=2, definition=FLOW)
        assert await publish(database, flow.id) == (1, 3)

    async def test_give_a_test_run_a_version_without_a_release(self, database: Database, flow: FlowRow) -> None:
        pinned = await versions.pin_version(database, LOCAL, REGISTRY, flow.id, wanted="draft")
        assert pinned.version == 1
        await save(database, flow.id, revision=1, definition=saying("next"))
        assert await publish(database, flow.id) == (2, 1)

    async def test_hold_steps_and_edges_as_rows(self, database: Database, flow: FlowRow) -> None:
        await publish(database, flow.id)
        async with database.reading() as session:
            steps = (await session.execute(text("SELECT step_id, step_order FROM version_steps ORDER BY 2"))).all()
            edges = (await session.execute(text("SELECT parent_step_id, child_step_id FROM version_edges"))).all()
        assert [tuple(row) for row in steps] == [("say", 1), ("hear", 2)]
        assert [tuple(row) for row in edges] == [("say", "hear")]

    async def test_are_refused_for_a_flow_that_cannot_run(self, database: Database) -> None:
        loose = Flow(name="Loose", nodes=(Node(id="hear", type="Hear"),))
        async with database.writing() as session:
            row = await service.create_flow(session, LOCAL, REGISTRY, definition=loose)
        with pytest.raises(FlowInvalid, match="text"):
            await publish(database, row.id)
        with pytest.raises(FlowInvalid):
            await versions.pin_version(database, LOCAL, REGISTRY, row.id, wanted="draft")

    async def test_are_made_once_by_runs_that_start_together(self, database: Database, flow: FlowRow) -> None:
        pinned = await asyncio.gather(
            *(versions.pin_version(database, LOCAL, REGISTRY, flow.id, wanted="draft") for _ in range(5))
        )
        assert {one.version for one in pinned} == {1}

    async def test_cannot_be_changed_in_the_database(self, database: Database, flow: FlowRow) -> None:
        await publish(database, flow.id)
        with pytest.raises(DBAPIError, match="immutable"):
            async with database.engine.begin() as connection:
                await connection.execute(text("UPDATE flow_versions SET checksum = 'x'"))

    async def test_say_when_nothing_was_published(self, database: Database, flow: FlowRow) -> None:
        with pytest.raises(VersionNotFound, match="not been published"):
            await versions.pin_version(database, LOCAL, REGISTRY, flow.id, wanted="published")
        with pytest.raises(VersionNotFound):
            await versions.pin_version(database, LOCAL, REGISTRY, flow.id, wanted=7)


class TestDiffAndRestore:
    async def test_names_what_changed(self, database: Database, flow: FlowRow) -> None:
        await publish(database, flow.id)
        await save(database, flow.id, revision=1, definition=saying("bye"))
        async with database.reading() as session:
            found = await versions.diff_versions(session, LOCAL, REGISTRY, flow.id, before=1, after="draft")
        assert not found.is_empty
        assert any("say" in line and "bye" in line for line in found.lines())

    async def test_does_not_count_positions(self, database: Database, flow: FlowRow) -> None:
        await publish(database, flow.id)
        moved = FLOW.model_copy(
            update={"nodes": tuple(one.model_copy(update={"position": Position(x=9)}) for one in FLOW.nodes)}
        )
        await save(database, flow.id, revision=1, definition=moved)
        async with database.reading() as session:
            found = await versions.diff_versions(session, LOCAL, REGISTRY, flow.id, before=1, after="draft")
        assert found.is_empty

    async def test_restores_a_version_into_the_draft(self, database: Database, flow: FlowRow) -> None:
        await publish(database, flow.id)
        await save(database, flow.id, revision=1, definition=saying("bye"))
        async with database.writing() as session:
            with pytest.raises(StaleRevision):
                await versions.restore_version(session, LOCAL, REGISTRY, flow.id, 1, revision=1)
        async with database.writing() as session:
            row = await versions.restore_version(session, LOCAL, REGISTRY, flow.id, 1, revision=2)
            assert service.definition_of(row) == FLOW
            assert row.draft_version == 1

    async def test_keeps_the_draft_that_a_restored_version_replaces(self, database: Database, flow: FlowRow) -> None:
        await publish(database, flow.id)
        await save(database, flow.id, revision=1, definition=saying("never ran"))
        async with database.writing() as session:
            await versions.restore_version(session, LOCAL, REGISTRY, flow.id, 1, revision=2)
        kept = await versions.read_definition(database, tenant_id=LOCAL.tenant_id, flow_id=flow.id, version=2)
        assert kept == saying("never ran")

    async def test_takes_no_draft_that_was_only_kept_for_one_that_can_run(
        self, database: Database, flow: FlowRow
    ) -> None:
        await publish(database, flow.id)
        half_done = Node(id="say", type="Say", policy=StepPolicy(output_mode="http_post"))
        await save(
            database, flow.id, revision=1, definition=FLOW.model_copy(update={"nodes": (half_done, FLOW.nodes[1])})
        )
        async with database.writing() as session:
            await versions.keep_draft(session, LOCAL, REGISTRY, flow.id)
        with pytest.raises(FlowInvalid):
            await publish(database, flow.id)
        async with database.writing() as session:
            await versions.restore_version(session, LOCAL, REGISTRY, flow.id, 1, revision=2)
            await versions.restore_version(session, LOCAL, REGISTRY, flow.id, 2, revision=3)
        with pytest.raises(FlowInvalid):
            await publish(database, flow.id)
        with pytest.raises(FlowInvalid):
            await versions.pin_version(database, LOCAL, REGISTRY, flow.id, wanted="draft")
