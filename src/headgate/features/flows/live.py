"""What happens to a flow, for whoever has it open: on the bus (topic `flow:<id>`), after each commit.

| kind | data |
|---|---|
| `flow_state` | `revision`, `name`, `published_version`: how things stand; the first event of every stream |
| `draft_saved` | `revision`, `name`, `by`, `changes`: a line each, `diff`: the same for programs; null when long |
| `renamed` | `revision`, `by`, `name`, `description` |
| `published` | `revision`, `by`, `version`, `release` |
| `deleted` | `revision`, `by`; the last event |
| `run_started` | `run_id`, `version`, `by`; the run's own events are at `/flow-runs/{run_id}/events` |

`by` is `kind` (`user`, `key`, `command`, `system`), `name` and `user_id`. Whoever knows the `revision` of an event, or
a later one, has nothing to do; others read the flow again. A change made by a process that shares no bus with this one
is told as `flow_state` within a second or so. A reader that comes back is told how things stand, and what happens from
then on.
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
    """The bus topic of a flow."""
    return f"flow:{flow_id}"


def by(principal: Principal) -> dict[str, JsonValue]:
    """Who did something, as events say it."""
    return {"kind": principal.actor.kind, "name": principal.actor.name, "user_id": principal.user_id}


def announce_draft(
    session: AsyncSession, principal: Principal, flow_id: str, *, revision: int, before: Flow, after: Flow
) -> None:
    """Tell of a saved draft, once it is committed."""

    def data() -> dict[str, JsonValue]:
        found = diff_flows(before, after)
        lines, diff = found.lines(), found.as_json()
        told: list[JsonValue] = [*lines[:MOST_LINES]]
        if len(lines) > MOST_LINES:
            told.append(f"... and {len(lines) - MOST_LINES} more")
        short = len(orjson.dumps(diff)) <= LONGEST_DIFF_BYTES
        return {
            "revision": revision,
            "name": after.name,
            "by": by(principal),
            "changes": told,
            "diff": diff if short else None,
        }

    announce(session, topic_of(flow_id), "draft_saved", data)


def announce_change(session: AsyncSession, principal: Principal, flow_id: str, kind: str, **data: JsonValue) -> None:
    """Tell of another change, once it is committed."""
    announce(session, topic_of(flow_id), kind, lambda: {"by": by(principal), **data})


def tell_run_started(bus: EventSink, principal: Principal, *, flow_id: str, run_id: str, version: int) -> None:
    """Tell that a run of the flow has begun."""
    topic = topic_of(flow_id)
    if bus.may_have_readers(topic):
        bus.publish(topic, "run_started", {"run_id": run_id, "version": version, "by": by(principal)})


@dataclass(slots=True)
class FlowStream:
    """The events of one flow, for one reader.

    Args:
        database: Where the flow is.
        feed: Where changes are heard.
        tenant_id: Whose flow it is.
        flow_id: The flow.
    """

    database: Database
    feed: EventFeed
    tenant_id: str
    flow_id: str
    _state: dict[str, JsonValue] | None = None
    """What the reader was told last."""

    async def events(self) -> AsyncGenerator["sse.Told", None]:
        """How things stand, then every change from now on; ends when the flow is deleted."""
        while True:
            try:
                async with self.feed.follow(topic_of(self.flow_id)) as feed:
                    has_rows = True
                    while True:
                        heard = [self._heard(event) for event in feed.pending()]
                        for told in heard or (await self._news() if has_rows else ()):
                            yield told
                            if told.kind == _LAST:
                                return
                        has_rows = await feed.changed()
            except Unavailable:
                await asyncio.sleep(SILENCE_SECONDS)

    async def state(self) -> AsyncGenerator["sse.Told", None]:
        """How things stand, and no more."""
        for told in await self._news():
            yield told

    def _heard(self, event: Event) -> "sse.Told":
        self._learn(event)
        return sse.Told(f"s-{(self._state or {}).get('revision', 0)}", event.kind, event.data)

    def _learn(self, event: Event) -> None:
        """The reader knows it now: the row need not say it again."""
        found: dict[str, JsonValue] = {name: event.data[name] for name in ("revision", "name") if name in event.data}
        if event.kind == "published":
            found["published_version"] = event.data["version"]
        self._state = (self._state or {}) | found

    async def _news(self) -> list["sse.Told"]:
        """What the row says, where that is another thing than the reader was told."""
        async with self.database.reading() as session:
            row = await repository.find_flow(session, self.flow_id, tenant_id=self.tenant_id)
        if row is None:
            return [sse.Told("s-0", _LAST, {})]
        state: dict[str, JsonValue] = {
            "revision": row.revision,
            "name": row.name,
            "published_version": row.published_version,
        }
        if state == self._state:
            return []
        self._state = state
        return [sse.Told(f"s-{row.revision}", "flow_state", dict(state))]
