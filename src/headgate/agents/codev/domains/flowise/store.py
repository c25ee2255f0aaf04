"""Stores chatflows on a server: read, written exactly once, found again after a lost response."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import TypeVar

import orjson
from pydantic import JsonValue

from headgate.agents.codev.domain import Change, Held, mark_of
from headgate.agents.codev.domains.flowise.answers import Chatflow
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.agents.codev.domains.flowise.drawn import WRITE_MEMBER, joined, read_definition, split
from headgate.agents.codev.domains.flowise.errors import AnswerTooLarge, ChatflowNotFound, FlowiseFailed
from headgate.agents.codev.errors import WriteConflict
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.foundation.flow_threads import run_in_flow_thread

PAGES: tuple[int, ...] = (20, 5, 1)
"""Chatflows per response, fewer if they are large. Each divides the previous one."""
MOST_LEFT_OUT = 5
"""Chatflows over the size limit that are skipped; more of them are an error."""
MOST_LOOKED_AT = 1000
MOST_LOOKS = 3
"""How often a chatflow that was saved during a read is read again; then it is a conflict."""
_NAMELESS = "Chatflow"
_Made = TypeVar("_Made")


class Store:
    """The chatflows of one server."""

    def __init__(self, client: FlowiseClient) -> None:
        self._client = client
        self.types: dict[str, str] = {}
        """Kinds of the chatflows that were seen, by id."""

    async def read(self, flow_id: str) -> Held:
        """Return one in its current state."""
        return await self._held(await self._client.get_chatflow(flow_id))

    async def write(self, change: Change, before: Held | None, token: str) -> Held:
        """Write a change. Raises `WriteConflict` when the chatflow is not `before` now.

        Flowise has no way to write only if nothing changed: a change of somebody else that it takes while our write is
        on its way would be lost. It ignores an id of ours, so what it makes is found by the token.
        """
        if before is None:
            return await self._make(change, token)

        def wanted(now: Held) -> tuple[str, str | None]:
            layout = _laid_out(change.about.get("layout"), now.about.get("layout"))
            return _text(change, layout, token), change.name if change.name not in ("", now.name) else None

        text, name = await self._while_same(before.flow_id, before.mark, wanted)
        row = await self._client.update_chatflow(before.flow_id, text, name=name)
        return await self._read_back(row, token)

    async def find_written(self, token: str) -> Held | None:
        """Return the chatflow created by the write with this token; the newest are searched first."""
        async for row in self._newest(MOST_LOOKED_AT):
            if token in row.flow_data:
                return await self._held(row)
        return None

    async def remove(self, flow_id: str, expected_mark: str) -> None:
        """Delete one that is still as expected; one that is gone is gone."""
        try:
            await self._while_same(flow_id, expected_mark, lambda now: now)
            await self._client.delete_chatflow(flow_id)
        except ChatflowNotFound:
            return

    async def list_slim(self, most: int) -> list[Chatflow]:
        """Return the newest, without their contents."""
        return [replace(row, flow_data="") async for row in self._newest(most)]

    async def _newest(self, most: int) -> AsyncIterator[Chatflow]:
        """Yield the newest, without duplicates. Large ones are requested in smaller pages; oversized ones are skipped.

        Pages move while people save, and a server that knows no pages gives the same again.
        """
        at, sizes, left_out = 0, PAGES, 0
        seen: set[str] = set()
        while at < most:
            size = next(page_size for page_size in sizes if at % page_size == 0)
            try:
                rows = await self._client.list_chatflows(page=at // size + 1, limit=size)
            except AnswerTooLarge:
                left_out += size == 1
                if left_out > MOST_LEFT_OUT:
                    raise
                at += size == 1
                sizes = PAGES if size == 1 else PAGES[PAGES.index(size) + 1 :]
                continue
            new = [row for row in rows if row.id not in seen][: most - len(seen)]
            for row in new:
                seen.add(row.id)
                yield row
            if len(rows) < size or (not new and size > 1):  # one alone was seen because others were saved meanwhile
                return
            at, sizes = at + size, PAGES

    async def _make(self, change: Change, token: str) -> Held:
        type_ = str(change.about.get("type") or "CHATFLOW")
        text = _text(change, change.about.get("layout"), token)
        try:
            row = await self._client.create_chatflow(change.name or _NAMELESS, type_, text)
            return await self._held(_as_sent(row, token))
        except UpstreamFailed:
            ghost = await self._ghost(token)
            if ghost is None or ghost.mark != mark_of(change.definition):
                raise
            return ghost

    async def _while_same(self, flow_id: str, mark: str, make: Callable[[Held], _Made]) -> _Made:
        """Apply a function to a chatflow that is unchanged, directly before writing. Raises `WriteConflict`.

        Reading a large one takes as long as saving it in a canvas: when all is made it is looked at again, and made
        again if somebody saved it meanwhile.
        """
        row = await self._client.get_chatflow(flow_id)
        for _ in range(MOST_LOOKS):
            now = await self._held(row)
            if now.mark != mark:
                break
            made, seen = make(now), row
            row = await self._client.get_chatflow(flow_id)
            if row == seen:
                return made
        raise WriteConflict(row.name)

    async def _read_back(self, row: Chatflow, token: str) -> Held:
        """Read back what was written. Raises `WriteConflict` when another user saved over it meanwhile.

        A change that was made on top of it is none of ours: it is seen when the chatflow is read the next time.
        """
        written = await self._held(_as_sent(row, token))
        now = await self._client.get_chatflow(row.id)
        if token not in now.flow_data and (await self._held(now)).mark != written.mark:
            raise WriteConflict(now.name)
        return written

    async def _ghost(self, token: str) -> Held | None:
        """Return what a server stored although it responded with an error, or not at all."""
        try:
            return await self.find_written(token)
        except HeadgateError:  # the first error says more
            return None

    async def _held(self, row: Chatflow) -> Held:
        self.types[row.id] = row.type
        return await run_in_flow_thread(_read, row)  # half a second for a flow of two hundred nodes


def _as_sent(row: Chatflow, token: str) -> Chatflow:
    """Return what a server reports as stored. Raises `FlowiseFailed` when it differs from what was sent."""
    if token not in row.flow_data:
        raise FlowiseFailed(
            f"The server's response to a write of '{row.name}' differs from what was sent.",
            remedy="Check the chatflow in Flowise: a proxy may change requests.",
        )
    return row


def _read(row: Chatflow) -> Held:
    definition, layout = split(read_definition(row.flow_data, row.name))
    about: dict[str, JsonValue] = {"type": row.type, "layout": layout}
    return Held(row.id, row.name, definition, mark_of(definition), about, saved=row.updated)


def _text(change: Change, layout: JsonValue, token: str) -> str:
    viewport: dict[str, JsonValue] = {"viewport": {"x": 0, "y": 0, "zoom": 1}}
    return orjson.dumps(viewport | joined(change.definition, layout) | {WRITE_MEMBER: token}).decode()


def _laid_out(layout: JsonValue, now: JsonValue) -> JsonValue:
    """Return the current layout, with positions for new nodes."""
    new, held = _object(layout), _object(now)
    nodes = {**_object(new.get("nodes")), **_object(held.get("nodes"))}
    return {"nodes": nodes, "viewport": held.get("viewport") or new.get("viewport")}


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}
