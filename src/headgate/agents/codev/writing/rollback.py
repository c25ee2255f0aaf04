"""Rolls back what a session wrote (DD-026): every flow becomes what it was before the session, or nothing changes.

Where somebody else changed a flow meanwhile it is refused, until the user has seen the differences and answered: keep
theirs (goes back only as far as none of their changes is lost) or take mine (becomes what it was before the session).
Flows of this database, the journal and what the caller adds are one transaction. Of other places each flow is checked
before the first is written; one that is what it is to become already is not written again, so it can be repeated.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.domain import Held, PutBack, PutsBack, Workplace
from headgate.agents.codev.errors import NothingToRollBack, RollbackConflict, WriteConflict
from headgate.agents.codev.tables import WriteRow
from headgate.agents.codev.writing import repository
from headgate.agents.codev.writing.events import recording
from headgate.agents.codev.writing.journal import Journal, call_key
from headgate.agents.codev.writing.placing import placed, removed
from headgate.agents.codev.writing.repository import DONE, INTENDED, KEPT, ROLLBACK, ROLLED_BACK
from headgate.agents.codev.writing.snapshots import open_change, open_held, restoring, seal_change, seal_held
from headgate.foundation.canonical import digest
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, now
from headgate.foundation.errors import NotFound
from headgate.foundation.ids import new_id

Choice = Literal["keep_theirs", "take_mine"]
"""What the user answers where somebody else changed a flow."""
Also = Callable[[AsyncSession, Sequence["FlowRollback"]], Awaitable[None]]
"""What the caller adds to the transaction."""


@dataclass(frozen=True, slots=True)
class FlowRollback:
    """One flow that a session wrote: what it was, what others made of it, and what it is now."""

    flow_id: str
    rows: Sequence[WriteRow]
    """The session's writes to it, oldest first."""
    now: Held | None
    """None: it was deleted."""
    first: Held | None
    """As it was before the session; None: the session made it."""
    latest: Held | None
    """The newest version with a change of others; None where there is none, or where they deleted it."""
    since: Sequence[WriteRow]
    """The session's writes on top of `latest`; all of them where nobody else changed it."""
    theirs: Sequence[str]
    """What others changed, in lines."""

    @property
    def name(self) -> str:
        """What the flow is called."""
        held = self.now or self.first
        return held.name if held is not None else self.flow_id

    @property
    def settled(self) -> bool:
        """Whether it is what it was before the session already."""
        return _mark(self.now) == _mark(self.first)

    @property
    def conflict(self) -> bool:
        """Whether somebody else changed or deleted it, so that rolling back would lose that."""
        deleted = self.now is None and self.first is not None
        return not self.settled and (deleted or bool(self.theirs) or self.latest is not None)

    def target(self, choice: Choice | None) -> Held | None:
        """What it becomes; None: it is gone."""
        if choice != "keep_theirs" or not self.conflict:
            return self.first
        return self.latest if self.since else self.now

    def undone(self, choice: Choice | None) -> Sequence[WriteRow]:
        """The writes that are rolled back; the others are kept."""
        return self.since if choice == "keep_theirs" and self.conflict else self.rows


async def read_rollback(
    database: Database, box: SecretBox, session_id: str, place: Workplace
) -> Sequence[FlowRollback]:
    """What rolling back would work on, flow by flow; empty where there is nothing. Changes nothing."""
    async with database.reading() as session:
        rows = await repository.list_writes(session, session_id, INTENDED, DONE)
    flows: dict[str, list[WriteRow]] = {}
    for row in rows:
        if row.tool != ROLLBACK and row.flow_id is not None:
            flows.setdefault(row.flow_id, []).append(row)
    read = [await _flow(box, place, flow_id, writes) for flow_id, writes in flows.items()]
    return [flow for flow in read if flow is not None]


def token_of(flows: Sequence[FlowRollback]) -> str:
    """Names what was shown: another once a flow is another."""
    return digest([[flow.flow_id, _mark(flow.now), [row.id for row in flow.rows]] for flow in flows])


