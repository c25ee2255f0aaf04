"""The tools of the assistant and the development agent, for the open flow; `operations` has those of MCP clients.

A tool in both is the same function with the same name and parameters, except for `flow_id`, which MCP clients pass and
the assistant knows, and for `OTHER_PARAMETERS`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model
from pydantic_core import to_jsonable_python

from headgate.features.access.permissions import Permission, is_of_space
from headgate.toolkit import tools
from headgate.toolkit.flow.dry_run import dry_run
from headgate.toolkit.running import save_flow
from headgate.toolkit.stored import (
    attending,
    describing,
    eventing,
    keeping,
    running,
    surroundings,
    testing,
    triggering,
)
from headgate.toolkit.stored.operation import Operation, OperationFailed, operation
from headgate.toolkit.tool import Result, ToolDefinition, ToolRefused, define
from headgate.toolkit.workbench import Workbench

FLOW_ID = "flow_id"
WAITS = "The assistant's runs and tests end with its turn: it waits for them, and the page cancels them."
OTHER_PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "run_flow": {
        "version": "The assistant runs the flow as it is on the canvas.",
        "wait": WAITS,
        "idempotency_key": "A turn is not sent twice.",
        "deadline_seconds": WAITS,
    },
    "run_tests": {"wait": WAITS},
    "extract_flow": {
        "publish": "The assistant never publishes; a user does.",
        "revision": "The assistant changes the flow as it is on the canvas.",
    },
    "inline_flow": {"revision": "The assistant changes the flow as it is on the canvas."},
}
"""Tool to the parameters that only MCP clients have."""
_SHARED = (
    "list_flows",
    "list_runs",
    "list_attention",
    "list_events",
    "read_run",
    "get_tests",
    "save_tests",
    "run_tests",
    "set_schedule",
    "set_trigger",
    "list_models",
    "list_mcp_servers",
    "list_variables",
    "list_connections",
    "search_api_operations",
    "read_api_operation",
    "upload_file",
)
"""Operations on stored data that the assistant has too."""
_SAVING = frozenset({"save_tests", "run_tests"})
"""Shared tools that store the flow as on the canvas first."""
_STARTING = frozenset({"set_schedule", "set_trigger"})
"""Shared tools that store a new flow first: a trigger belongs to a stored one."""
_CHANGING = frozenset({"save_tests", *_STARTING})
"""Shared tools that wait while a plan does."""


def _on_open_flow(stored_operation: Operation) -> ToolDefinition:
    """Return an operation on stored data as a tool of the assistant, for the open flow."""
    definition = stored_operation.definition
    if definition is None:
        raise LookupError(stored_operation.name)

    def is_flow_bound() -> bool:
        return FLOW_ID in stored_operation.schema.get("required", ())

    def arguments() -> type[BaseModel]:
        omitted = {*OTHER_PARAMETERS.get(stored_operation.name, ()), *((FLOW_ID,) if is_flow_bound() else ())}
        return _without(definition.arguments, omitted)

    async def call(bench: Workbench, **values: Any) -> Result:  # noqa: ANN401 - checked by the operation
        given: dict[str, Any] = to_jsonable_python(values)
        if stored_operation.name in _SAVING or (stored_operation.name in _STARTING and _is_new(bench)):
            await save_flow(bench, to_run=stored_operation.kind == "run")
        if is_flow_bound():
            given[FLOW_ID] = _open_flow_id(bench)
        if bench.stored is None:
            raise ToolRefused("Stored data is not available here.", remedy="Continue without it.")
        visit = bench.stored.visit
        if stored_operation.kind != "read" and visit.again is not None:
            visit = replace(visit, principal=await visit.again())
        try:
            return {"ok": True, **await stored_operation.call(visit, given)}
        except OperationFailed as error:
            return {"ok": False, **error.answer}

    return ToolDefinition(
        name=stored_operation.name,
        description=stored_operation.description,
        make_arguments=arguments,
        function=call,
        permission=stored_operation.permission,
        kind=stored_operation.kind,
        uses="stored",
        replayed=stored_operation.kind != "run",
        touches=stored_operation.kind != "read",
        waits=stored_operation.name in _CHANGING,
    )


def _without(model: type[BaseModel], omitted: set[str]) -> type[BaseModel]:
    members: dict[str, Any] = {
        name: (member.annotation, member) for name, member in model.model_fields.items() if name not in omitted
    }
    return create_model(model.__name__, __config__=ConfigDict(extra="forbid"), **members)


def _is_new(bench: Workbench) -> bool:
    return bench.stored is not None and bench.stored.flow_id is None and bool(bench.flow.nodes)


def _open_flow_id(bench: Workbench) -> str:
    """Return the id of the stored flow. Raises `ToolRefused` for one that is not stored."""
    flow_id = bench.stored.flow_id if bench.stored is not None else None
    if flow_id is None:
        raise ToolRefused(
            "The flow is not stored yet, so there is no data about it.", remedy="Run it, or let the user save it first."
        )
    return flow_id


DRY_RUN = define(dry_run, permission=Permission.RUNS_TEST, uses="stored")
_ON_STORED = {
    function.__name__: (function, permission, kind)
    for module in (keeping, running, eventing, testing, triggering, surroundings, describing, attending)
    for function, permission, kind in module.OPERATIONS
}
TOOLS = (*tools.TOOLS, DRY_RUN, *(_on_open_flow(operation(*_ON_STORED[name])) for name in _SHARED))
"""Tools of the assistant, in the order a model sees them."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "tests": ("get_tests", "save_tests", "run_tests"),
    "other_flows": ("list_flows", "extract_flow", "inline_flow"),
    "services": ("list_connections", "search_api_operations", "read_api_operation"),
    "triggers": ("set_schedule", "set_trigger", "list_events", "list_attention"),
}
"""Group to tools that a model is shown when it asks for the group (`more_tools`): what most requests do not need."""
IN_GROUP = frozenset(name for names in GROUPS.values() for name in names)
READING_TOOLS = frozenset(tool.name for tool in TOOLS if tool.kind == "read")
"""Tools for answering questions."""


def tools_for(bench: Workbench) -> tuple[ToolDefinition, ...]:
    """Return the tools that the bench's user may use and that the bench supports."""
    return tuple(tool for tool in TOOLS if may_use(bench, tool.permission) and tool.is_equipped(bench))


def may_use(bench: Workbench, permission: Permission) -> bool:
    """Whether the user has a permission in the flow's space, or at all if it belongs to no space."""
    return bench.may(permission) if is_of_space(permission) else bench.principal.may(permission)
