"""The events of a run for a reader that may come late, lose the connection and come back, to any process.

A durable event's id is its number in the run's event log, so every process understands it, also after a restart. The
reader keeps the number of the last event it gave and reads the rows behind it whenever it is woken, after every second
of silence, and when it comes: each event is given exactly once and in order, whatever was heard or missed live.

What steps emit while they run (tokens, tool calls, log lines) is passed on from memory, numbered within the attempt,
and given as `<number of the last durable event>.<order of the step>.<number in the attempt>`. Where numbers are missing
the reader is given `gap` first: what it has of that step's text is incomplete until the step ends, or, with `next: 1`,
is given once more from its beginning. After the step's end none of it is given: the result of the step says all.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.errors import RunNotFound
from headgate.features.runs.event_log import EventPage, RunEvent
from headgate.features.runs.events import ENDINGS, result_told, topic_of
from headgate.features.runs.steps.planned import PlannedFlow
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.events import SILENCE_SECONDS, Event, Subscription
from headgate.foundation.sse import Told

PAGE = 500
_ID = re.compile(r"(\d{1,9})(?:\.(\d{1,6})\.(\d{1,9}))?", re.ASCII)
_STEP_ENDS = frozenset({"step_completed", "step_failed"})
_UNKNOWN = -1


@dataclass(slots=True)
class _Attempt:
    """An attempt that is running, as the reader knows it."""

    number: int
    given: int = 0
    """The number of its last event that the reader has; `_UNKNOWN` where it came back in the middle of the attempt."""


class RunStream:
    """The events of one run, for one reader.

    Args:
        engine: Whose runs are read, and whose feed says when to look.
        tenant_id: Whose run it is.
        run_id: The run.
    """

    def __init__(self, engine: ExecutionBackend, tenant_id: str, run_id: str) -> None:
        self._engine = engine
        self._tenant_id = tenant_id
        self._run_id = run_id
        self._last = 0
        """The last durable event that was read."""
        self._place = (0, 0, 0)
        """What the reader had when it came: durable event, order of a step, event in its attempt."""
        self._running: dict[str, _Attempt] = {}
        self._times: dict[str, int] = {}
        """When each step, and under no name the run, was last started."""
        self._endings = 0
        self._is_over = False
        self._planned: PlannedFlow | None = None

    async def events(self, last_id: str = "") -> AsyncGenerator[Told, None]:
        """Every event behind `last_id`, until the run is over. Raises `RunNotFound` before the first."""
        if (found := _ID.fullmatch(last_id)) is not None:
            self._place = (int(found[1]), int(found[2] or 0), int(found[3] or 0))
        while not self._is_over:
            try:
                async with self._engine.feed.follow(topic_of(self._run_id)) as feed, aclosing(self._read(feed)) as read:
                    async for told in read:
                        yield told
            except Unavailable:
                await asyncio.sleep(SILENCE_SECONDS)

    async def _read(self, feed: Subscription) -> AsyncGenerator[Told, None]:
        has_rows = True
        while not self._is_over:
            page = await self._page() if has_rows else None
            # Published before an attempt ended, and so before the page was read, is what is pending now.
            pending = [event for event in feed.pending() if "number" in event.data]
            while page is not None and page.events:
                for event in page.events:
                    for told in self._before(event, pending):
                        yield told
                    data = await self._told(event, page)
                    self._last = event.seq
                    if data is not None and event.seq > self._place[0]:
                        yield Told(str(event.seq), event.kind, data)
                    if event.kind in ENDINGS and data is not None:
                        return
                page = await self._page() if self._last < page.last else None
            for one in pending:
                for told in self._ephemeral(one):
                    yield told
            has_rows = await feed.changed()

    async def _page(self) -> EventPage:
        """The rows behind the last one that was read."""
        page = await self._engine.store.events_after(self._run_id, self._tenant_id, self._last, PAGE)
        if page is None:
            raise RunNotFound(self._run_id)
        if self._last == 0 and page.events:
            with suppress(HeadgateError):  # its components no longer fit together: steps go by their ids
                self._planned = await self._engine.plans.of(page.key)
            if self._place[0] > page.last:  # no id of this run
                self._place = (0, 0, 0)
        return page

    def _before(self, event: RunEvent, pending: Sequence[Event]) -> Iterator[Told]:
        """What an attempt emitted before it ended."""
        if event.kind in _STEP_ENDS:
            for one in pending:
                if one.data["step_id"] == event.step_id:
                    yield from self._ephemeral(one)

    async def _told(self, event: RunEvent, page: EventPage) -> dict[str, JsonValue] | None:
        """What an event says; None for the end of a run that was resumed since, which is no end any more."""
        if event.kind in ENDINGS:
            self._endings += 1
            self._is_over = self._endings > page.resumes
            return await self._ending(event) if self._is_over else None
        if event.kind.startswith("run_"):
            self._times[""] = event.at
            steps = len(self._planned.steps) if self._planned is not None else None
            key: dict[str, JsonValue] = {"flow_id": page.key.flow_id, "version": page.key.version, "steps": steps}
            return key | ({"resumed": bool(event.data.get("resumed"))} if event.kind == "run_started" else {})
        return self._step(event)

    def _step(self, event: RunEvent) -> dict[str, JsonValue]:
        step_id = event.step_id or ""
        if event.kind.startswith("delivery_"):
            return {"step_id": step_id, "attempt": event.attempt, **event.data}
        if event.kind == "step_started":
            self._times[step_id] = event.at
            self._running[step_id] = _Attempt(event.attempt or 1, self._given(step_id, event.seq))
            return {**self._named(step_id), "attempt": event.attempt}
        self._running.pop(step_id, None)
        if event.kind == "step_skipped":
            return self._named(step_id)
        tokens = {"tokens_input": None, "tokens_output": None, "preview": ""} if event.kind == "step_completed" else {}
        return {**self._named(step_id), "ms": self._ms(step_id, event.at), **tokens, **event.data}

    def _given(self, step_id: str, seq: int) -> int:
        """The number of the last event of an attempt that the reader has; 0 where it comes before its start."""
        seen, order, number = self._place
        if seq > seen:
            return 0
        return number if order and self._order(step_id) == order else _UNKNOWN

    async def _ending(self, event: RunEvent) -> dict[str, JsonValue]:
        if event.kind == "run_failed":
            return {**event.data, "step_id": event.step_id}
        if event.kind == "run_cancelled":
            return {}
        run = await self._engine.store.read(self._run_id, self._tenant_id)
        output = run.output_payload if run is not None else None
        return {"ms": self._ms("", event.at), **result_told(output or {})}

    def _ephemeral(self, event: Event) -> Iterator[Told]:
        """An event of an attempt that is running, behind a `gap` where it does not follow what the reader has."""
        step_id, number = str(event.data["step_id"]), int(str(event.data["number"]))
        attempt = self._running.get(step_id)
        if attempt is None or attempt.number != event.data["attempt"] or number <= attempt.given:
            return
        place = f"{self._last}.{self._order(step_id)}"
        if number != attempt.given + 1:
            gap: dict[str, JsonValue] = {"step_id": step_id, "attempt": attempt.number, "next": number}
            yield Told(f"{place}.{number - 1}", "gap", gap)
        attempt.given = number
        yield Told(f"{place}.{number}", event.kind, event.data)

    def _order(self, step_id: str) -> int:
        step = self._planned.steps.get(step_id) if self._planned is not None else None
        return step.step.order if step is not None else 0

    def _named(self, step_id: str) -> dict[str, JsonValue]:
        step = self._planned.steps.get(step_id) if self._planned is not None else None
        return dict(step.told) if step is not None else {"step_id": step_id, "label": step_id}

    def _ms(self, of: str, at: int) -> float | None:
        began = self._times.get(of)
        return None if began is None else (at - began) / 1000
