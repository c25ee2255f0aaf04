"""Runs the writes of tools: once each, with a snapshot, whatever process dies (DD-018, DD-026).

A write is written down before it is made and again when it was made. One that was written down and whose end is not
known is looked up in its place: by the flow's mark, or by the token for a flow that was to be made. No connection of
the database is held while a place is asked.
"""

import asyncio
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue
from sqlalchemy import ColumnElement
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.domain import Answer, Change, DomainTool, Fault, Held, Workplace, mark_of
from headgate.agents.codev.errors import LeaseLost, WriteConflict
from headgate.agents.codev.ports import WriteNote, Written
from headgate.agents.codev.state import Conflicted
from headgate.agents.codev.tables import WriteRow
from headgate.agents.codev.writing import repository
from headgate.agents.codev.writing.events import Event, Record
from headgate.agents.codev.writing.placing import MOST_LINES, UNKNOWN, find_placed, placed
from headgate.agents.codev.writing.repository import DONE, INTENDED, KEPT, REFUSED, ROLLED_BACK
from headgate.agents.codev.writing.snapshots import open_change, open_held, seal_change, seal_held
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, now
from headgate.foundation.errors import HeadgateError, NotFound
from headgate.foundation.ids import new_id

LONGEST_KEY = 200
_NEVER_MADE: Answer = {
    "ok": False,
    "error": "This was not written before the session was rolled back.",
    "remedy": "Make the change again if it is still needed.",
}


@dataclass(frozen=True, slots=True)
class Intent:
    """A write as it is written down."""

    id: str
    number: int
    tool: str
    change: Change
    before: Held | None
    after_mark: str


