"""The event log of a session: numbered rows, and tokens of the model, which are only streamed live."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.errors import LeaseLost
from headgate.agents.codev.sessions import repository
from headgate.agents.codev.sessions.repository import IN_PROGRESS, SESSIONS, mine
from headgate.agents.codev.tables import EventRow, NoticeRow, SessionRow
from headgate.agents.codev.writing import events as rows
from headgate.agents.codev.writing.events import Event
from headgate.features.jobs.queue import Job
from headgate.foundation.database import Database, now
from headgate.graph.json_values import made_plain

ENDINGS = frozenset({"interrupt", "done", "error"})
"""Kinds that end a stream. Only the runner emits them, together with the row's status."""
LOOK_SECONDS = 0.5
"""How often rows are polled while another server may run the session."""
GATHER_SECONDS = 0.1
"""How long events are buffered before they are written."""
MOST_WAITING = 2_000
"""Tokens and events buffered for a slow reader; the oldest are dropped first."""
Heard = tuple[int, str, dict[str, JsonValue]]
"""Number, kind and data of an event."""
MOST_READ = 500


@dataclass(eq=False, slots=True)
class Reader:
    """A follower of a session in this process."""

    words: deque[dict[str, JsonValue]] = field(default_factory=lambda: deque(maxlen=MOST_WAITING))
    events: deque[Heard] = field(default_factory=lambda: deque(maxlen=MOST_WAITING))
    """Events written by this process, which need not be read from the rows."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    behind: bool = True
    """Whether the rows may contain something new. Tokens alone are no reason to read them."""

    def next_event(self, last: int) -> Heard | None:
        """Return the event after a number, if buffered. A missed one is in the rows."""
        while self.events:
            event = self.events.popleft()
            if event[0] == last + 1:
                return event
            self.behind = self.behind or event[0] > last
        return None


@dataclass(slots=True)
class LiveEvents:
    """Followers of sessions in this process."""

    _readers: dict[str, set[Reader]] = field(default_factory=dict)

    @contextmanager
    def reading(self, session_id: str) -> Iterator[Reader]:
        """A reader, for as long as it follows."""
        reader = Reader()
        self._readers.setdefault(session_id, set()).add(reader)
        try:
            yield reader
        finally:
            others = self._readers[session_id]
            others.discard(reader)
            if not others:
                del self._readers[session_id]

    def emit_token(self, session_id: str, words: dict[str, JsonValue]) -> None:
        """Emit a token of the model. Never waits."""
        for reader in self._readers.get(session_id, ()):
            reader.words.append(words)
            reader.woken.set()

    def emit(self, session_id: str, events: Sequence[Heard]) -> None:
        """Report that events were written, and the session continues."""
        for reader in self._readers.get(session_id, ()):
            reader.events.extend(events)
            reader.woken.set()

    def wake(self, session_id: str) -> None:
        """Report that the rows contain something new."""
        for reader in self._readers.get(session_id, ()):
            reader.behind = True
            reader.woken.set()


async def follow(database: Database, live: LiveEvents, session_id: str, after: int) -> AsyncGenerator[Heard, None]:
    """Yield events after a number, and then live ones, until the session pauses or is deleted.

    It is read from the rows whichever process works; this process's readers are notified at once.
    """
    clock = asyncio.get_running_loop().time
    with live.reading(session_id) as reader:
        last, look_at = after, clock()
        while True:
            reader.woken.clear()
            rows: Sequence[EventRow] = ()
            rests = False
            if reader.behind or clock() >= look_at:
                reader.behind, look_at = False, clock() + LOOK_SECONDS
                rows, rests = await _look(database, session_id, last)
            while reader.words:
                yield last, "token", reader.words.popleft()
            for event in rows:
                last = event.number
                yield last, event.kind, event.data
            while event_heard := reader.next_event(last):
                last = event_heard[0]
                yield event_heard
            if rests:
                return
            reader.behind = reader.behind or len(rows) == MOST_READ
            if reader.behind:
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout_at(look_at):
                    await reader.woken.wait()


async def _look(database: Database, session_id: str, last: int) -> tuple[Sequence[EventRow], bool]:
    """Events behind a number, and whether nothing will follow them."""
    async with database.reading() as session:
        progress = await repository.progress(session, session_id)
        if progress is None:
            return (), True
        status, last_number = progress
        rows = (
            await repository.read_events(session, session_id, after=last, limit=MOST_READ) if last_number > last else ()
        )
    heard = rows[-1].number if rows else last
    return rows, status != IN_PROGRESS and heard >= last_number


@dataclass(slots=True)
class EventRecorder:
    """Writes the events of a session that this process runs."""

    database: Database
    live: LiveEvents
    job: Job
    """The session, as this process has claimed it."""
    values: dict[str, Any] = field(default_factory=dict)
    """Columns that are to be written with the next events."""
    emitted_phase: tuple[Any, Any] | None = None
    """The last reported phase and iteration: a node that waited restarts when it is answered."""
    waiting: list[Event] = field(default_factory=list)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _flushing: "asyncio.Task[None] | None" = None

    def emit(self, kind: str, data: dict[str, JsonValue]) -> None:
        """Record an event. Never waits. See `ports.Emit`."""
        if kind in ENDINGS:
            return
        data = cast("dict[str, JsonValue]", made_plain(data))
        if kind == "token":
            self.live.emit_token(self.job.id, data)
            return
        if kind == "phase":
            came_to = (data.get("phase"), data.get("iteration"))
            if came_to == self.emitted_phase:
                return
            self.emitted_phase = came_to
            data |= {"at": now().isoformat()}
        self.values |= _columns(kind, data)
        self.waiting.append((kind, data))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._soon())

    async def write(self) -> None:
        """Write the buffered events. Raises `LeaseLost`."""
        async with self._writing():
            pass

    async def rest(self, event: Event, notice: NoticeRow | None = None, **values: Any) -> None:  # noqa: ANN401 - columns
        """Write down how the session rests, and a notice of that, and release it. Raises `LeaseLost`."""
        async with self._writing(event, **values) as session:
            await SESSIONS.finish(session, self.job)
            if notice is not None:
                session.add(notice)
        self.live.wake(self.job.id)

    @asynccontextmanager
    async def record(self, event: Event) -> AsyncIterator[AsyncSession]:
        """See `Record`. It is added even where the session is not this process's any more."""
        async with self._writing(event, surely=True) as session:
            yield session

    @asynccontextmanager
    async def _writing(
        self,
        *more: Event,
        surely: bool = False,
        **values: Any,  # noqa: ANN401 - columns
    ) -> AsyncIterator[AsyncSession]:
        """The transaction that writes down what waits and more. Raises `LeaseLost`.

        Args:
            more: Events behind those that wait.
            surely: Whether they are written down, and nothing else is, where the claim is lost.
            values: Columns of the session.
        """
        async with self._lock:
            waiting, values_before = self.waiting, self.values
            self.waiting, self.values = [], {}
            try:
                async with self.database.writing() as session:
                    events_added = await self._added(session, waiting, more, values_before | values, surely=surely)
                    yield session
            except BaseException:  # how it was to rest is not kept: without its event that would never be heard of
                self.waiting, self.values = [*waiting, *self.waiting], values_before | self.values
                raise
        self.live.emit(self.job.id, events_added)

    async def _added(
        self,
        session: AsyncSession,
        waiting: Sequence[Event],
        more: Sequence[Event],
        values: dict[str, Any],
        *,
        surely: bool,
    ) -> list[Heard]:
        events, at = [*waiting, *more], now()
        count = SessionRow.events + len(events)
        last = await rows.advance(session, self.job.id, mine(self.job), **values, events=count, updated_at=at)
        if last is None and surely:
            events = [*more]
            last = await rows.advance(session, self.job.id, events=SessionRow.events + len(events))
        if last is None:
            raise LeaseLost
        await rows.add_events(session, self.job.id, last - len(events), events, at)
        return [(last - len(events) + index, *event) for index, event in enumerate(events, start=1)]

    async def _soon(self) -> None:
        """Write after a short delay; a started write is not interrupted."""
        await asyncio.sleep(GATHER_SECONDS)
        await asyncio.shield(self._quietly())

    async def _quietly(self) -> None:
        """Ignore a failure: the next step retries the write and reports errors."""
        with suppress(Exception):
            await self.write()

    async def close(self) -> None:
        """Stop recording."""
        if self._flushing is not None:
            self._flushing.cancel()
            await asyncio.wait([self._flushing])


def _columns(kind: str, data: dict[str, JsonValue]) -> dict[str, Any]:
    """Return the columns of the session's row that an event changes."""
    if kind == "phase":
        return {"phase": str(data.get("phase", ""))[:30], "iteration": data.get("iteration", 1)}
    if kind == "usage":
        return {"input_tokens": data.get("input_tokens", 0), "output_tokens": data.get("output_tokens", 0)}
    return {}
