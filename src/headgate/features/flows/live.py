"""Events of a flow for clients that have it open, published on the bus (topic `flow:<id>`) after each commit.

| kind | data |
|---|---|
| `flow_state` | `revision`, `name`, `published_version`: the current state; the first event of every stream |
| `draft_saved` | `revision`, `name`, `by`, `changes`: a line per change, `diff`: the same as JSON, or null when large |
| `renamed` | `revision`, `by`, `name`, `description` |
| `published` | `revision`, `by`, `version`, `release` |
| `unpublished` | `revision`, `by` |
| `comments_changed` | `by`, `comment_id` |
| `present` | `by`, `reader`: somebody has the flow open, repeated while they do |
| `left` | `by`, `reader` |
| `deleted` | `revision`, `by`; the last event |
| `run_started` | `run_id`, `version`, `by`; the run's own events are at `/flow-runs/{run_id}/events` |

`by` is `kind` (`user`, `key`, `command`, `system`), `name` and `user_id`. A client that has the `revision` of an event,
or a later one, is up to date; others read the flow again. A change made by a process that shares no bus with this one
is reported as `flow_state` within about a second. A reader that reconnects receives the current state and then further
events; events that it missed are not repeated.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.flows import repository
from headgate.foundation.database import Database
from headgate.foundation.database.announcing import announce
from headgate.foundation.errors import Unavailable
from headgate.foundation.events import SILENCE_SECONDS, Event, EventFeed, EventSink
from headgate.foundation.lazy import lazy_module
from headgate.graph.diff import diff_flows
from headgate.graph.model import Flow

if TYPE_CHECKING:
    from headgate.foundation import sse
else:
    sse = lazy_module("headgate.foundation.sse")

MOST_LINES = 50
LONGEST_DIFF_BYTES = 65_536
_LAST = "deleted"


def topic_of(flow_id: str) -> str:
    """Return the bus topic of a flow."""
    return f"flow:{flow_id}"


def by(principal: Principal) -> dict[str, JsonValue]:
    """Return the actor of a change, as events contain it."""
    return {"kind": principal.actor.kind, "name": principal.actor.name, "user_id": principal.user_id}


def announce_draft(
    session: AsyncSession, principal: Principal, flow_id: str, *, revision: int, before: Flow, after: Flow
) -> None:
    """Announce a saved draft after the commit."""

    def data() -> dict[str, JsonValue]:
        difference = diff_flows(before, after)
        lines, diff = difference.lines(), difference.as_json()
        shown_lines: list[JsonValue] = [*lines[:MOST_LINES]]
        if len(lines) > MOST_LINES:
            shown_lines.append(f"... and {len(lines) - MOST_LINES} more")
        short = len(orjson.dumps(diff)) <= LONGEST_DIFF_BYTES
        return {
            "revision": revision,
            "name": after.name,
            "by": by(principal),
            "changes": shown_lines,
            "diff": diff if short else None,
        }

    announce(session, topic_of(flow_id), "draft_saved", data)


def announce_change(session: AsyncSession, principal: Principal, flow_id: str, kind: str, **data: JsonValue) -> None:
    """Announce another change after the commit."""
    announce(session, topic_of(flow_id), kind, lambda: {"by": by(principal), **data})


def announce_run_started(bus: EventSink, principal: Principal, *, flow_id: str, run_id: str, version: int) -> None:
    """Publish that a run of the flow has started."""
    topic = topic_of(flow_id)
    if bus.may_have_readers(topic):
        bus.publish(topic, "run_started", {"run_id": run_id, "version": version, "by": by(principal)})


@dataclass(slots=True)
class FlowStream:
    """The events of one flow, for one reader.

    Args:
        database: The database of the flow.
        feed: Delivers changes.
        tenant_id: Tenant of the flow.
        flow_id: The flow.
    """

    database: Database
    feed: EventFeed
    tenant_id: str
    flow_id: str
    _state: dict[str, JsonValue] | None = None
    """The state that the reader has."""

    async def events(self) -> AsyncGenerator["sse.SseEvent", None]:
        """Yield the current state, then every further change; ends when the flow is deleted."""
        while True:
            try:
                async with self.feed.follow(topic_of(self.flow_id)) as feed:
                    has_rows = True
                    while True:
                        events = [self._received(event) for event in feed.pending()]
                        for sse_event in events or (await self._news() if has_rows else ()):
                            yield sse_event
                            if sse_event.kind == _LAST:
                                return
                        has_rows = await feed.changed()
            except Unavailable:
                await asyncio.sleep(SILENCE_SECONDS)

    async def state(self) -> AsyncGenerator["sse.SseEvent", None]:
        """Yield the current state only."""
        for sse_event in await self._news():
            yield sse_event

    def _received(self, event: Event) -> "sse.SseEvent":
        self._learn(event)
        return sse.SseEvent(f"s-{(self._state or {}).get('revision', 0)}", event.kind, event.data)

    def _learn(self, event: Event) -> None:
        """Apply an event to the state that the reader has, so that the row does not repeat it."""
        changes: dict[str, JsonValue] = {name: event.data[name] for name in ("revision", "name") if name in event.data}
        if event.kind == "published":
            changes["published_version"] = event.data["version"]
        if event.kind == "unpublished":
            changes["published_version"] = None
        self._state = (self._state or {}) | changes

    async def _news(self) -> list["sse.SseEvent"]:
        """Return the state in the database, when it differs from the state that the reader has."""
        async with self.database.reading() as session:
            row = await repository.find_flow(session, self.flow_id, tenant_id=self.tenant_id)
        if row is None:
            return [sse.SseEvent("s-0", _LAST, {})]
        state: dict[str, JsonValue] = {
            "revision": row.revision,
            "name": row.name,
            "published_version": row.published_version,
        }
        if state == self._state:
            return []
        self._state = state
        return [sse.SseEvent(f"s-{row.revision}", "flow_state", dict(state))]
