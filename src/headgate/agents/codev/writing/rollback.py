"""Takes back what a session wrote (DD-026): the flow becomes what it was, or is gone where the session made it.

Only while it still is what the session wrote last, and only as far as nobody else's change would go with it: where
somebody changed the flow between two of the session's writes, those after that are taken back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError

from headgate.agents.codev.domain import Held, Workplace
from headgate.agents.codev.errors import NothingToRollBack, WriteConflict
from headgate.agents.codev.tables import WriteRow
from headgate.agents.codev.writing import repository
from headgate.agents.codev.writing.events import recording
from headgate.agents.codev.writing.journal import Journal, call_key
from headgate.agents.codev.writing.placing import placed, removed
from headgate.agents.codev.writing.repository import DONE, INTENDED, ROLLBACK, ROLLED_BACK
from headgate.agents.codev.writing.snapshots import open_held, restoring, seal_change, seal_held
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, now
from headgate.foundation.errors import NotFound
from headgate.foundation.ids import new_id

_KEPT = "Nothing was taken back, so that their change is not lost. Change the flow by hand, or go back in its versions."


async def roll_back(database: Database, box: SecretBox, session_id: str, place: Workplace) -> Held | None:
    """Take back a session's writes; the flow as it is then, None when it is gone.

    Raises `NothingToRollBack`, `WriteConflict` when somebody changed the flow since, what the place raises. It can be
    called again after any failure: what is done is not done twice.
    """
    await Journal(database, box, session_id, place, recording(database, session_id)).settle()
    async with database.reading() as session:
        rows = await repository.list_writes(session, session_id, DONE)
    chain = last_chain(box, [row for row in rows if row.tool != ROLLBACK])
    if not chain:
        raise NothingToRollBack(
            "There is nothing to take back: this session wrote nothing, or it was taken back already.",
            remedy="Read its summary to see what it did.",
        )
    try:
        return await _Rollback(database, box, session_id, place, chain).carry_out()
    except WriteConflict as error:
        raise WriteConflict(error.name, remedy=_KEPT) from error


def last_chain(box: SecretBox, rows: Sequence[WriteRow]) -> list[WriteRow]:
    """The last writes with nothing of others between them, oldest first."""
    chain: list[WriteRow] = []
    began_at: str | None = None
    for row in reversed(rows):
        if chain and (row.flow_id, row.after_mark) != (chain[0].flow_id, began_at):
            break
        chain.insert(0, row)
        if row.before is None:
            break
        began_at = open_held(box, row.before).mark
    return chain


@dataclass(frozen=True, slots=True)
class _Rollback:
    """The taking back of some writes, which is itself written down before it is made."""

    database: Database
    box: SecretBox
    session_id: str
    place: Workplace
    chain: Sequence[WriteRow]
    """Oldest first."""

    @property
    def newest(self) -> WriteRow:
        """The write that made the flow what it is."""
        return self.chain[-1]

    @property
    def key(self) -> str:
        """Names it: the same when it is tried again."""
        return call_key(self.session_id, f"{ROLLBACK}:{self.newest.id}")

    async def carry_out(self) -> Held | None:
        """Take them back; the flow as it is then."""
        oldest = self.chain[0]
        before = open_held(self.box, oldest.before) if oldest.before else None
        row = await self._find()
        known = row is None
        if row is None:
            row = await self._intend(await self._as_written(goes=before is None), before)
        after = await self._made(row, before, known=known)
        async with self.database.writing() as session:
            for taken in (*self.chain, row):
                await repository.change_write(session, taken.id, was=(INTENDED, DONE), state=ROLLED_BACK)
            flow_id, name = (after.flow_id, after.name) if after is not None else (None, "")
            await repository.note_flow(session, self.session_id, flow_id=flow_id, name=name)
        return after

    async def _find(self) -> WriteRow | None:
        async with self.database.reading() as session:
            return await repository.find_write(session, self.key)

    async def _as_written(self, *, goes: bool) -> Held | None:
        """The flow as the session wrote it last; None when it is gone, and was to go."""
        try:
            held = await self.place.read(self.newest.flow_id or "")
        except NotFound:
            if goes:
                return None
            raise
        if held.mark != self.newest.after_mark:
            raise WriteConflict(held.name)
        return held

    async def _intend(self, held: Held | None, before: Held | None) -> WriteRow:
        row = WriteRow(
            id=new_id(),
            session_id=self.session_id,
            call_key=self.key,
            number=0,
            state=INTENDED,
            iteration=self.newest.iteration,
            tool=ROLLBACK,
            summary=f"Taken back: the flow is {'what it was' if before is not None else 'gone'}.",
            flow_id=self.newest.flow_id,
            before=seal_held(self.box, held) if held is not None else None,
            change=seal_change(self.box, restoring(before)) if before is not None else "",
            after_mark=before.mark if before is not None else None,
            at=now(),
        )
        try:
            async with self.database.writing() as session:
                row.number = await repository.next_number(session, self.session_id)
                session.add(row)
                await session.flush()
        except IntegrityError:  # somebody else takes it back too: both do the same, once
            return await self._find() or row
        return row

    async def _made(self, row: WriteRow, before: Held | None, *, known: bool) -> Held | None:
        if before is None:
            await removed(self.place, self.newest.flow_id or "", self.newest.after_mark or "")
            return None
        written = open_held(self.box, row.before or "")
        return await placed(self.place, restoring(before), written, row.id, before.mark, known=known)
