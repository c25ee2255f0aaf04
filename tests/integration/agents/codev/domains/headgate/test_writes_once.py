"""The real journal on our own flows: killed before or after a write, or with its answer lost, each is made once."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from headgate.agents.codev.domain import Change, Held
from headgate.agents.codev.domains.headgate.workplace import HeadgateWorkplace
from headgate.agents.codev.ports import Written
from headgate.agents.codev.tables import SessionRow
from headgate.agents.codev.writing.events import recording
from headgate.agents.codev.writing.journal import Journal
from headgate.agents.codev.writing.rollback import roll_back
from headgate.entrypoints.compose import Parts
from headgate.features.access.principal import LOCAL
from headgate.features.flows import service as flows
from headgate.features.flows.errors import FlowNotFound
from headgate.foundation.errors import Unavailable
from headgate.foundation.ids import new_id
from tests.support.own_place import GREETING, ask, open_place, tool

WARM = {"node_id": "words", "params": {"template": "A warm welcome, {text}!"}}


class Killed(BaseException):
    """The process ends here."""


@dataclass
class Brittle(HeadgateWorkplace):
    """Our own flows, with a write that ends as told before or after it is made."""

    before: list[BaseException] = field(default_factory=list)
    after: list[BaseException] = field(default_factory=list)

    async def write(self, change: Change, before: Held | None, token: str) -> Held:
        if self.before:
            raise self.before.pop()
        held = await super().write(change, before, token)
        if self.after:
            raise self.after.pop()
        return held


class Writer:
    """One session's calls, each in a separate process."""

    def __init__(self, parts: Parts, place: Brittle, session_id: str) -> None:
        self.parts, self.place, self.session_id = parts, place, session_id

    async def call(self, name: str, call_id: str, held: Held | None, arguments: dict[str, Any]) -> Written:
        record = recording(self.parts.database, self.session_id)
        journal = Journal(self.parts.database, self.parts.box, self.session_id, self.place, record)
        return await journal.execute(
            call_id,
            tool(self.place, name),
            arguments,
            flow_id=held.flow_id if held is not None else None,
            expected_mark=held.mark if held is not None else None,
            iteration=1,
        )

    async def build(self, call_id: str = "build") -> Held:
        written = await self.call("build_flow", call_id, None, {"spec": GREETING})
        assert written.held is not None, written
        return written.held

    async def count(self) -> int:
        return len((await ask(self.place, "list_flows"))["flows"])  # type: ignore[arg-type]

    async def roll_back(self) -> Held | None:
        (flow,) = await roll_back(self.parts.database, self.parts.box, self.session_id, self.place)
        return flow.target(None)


@pytest.fixture
async def writer(parts_on_both: Parts) -> Writer:
    session_id = new_id()
    async with parts_on_both.database.writing() as session:
        session.add(
            SessionRow(
                id=session_id,
                tenant_id=LOCAL.tenant_id,
                space_id=LOCAL.space_id,
                user_id=LOCAL.user_id,
                domain="headgate",
                requirement="Greet",
                status="in_progress",
                options={},
            )
        )
    whole = await open_place(parts_on_both)
    return Writer(parts_on_both, Brittle(whole.place, whole.known), session_id)


class TestMaking:
    @pytest.mark.parametrize("moment", ["before", "after"])
    async def test_is_done_once_when_the_process_is_killed(self, writer: Writer, moment: str) -> None:
        getattr(writer.place, moment).append(Killed())
        with pytest.raises(Killed):
            await writer.build()
        held = await writer.build()
        assert await writer.count() == 1
        assert (await writer.build()).mark == held.mark
        assert await writer.count() == 1

    @pytest.mark.parametrize("moment", ["before", "after"])
    async def test_is_done_once_when_the_answer_is_lost(self, writer: Writer, moment: str) -> None:
        getattr(writer.place, moment).append(Unavailable("The database went away."))
        await writer.build()
        assert await writer.count() == 1

    async def test_is_taken_back_by_deleting(self, writer: Writer) -> None:
        held = await writer.build()
        assert await writer.roll_back() is None
        with pytest.raises(FlowNotFound):
            await writer.place.read(held.flow_id)


