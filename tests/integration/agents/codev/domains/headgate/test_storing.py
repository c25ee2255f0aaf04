"""What a session writes into our own flows: with a comparison under the row's lock, once, and seen by everybody."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import select

from headgate.agents.codev.domain import Change, Held, mark_of
from headgate.agents.codev.domains.headgate.domain import NoInstances
from headgate.agents.codev.errors import WriteConflict
from headgate.entrypoints.compose import Parts
from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL, Access, Principal
from headgate.features.accounts.spaces.errors import SpaceNotFound
from headgate.features.audit.tables import AuditEvent
from headgate.features.flows import history
from headgate.features.flows import service as flows
from headgate.features.flows.errors import FlowNotFound
from headgate.features.flows.live import topic_of
from headgate.foundation.ids import new_id
from headgate.graph.issues import FlowInvalid
from headgate.graph.model import Flow, Node
from tests.support.own_place import GREETING, ask, changed, domain_of, open_place, wanted
from tests.support.people import add_space_row, add_tenant_row


async def edited_by_a_person(parts: Parts, held: Held, **changes: Any) -> None:
    """Somebody saves the draft in the studio."""
    async with parts.database.writing() as session:
        row = await flows.get_flow(session, LOCAL, held.flow_id)
        definition = flows.definition_of(row).model_copy(update=changes)
        await flows.save_draft(
            session, LOCAL, parts.registry, held.flow_id, revision=row.revision, definition=definition
        )


def member(space_id: str, role: Role, *, tenant_id: str = LOCAL.tenant_id) -> Principal:
    return Principal(tenant_id, "", space_id, Access(roles={space_id: role}))


class TestWriting:
    async def test_makes_a_flow_and_reads_it_back_alike(self, parts_on_both: Parts) -> None:
        place = await open_place(parts_on_both)
        change = await wanted(place, "build_flow", None, spec=GREETING)
        assert isinstance(change, Change)
        held = await place.write(change, None, new_id())
        assert held == await place.read(held.flow_id)
        assert held.definition == change.definition
        assert held.mark == mark_of(change.definition)
        assert place.link(held.flow_id) == f"/flows/{held.flow_id}"

    async def test_the_mark_holds_whatever_a_database_does_to_numbers(self, parts_on_both: Parts) -> None:
        place = await open_place(parts_on_both)
        held = await changed(place, "build_flow", None, spec=GREETING)
        params = {"values": [1e16, 1.0, -0.0, 1e-9, 0.1, 2**53 + 1, "é\u2028"]}
        nodes = (Node(id="data", type="Python", params={"inputs": params}),)
        definition = Flow(name="Numbers", nodes=nodes).model_dump(mode="json", exclude_defaults=True)
        after = await place.write(Change(definition, "numbers", "Numbers", held.about), held, new_id())
        assert after.mark == mark_of(definition)
        assert (await place.read(held.flow_id)).mark == after.mark

    async def test_updates_the_draft_with_its_revision(self, parts_on_both: Parts) -> None:
        place = await open_place(parts_on_both)
        held = await changed(place, "build_flow", None, spec=GREETING)
        after = await changed(place, "rename_component", held, node_id="out", new_id="answer")
        assert after.about["revision"] == 2
        assert after.mark != held.mark
        assert "answer (ChatOutput)" in str(await ask(place, "list_flows"))

    async def test_what_was_changed_and_changed_back_is_marked_as_before_and_known_to_be_saved(
        self, parts_on_both: Parts
    ) -> None:
        place = await open_place(parts_on_both)
        held = await changed(place, "build_flow", None, spec=GREETING)
        for name in ("Another", held.name):
            await edited_by_a_person(parts_on_both, held, name=name)
        after = await place.read(held.flow_id)
        assert after.mark == held.mark
        assert after.saved != held.saved
        assert (await place.read(held.flow_id)).saved == after.saved

    async def test_keeps_a_draft_that_is_replaced_as_a_whole(self, parts: Parts) -> None:
        place = await open_place(parts)
        held = await changed(place, "build_flow", None, spec=GREETING)
        await changed(place, "build_flow", held, spec="name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n"
                      "  a.text -> b.input\n")  # fmt: skip
        async with parts.database.reading() as session:
            kept = await history.list_versions(session, LOCAL, held.flow_id, released_only=False, limit=5, before=None)
        assert len(kept) == 1

    async def test_is_audited_as_the_person(self, parts: Parts) -> None:
        place = await open_place(parts)
        held = await changed(place, "build_flow", None, spec=GREETING)
        await changed(place, "edit_flow", held, description="Warm")
        async with parts.database.reading() as session:
            rows = (await session.execute(select(AuditEvent.action).order_by(AuditEvent.seq))).scalars().all()
        assert [one for one in rows if one.startswith("flow.")] == ["flow.created", "flow.draft_saved"]

    async def test_is_seen_by_whoever_has_the_flow_open(self, parts: Parts) -> None:
        place = await open_place(parts)
        held = await changed(place, "build_flow", None, spec=GREETING)
        feed, topic = parts.engine.feed, topic_of(held.flow_id)
        async with feed.follow(topic) as stream:
            await changed(place, "edit_flow", held, name="Welcome")
            (event,) = stream.pending()
        assert (event.kind, event.data["revision"], event.data["name"]) == ("draft_saved", 2, "Welcome")

    async def test_refuses_what_could_not_be_saved_without_preflight_too(self, parts: Parts) -> None:
        place = await open_place(parts)
        with pytest.raises(FlowInvalid):
            await place.write(Change({"name": "X", "nodes": [{"id": "a", "type": "Nope"}]}, "x"), None, new_id())
        assert (await ask(place, "list_flows"))["flows"] == []


class TestConflicts:
    async def test_a_draft_that_a_person_saved_since_is_not_overwritten(self, parts_on_both: Parts) -> None:
        place = await open_place(parts_on_both)
        held = await changed(place, "build_flow", None, spec=GREETING)
        change = await wanted(place, "remove_component", held, node_id="words")
        assert isinstance(change, Change)
        await edited_by_a_person(parts_on_both, held, description="Mine")
        with pytest.raises(WriteConflict, match="changed by another user"):
            await place.write(change, held, new_id())
        assert (await place.read(held.flow_id)).definition["description"] == "Mine"

    async def test_a_change_that_was_taken_back_is_none(self, parts: Parts) -> None:
        """The revision is another, the flow is the same: what counts is the flow."""
        place = await open_place(parts)
        held = await changed(place, "build_flow", None, spec=GREETING)
        await edited_by_a_person(parts, held, description="Mine")
        await edited_by_a_person(parts, held, description="Greets whoever writes")
        after = await changed(place, "rename_component", held, node_id="out", new_id="answer")
        assert after.about["revision"] == 4

    async def test_a_node_that_was_moved_on_the_canvas_is_one(self, parts: Parts) -> None:
        place = await open_place(parts)
        held = await changed(place, "build_flow", None, spec=GREETING)
        flow = Flow.model_validate(held.definition)
        moved = flow.nodes[0].model_copy(update={"position": flow.nodes[0].position.model_copy(update={"x": 999.0})})
        await edited_by_a_person(parts, held, nodes=(moved, *flow.nodes[1:]))
        with pytest.raises(WriteConflict):
            await changed(place, "rename_component", held, node_id="out", new_id="answer")

    async def test_a_flow_that_was_deleted_is_one(self, parts: Parts) -> None:
        place = await open_place(parts)
        held = await changed(place, "build_flow", None, spec=GREETING)
        async with parts.database.writing() as session:
            await flows.delete_flow(session, LOCAL, held.flow_id)
        with pytest.raises(WriteConflict):
            await changed(place, "rename_component", held, node_id="out", new_id="answer")
        with pytest.raises(FlowNotFound):
            await place.read(held.flow_id)

    async def test_of_two_sessions_that_write_at_once_one_sees_it(self, parts_on_both: Parts) -> None:
        place = await open_place(parts_on_both)
        held = await changed(place, "build_flow", None, spec=GREETING)
        done = await asyncio.gather(
            *(
                changed(place, "configure_component", held, node_id="words", params={"template": f"{number} {{text}}"})
                for number in range(6)
            ),
            return_exceptions=True,
        )
        assert sorted(type(one).__name__ for one in done) == ["Held"] + ["WriteConflict"] * 5
        written = next(one for one in done if isinstance(one, Held))
        assert (await place.read(held.flow_id)).mark == written.mark


class TestLostAnswers:
    async def test_a_flow_that_was_made_is_found_by_its_token(self, parts_on_both: Parts) -> None:
        place, token = await open_place(parts_on_both), new_id()
        assert await place.find_written(token) is None
        held = await changed(place, "build_flow", None, token=token, spec=GREETING)
        assert await place.find_written(token) == held
        assert await place.find_written(new_id()) is None

    async def test_the_same_write_again_makes_no_second_flow(self, parts_on_both: Parts) -> None:
        place, token = await open_place(parts_on_both), new_id()
        change = await wanted(place, "build_flow", None, spec=GREETING)
        assert isinstance(change, Change)
        first = await place.write(change, None, token)
        assert await place.write(change, None, token) == first
        assert len((await ask(place, "list_flows"))["flows"]) == 1  # type: ignore[arg-type]

    async def test_processes_that_make_it_at_the_same_moment_make_one(self, parts_on_both: Parts) -> None:
        place, token = await open_place(parts_on_both), new_id()
        made = await asyncio.gather(*(changed(place, "build_flow", None, token=token, spec=GREETING) for _ in range(5)))
        assert len({held.flow_id for held in made}) == 1
        assert len((await ask(place, "list_flows"))["flows"]) == 1  # type: ignore[arg-type]

    async def test_what_a_person_did_with_it_since_is_kept(self, parts: Parts) -> None:
        place, token = await open_place(parts), new_id()
        held = await changed(place, "build_flow", None, token=token, spec=GREETING)
        await edited_by_a_person(parts, held, description="Mine")
        found = await place.find_written(token)
        assert found is not None
        assert found.mark != held.mark
        with pytest.raises(WriteConflict):
            await changed(place, "build_flow", None, token=token, spec=GREETING)

    async def test_a_flow_that_was_deleted_since_is_not_made_again(self, parts: Parts) -> None:
        place, token = await open_place(parts), new_id()
        held = await changed(place, "build_flow", None, token=token, spec=GREETING)
        await place.remove(held.flow_id, held.mark)
        assert await place.find_written(token) is None
        with pytest.raises(WriteConflict):
            await changed(place, "build_flow", None, token=token, spec=GREETING)


class TestRemoving:
    async def test_deletes_what_is_as_expected(self, parts: Parts) -> None:
        place = await open_place(parts)
        held = await changed(place, "build_flow", None, spec=GREETING)
        with pytest.raises(WriteConflict):
            await place.remove(held.flow_id, "0" * 64)
        await place.remove(held.flow_id, held.mark)
        with pytest.raises(FlowNotFound):
            await place.remove(held.flow_id, held.mark)


class TestRights:
    async def test_a_viewer_opens_no_workplace(self, parts: Parts) -> None:
        space = await add_space_row(parts.database, "Team")
        with pytest.raises(PermissionMissing) as refused:
            await open_place(parts, member(space, Role.VIEWER))
        assert "Editors" in refused.value.remedy
        assert (await open_place(parts, member(space, Role.EDITOR))).place.space_id == space

    async def test_a_space_that_is_not_there_for_them_is_not_found(self, parts: Parts) -> None:
        team, other = await add_space_row(parts.database, "Team"), await add_space_row(parts.database, "Other")
        with pytest.raises(SpaceNotFound):
            await open_place(parts, member(team, Role.EDITOR), other)

    async def test_another_tenants_flow_is_not_found(self, parts: Parts) -> None:
        held = await changed(await open_place(parts), "build_flow", None, spec=GREETING)
        tenant = await add_tenant_row(parts.database, "Others")
        space = await add_space_row(parts.database, "Theirs", tenant_id=tenant)
        place = await open_place(parts, member(space, Role.OWNER, tenant_id=tenant))
        with pytest.raises(FlowNotFound):
            await place.read(held.flow_id)
        refused = await wanted(place, "edit_flow", held, name="Mine now")
        assert isinstance(refused, dict)
        assert refused["code"] == "permission_missing"
        assert (await ask(place, "list_flows"))["flows"] == []
        assert "There is no flow" in str((await ask(place, "describe_flow", flow_id=held.flow_id))["error"])

    async def test_a_flow_that_they_may_only_look_at_is_not_written(self, parts: Parts) -> None:
        team, mine = await add_space_row(parts.database, "Team"), await add_space_row(parts.database, "Mine")
        held = await changed(await open_place(parts, space_id=team), "build_flow", None, spec=GREETING)
        access = Access(roles={team: Role.VIEWER, mine: Role.EDITOR})
        place = await open_place(parts, Principal(LOCAL.tenant_id, "", mine, access))
        assert "Greeting" in str(await ask(place, "describe_flow", flow_id=held.flow_id))
        with pytest.raises(PermissionMissing):
            await place.read(held.flow_id)
        with pytest.raises(PermissionMissing):
            await place.write(Change(held.definition, "x", "Mine", held.about), held, new_id())

    async def test_there_are_no_instances(self, parts: Parts) -> None:
        with pytest.raises(NoInstances):
            await domain_of(parts).open(LOCAL, "", "production")
        assert domain_of(parts).name == "headgate"
