"""Brings the next poll of a trigger forward when its source reports a change. What is new is decided by the poll alone.

The process that polled a trigger listens for it until its next poll is due, so that one process does at a time.
"""

import asyncio
from contextlib import suppress
from typing import Any

from sqlalchemy import update

from headgate.features.jobs.upkeep import end
from headgate.features.runs.transitions import clock
from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.polling.poller import LONGEST_ERROR, Poller
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schedule import SECOND
from headgate.features.triggers.tables import TriggerRow
from headgate.features.triggers.views import config_of
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.flow_threads import LISTENING_PLACES
from headgate.foundation.log import get_logger

SHORTEST_SECONDS = 30
"""Between polls: for less, no connection is held."""
LOOK_SECONDS = 5.0
"""How often it is checked that the trigger is still on and as it was."""
_AGAIN_SECONDS = 0.2
log = get_logger(__name__)


class Listener:
    """Listens in one process, to as many sources as there are threads for it; the others are polled only.

    Args:
        poller: Reads the sources, with the rights of the owners.
        database: Rows of triggers.
    """

    def __init__(self, poller: Poller, database: Database) -> None:
        self._poller = poller
        self._database = database
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._states: dict[str, str] = {}
        """What was seen last, by trigger."""

    def listen(self, listed: Listed, next_at: int) -> None:
        """Listen until the next poll of a trigger, after a poll that succeeded."""
        config: Any = config_of(listed.row)
        task = self._tasks.pop(listed.row.id, None)
        if task is not None:
            task.cancel()
        if not self._poller.can_listen(config) or next_at - clock() < SHORTEST_SECONDS * SECOND:
            return
        self._tasks[listed.row.id] = task = asyncio.create_task(
            self._listen(listed, config, next_at), name=f"listening {listed.row.id}"
        )
        task.add_done_callback(lambda ended: self._ended(listed.row.id, ended))

    def _ended(self, trigger_id: str, task: "asyncio.Task[None]") -> None:
        if self._tasks.get(trigger_id) is task:
            del self._tasks[trigger_id]

    async def close(self) -> None:
        """Stop listening."""
        await end(list(self._tasks.values()))

    async def _listen(self, listed: Listed, config: Any, next_at: int) -> None:  # noqa: ANN401 - settings of its kind
        waiting = asyncio.create_task(self._change(listed, config, next_at))
        try:
            while not (await asyncio.wait([waiting], timeout=LOOK_SECONDS))[0]:
                if not await self._is_current(listed, next_at):
                    return
            if waiting.result():
                while not await self._bring_forward(listed, next_at):  # its last poll has not been stored yet
                    if not await self._is_current(listed, next_at):
                        return
                    await asyncio.sleep(_AGAIN_SECONDS)
        except HeadgateError as error:
            log.info("not listening until the next poll", trigger_id=listed.row.id, problem=str(error))
            self._states.pop(listed.row.id, None)
            await self._note(listed, str(error))
        finally:
            waiting.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await waiting

    async def _change(self, listed: Listed, config: Any, next_at: int) -> bool:  # noqa: ANN401 - settings of its kind
        """Whether the source changed before the next poll."""
        trigger_id = listed.row.id
        if len(self._tasks) > LISTENING_PLACES:
            raise TriggerInvalid(f"This process waits for changes of {LISTENING_PLACES} other triggers.")
        while (seconds := (next_at - clock()) / SECOND) > 0:
            known = self._states.get(trigger_id, "")
            self._states[trigger_id] = await self._poller.wait_for_change(listed, config, known, seconds)
            await self._note(listed, "")
            if self._states[trigger_id] != known:
                return True
        return False

    async def _note(self, listed: Listed, problem: str) -> None:
        """Store why the trigger is only polled, or that it is not."""
        problem = problem[:LONGEST_ERROR]
        if problem == listed.row.only_polled:
            return
        change = update(TriggerRow).where(TriggerRow.id == listed.row.id)
        async with self._database.writing() as session:
            await session.execute(change.values(only_polled=problem), execution_options={"synchronize_session": False})

    async def _is_current(self, listed: Listed, next_at: int) -> bool:
        """Whether the trigger is on, as it was, and due at that time or being polled."""
        async with self._database.reading() as session:
            row = await session.get(TriggerRow, listed.row.id)
        if row is None or not row.enabled or row.updated_at != listed.row.updated_at:
            return False
        return row.next_at == next_at or row.worker_id is not None

    async def _bring_forward(self, listed: Listed, next_at: int) -> bool:
        row, at = TriggerRow, clock()
        current = (row.id == listed.row.id, row.enabled, row.updated_at == listed.row.updated_at)
        change = update(row).where(*current, row.next_at == next_at, row.worker_id.is_(None))
        async with self._database.writing() as session:
            changed = await session.execute(
                change.values(next_at=at, due_at=at).returning(row.id), execution_options={"synchronize_session": False}
            )
            return changed.first() is not None
