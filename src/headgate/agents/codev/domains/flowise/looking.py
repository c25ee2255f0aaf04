"""Tools that inspect a Flowise server: compact lists and single items (DD-013, DD-015).

What they answer was written by others, so it is clipped, cleaned and marked as data.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import orjson
from pydantic import JsonValue

from headgate.agents.codev.domain import Answer, DomainTool, Phase
from headgate.agents.codev.domains.flowise.compact import MOST_SHOWN, shown
from headgate.agents.codev.domains.flowise.drawn import read_definition
from headgate.agents.codev.domains.flowise.errors import BadSpec
from headgate.agents.codev.domains.flowise.quoting import one_line
from headgate.agents.codev.domains.flowise.tool_context import ToolContext
from headgate.foundation.errors import HeadgateError, NotFound
from headgate.graph.names import did_you_mean

MOST_LISTED = 400
MOST_FAULTS = 20
MOST_CHATFLOWS = 200
MOST_DESCRIBED = 60_000
"""Characters of one description of a flow or node."""
SHOWN = (MOST_SHOWN, 600, 60)
"""Characters of one value of a flow, fewer if the flow is large."""
DISCOVER = frozenset({Phase.DISCOVER})
BOTH = frozenset({Phase.DISCOVER, Phase.PATCH})
Reading = Callable[[dict[str, Any]], Awaitable[Answer]]


def text_property(description: str) -> dict[str, Any]:
    """JSON Schema of a text argument."""
    return {"type": "string", "description": description}


def arguments(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    """JSON Schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def refused(error: HeadgateError) -> Answer:
    """Return an error as a tool's result."""
    return {"error": error.detail, "remedy": error.remedy}


def reading_tool(
    name: str, description: str, schema: dict[str, Any], read: Reading, phases: frozenset[Phase] = DISCOVER
) -> DomainTool:
    """Return a read-only tool, whose errors are results."""

    async def guarded(given: dict[str, Any]) -> Answer:
        try:
            return await read(given)
        except HeadgateError as error:
            return refused(error)

    return DomainTool(name, description, schema, phases, read=guarded)


_SEARCH = text_property("Words in name, label and category; empty: all.")


def looking_tools(context: ToolContext) -> list[DomainTool]:
    """The tools of the phase discover; some are there while writing too."""
    looking = _Looking(context)
    return [
        *_listing_tools(looking),
        reading_tool(
            "get_node",
            "Describe a component: its connections (inputAnchors), values (inputParams), outputs, credential.",
            arguments(("name",), name=text_property("Name of the component, for example 'chatOpenAI'.")),
            looking.get_node,
            BOTH,
        ),
        reading_tool(
            "describe_template",
            "Show a template in the compact form of create_chatflow.",
            arguments(("name",), name=text_property("Name of the template.")),
            looking.describe_template,
        ),
        reading_tool(
            "describe_chatflow",
            "Show a chatflow in compact form: nodes, values, edges.",
            arguments(("chatflow_id",), chatflow_id=text_property("Id of the chatflow.")),
            looking.describe_chatflow,
            BOTH,
        ),
    ]


def _listing_tools(looking: "_Looking") -> list[DomainTool]:
    return [
        reading_tool(
            "list_nodes",
            "List the server's components: name, category and label. get_node describes one.",
            arguments(search=_SEARCH),
            looking.list_nodes,
        ),
        reading_tool(
            "list_marketplace_templates",
            "List templates by name, type and description.",
            arguments(search=_SEARCH),
            looking.list_templates,
        ),
        reading_tool(
            "list_chatflows",
            "List the server's chatflows: id, name, type and time of the last change, newest first.",
            arguments(),
            looking.list_chatflows,
        ),
        reading_tool(
            "list_credentials",
            "List credentials by id, name and type. Their values are never shown.",
            arguments(),
            looking.list_credentials,
            BOTH,
        ),
    ]


