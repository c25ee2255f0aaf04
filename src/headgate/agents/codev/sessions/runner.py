"""Works on sessions in the background: a task each, a lease that is kept, and what other processes left (DD-024).

A process that dies lets its leases run out, and any server takes the sessions up at their last checkpoint.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import Any

from headgate.agents.codev.errors import LeaseLost
from headgate.agents.codev.sessions import repository
from headgate.agents.codev.sessions.checkpoints import Checkpoints
from headgate.agents.codev.sessions.notices import Notices
from headgate.agents.codev.sessions.places import Surroundings
from headgate.agents.codev.sessions.repository import ERROR, IN_PROGRESS, LEFT, PENDING
from headgate.agents.codev.sessions.telling import Live, Teller
from headgate.agents.codev.tables import SessionRow
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, now
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.ids import new_id
from headgate.foundation.log import get_logger, redact_text
from headgate.foundation.outages import Outage
from headgate.foundation.settings import Settings

SWEEP_SECONDS = 2.0
"""How often what others left is looked for."""
STOP_SECONDS = 10.0
"""How long an ended session's task is waited for; a write is finished, all else is cancelled."""
MOST_AWAY = 5
"""How often a session is left for later because a database or disk is away, before that is its error."""
log = get_logger(__name__)


@dataclass(slots=True)
class Runner:
    """The sessions that this process works on. Lives on one event loop."""

    settings: Settings
    database: Database
    box: SecretBox
    around: Surroundings
    checkpoints: Checkpoints
    live: Live
    notices: Notices
    shares: bool = True
    """Whether it takes up what others left. A command works on the sessions that it is told to, and on no other."""
    owner: str = field(default_factory=new_id)
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _background: set[asyncio.Task[Any]] = field(default_factory=set)
    _heart: asyncio.Task[None] | None = None
    _outage: Outage = field(default_factory=lambda: Outage(log, "database of development sessions"))
    _away: dict[str, int] = field(default_factory=dict)
    _closed: bool = False

    @property
    def lease(self) -> timedelta:
        """How long a session is left to a process that is not heard of."""
        return timedelta(seconds=self.settings.codev.lease_seconds)

    def works_on(self, session_id: str) -> bool:
        """Whether this process works on it."""
        return session_id in self._tasks

    async def begin(self, session_id: str) -> None:
        """Work on a session that has just become due, when its turn comes; a sweep finds the rest.

        Whoever asked may hang up meanwhile.
        """
        await asyncio.shield(self._soon(partial(self._begin, session_id)))

    async def _begin(self, session_id: str) -> None:
        if not self.shares:
            await self.take(session_id)
            return
        try:
            await self._take_due()
        except HeadgateError as error:  # it is kept already: whoever asked for it must not ask again
            log.warning("session left for the next sweep", session_id=session_id, problem=error.detail)

    async def take(self, session_id: str) -> bool:
        """Work on a session from now on, where there is room and nobody else has it; else it is found by a sweep."""
        async with self._taking:  # or many at once would all see the last room
            if not self._has_room() or session_id in self._tasks:
                return False
            at = now()
            async with self.database.writing() as session:
                row = await repository.claim(
                    session, session_id, status=IN_PROGRESS, owner=self.owner, at=at, until=at + self.lease
                )
            if row is None:
                return False
            if self._closed:
                await self._let_go(session_id)
                return False
            task = asyncio.create_task(self._work(row))
            self._tasks[session_id] = task
            task.add_done_callback(lambda _: self._ended(session_id))
            if self._heart is None or self._heart.done():
                self._heart = asyncio.create_task(self._beat())
            return True

    async def sweep(self) -> None:
        """Take up what nobody works on, and send what was to be sent."""
        await self._take_due()
        async with self.database.reading() as session:
            untold = await repository.find_due(session, status=PENDING, at=now(), limit=100)
        for session_id in untold:
            await self.notices.take(session_id)

    async def _take_due(self) -> None:
        """Fill the room there is, each tenant in its turn."""
        if not self._has_room():
            return
        async with self.database.reading() as session:
            due = await repository.find_due(session, status=IN_PROGRESS, at=now(), limit=100)
        for session_id in due:
            if not self._has_room():
                break
            await self.take(session_id)

    def _has_room(self) -> bool:
        return not self._closed and len(self._tasks) < self.settings.codev.max_sessions

    async def keep_running(self) -> None:
        """Sweep every few seconds until cancelled."""
        while True:
            try:
                await self.sweep()
                self._outage.answered()
            except Unavailable as error:
                self._outage.failed(error.detail)
            except HeadgateError as error:
                log.warning("sessions of the development agent: sweep failed", problem=error.detail)
            except Exception:  # or what others left would wait for the next start
                log.exception("sessions of the development agent: sweep failed")
            await asyncio.sleep(min(SWEEP_SECONDS, self.settings.codev.lease_seconds))

    async def stop(self, session_id: str) -> None:
        """Cancel the work on a session, which is ended already; come back when its writes are."""
        task = self._tasks.get(session_id)
        if task is not None:
            task.cancel()
            await asyncio.wait([task], timeout=STOP_SECONDS)

    async def close(self) -> None:
        """Let go of every session; another process takes it up at once."""
        self._closed = True
        tasks = list(self._tasks.values())
        others = [*self._background, *([self._heart] if self._heart is not None else [])]
        for task in (*tasks, *others):
            task.cancel()
        if tasks or others:
            await asyncio.wait([*tasks, *others], timeout=STOP_SECONDS)

    def _ended(self, session_id: str) -> None:
        self._tasks.pop(session_id, None)
        self.live.wake(session_id)
        if self.shares and not self._closed:
            self._soon(self._sweep_again)

    def _soon(self, work: Callable[[], Coroutine[Any, Any, None]]) -> asyncio.Task[None]:
        task = asyncio.create_task(work())
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def _sweep_again(self) -> None:
        """There is room for another."""
        try:
            await self.sweep()
        except HeadgateError as error:
            log.warning("sessions of the development agent: sweep failed", problem=error.detail)

    async def _beat(self) -> None:
        """Keep the leases; a session whose lease is gone is worked on no more."""
        while self._tasks:
            await asyncio.sleep(self.settings.codev.lease_seconds / 3)
            ids = list(self._tasks)
            try:
                async with self.database.writing() as session:
                    kept = await repository.renew(session, ids, owner=self.owner, until=now() + self.lease)
            except HeadgateError as error:
                log.warning("leases of sessions not kept", problem=error.detail)
                continue
            except Exception:  # or another process would take up what this one works on
                log.exception("leases of sessions not kept")
                continue
            for session_id in ids:
                task = self._tasks.get(session_id)
                if session_id not in kept and task is not None and not task.cancelling():
                    task.cancel()

    async def _work(self, row: SessionRow) -> None:
        teller = Teller(self.database, self.live, row.id, self.owner)
        if row.events:
            teller.told_phase = (row.phase, row.iteration)
        try:
            await self._until_rest(row, teller)
        except (asyncio.CancelledError, LeaseLost):
            await self._let_go(row.id)
        except Unavailable as error:
            await self._later(row, teller, error)
        except HeadgateError as error:
            await self._failed(row, teller, error)
        except Exception:
            log.exception("session failed", session_id=row.id)
            fault = HeadgateError("Headgate failed to go on; the log says why.", remedy="Try again, or report it.")
            await self._failed(row, teller, fault)
        finally:
            await teller.close()

    async def _until_rest(self, row: SessionRow, teller: Teller) -> None:
        work = _load().Work(self.settings, self.database, self.box, self.around, self.checkpoints, row, teller)
        rest = await work.carry_out()
        self._away.pop(row.id, None)
        left: dict[str, Any] = {"answer": None, **LEFT}
        if rest.interrupt is not None:
            payload = rest.interrupt.model_dump(mode="json")
            if row.webhook_url:  # until it was sent the lease says that somebody has to
                left = {"answer": None, "lease_until": now() + self.notices.lease}
            told = await teller.rest([("interrupt", payload)], status=rest.status, interrupt=payload, **left)
            if row.webhook_url:
                self.notices.send_soon(told)
        else:
            ending = {"status": rest.status, "stop_reason": rest.stop_reason}
            await teller.rest([("done", ending)], interrupt=None, **ending, **left)
        await self.checkpoints.tidy(row.id)

    async def _later(self, row: SessionRow, teller: Teller, error: Unavailable) -> None:
        """A database or disk is away: leave the session, and take it up again when the lease has run out."""
        count = self._away[row.id] = self._away.get(row.id, 0) + 1
        if count >= MOST_AWAY:
            del self._away[row.id]
            await self._failed(row, teller, error)
            return
        log.warning("session left for later", session_id=row.id, problem=error.detail)

    async def _failed(self, row: SessionRow, teller: Teller, error: HeadgateError) -> None:
        told = {"code": error.code, "message": redact_text(error.detail), "remedy": redact_text(error.remedy)}
        reason = _sentences(told["message"], told["remedy"])
        try:
            await teller.rest([("error", dict(told))], status=ERROR, stop_reason=reason, interrupt=None, **LEFT)
        except LeaseLost:
            return
        except HeadgateError as away:  # the lease runs out, and it is tried again
            log.warning("session left for later", session_id=row.id, problem=away.detail)

    async def _let_go(self, session_id: str) -> None:
        try:
            async with self.database.writing() as session:
                await repository.let_go(session, session_id, owner=self.owner)
        except HeadgateError as error:  # the lease runs out
            log.warning("session not let go", session_id=session_id, problem=error.detail)


def _sentences(message: str, remedy: str) -> str:
    """What happened and what to do next; the words of a provider often end without a full stop."""
    stop = "." if message and remedy and not message.endswith((".", "!", "?", ":")) else ""
    return f"{message}{stop} {remedy}".strip()


def _load() -> Any:  # noqa: ANN401 - the module; it imports LangGraph
    return import_module("headgate.agents.codev.sessions.work")
