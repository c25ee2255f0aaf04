"""Flows by name, for people who do not see every space, on both databases."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event

from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, LOCAL, Access, Principal
from headgate.features.flows import history, service, versions
from headgate.features.flows.errors import AmbiguousFlow, FlowNotFound
from headgate.foundation.database import Database
from tests.integration.features.flows.test_flows import FLOW, REGISTRY
from tests.support.people import add_space_row


async def person(database: Database, name: str) -> Principal:
    """Somebody who edits flows in a space of their own."""
    space_id = await add_space_row(database, name)
    return replace(LOCAL, space_id=space_id, access=Access(roles={space_id: Role.EDITOR}))


async def create(database: Database, principal: Principal, name: str) -> str:
    async with database.writing() as session:
        definition = FLOW.model_copy(update={"name": name})
        return (await service.create_flow(session, principal, REGISTRY, definition=definition)).id


class TestNames:
    async def test_mean_the_flow_that_one_sees(self, database: Database) -> None:
        ann, ben = await person(database, "Ann's"), await person(database, "Ben's")
        of_ann, of_ben = await create(database, ann, "Talk"), await create(database, ben, "Talk")
        async with database.reading() as session:
            assert (await service.get_flow_named(session, ann, "talk")).id == of_ann
            assert (await service.get_flow_named(session, ben, "Talk")).id == of_ben
            with pytest.raises(AmbiguousFlow) as caught:
                await service.get_flow_named(session, LOCAL, "Talk")
        assert set(caught.value.extra["flows"]) == {of_ann, of_ben}  # type: ignore[arg-type]

    async def test_of_other_spaces_are_not_there(self, database: Database) -> None:
        ann, ben = await person(database, "Ann's"), await person(database, "Ben's")
        flow_id = await create(database, ben, "Secret plan")
        async with database.reading() as session:
            with pytest.raises(FlowNotFound) as caught:
                await service.get_flow_named(session, ann, "Secret plan")
            assert flow_id not in str(caught.value)
            assert await service.names_of(session, ann, [flow_id]) == {}
            assert await service.names_of(session, ben, [flow_id]) == {flow_id: "Secret plan"}
            assert await service.list_flows(session, ann, search="secret") == []

    async def test_are_not_there_for_who_is_in_no_space(self, database: Database) -> None:
        await create(database, LOCAL, "Talk")
        nobody = Principal(DEFAULT_TENANT_ID, LOCAL.user_id, "", Access())
        async with database.reading() as session:
            assert await service.list_flows(session, nobody) == []
            with pytest.raises(FlowNotFound):
                await service.get_flow_named(session, nobody, "Talk")

    async def test_of_a_key_are_those_of_its_spaces(self, database: Database) -> None:
        ann = await person(database, "Ann's")
        here, there = await create(database, LOCAL, "Talk"), await create(database, ann, "Talk")
        admin = replace(LOCAL, access=Access(admin=True, spaces=frozenset({ann.space_id})))
        async with database.reading() as session:
            assert [row.id for row in await service.list_flows(session, admin)] == [there]
            assert (await service.get_flow_named(session, admin, "Talk")).id == there
            with pytest.raises(FlowNotFound):
                await service.get_flow(session, admin, here)
            assert {row.space_id for row in await service.list_flows(session, LOCAL)} == {
                DEFAULT_SPACE_ID,
                ann.space_id,
            }


class TestCost:
    async def test_is_one_query_whoever_asks(self, database: Database) -> None:
        """Deciding by role takes nothing from the database that was not read before."""
        ann = await person(database, "Ann's")
        flow_id = await create(database, ann, "Talk")
        await versions.pin_version(database, ann, REGISTRY, flow_id, wanted="draft")
        for who in (LOCAL, ann):
            for work in (
                lambda session, who=who: service.get_flow(session, who, flow_id),
                lambda session, who=who: service.list_flows(session, who),
                lambda session, who=who: service.get_flow_named(session, who, "Talk"),
                lambda session, who=who: history.get_version(session, who, flow_id, 1),
            ):
                with statements(database) as sent:
                    async with database.reading() as session:
                        await work(session)
                assert len(sent) == 1, sent
            with statements(database) as sent:
                await versions.pin_version(database, who, REGISTRY, flow_id, wanted="draft")
            assert len(sent) == 1, sent


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """Every SELECT that is sent meanwhile."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if statement.lstrip().upper().startswith("SELECT"):
            sent.append(statement)

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(database.engine.sync_engine, "before_cursor_execute", note)