async def roll_back(
    database: Database,
    box: SecretBox,
    session_id: str,
    place: Workplace,
    *,
    choice: Choice | None = None,
    token: str | None = None,
    also: Also | None = None,
) -> Sequence[FlowRollback]:
    """Roll back a session's writes, all or none; what was rolled back. It can be called again after any failure.

    Args:
        database: Where the journal is.
        box: Opens snapshots.
        session_id: The session, which no process works on.
        place: Where its flows are.
        choice: The answer where somebody else changed a flow; None: refuse.
        token: Of the preview that was answered; another state of the flows is refused.
        also: Written in the same transaction.

    Raises `NothingToRollBack`, `RollbackConflict`, `WriteConflict` for a change in the last moment, what the place
    raises.
    """
    await Journal(database, box, session_id, place, recording(database, session_id)).settle()
    flows = await read_rollback(database, box, session_id, place)
    if not flows:
        raise NothingToRollBack(
            "There is nothing to roll back: this session wrote nothing, or was already rolled back.",
            remedy="See its summary for its changes.",
        )
    if token is not None and token != token_of(flows):
        raise RollbackConflict([flow.name for flow in flows], stale=True)
    conflicts = [flow.name for flow in flows if flow.conflict]
    if conflicts and choice is None:
        raise RollbackConflict(conflicts)
    steps = [PutBack(flow.flow_id, flow.now, flow.target(choice)) for flow in flows]
    changes = [step for step in steps if _mark(step.now) != _mark(step.target)]
    if not isinstance(place, PutsBack):
        for step in changes:
            await _put_back(place, step)
    async with database.writing() as session:
        if isinstance(place, PutsBack):
            for step in changes:
                await place.put_back(session, step)
        for flow in flows:
            await _note(session, box, session_id, flow, choice)
        if also is not None:
            await also(session, flows)
    return flows


async def _flow(box: SecretBox, place: Workplace, flow_id: str, rows: Sequence[WriteRow]) -> FlowRollback | None:
    try:
        held = await place.read(flow_id)
    except NotFound:
        held = None
    # A write whose end is not known counts where the flow is what it would have made.
    known = [row for row in rows if row.state == DONE or (held is not None and row.after_mark == held.mark)]
    if not known:
        return None
    befores = [open_held(box, row.before) if row.before else None for row in known]
    theirs: list[str] = []
    latest: Held | None = None
    since = known
    for index in range(1, len(known)):
        before, previous = befores[index], known[index - 1]
        if before is not None and before.mark != previous.after_mark:
            theirs += place.compare(open_change(box, previous.change).definition, before.definition)
            latest, since = before, known[index:]
    if held is not None and held.mark != known[-1].after_mark:
        theirs += place.compare(open_change(box, known[-1].change).definition, held.definition)
        latest, since = held, []
    if held is None:
        since = []
    return FlowRollback(flow_id, known, held, befores[0], latest, since, theirs)


async def _put_back(place: Workplace, step: PutBack) -> None:
    """Write one flow in a place without transactions of ours."""
    if step.now is None:
        raise WriteConflict(
            step.target.name if step.target is not None else step.flow_id,
            remedy=(
                "It was deleted on the server and cannot be restored from here. Answer keep_theirs, or create it again."
            ),
        )
    if step.target is None:
        await removed(place, step.flow_id, step.now.mark)
    else:
        await placed(place, restoring(step.target), step.now, new_id(), step.target.mark, known=True)


async def _note(
    session: AsyncSession, box: SecretBox, session_id: str, flow: FlowRollback, choice: Choice | None
) -> None:
    """Write down what became of a flow and of the session's writes to it."""
    undone, target = flow.undone(choice), flow.target(choice)
    ids = {row.id for row in undone}
    changed = [
        await repository.change_write(
            session, row.id, was=(INTENDED, DONE), state=ROLLED_BACK if row.id in ids else KEPT
        )
        for row in flow.rows
    ]
    if not any(changed):  # somebody else rolled it back just now
        return
    await repository.lock_numbers(session, session_id)
    session.add(
        WriteRow(
            id=new_id(),
            session_id=session_id,
            call_key=call_key(session_id, f"{ROLLBACK}:{flow.rows[-1].id}"),
            number=await repository.next_number(session, session_id),
            state=ROLLED_BACK,
            iteration=flow.rows[-1].iteration,
            tool=ROLLBACK,
            summary=_summary(flow, choice),
            flow_id=flow.flow_id,
            before=seal_held(box, flow.now) if flow.now is not None else None,
            change=seal_change(box, restoring(target)) if target is not None else "",
            after_mark=_mark(target) or None,
            at=now(),
        )
    )
    await session.flush()
    flow_id, name = (flow.flow_id, target.name) if target is not None else (None, "")
    await repository.note_flow(session, session_id, flow_id=flow_id, name=name)


def _summary(flow: FlowRollback, choice: Choice | None) -> str:
    target = flow.target(choice)
    if choice == "keep_theirs" and flow.conflict:
        return f"Kept the changes of others; {len(flow.since)} of {len(flow.rows)} writes were rolled back."
    return f"Rolled back: the flow is {'what it was' if target is not None else 'gone'}."


def _mark(held: Held | None) -> str:
    return held.mark if held is not None else ""


__all__ = ["Choice", "FlowRollback", "read_rollback", "roll_back", "token_of"]
