"""Cache of a server's components (seed 004, DD-015, DD-035)."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue

from headgate.agents.codev.domains.flowise.answers import CredentialSchema
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.agents.codev.domains.flowise.node_schema import NodeSchema, schema_of
from headgate.agents.codev.domains.flowise.quoting import bounded, one_line

MOST_KEPT = 12
"""Cached responses of all servers; the oldest is evicted."""
MOST_TEMPLATES = 300


@dataclass(frozen=True, slots=True)
class Template:
    """A template of the marketplace."""

    name: str
    type: str
    about: dict[str, JsonValue]
    flow_data: str = field(repr=False)


class Memory:
    """Caches responses of servers; concurrent requests for the same response share it.

    Args:
        seconds: How long; 0 for not at all.
        clock: Seconds that only grow.
    """

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], tuple[float, Any]] = OrderedDict()
        self._asking: dict[tuple[str, str], asyncio.Lock] = {}

    async def get(self, server: str, what: str, ask: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - anything
        """Return the response, from the cache if present. Failures are not cached."""
        key = (server, what)
        lock = self._asking.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                held = self._kept.get(key)
                if held is not None and self._clock() - held[0] < self._seconds:
                    return held[1]
                response = await ask()
                self._keep(key, response)
                return response
        finally:
            if not lock.locked():
                self._asking.pop(key, None)

    def _keep(self, key: tuple[str, str], response: Any) -> None:  # noqa: ANN401 - anything
        self._kept.pop(key, None)
        if self._seconds > 0:
            self._kept[key] = (self._clock(), response)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)


class Catalogue:
    """Components, templates and types of credential of one server.

    Args:
        client: Of the server.
        memory: Shared by all sessions.
        key: Which server it is, in the memory.
    """

    def __init__(self, client: FlowiseClient, memory: Memory, key: str) -> None:
        self._client = client
        self._memory = memory
        self._key = key

    async def nodes(self) -> Mapping[str, NodeSchema]:
        """Components by name."""
        schemas: Mapping[str, NodeSchema] = await self._memory.get(self._key, "nodes", self._ask_nodes)
        return schemas

    async def templates(self) -> Mapping[str, Template]:
        """Templates by name."""
        templates: Mapping[str, Template] = await self._memory.get(self._key, "templates", self._ask_templates)
        return templates

    async def credential_types(self) -> Mapping[str, CredentialSchema]:
        """Return the fields of each credential type."""
        types: Mapping[str, CredentialSchema] = await self._memory.get(self._key, "credential types", self._ask_types)
        return types

    async def _ask_nodes(self) -> Mapping[str, NodeSchema]:
        schemas = [schema_of(row) for row in await self._client.list_nodes()]
        return {schema.name: schema for schema in schemas if schema is not None}

    async def _ask_templates(self) -> Mapping[str, Template]:
        templates: dict[str, Template] = {}
        for row in (await self._client.list_templates())[:MOST_TEMPLATES]:
            made = _template_of(row)
            if made is not None and made.name in templates:  # of another kind, as 'Agentic RAG' in some releases
                name = f"{made.name} ({made.type})"
                made = replace(made, name=name, about=made.about | {"name": name})
            if made is not None:
                templates.setdefault(made.name, made)
        return templates

    async def _ask_types(self) -> Mapping[str, CredentialSchema]:
        return {schema.type: schema for schema in await self._client.list_credential_schemas()}


def _template_of(row: Mapping[str, Any]) -> Template | None:
    name = one_line(row.get("templateName"), 200)
    if not name:
        return None
    type_ = one_line(row.get("type"), 40)
    about: dict[str, JsonValue] = {
        "name": name,
        "type": type_,
        "description": one_line(row.get("description"), 300),
        "categories": bounded(row.get("categories")),
        "usecases": bounded(row.get("usecases")),
    }
    data = row.get("flowData")
    return Template(name, type_, about, data if isinstance(data, str) else "")
