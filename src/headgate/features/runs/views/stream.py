"""The event stream of a run for a reader that may connect late, disconnect and reconnect to any process.

The id of a durable event is its number in the run's event log, valid in every process and after a restart. The stream
remembers the number of the last event it sent, and reads the rows after it when it starts, on each wake-up and after
each second of silence. So each durable event is sent exactly once and in order, whatever the bus delivered or lost.

Ephemeral events of running steps (tokens, tool calls, log lines) are sent from memory and numbered within the attempt;
their id is `<number of the last durable event>.<order of the step>.<number in the attempt>`. Where numbers are missing
a `gap` event is sent first: the text of that step is incomplete until the step ends, or, with `next: 1`, is sent again
from its beginning. After the end of a step its ephemeral events are not sent: the step's result replaces them.
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
from headgate.features.runs.events import ENDINGS, result_data, topic_of
from headgate.features.runs.steps.planned import PlannedFlow
from headgate.foundation.database import moment
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.events import SILENCE_SECONDS, Event, Subscription
from headgate.foundation.sse import SseEvent

PAGE = 500
_ID = re.compile(r"(\d{1,9})(?:\.(\d{1,6})\.(\d{1,9}))?", re.ASCII)
_STEP_ENDS = frozenset({"step_completed", "step_failed", "step_waiting"})
_UNKNOWN = -1


@dataclass(slots=True)
class _Attempt:
    """A running attempt and the reader's position in it."""

    number: int
    delivered: int = 0
    """Number of the last event that the reader has; `_UNKNOWN` when it reconnected in the middle of the attempt."""