class TestChanging:
    @pytest.mark.parametrize("moment", ["before", "after"])
    async def test_is_done_once_when_the_process_is_killed(self, writer: Writer, moment: str) -> None:
        held = await writer.build()
        getattr(writer.place, moment).append(Killed())
        with pytest.raises(Killed):
            await writer.call("configure_component", "warm", held, WARM)
        written = await writer.call("configure_component", "warm", held, WARM)
        assert written.held is not None
        found = await writer.place.read(held.flow_id)
        assert (found.mark, found.about["revision"]) == (written.held.mark, 2)

    @pytest.mark.parametrize("moment", ["before", "after"])
    async def test_a_persons_change_after_the_kill_is_kept(self, writer: Writer, moment: str) -> None:
        held = await writer.build()
        getattr(writer.place, moment).append(Killed())
        with pytest.raises(Killed):
            await writer.call("configure_component", "warm", held, WARM)
        await _described(writer.parts, held, "Mine")
        written = await writer.call("configure_component", "warm", held, WARM)
        assert written.conflict is not None
        found = await writer.place.read(held.flow_id)
        assert found.definition["description"] == "Mine"

    @pytest.mark.parametrize("moment", ["before", "after"])
    async def test_an_extracted_flow_is_made_once_with_the_flow_that_runs_it(self, writer: Writer, moment: str) -> None:
        held = await writer.build()
        arguments = {"node_ids": ["words"], "name": "Words", "repeat": "each"}
        getattr(writer.place, moment).append(Killed())
        with pytest.raises(Killed):
            await writer.call("extract_flow", "out", held, arguments)
        assert await writer.count() == (1 if moment == "before" else 2)
        written = await writer.call("extract_flow", "out", held, arguments)
        assert written.held is not None, written
        assert await writer.count() == 2
        after = await writer.place.read(held.flow_id)
        (each,) = [node for node in after.definition["nodes"] if node["type"] == "ForEach"]  # type: ignore[union-attr, index, call-overload]
        assert written.answer["extracted_flow_id"] == each["params"]["flow"]  # type: ignore[index, call-overload]
        assert "runs the flow 'Words' for each item" in str(written.answer["repeats"])
        assert "publishes the new flow" in str(written.answer["note"])
        words = await writer.place.read(str(written.answer["extracted_flow_id"]))
        assert words.name == "Words"

    async def test_is_taken_back_as_it_was(self, writer: Writer) -> None:
        held = await writer.build()
        other = Writer(writer.parts, writer.place, await _another_session(writer))
        changed = await other.call("configure_component", "warm", held, WARM)
        assert changed.held is not None
        renamed = await other.call("edit_flow", "name", changed.held, {"name": "Welcome"})
        assert renamed.held is not None
        assert (await other.roll_back()) is not None
        found = await writer.place.read(held.flow_id)
        assert (found.mark, found.name) == (held.mark, "Greeting")


async def _another_session(writer: Writer) -> str:
    async with writer.parts.database.writing() as session:
        row = await session.get_one(SessionRow, writer.session_id)
        session.add(
            SessionRow(
                id=(found := new_id()),
                tenant_id=row.tenant_id,
                space_id=row.space_id,
                user_id=row.user_id,
                domain="headgate",
                requirement="Warmer",
                status="in_progress",
                options={},
            )
        )
    return found


async def _described(parts: Parts, held: Held, description: str) -> None:
    async with parts.database.writing() as session:
        row = await flows.get_flow(session, LOCAL, held.flow_id)
        definition = flows.definition_of(row).model_copy(update={"description": description})
        await flows.save_draft(
            session, LOCAL, parts.registry, held.flow_id, revision=row.revision, definition=definition
        )
