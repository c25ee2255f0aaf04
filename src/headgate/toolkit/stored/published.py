"""Published flows as tools of MCP clients: one each, with the form of the flow as its arguments."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from headgate.features.access.permissions import Permission
from headgate.features.flows import publications
from headgate.foundation.quoting import shortened
from headgate.graph.flow_io import classify_io
from headgate.graph.form_schema import form_schema
from headgate.graph.model import Flow
from headgate.graph.names import clipped, free_name
from headgate.graph.template import Catalog
from headgate.toolkit.operations import OPERATIONS
from headgate.toolkit.stored.operation import BadArguments, Operation
from headgate.toolkit.stored.running import run_flow
from headgate.toolkit.stored.visit import Visit

MOST_FLOWS = 100
"""The newest; a client shows each to its model."""
LONGEST_DESCRIPTION = 1_000
LONGEST_NAME = 64
TEXT = "input_value"
BESIDE = ("upload_file", "read_run", "cancel_run")
"""Operations next to flows: files for forms, and runs that wait."""
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class FlowTool:
    """The arguments of a published flow."""

    flow_id: str
    schema: dict[str, Any]
    text: str
    """Argument with the text of the chat; empty when the flow reads none."""


async def flow_operations(visit: Visit) -> Mapping[str, Operation]:
    """Return a tool for each published flow that the caller may run, by name, and the operations next to them."""
    visit.require(Permission.RUNS_START)
    async with visit.studio.database.reading() as session:
        released = await publications.list_released(
            session, visit.principal, permission=Permission.RUNS_START, limit=MOST_FLOWS
        )
    helpers = [OPERATIONS[name] for name in BESIDE]
    operations = {known.name: known for known in helpers if visit.principal.may_somewhere(known.permission)}
    names = _names([(flow.id, flow.name) for flow, _ in released], taken=BESIDE)
    shared = await visit.catalog(Flow()) if released else None
    for flow, definition in released:
        has_code = any(node.code is not None for node in definition.nodes)
        catalog = await visit.catalog(definition) if has_code or shared is None else shared
        operations[names[flow.id]] = _operation(catalog, names[flow.id], flow.id, flow.name, definition)
    return operations


def _operation(catalog: Catalog, name: str, flow_id: str, title: str, definition: Flow) -> Operation:
    schema = form_schema(definition.form)
    reads_text = any(read.kind == "chat" for read in classify_io(definition, catalog).inputs)
    text = free_name(TEXT, [field.id for field in definition.form]) if reads_text or not definition.form else ""
    if text:
        argument: JsonValue = {"type": "string", "description": "The text that the flow is started with."}
        schema = {**schema, "properties": {text: argument, **_properties(schema)}}
    tool = FlowTool(flow_id, schema, text)

    async def call(caller: Visit, arguments: dict[str, Any]) -> Mapping[str, Any]:
        return await _run(caller, name, tool, arguments)

    described = shortened(definition.description or f"Runs the flow '{title}'.", LONGEST_DESCRIPTION)
    run = OPERATIONS["run_flow"]
    return Operation(name, described, lambda: schema, lambda: run.output, run.permission, "run", call)


async def _run(visit: Visit, name: str, tool: FlowTool, arguments: dict[str, Any]) -> Mapping[str, Any]:
    """Run the published version with the form as arguments; answers are checked as for every run."""
    unknown = sorted(set(arguments) - set(_properties(tool.schema)))
    text = arguments.get(tool.text) or "" if tool.text else ""
    if unknown or not isinstance(text, str):
        raise BadArguments(
            f"{name}: '{clipped(unknown[0] if unknown else tool.text, 60)}' is not as described.",
            remedy=f"Arguments: {', '.join(_properties(tool.schema)) or 'none'}.",
        )
    form = {key: value for key, value in arguments.items() if key != tool.text}
    return await run_flow(visit, tool.flow_id, input_value=text, form=form, version="published")


def _properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = schema["properties"]
    return properties


def _names(flows: Sequence[tuple[str, str]], *, taken: Sequence[str]) -> dict[str, str]:
    """Return the name of each flow's tool by id: those whose names are alike end with a part of the id."""
    plain = {flow_id: _UNSAFE.sub("_", name).strip("_").lower()[:LONGEST_NAME] for flow_id, name in flows}
    alike = [*plain.values(), *taken, ""]
    return {
        flow_id: name
        if alike.count(name) == 1
        else f"{name[: LONGEST_NAME - 13] or 'flow'}_{flow_id.replace('-', '')[-12:]}"
        for flow_id, name in plain.items()
    }