class RunStream:
    """The events of one run, for one reader.

    Args:
        engine: Provides the store and the feed.
        tenant_id: Tenant of the run.
        run_id: The run.
    """

    def __init__(self, engine: ExecutionBackend, tenant_id: str, run_id: str) -> None:
        self._engine = engine
        self._tenant_id = tenant_id
        self._run_id = run_id
        self._last = 0
        """The last durable event that was read."""
        self._position = (0, 0, 0)
        """The reader's `Last-Event-ID`: durable event, order of a step, event in its attempt."""
        self._running: dict[str, _Attempt] = {}
        self._times: dict[str, int] = {}
        """Last start of each step, and of the run under the empty name, in microseconds."""
        self._endings = 0
        self._is_over = False
        self._planned: PlannedFlow | None = None

    async def events(self, last_id: str = "") -> AsyncGenerator[SseEvent, None]:
        """Every event after `last_id`, until the run has ended. Raises `RunNotFound` before the first event."""
        if (match := _ID.fullmatch(last_id)) is not None:
            self._position = (int(match[1]), int(match[2] or 0), int(match[3] or 0))
        while not self._is_over:
            try:
                async with (
                    self._engine.feed.follow(topic_of(self._run_id)) as feed,
                    aclosing(self._read(feed)) as events,
                ):
                    async for event in events:
                        yield event
            except Unavailable:
                await asyncio.sleep(SILENCE_SECONDS)

    async def _read(self, feed: Subscription) -> AsyncGenerator[SseEvent, None]:
        has_rows = True
        while not self._is_over:
            page = await self._page() if has_rows else None
            # Events published before the end of an attempt, and so before the page was read, are pending now.
            pending = [event for event in feed.pending() if "number" in event.data]
            while page is not None and page.events:
                for event in page.events:
                    for sse_event in self._before(event, pending):
                        yield sse_event
                    data = await self._data(event, page)
                    self._last = event.seq
                    if data is not None and event.seq > self._position[0]:
                        yield SseEvent(str(event.seq), event.kind, data)
                    if event.kind in ENDINGS and data is not None:
                        return
                page = await self._page() if self._last < page.last else None
            for pending_event in pending:
                for sse_event in self._ephemeral(pending_event):
                    yield sse_event
            has_rows = await feed.changed()

    async def _page(self) -> EventPage:
        """The rows after the last one that was read."""
        page = await self._engine.store.events_after(self._run_id, self._tenant_id, self._last, PAGE)
        if page is None:
            raise RunNotFound(self._run_id)
        if self._last == 0 and page.events:
            with suppress(HeadgateError):  # the plan can no longer be built: steps are labelled with their ids
                self._planned = await self._engine.plans.of(page.key)
            if self._position[0] > page.last:  # not an id of this run
                self._position = (0, 0, 0)
        return page

    def _before(self, event: RunEvent, pending: Sequence[Event]) -> Iterator[SseEvent]:
        """Pending events of an attempt, before the event that ends it."""
        if event.kind in _STEP_ENDS:
            for earlier in pending:
                if earlier.data["step_id"] == event.step_id:
                    yield from self._ephemeral(earlier)

    async def _data(self, event: RunEvent, page: EventPage) -> dict[str, JsonValue] | None:
        """The data of an event; None for the end of a run that was resumed afterwards."""
        if event.kind in ENDINGS:
            self._endings += 1
            self._is_over = self._endings > page.resumes
            return await self._ending(event) if self._is_over else None
        if event.kind.startswith("run_"):
            self._times[""] = event.at
            steps = len(self._planned.steps) if self._planned is not None else None
            key: dict[str, JsonValue] = {"flow_id": page.key.flow_id, "version": page.key.version, "steps": steps}
            if event.kind == "run_continued":
                return key | event.data
            return key | ({"resumed": bool(event.data.get("resumed"))} if event.kind == "run_started" else {})
        return self._step(event)

    def _step(self, event: RunEvent) -> dict[str, JsonValue]:
        step_id = event.step_id or ""
        if event.kind.startswith("delivery_"):
            return {"step_id": step_id, "attempt": event.attempt, **event.data}
        if event.kind == "step_started":
            self._times[step_id] = event.at
            self._running[step_id] = _Attempt(event.attempt or 1, self._delivered(step_id, event.seq))
            return {**self._named(step_id), "attempt": event.attempt}
        self._running.pop(step_id, None)
        if event.kind == "step_skipped":
            return self._named(step_id)
        if event.kind == "step_waiting":
            due_at = event.data["until"]
            until = None if due_at is None else moment(due_at).isoformat()
            return {**self._named(step_id), "attempt": event.attempt, **event.data, "until": until}
        tokens = {"tokens_input": None, "tokens_output": None, "preview": ""} if event.kind == "step_completed" else {}
        return {**self._named(step_id), "ms": self._ms(step_id, event.at), **tokens, **event.data}

    def _delivered(self, step_id: str, seq: int) -> int:
        """Number of the last event of an attempt that the reader has; 0 when the attempt started after its position."""
        durable, order, number = self._position
        if seq > durable:
            return 0
        return number if order and self._order(step_id) == order else _UNKNOWN

    async def _ending(self, event: RunEvent) -> dict[str, JsonValue]:
        if event.kind == "run_failed":
            return {**event.data, "step_id": event.step_id}
        if event.kind == "run_cancelled":
            return {}
        run = await self._engine.store.read(self._run_id, self._tenant_id)
        output = run.output_payload if run is not None else None
        return {"ms": self._ms("", event.at), **result_data(output or {})}

    def _ephemeral(self, event: Event) -> Iterator[SseEvent]:
        """An event of a running attempt, after a `gap` when it does not follow the reader's position."""
        step_id, number = str(event.data["step_id"]), int(str(event.data["number"]))
        attempt = self._running.get(step_id)
        if attempt is None or attempt.number != event.data["attempt"] or number <= attempt.delivered:
            return
        prefix = f"{self._last}.{self._order(step_id)}"
        if number != attempt.delivered + 1:
            gap: dict[str, JsonValue] = {"step_id": step_id, "attempt": attempt.number, "next": number}
            yield SseEvent(f"{prefix}.{number - 1}", "gap", gap)
        attempt.delivered = number
        yield SseEvent(f"{prefix}.{number}", event.kind, event.data)

    def _order(self, step_id: str) -> int:
        step = self._planned.steps.get(step_id) if self._planned is not None else None
        return step.step.order if step is not None else 0

    def _named(self, step_id: str) -> dict[str, JsonValue]:
        step = self._planned.steps.get(step_id) if self._planned is not None else None
        return dict(step.told) if step is not None else {"step_id": step_id, "label": step_id}

    def _ms(self, name: str, at: int) -> float | None:
        began = self._times.get(name)
        return None if began is None else (at - began) / 1000
