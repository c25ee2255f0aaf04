"""The journal: each write once, with a snapshot, whatever happens to the answer."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from headgate.agents.codev.domain import Change, Held
from headgate.agents.codev.errors import LeaseLost, NothingToRollBack, RollbackConflict
from headgate.agents.codev.ports import Written
from headgate.agents.codev.schemas import RollbackPreview
from headgate.agents.codev.sessions.repository import mine
from headgate.agents.codev.sessions.rollbacks import preview_of
from headgate.agents.codev.tables import EventRow, SessionRow, WriteRow
from headgate.agents.codev.writing.events import recording
from headgate.agents.codev.writing.journal import Journal
from headgate.agents.codev.writing.rollback import Choice, read_rollback, roll_back
from headgate.features.access.principal import LOCAL
from headgate.features.accounts.tables import Space
from headgate.features.jobs.queue import Job
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid, UpstreamFailed
from headgate.foundation.ids import new_id
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import Settings
from tests.support.codev_place import FakePlace

SECRET = "sk-in-the-flow-itself"


class Killed(BaseException):
    """The process ends here."""


class Trouble(FakePlace):
    """A place whose writes may fail before or after they are made."""

    def __init__(self, **flows: str) -> None:
        super().__init__(**flows)
        self.before: list[BaseException] = []
        self.after: list[BaseException] = []
        self.tokens: list[str] = []

    async def write(self, change: Change, before: Held | None, token: str) -> Held:
        self.tokens.append(token)
        if self.before:
            raise self.before.pop()
        held = await super().write(change, before, token)
        if self.after:
            raise self.after.pop()
        return held


class Writer:
    """Calls tools of a place through a journal, as one session."""

    def __init__(self, database: Database, box: SecretBox, place: Trouble, session_id: str) -> None:
        self.database, self.box, self.place, self.session_id = database, box, place, session_id

    @property
    def journal(self) -> Journal:
        """A journal as a process that just began has it."""
        record = recording(self.database, self.session_id)
        return Journal(self.database, self.box, self.session_id, self.place, record)

    async def call(
        self, answer: str, call_id: str = "1", tool: str = "set_answer", flow_id: str | None = "greeter", **more: Any
    ) -> Written:
        found = next(one for one in self.place.tools if one.name == tool)
        given = {"expected_mark": None, "iteration": 1} | more
        return await self.journal.execute(call_id, found, {"answer": answer}, flow_id=flow_id, **given)

    async def back(self, choice: Choice | None = None, token: str | None = None) -> Held | None:
        (flow,) = await roll_back(self.database, self.box, self.session_id, self.place, choice=choice, token=token)
        return flow.target(choice)

    async def preview(self) -> RollbackPreview:
        return preview_of(await read_rollback(self.database, self.box, self.session_id, self.place), self.place)

    async def rows(self) -> list[WriteRow]:
        async with self.database.reading() as session:
            return list((await session.execute(select(WriteRow).order_by(WriteRow.number))).scalars().all())

    async def events(self) -> list[tuple[str, dict[str, Any]]]:
        async with self.database.reading() as session:
            rows = (await session.execute(select(EventRow).order_by(EventRow.number))).scalars()
            return [(row.kind, row.data) for row in rows]

    @property
    def now(self) -> str:
        """What the flow answers."""
        return str(self.place.flows["greeter"].definition["answer"])


@pytest.fixture
async def writer(settings: Settings, database: Database) -> Writer:
    session_id = new_id()
    async with database.writing() as session:
        assert await session.get(Space, LOCAL.space_id) is not None
        session.add(
            SessionRow(
                id=session_id,
                tenant_id=LOCAL.tenant_id,
                space_id=LOCAL.space_id,
                user_id=LOCAL.user_id,
                domain="memory",
                requirement="x",
                status="in_progress",
                options={},
            )
        )
    return Writer(database, SecretBox(new_ring(settings)), Trouble(greeter="first"), session_id)


class TestAWrite:
    async def test_is_made_once_however_often_it_is_asked_for(self, writer: Writer) -> None:
        first = await writer.call("hello")
        again = await writer.call("hello")
        assert writer.place.written == [("greeter", "hello")]
        assert first.answer == again.answer
        assert again.held is not None
        assert again.held.mark == writer.place.flows["greeter"].mark
        assert [kind for kind, _ in await writer.events()] == ["write"]

    async def test_that_was_made_before_the_process_died_is_not_made_again(self, writer: Writer) -> None:
        writer.place.after = [Killed()]
        with pytest.raises(Killed):
            await writer.call("hello")
        assert (await writer.rows())[0].state == "intended"
        written = await writer.call("hello")
        assert written.answer["ok"]
        assert writer.place.written == [("greeter", "hello")]
        assert (await writer.rows())[0].state == "done"

    async def test_that_was_not_made_before_the_process_died_is_made_under_the_same_token(self, writer: Writer) -> None:
        writer.place.before = [Killed()]
        with pytest.raises(Killed):
            await writer.call("hello")
        await writer.call("hello")
        assert writer.place.written == [("greeter", "hello")]
        assert len(set(writer.place.tokens)) == 1

    async def test_of_a_new_flow_is_found_by_its_token(self, writer: Writer) -> None:
        writer.place.after = [Killed()]
        with pytest.raises(Killed):
            await writer.call("hello", tool="make_flow", flow_id=None)
        written = await writer.call("hello", tool="make_flow", flow_id=None)
        assert written.answer["flow_id"] == "flow-1"
        assert writer.place.written == [("flow-1", "hello")]

    async def test_whose_answer_failed_is_looked_up_at_once(self, writer: Writer) -> None:
        writer.place.after = [UpstreamFailed("Saved, and then 500.")]
        assert (await writer.call("hello")).answer["ok"]
        assert writer.place.written == [("greeter", "hello")]

    async def test_that_did_not_arrive_is_tried_once_more(self, writer: Writer) -> None:
        writer.place.before = [UpstreamFailed("502")]
        assert (await writer.call("hello")).answer["ok"]
        assert len(writer.place.tokens) == 2

    async def test_that_never_arrives_stays_open_and_is_made_later(self, writer: Writer) -> None:
        writer.place.before = [UpstreamFailed("502"), UpstreamFailed("502")]
        with pytest.raises(UpstreamFailed):
            await writer.call("hello")
        assert (await writer.call("hello")).answer["ok"]
        assert writer.place.written == [("greeter", "hello")]

    async def test_that_the_place_refuses_is_told_and_stays_refused(self, writer: Writer) -> None:
        writer.place.before = [Invalid("The name is taken.", remedy="Use another.")]
        refused = await writer.call("hello")
        assert refused.answer == {"ok": False, "error": "The name is taken.", "remedy": "Use another."}
        assert (await writer.call("hello")).answer == refused.answer
        assert writer.place.written == []

    async def test_with_faults_is_not_begun(self, writer: Writer) -> None:
        refused = await writer.call("")
        assert refused.answer["faults"] == ["answer: It is empty. Write one."]
        assert await writer.rows() == []

    async def test_that_changes_nothing_writes_nothing(self, writer: Writer) -> None:
        same = await writer.call("first")
        assert (same.answer["ok"], same.answer["changed"], writer.place.written) == (True, [], [])

    async def test_is_finished_when_its_session_is_stopped(
        self, writer: Writer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reached, go_on = asyncio.Event(), asyncio.Event()
        write = writer.place.write

        async def slow(*given: Any) -> Held:
            reached.set()
            await go_on.wait()
            return await write(*given)

        monkeypatch.setattr(writer.place, "write", slow)
        task = asyncio.create_task(writer.call("hello"))
        await reached.wait()
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await writer.rows())[0].state == "done"

    async def test_is_not_made_for_a_process_that_lost_the_session(self, writer: Writer) -> None:
        tool = writer.place.tools[-1]
        journal = replace(writer.journal, mine=mine(Job(writer.session_id, 1, "somebody else", None)))
        with pytest.raises(LeaseLost):
            await journal.execute("1", tool, {"answer": "hello"}, flow_id="greeter", expected_mark=None, iteration=1)
        assert writer.place.written == []

    async def test_that_another_process_made_just_now_is_no_conflict(self, writer: Writer) -> None:
        writer.place.meanwhile.append(lambda: writer.place.somebody_writes("greeter", "hello"))
        written = await writer.call("hello")
        assert (written.conflict, written.answer["ok"]) == (None, True)
        assert (await writer.rows())[0].state == "done"

    async def test_stays_made_whatever_a_process_that_slept_finds_later(
        self, writer: Writer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write, reached, go_on = writer.place.write, asyncio.Event(), asyncio.Event()

        async def slow(*given: Any) -> Held:
            monkeypatch.setattr(writer.place, "write", write)
            reached.set()
            await go_on.wait()
            return await write(*given)

        monkeypatch.setattr(writer.place, "write", slow)
        asleep = asyncio.create_task(writer.call("hello"))
        await reached.wait()
        first = await writer.call("hello")  # the process that took the session up
        await writer.call("more", call_id="2")
        go_on.set()
        assert (await asleep).answer == first.answer
        assert [row.state for row in await writer.rows()] == ["done", "done"]
        await writer.back()
        assert writer.now == "first"

    async def test_keeps_no_flow_in_the_clear(self, writer: Writer) -> None:
        writer.place.somebody_writes("greeter", SECRET)
        await writer.call(f"{SECRET} too")
        row = (await writer.rows())[0]
        assert row.before is not None
        assert SECRET not in row.before + row.change

    async def test_of_a_call_with_a_name_of_any_length_is_known_again(self, writer: Writer) -> None:
        for _ in range(2):
            await writer.call("hello", call_id="x" * 5_000)
        assert writer.place.written == [("greeter", "hello")]


class TestSomebodyElse:
    async def test_who_wrote_since_the_session_looked_keeps_their_flow(self, writer: Writer) -> None:
        first = await writer.call("hello")
        assert first.held is not None
        writer.place.somebody_writes("greeter", "theirs")
        refused = await writer.call("mine", call_id="2", expected_mark=first.held.mark)
        assert refused.conflict is not None
        assert refused.conflict["lines"] == ["- answer: hello", "+ answer: theirs"]
        assert writer.now == "theirs"

    async def test_who_writes_in_the_last_moment_keeps_theirs_too(self, writer: Writer) -> None:
        writer.place.meanwhile.append(lambda: writer.place.somebody_writes("greeter", "theirs"))
        for _ in range(2):  # asked again it is the same
            assert (await writer.call("mine")).conflict is not None
        assert writer.now == "theirs"

    async def test_who_wrote_while_nobody_knew_whether_it_was_written_keeps_theirs(self, writer: Writer) -> None:
        writer.place.before = [Killed()]
        with pytest.raises(Killed):
            await writer.call("mine")
        writer.place.somebody_writes("greeter", "theirs")
        assert (await writer.call("mine")).conflict is not None
        assert writer.now == "theirs"

    async def test_who_deleted_the_flow_is_told_of(self, writer: Writer) -> None:
        del writer.place.flows["greeter"]
        assert (await writer.call("mine")).conflict is not None


class TestRollback:
    async def test_makes_the_flow_what_it_was_before_the_first_write(self, writer: Writer) -> None:
        await writer.call("second", call_id="1")
        await writer.call("third", call_id="2")
        held = await writer.back()
        assert held is not None
        assert writer.now == "first"
        assert [row.state for row in await writer.rows()] == ["rolled_back"] * 3
        with pytest.raises(NothingToRollBack):
            await writer.back()

    async def test_removes_a_flow_that_the_session_made(self, writer: Writer) -> None:
        made = await writer.call("hello", tool="make_flow", flow_id=None)
        assert made.held is not None
        await writer.call("more", call_id="2", flow_id=made.held.flow_id)
        assert await writer.back() is None
        assert set(writer.place.flows) == {"greeter"}

    async def test_lets_the_session_make_its_flow_anew(self, writer: Writer) -> None:
        await writer.call("hello", tool="make_flow", flow_id=None)
        await writer.back()
        again = await writer.call("anew", call_id="2", tool="make_flow", flow_id="flow-1", expected_mark="old")
        assert again.answer["ok"]

    async def test_touches_nothing_that_somebody_else_changed(self, writer: Writer) -> None:
        await writer.call("second")
        writer.place.somebody_writes("greeter", "theirs")
        with pytest.raises(RollbackConflict, match="Greeter") as refused:
            await writer.back()
        assert "keep_theirs or take_mine" in refused.value.remedy
        assert writer.now == "theirs"
        assert [row.state for row in await writer.rows()] == ["done"]

    async def test_shows_before_what_it_would_change(self, writer: Writer) -> None:
        await writer.call("second", call_id="1")
        (flow,) = (await writer.preview()).flows
        assert (flow.conflict, flow.theirs, flow.outcome) == (False, [], "restored")
        assert flow.changes == ["- answer: second", "+ answer: first"]
        assert (writer.now, writer.place.written) == ("second", [("greeter", "second")])

    async def test_shows_what_others_changed_and_what_each_answer_does(self, writer: Writer) -> None:
        await writer.call("second")
        writer.place.somebody_writes("greeter", "theirs")
        preview = await writer.preview()
        (flow,) = preview.flows
        assert (preview.conflict, flow.theirs) == (True, ["- answer: second", "+ answer: theirs"])
        assert (flow.outcome, flow.changes) == ("restored", ["- answer: theirs", "+ answer: first"])
        assert (flow.outcome_keeping, flow.changes_keeping) == ("unchanged", [])

    async def test_takes_mine_over_what_others_changed(self, writer: Writer) -> None:
        await writer.call("second")
        writer.place.somebody_writes("greeter", "theirs")
        await writer.back("take_mine", (await writer.preview()).token)
        assert writer.now == "first"

    async def test_keeps_theirs_and_is_then_settled(self, writer: Writer) -> None:
        await writer.call("second")
        writer.place.somebody_writes("greeter", "theirs")
        await writer.back("keep_theirs", (await writer.preview()).token)
        assert writer.now == "theirs"
        assert [row.state for row in await writer.rows()] == ["kept", "rolled_back"]
        with pytest.raises(NothingToRollBack):
            await writer.back()

    async def test_is_all_or_refused_where_others_changed_the_flow_between_two_writes(self, writer: Writer) -> None:
        await writer.call("second", call_id="1")
        writer.place.somebody_writes("greeter", "theirs")
        await writer.call("third", call_id="2")
        with pytest.raises(RollbackConflict):
            await writer.back()
        assert writer.now == "third"
        await writer.back("keep_theirs", (await writer.preview()).token)
        assert writer.now == "theirs"
        assert [row.state for row in await writer.rows()] == ["kept", "rolled_back", "rolled_back"]

    async def test_does_nothing_where_the_flow_is_another_than_was_shown(self, writer: Writer) -> None:
        await writer.call("second")
        writer.place.somebody_writes("greeter", "theirs")
        token = (await writer.preview()).token
        writer.place.somebody_writes("greeter", "theirs again")
        with pytest.raises(RollbackConflict, match="since the preview"):
            await writer.back("take_mine", token)
        assert writer.now == "theirs again"

    @pytest.mark.parametrize("trouble", ["before", "after"])
    async def test_that_was_killed_is_finished_by_the_next(self, writer: Writer, trouble: str) -> None:
        await writer.call("second")
        setattr(writer.place, trouble, [Killed()])
        with pytest.raises(Killed):
            await writer.back()
        await writer.back()
        assert writer.now == "first"
        assert writer.place.written == [("greeter", "second"), ("greeter", "first")]

    async def test_first_finds_out_what_became_of_an_open_write(self, writer: Writer) -> None:
        writer.place.after = [Killed()]
        with pytest.raises(Killed):
            await writer.call("second")
        await writer.back()
        assert writer.now == "first"

    async def test_never_makes_an_open_write_that_was_not_made(self, writer: Writer) -> None:
        writer.place.before = [Killed()]
        with pytest.raises(Killed):
            await writer.call("second")
        with pytest.raises(NothingToRollBack):
            await writer.back()
        assert writer.place.written == []
        assert (await writer.rows())[0].state == "refused"
        assert "was not written" in str((await writer.call("second")).answer["error"])

    async def test_that_two_ask_for_is_made_once(self, writer: Writer) -> None:
        await writer.call("second")
        found = await asyncio.gather(writer.back(), writer.back(), return_exceptions=True)
        assert any(isinstance(one, Held) for one in found)
        assert writer.now == "first"
