"""Who sees, answers and works: as things are when a session goes on, not when it began."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from headgate.agents.codev.errors import SessionNotFound
from headgate.agents.codev.schemas import SessionStart
from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import LOCAL, Access, Actor, Principal
from headgate.features.accounts.tables import ApiKey, SpaceMember, User
from headgate.features.accounts.throttle import TooManyRequests
from headgate.features.audit.tables import AuditEvent
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from tests.support.codev_place import FakePlace
from tests.support.codev_script import calls, scripted
from tests.support.codev_sessions import SETS_HELLO, open_bench
from tests.support.tenants import add_member, add_person, add_tenant

SCOPES = frozenset({Permission.FLOWS_EDIT, Permission.FLOWS_VIEW})


@pytest.fixture
def place() -> FakePlace:
    return FakePlace(greeter="nothing")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """People sign in."""
    return settings.model_copy(update={"server": settings.server.model_copy(update={"auto_login": False})})


@pytest.fixture
async def editor(database: Database) -> Principal:
    """Somebody who edits flows of the first space."""
    access = Access(roles={LOCAL.space_id: Role.EDITOR})
    found = Principal(LOCAL.tenant_id, new_id(), LOCAL.space_id, access, Actor("user", "ann"))
    await add_person(database, found, name="ann")
    await add_member(database, found, LOCAL.space_id, Role.EDITOR)
    return found


async def keyed(database: Database, person: Principal, scopes: frozenset[Permission] = SCOPES) -> Principal:
    """The same person, with an API key."""
    key_id = new_id()
    async with database.writing() as session:
        session.add(
            ApiKey(
                id=key_id,
                tenant_id=person.tenant_id,
                user_id=person.user_id,
                name="ci",
                prefix=key_id[-12:],
                secret_hash=key_id,
                scopes=sorted(scopes),
            )
        )
    return replace(
        person, access=replace(person.access, scopes=scopes), actor=Actor("key", "ann", key_id=key_id, key_prefix="x")
    )


class TestWorking:
    async def test_is_done_as_whoever_told_it_something_last(
        self, settings: Settings, database: Database, place: FakePlace, editor: Principal
    ) -> None:
        owner = replace(editor, user_id=new_id(), access=Access(admin=True))
        await add_person(database, owner, name="olle")
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(owner, flow_id="greeter")
            await bench.answer(plan, editor, approved=True)
            opened = [principal for principal, _, _ in bench.domain.opened]
        assert [one.user_id for one in opened] == [owner.user_id, owner.user_id, editor.user_id]
        assert not opened[-1].access.admin

    async def test_ends_for_somebody_who_was_shut_out(
        self, settings: Settings, database: Database, place: FakePlace, editor: Principal
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(editor, flow_id="greeter")
            async with database.writing() as session:
                (await session.get_one(User, editor.user_id)).active = False
            failed = await bench.answer(plan, editor, approved=True)
        assert failed.status == "error"
        assert "on whose behalf this session runs, is deactivated" in failed.stop_reason
        assert place.written == []

    async def test_ends_for_somebody_who_may_not_edit_any_more(
        self, settings: Settings, database: Database, place: FakePlace, editor: Principal
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(editor, flow_id="greeter")
            async with database.writing() as session:
                query = select(SpaceMember).where(SpaceMember.user_id == editor.user_id)
                (await session.execute(query)).scalar_one().role = "viewer"
            failed = await bench.answer(plan, editor, approved=True)
        assert failed.status == "error"
        assert place.written == []

    @pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
    async def test_ends_for_somebody_who_is_shut_out_while_it_works(
        self,
        settings: Settings,
        database: Database,
        place: FakePlace,
        editor: Principal,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        script = scripted(patch=(calls("list_components"), *SETS_HELLO))
        async with open_bench(settings, database, place, script) as bench:
            plan = await bench.start(editor, flow_id="greeter")
            looked = place._list

            async def shut_out(arguments: dict[str, Any]) -> Any:
                async with database.writing() as session:
                    (await session.get_one(User, editor.user_id)).active = False
                return await looked(arguments)

            monkeypatch.setattr(place, "_list", shut_out)
            failed = await bench.answer(plan, editor, approved=True)
        assert (failed.status, place.written) == ("error", [])
        assert "on whose behalf this session runs, is deactivated" in failed.stop_reason

    @pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
    async def test_goes_on_with_less_when_less_is_allowed_while_it_works(
        self,
        settings: Settings,
        database: Database,
        place: FakePlace,
        editor: Principal,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        script = scripted(patch=(calls("list_components"), *SETS_HELLO))
        async with open_bench(settings, database, place, script) as bench:
            async with database.writing() as session:
                (await session.get_one(User, editor.user_id)).role = "admin"
            plan = await bench.start(editor, flow_id="greeter")
            looked = place._list

            async def lowered(arguments: dict[str, Any]) -> Any:
                async with database.writing() as session:
                    (await session.get_one(User, editor.user_id)).role = "member"
                return await looked(arguments)

            monkeypatch.setattr(place, "_list", lowered)
            review = await bench.answer(plan, editor, approved=True)
            opened = [principal.access.admin for principal, _, _ in bench.domain.opened]
        assert review.phase == "review", review.stop_reason
        assert opened[1:] == [True, True, False]  # begun, answered, taken up anew
        assert place.written == [("greeter", "hello")]

    async def test_with_a_key_has_the_scopes_of_the_key(
        self, settings: Settings, database: Database, place: FakePlace, editor: Principal
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            await bench.start(await keyed(database, editor), flow_id="greeter")
            worked = bench.domain.opened[-1][0]
        assert worked.access.scopes == SCOPES | {Permission.CATALOG_VIEW}, "who edits sees what there is to build with"
        assert worked.actor.kind == "key"
        assert not worked.may(Permission.RUNS_TEST, LOCAL.space_id)

    async def test_with_a_key_that_was_revoked_ends(
        self, settings: Settings, database: Database, place: FakePlace, editor: Principal
    ) -> None:
        robot = await keyed(database, editor)
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(robot, flow_id="greeter")
            async with database.writing() as session:
                (await session.get_one(ApiKey, robot.actor.key_id)).revoked_at = now()
            failed = await bench.answer(plan, robot, approved=True)
            assert (failed.status, place.written) == ("error", [])
            again = await bench.sessions.retry(editor, plan.thread_id)  # the person, without the key
            assert (await bench.rested(again.thread_id)).phase == "review"


class TestSeeing:
    async def test_is_for_people_of_the_space(
        self, settings: Settings, database: Database, place: FakePlace, editor: Principal
    ) -> None:
        other = await add_tenant(database)
        outside = replace(editor, user_id=new_id(), access=Access())
        viewer = replace(editor, user_id=new_id(), access=Access(roles={LOCAL.space_id: Role.VIEWER}))
        async with open_bench(settings, database, place) as bench:
            plan = await bench.start(editor, flow_id="greeter")
            for stranger in (other, outside):
                with pytest.raises(SessionNotFound):
                    await bench.sessions.get(stranger, plan.thread_id)
            assert (await bench.sessions.list(other)).items == []
            assert (await bench.sessions.get(viewer, plan.thread_id)).thread_id == plan.thread_id
            for forbidden in (bench.sessions.stop, bench.sessions.delete, bench.sessions.rollback):
                with pytest.raises(PermissionMissing):
                    await forbidden(viewer, plan.thread_id)

    async def test_is_by_pages(
        self, settings: Settings, database: Database, place: FakePlace, editor: Principal
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            begun = [(await bench.start(editor, flow_id="greeter")).thread_id for _ in range(3)]
            first = await bench.sessions.list(editor, limit=2)
            rest = await bench.sessions.list(editor, limit=2, before=first.next_cursor)
            none = await bench.sessions.list(editor, status="error")
        assert [one.thread_id for one in (*first.items, *rest.items)] == begun[::-1]
        assert (rest.next_cursor, none.items) == (None, [])
        assert first.items[0].state == {}


class TestStarting:
    async def test_is_counted_by_address(
        self, settings: Settings, database: Database, place: FakePlace, editor: Principal
    ) -> None:
        few = settings.model_copy(update={"codev": settings.codev.model_copy(update={"sessions_per_minute": 2})})
        wanted = SessionStart(requirement="x", domain="memory", flow_id="greeter")
        async with open_bench(few, database, place) as bench:
            for _ in range(2):
                await bench.sessions.start(editor, wanted, address="192.0.2.7")
            with pytest.raises(TooManyRequests) as refused:
                await bench.sessions.start(editor, wanted, address="192.0.2.7")
            assert refused.value.extra["retry_after_seconds"] == pytest.approx(60, abs=60)
            await bench.sessions.start(editor, wanted, address="192.0.2.8")

    async def test_is_written_down_with_all_that_follows(
        self, settings: Settings, database: Database, place: FakePlace, editor: Principal
    ) -> None:
        async with open_bench(settings, database, place) as bench:
            done = await bench.answer(
                await bench.answer(await bench.start(editor, flow_id="greeter"), editor, approved=True),
                editor,
                accepted=True,
            )
            await bench.sessions.rollback(editor, done.thread_id)
            await bench.sessions.delete(editor, done.thread_id)
        assert place.flows["greeter"].definition == {"answer": "nothing"}
        async with database.reading() as session:
            query = select(AuditEvent.action).where(AuditEvent.resource_id == done.thread_id).order_by(AuditEvent.seq)
            actions = list((await session.execute(query)).scalars().all())
        assert actions == [
            f"codev_session.{what}" for what in ("started", "answered", "answered", "rolled_back", "deleted")
        ]
