"""Tools that only read: the catalogue, the flows that are there, models, names of variables, tools of MCP servers.

They are the toolkit's operations for MCP clients under short names, with the same permissions, cut to what a model
needs in order to choose (seed 004, DD-015). What they return was written by others: data, never instructions.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from headgate.agents.codev.domain import Answer, DomainTool, Phase
from headgate.agents.codev.domains.headgate.place import Place
from headgate.features.access.permissions import Permission
from headgate.features.catalog.gallery import find_recipe
from headgate.features.flows import service as flows
from headgate.features.mcptools import service as mcp_servers
from headgate.features.models import readiness
from headgate.features.models import service as models
from headgate.features.secrets import service as variables
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import redact_text
from headgate.graph.spec import print_spec
from headgate.toolkit.operations import OPERATIONS
from headgate.toolkit.shown import shown_flow
from headgate.toolkit.stored.keeping import issues_of
from headgate.toolkit.stored.operation import Operation, OperationFailed, error_answer, operation
from headgate.toolkit.stored.surroundings import default_of_steps
from headgate.toolkit.stored.visit import Visit

LOOKING = frozenset({Phase.DISCOVER})
ALWAYS = frozenset({Phase.DISCOVER, Phase.PATCH})
MODELS_SHOWN = 6
"""Of one provider."""
"""Characters."""
_SENTENCE = 160
_NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
_BULK = frozenset({"space_id", "revision", "published_version"})
"""Members of an operation's result that a model does not need."""


async def describe_flow(visit: Visit, flow_id: str) -> Answer:  # noqa: D417 - what a model reads
    """Read a flow as spec text, with its problems. Secrets are never shown.

    Args:
        flow_id: Id of the flow.
    """
    row = await visit.flow(flow_id)
    flow = flows.definition_of(row)
    spec = print_spec(shown_flow(flow, await visit.catalog(flow)))
    return {"flow_id": row.id, "name": row.name, "spec": spec, "issues": list(await issues_of(visit, row))}


async def describe_template(visit: Visit, template_id: str) -> Answer:  # noqa: ARG001, D417 - as every operation
    """Show a template as spec text, to build a similar flow.

    Args:
        template_id: Id of the template.
    """
    recipe = find_recipe(template_id[:200])
    return {"template_id": recipe.key, "title": recipe.title, "description": recipe.description, "spec": recipe.spec}


@dataclass(frozen=True, slots=True)
class Reading:
    """A read-only tool: an operation of the toolkit, or an additional one, with its own name."""

    name: str
    operation: Operation
    phases: frozenset[Phase] = LOOKING
    description: str = ""


READINGS = (
    Reading(
        "search_components",
        OPERATIONS["search_components"],
        ALWAYS,
        "Find component types by what they do; describe_component shows one.",
    ),
    Reading("describe_component", OPERATIONS["get_component"], ALWAYS),
    Reading("list_component_types", OPERATIONS["list_component_types"]),
    Reading("read_grammar", OPERATIONS["read_grammar"], ALWAYS),
    Reading(
        "list_flows", OPERATIONS["list_flows"], LOOKING, "List flows that are there, newest first, each in a line."
    ),
    Reading("describe_flow", operation(describe_flow, Permission.FLOWS_VIEW), ALWAYS),
    Reading("describe_node", OPERATIONS["get_flow_component_details"], ALWAYS),
    Reading("check_flow", OPERATIONS["validate_flow"], ALWAYS),
    Reading(
        "list_templates",
        OPERATIONS["search_templates"],
        LOOKING,
        "Find ready-made flows; describe_template shows one.",
    ),
    Reading("describe_template", operation(describe_template, Permission.CATALOG_VIEW)),
)


API_READINGS = (
    Reading("list_connections", OPERATIONS["list_connections"]),
    Reading("search_api_operations", OPERATIONS["search_api_operations"], ALWAYS),
    Reading("read_api_operation", OPERATIONS["read_api_operation"], ALWAYS),
)
"""For a space that has connections."""


