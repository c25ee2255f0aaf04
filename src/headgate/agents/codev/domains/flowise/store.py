"""Chatflows of a server as a session holds them: read, written once each, found again when an answer was lost."""

import asyncio

import orjson
from pydantic import JsonValue

from headgate.agents.codev.domain import Change, Held, mark_of
from headgate.agents.codev.domains.flowise.answers import Chatflow
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.agents.codev.domains.flowise.drawn import WRITE_MEMBER, joined, read_definition, split
from headgate.agents.codev.domains.flowise.errors import ChatflowNotFound
from headgate.agents.codev.errors import WriteConflict
from headgate.foundation.errors import HeadgateError, UpstreamFailed

PAGE = 20
MOST_PAGES = 50
_NAMELESS = "Chatflow"


class Store:
    """The chatflows of one server."""

    def __init__(self, client: FlowiseClient) -> None:
        self._client = client
        self.types: dict[str, str] = {}
        """Kinds of the chatflows that were seen, by id."""

    async def read(self, flow_id: str) -> Held:
        """One as it is now."""
        return await self._held(await self._client.get_chatflow(flow_id))

    async def write(self, change: Change, before: Held | None, token: str) -> Held:
        """Write a change. Raises `WriteConflict` when the chatflow is not `before` now.

        Flowise has no way to write only if nothing changed: between our look and our write is a moment in which
        somebody else's change would be lost. It ignores an id of ours, so what it makes is found by the token.
        """
        if before is None:
            return await self._make(change, token)
        now = await self.read(before.flow_id)
        if now.mark != before.mark:
            raise WriteConflict(now.name)
        layout = _laid_out(change.about.get("layout"), now.about.get("layout"))
        name = change.name if change.name and change.name != now.name else None
        row = await self._client.update_chatflow(before.flow_id, _text(change, layout, token), name=name)
        return await self._held(row)

    async def find_written(self, token: str) -> Held | None:
        """The chatflow that a write with this token made; those changed last are looked at first."""
        for page in range(1, MOST_PAGES + 1):
            rows = await self._client.list_chatflows(page=page, limit=PAGE)
            found = next((one for one in rows if token in one.flow_data), None)
            if found is not None:
                return await self._held(found)
            if len(rows) < PAGE:
                return None
        return None

    async def remove(self, flow_id: str, expected_mark: str) -> None:
        """Delete one that is still as expected; one that is gone is gone."""
        try:
            held = await self.read(flow_id)
            if held.mark != expected_mark:
                raise WriteConflict(held.name)
            await self._client.delete_chatflow(flow_id)
        except ChatflowNotFound:
            return

    async def list_slim(self, most: int) -> list[Chatflow]:
        """Those changed last, without what they hold."""
        found: list[Chatflow] = []
        for page in range(1, most // PAGE + 1):
            rows = await self._client.list_chatflows(page=page, limit=PAGE)
            found += [Chatflow(one.id, one.name, one.type, "", one.updated, one.deployed) for one in rows]
            if len(rows) < PAGE:
                break
        return found[:most]

    async def _make(self, change: Change, token: str) -> Held:
        type_ = str(change.about.get("type") or "CHATFLOW")
        text = _text(change, change.about.get("layout"), token)
        try:
            return await self._held(await self._client.create_chatflow(change.name or _NAMELESS, type_, text))
        except UpstreamFailed:
            ghost = await self._ghost(token)
            if ghost is None or ghost.mark != mark_of(change.definition):
                raise
            return ghost

    async def _ghost(self, token: str) -> Held | None:
        """What a server kept although it answered with an error, or not at all."""
        try:
            return await self.find_written(token)
        except HeadgateError:  # the first error says more
            return None

    async def _held(self, row: Chatflow) -> Held:
        self.types[row.id] = row.type
        return await asyncio.to_thread(_read, row)  # half a second for a flow of two hundred nodes


def _read(row: Chatflow) -> Held:
    definition, layout = split(read_definition(row.flow_data, row.name))
    about: dict[str, JsonValue] = {"type": row.type, "layout": layout}
    return Held(row.id, row.name, definition, mark_of(definition), about)


def _text(change: Change, layout: JsonValue, token: str) -> str:
    viewport: dict[str, JsonValue] = {"viewport": {"x": 0, "y": 0, "zoom": 1}}
    return orjson.dumps(viewport | joined(change.definition, layout) | {WRITE_MEMBER: token}).decode()


def _laid_out(wanted: JsonValue, now: JsonValue) -> JsonValue:
    """Where nodes stand now, and new ones where they are to stand."""
    new, held = _object(wanted), _object(now)
    nodes = {**_object(new.get("nodes")), **_object(held.get("nodes"))}
    return {"nodes": nodes, "viewport": held.get("viewport") or new.get("viewport")}


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}