class _Looking:
    def __init__(self, context: ToolContext) -> None:
        self._context = context

    async def list_nodes(self, given: dict[str, Any]) -> Answer:
        schemas = await self._context.catalogue.nodes()
        nodes = [
            schema.slim() for schema in schemas.values() if _matches(given, schema.name, schema.label, schema.category)
        ]
        return _listed("nodes", nodes, MOST_LISTED)

    async def get_node(self, given: dict[str, Any]) -> Answer:
        schemas = await self._context.catalogue.nodes()
        name = str(given.get("name", ""))
        if name not in schemas:
            raise NotFound(
                f"The server has no component '{one_line(name, 80)}'{did_you_mean(name, schemas) or '.'}",
                remedy="Take a name from list_nodes.",
            )
        return _fitting("node", [schemas[name].described()])

    async def list_templates(self, given: dict[str, Any]) -> Answer:
        templates = await self._context.catalogue.templates()
        descriptions = [
            template.about for template in templates.values() if _matches(given, template.name, str(template.about))
        ]
        return _listed("templates", descriptions, MOST_LISTED)

    async def describe_template(self, given: dict[str, Any]) -> Answer:
        templates = await self._context.catalogue.templates()
        name = str(given.get("name", ""))
        if name not in templates:
            raise NotFound(
                f"There is no template '{one_line(name, 80)}'{did_you_mean(name, templates) or '.'}",
                remedy="Take a name from list_marketplace_templates.",
            )
        template = templates[name]
        if template.type.casefold() == "tool":
            raise BadSpec(f"The template '{name}' is a tool, not a flow.", remedy="Choose a Chatflow or AgentflowV2.")
        definition = read_definition(template.flow_data, name)
        schemas = await self._context.catalogue.nodes()
        return _fitting(
            "template", (template.about | {"flow": shown(definition, schemas, most=most)} for most in SHOWN)
        )

    async def list_chatflows(self, _given: dict[str, Any]) -> Answer:
        rows = await self._context.store.list_slim(MOST_CHATFLOWS)
        chatflows: list[dict[str, JsonValue]] = [
            {"id": row.id, "name": row.name, "type": row.type, "updated": row.updated} for row in rows
        ]
        return _listed("chatflows", chatflows, MOST_CHATFLOWS)

    async def describe_chatflow(self, given: dict[str, Any]) -> Answer:
        held = await self._context.store.read(str(given.get("chatflow_id", "")))
        schemas, _ = await self._context.look()
        every = self._context.faults(held.definition)
        faults: list[JsonValue] = [str(fault) for fault in every[:MOST_FAULTS]]
        if len(every) > MOST_FAULTS:
            faults.append(f"... and {len(every) - MOST_FAULTS} more")
        about = {"id": held.flow_id, "name": held.name, "type": held.about.get("type")}
        descriptions = (about | shown(held.definition, schemas, most=most) | {"faults": faults} for most in SHOWN)
        return _fitting("chatflow", descriptions)

    async def list_credentials(self, _given: dict[str, Any]) -> Answer:
        rows = await self._context.client.list_credentials()
        credentials: list[dict[str, JsonValue]] = [{"id": row.id, "name": row.name, "type": row.type} for row in rows]
        return _listed("credentials", credentials, MOST_LISTED)


def _matches(given: dict[str, Any], *texts: str) -> bool:
    words = str(given.get("search") or "").casefold().split()[:20]
    everything = " ".join(texts).casefold()
    return all(word in everything for word in words)


def _listed(name: str, rows: list[dict[str, JsonValue]], most: int) -> Answer:
    answer: Answer = {name: list[JsonValue](rows[:most]), "total": len(rows)}
    if len(rows) > most:
        answer["note"] = f"Only the first {most} are listed; search for words to see others."
    return answer


def _fitting(name: str, descriptions: Iterable[dict[str, JsonValue]]) -> Answer:
    """The first description that a model can take; one that is too large is refused, not cut in the middle."""
    size = 0
    for description in descriptions:
        size = len(orjson.dumps(description))
        if size <= MOST_DESCRIBED:
            return description
    raise BadSpec(f"This {name} is too large to show: {size} characters.", remedy="Choose another.")