@dataclass(slots=True)
class Journal:
    """The writes of one session, in one place. See `ports.WriteJournal`."""

    database: Database
    box: SecretBox
    session_id: str
    workplace: Workplace
    record: Record
    """Writes down what became of a write together with its event, so that no kill leaves one without the other."""
    mine: ColumnElement[bool] | None = None
    """The condition that the session is worked on by its holder, who writes only then. None: not checked."""

    async def execute(
        self,
        call_id: str,
        tool: DomainTool,
        arguments: dict[str, Any],
        *,
        flow_id: str | None,
        expected_mark: str | None,
        iteration: int,
    ) -> Written:
        """Run a call, or return its outcome. Raises what the place raises when the outcome is not known."""
        key = call_key(self.session_id, call_id)
        async with self.database.reading() as session:
            row = await repository.find_write(session, key)
        if row is not None:
            return await self._again(row)
        if tool.change is None:
            raise ValueError(f"{tool.name} writes nothing")
        held, conflict = await self._as_it_is(flow_id, expected_mark)
        if conflict is not None:
            return _conflicting(conflict)
        change = await tool.change(held, arguments)
        if isinstance(change, dict):
            return Written(change)
        refusal = _refusal(self.workplace.preflight(change))
        if refusal is not None:
            return Written(refusal)
        if held is not None and _changes_nothing(change, held):
            return Written(change.answer | {"ok": True, "flow_id": held.flow_id, "changed": []}, held)
        try:
            intent = await self._intend(key, tool.name, change, held, iteration)
        except IntegrityError:  # another process is at the same call: what it wrote down counts
            return await self.execute(
                call_id, tool, arguments, flow_id=flow_id, expected_mark=expected_mark, iteration=iteration
            )
        return await self._finish(intent)

    async def settle(self) -> None:
        """Find out what became of every write whose end is not known; none is made. Raises when a place cannot say."""
        async with self.database.reading() as session:
            rows = await repository.list_writes(session, self.session_id, INTENDED)
        for row in rows:
            if row.tool != repository.ROLLBACK:
                await self._settle(self._intent_of(row))

    async def _settle(self, intent: Intent) -> None:
        """Record whether a write was made whose process is gone."""
        try:
            after = await find_placed(self.workplace, intent.change, intent.before, intent.id, intent.after_mark)
        except (WriteConflict, NotFound) as error:
            await self._refused(intent, Conflicted(message=error.detail, lines=[]))
            return
        if after is not None:
            await self._done(intent, after)
        else:
            await self._refused(intent, _NEVER_MADE)

    async def notes(self) -> Sequence[WriteNote]:
        """What the session wrote until now, the first first."""
        async with self.database.reading() as session:
            rows = await repository.list_notes(session, self.session_id)
        return [WriteNote(row.number, row.tool, row.summary, row.state, row.iteration) for row in rows]

    async def beginning(self) -> Held | None:
        """The flow as it was before the session's first write to it; None where it made it or wrote nothing."""
        async with self.database.reading() as session:
            rows = await repository.list_writes(session, self.session_id, DONE)
        first = next((row for row in rows if row.tool != repository.ROLLBACK), None)
        return open_held(self.box, first.before) if first is not None and first.before else None

    async def _as_it_is(self, flow_id: str | None, expected_mark: str | None) -> tuple[Held | None, Conflicted | None]:
        """The flow now, and why it may not be written to."""
        if flow_id is None:
            return None, None
        async with self.database.reading() as session:
            rows = await repository.list_writes(session, self.session_id)
        try:
            held = await self.workplace.read(flow_id)
        except NotFound:
            if _was_rolled_back(rows, flow_id):
                return None, None
            return None, Conflicted(message=f"The flow {flow_id} no longer exists.", lines=[])
        if expected_mark is None or held.mark == expected_mark:
            return held, None
        lines = self._changed_by_others(rows, held, expected_mark)
        return None, Conflicted(message=f"'{held.name}' was changed by another user.", lines=lines)

    def _changed_by_others(self, rows: Sequence[WriteRow], held: Held, expected_mark: str) -> list[str]:
        """What they changed, where the flow as the session knew it is kept."""
        for row in reversed(rows):
            if row.after_mark == expected_mark and row.state == DONE:
                return self.workplace.compare(open_change(self.box, row.change).definition, held.definition)[
                    :MOST_LINES
                ]
        return []

    async def _intend(self, key: str, tool: str, change: Change, held: Held | None, iteration: int) -> Intent:
        async with self.database.writing() as session:
            if self.mine is not None and not await repository.is_owned(session, self.session_id, self.mine):
                raise LeaseLost
            number = await repository.next_number(session, self.session_id)
            intent = Intent(new_id(), number, tool, change, held, mark_of(change.definition))
            session.add(
                WriteRow(
                    id=intent.id,
                    session_id=self.session_id,
                    call_key=key,
                    number=number,
                    state=INTENDED,
                    iteration=iteration,
                    tool=tool,
                    summary=change.summary,
                    flow_id=held.flow_id if held is not None else None,
                    before=seal_held(self.box, held) if held is not None else None,
                    change=seal_change(self.box, change),
                    after_mark=intent.after_mark,
                    at=now(),
                )
            )
            await session.flush()
        return intent

    async def _again(self, row: WriteRow) -> Written:
        """What became of a call that was made before; made again only where the place says that it was not."""
        change = open_change(self.box, row.change)
        if row.state in (DONE, KEPT):
            made = Held(row.flow_id or "", change.name, change.definition, row.after_mark or "", change.about)
            return Written(row.answer or {}, made)
        if row.state == ROLLED_BACK:
            return Written({"error": "This was rolled back.", "remedy": "Read the flow before changing it again."})
        if row.state == REFUSED:
            return _stored(row.answer or {})
        return await self._finish(self._intent_of(row), known=False)

    def _intent_of(self, row: WriteRow) -> Intent:
        change = open_change(self.box, row.change)
        before = open_held(self.box, row.before) if row.before else None
        return Intent(row.id, row.number, row.tool, change, before, row.after_mark or mark_of(change.definition))

    async def _finish(self, intent: Intent, *, known: bool = True) -> Written:
        """Run a recorded write, and record its outcome. Cancelling waits for its end.

        Args:
            intent: The write.
            known: Whether it was certainly not made before.
        """
        task = asyncio.ensure_future(self._made(intent, known=known))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise

    async def _made(self, intent: Intent, *, known: bool) -> Written:
        try:
            after = await placed(
                self.workplace, intent.change, intent.before, intent.id, intent.after_mark, known=known
            )
        except WriteConflict as error:
            return await self._refused(intent, Conflicted(message=error.detail, lines=[]))
        except NotFound as error:
            return await self._refused(intent, Conflicted(message=error.detail, lines=[]))
        except HeadgateError as error:
            if error.status in UNKNOWN:
                raise
            return await self._refused(intent, {"ok": False, "error": error.detail, "remedy": error.remedy})
        return await self._done(intent, after)

    async def _done(self, intent: Intent, after: Held) -> Written:
        before = intent.before.definition if intent.before is not None else None
        changed = _shown(self.workplace.compare(before, intent.change.definition))
        answer: Answer = intent.change.answer | {"ok": True, "flow_id": after.flow_id, "changed": changed}
        noted = {"state": DONE, "flow_id": after.flow_id, "after_mark": after.mark, "answer": answer}
        try:
            async with self.record(_event(intent, DONE, after.flow_id)) as session:
                await _note(session, intent, (INTENDED, REFUSED, DONE), noted)
                await repository.note_flow(session, self.session_id, flow_id=after.flow_id, name=after.name)
        except _NotedByAnotherError:
            return await self._as_noted(intent)
        return Written(answer, after)

    async def _refused(self, intent: Intent, why: "Conflicted | Answer") -> Written:
        """Nothing was written. A conflict is kept so that it is the same when it is asked for again."""
        conflict = _as_conflict(why)
        answer: Answer = {"ok": False, "conflict": dict(conflict)} if conflict is not None else dict(why)  # type: ignore[arg-type]
        flow_id = intent.before.flow_id if intent.before is not None else ""
        try:
            async with self.record(_event(intent, REFUSED, flow_id)) as session:
                await _note(session, intent, (INTENDED,), {"state": REFUSED, "answer": answer})
        except _NotedByAnotherError:
            return await self._as_noted(intent)
        return _stored(answer)

    async def _as_noted(self, intent: Intent) -> Written:
        """What another process, which took the session up meanwhile, found out about the same write."""
        async with self.database.reading() as session:
            row = await session.get(WriteRow, intent.id)
        if row is None or row.state == INTENDED:
            raise LeaseLost
        return await self._again(row)