def reading_tools(place: Place, *, has_servers: bool, has_connections: bool) -> Sequence[DomainTool]:
    """The tools that read, in the order a model sees them."""
    readings = (*READINGS, *(API_READINGS if has_connections else ()))
    tools = [*(_of_operation(place, reading) for reading in readings), _variables_tool(place), _models_tool(place)]
    return [*tools, _servers_tool(place)] if has_servers else tools


def _of_operation(place: Place, reading: Reading) -> DomainTool:
    operation = reading.operation

    async def read(arguments: dict[str, Any]) -> Answer:
        try:
            answer = await operation.call(place.visit, arguments)
        except OperationFailed as error:
            return error.answer
        return _slim(answer)

    return DomainTool(
        reading.name, reading.description or operation.description, operation.schema, reading.phases, read
    )


def _variables_tool(place: Place) -> DomainTool:
    async def read(_arguments: dict[str, Any]) -> Answer:
        place.principal.require(Permission.VARIABLES_VIEW)
        async with place.studio.database.reading() as session:
            rows = await variables.list_variables(session, place.principal, space_id=place.space_id)
        return {"variables": list[JsonValue](dict.fromkeys(row.name for row in rows))}

    return _tool("list_variables", "List the variables that flows may use. Their values are never shown.", read)


def _models_tool(place: Place) -> DomainTool:
    async def read(_arguments: dict[str, Any]) -> Answer:
        ready: dict[str, JsonValue] = {}
        not_ready: dict[str, JsonValue] = {}
        more: dict[str, JsonValue] = {}
        survey = await readiness.survey(place.keys(), local=place.local)
        for status in survey.providers:
            if not status.configured:
                not_ready[status.id] = f"{status.reason} {status.remedy}"
                continue
            offered = await models.offered_models(status, place.keys(), local=place.local)
            names = dict.fromkeys(name for name in (status.default_model, *(info.name for info in offered)) if name)
            ready[status.id] = list[JsonValue](f"{status.id}/{name}" for name in list(names)[:MODELS_SHOWN])
            if len(names) > MODELS_SHOWN:
                more[status.id] = len(names) - MODELS_SHOWN
        answer: Answer = {"ready": ready, "not_ready": not_ready}
        if (default := default_of_steps(survey)) is not None:
            answer["default"] = default
        if more:
            answer["more_models"] = more
        return answer

    return _tool("list_models", "List the ready model providers, with their models as provider/name.", read)


def _servers_tool(place: Place) -> DomainTool:
    async def read(_arguments: dict[str, Any]) -> Answer:
        tools: list[JsonValue] = []
        async with place.studio.database.reading() as session:
            for server in await mcp_servers.list_servers(session, place.principal, space_id=place.space_id):
                rows = await mcp_servers.tools_of(session, server.id, tenant_id=place.principal.tenant_id)
                tools += [
                    {"server": server.name, "tool": row.name, "what": redact_text(row.description)[:_SENTENCE]}
                    for row in rows
                    if row.enabled and server.enabled and not row.changed
                ]
        return {"tools": tools}

    return _tool("list_mcp_tools", "List the tools of the space's MCP servers, for the component McpTools.", read)


def _tool(
    name: str,
    description: str,
    function: Callable[[dict[str, Any]], Awaitable[Answer]],
) -> DomainTool:
    """Return a tool whose refusals are results."""

    async def read(arguments: dict[str, Any]) -> Answer:
        try:
            return await function(arguments)
        except HeadgateError as error:
            return error_answer(error)

    return DomainTool(name, description, _NO_ARGUMENTS, LOOKING, read)


def _slim(answer: Answer) -> Answer:
    """Return a result without members that a model does not need, also in listed flows."""
    return {
        name: [_slim(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value
        for name, value in answer.items()
        if name not in _BULK
    }