class _NotedByAnotherError(Exception):
    """Another process found out about the same write first; nothing is added to what it wrote down."""


async def _note(session: AsyncSession, intent: Intent, was: Collection[str], values: dict[str, Any]) -> None:
    if not await repository.change_write(session, intent.id, was=was, **values):
        raise _NotedByAnotherError


def _event(intent: Intent, state: str, flow_id: str) -> Event:
    about = {"number": intent.number, "tool": intent.tool, "summary": intent.change.summary}
    return "write", about | {"flow_id": flow_id, "state": state}


def call_key(session_id: str, call_id: str) -> str:
    """Names a call for good. Ids are the model's, so they may be of any length."""
    key = f"{session_id}:{call_id}"
    if len(key) <= LONGEST_KEY:
        return key
    return f"{session_id}:{hashlib.sha256(call_id.encode()).hexdigest()}"


def _as_conflict(why: "Conflicted | Answer") -> Conflicted | None:
    lines = why.get("lines")
    if "message" not in why or not isinstance(lines, list):
        return None
    return Conflicted(message=str(why["message"]), lines=[str(line) for line in lines])


def _stored(answer: Answer) -> Written:
    why = answer.get("conflict")
    conflict = _as_conflict(why) if isinstance(why, dict) else None
    return Written(answer) if conflict is None else _conflicting(conflict)


def _conflicting(conflict: Conflicted) -> Written:
    remedy = "Nothing was written. The flow is read again, and a new plan is asked for."
    return Written({"ok": False, "error": conflict["message"], "remedy": remedy}, conflict=conflict)


def _refusal(faults: Sequence[Fault]) -> Answer | None:
    """The answer to the model for an invalid change: every problem at once."""
    if not faults:
        return None
    count = f"{len(faults)} faults" if len(faults) > 1 else "a fault"
    return {
        "ok": False,
        "error": f"Nothing was written: the flow would have {count}.",
        "faults": _shown(list(map(str, faults))),
        "remedy": "Correct all of them and make the change again.",
    }


def _shown(lines: Sequence[str]) -> list[JsonValue]:
    """The first lines, and how many more there are."""
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], *([f"... and {more} more"] if more > 0 else [])]


def _changes_nothing(change: Change, held: Held) -> bool:
    same_name = not change.name or change.name == held.name
    same_about = all(held.about.get(key) == value for key, value in change.about.items())
    return same_name and same_about and mark_of(change.definition) == held.mark


def _was_rolled_back(rows: Sequence[WriteRow], flow_id: str) -> bool:
    """Whether the session itself removed the flow, by rolling back what made it."""
    return any(row.flow_id == flow_id and row.before is None and row.state == ROLLED_BACK for row in rows)
