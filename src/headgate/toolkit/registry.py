"""The registry of tools for the assistant, MCP clients and the development agent.

`TOOLS` are the assistant's, for the open flow; `OPERATIONS` are for MCP clients, which name a flow. A tool in
both is the same function with the same name and parameters, except for `flow_id`, which MCP clients pass and the
assistant knows. `ONLY_ASSISTANT`, `ONLY_MCP` and `OTHER_PARAMETERS` list every exception with its reason.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model
from pydantic_core import to_jsonable_python

from headgate.features.access.permissions import Permission, is_of_space
from headgate.features.access.principal import Principal
from headgate.toolkit import tools
from headgate.toolkit.components import register_component
from headgate.toolkit.flow.dry_run import dry_run
from headgate.toolkit.running import save_flow
from headgate.toolkit.schemas import plain
from headgate.toolkit.stored import (
    approving,
    attending,
    composing,
    describing,
    evaluating,
    eventing,
    keeping,
    knowing,
    remembering,
    running,
    searching,
    surroundings,
    testing,
    triggering,
    viewing,
)
from headgate.toolkit.stored.batching import batch_over
from headgate.toolkit.stored.editing import on_flow, personal
from headgate.toolkit.stored.operation import Operation, OperationFailed, operation
from headgate.toolkit.tool import Result, ToolDefinition, ToolRefused, define
from headgate.toolkit.workbench import Workbench

FLOW_ID = "flow_id"
_STORED = "The assistant works on the flow that is open; the page creates, publishes and deletes flows."
_SEED = "A name of seed 000 for MCP clients; read_flow and get_field_value do it in both."
_WAITS = "The assistant's runs and tests end with its turn: it waits for them, and the page cancels them."
ONLY_ASSISTANT: Mapping[str, str] = {
    "propose_plan": "A plan waits for a user at the canvas; an MCP client asks its own user.",
    "propose_field_edit": "A proposal waits for a user at the canvas; an MCP client asks its own user.",
    "generate_component": "The client has a model of its own and gives the code to propose_component.",
}
ONLY_MCP: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "get_flow",
            "create_flow",
            "create_flow_from_spec",
            "create_flow_from_template",
            "search_templates",
            "delete_flow",
            "publish_flow",
            "list_versions",
        ),
        _STORED,
    ),
    **dict.fromkeys(
        (
            "visualize_flow_graph",
            "get_flow_ascii_diagram",
            "get_flow_text_representation",
            "get_flow_structure_summary",
            "get_flow_component_details",
            "list_flow_component_fields",
            "get_flow_component_field_value",
            "update_flow_component_field",
        ),
        _SEED,
    ),
    "register_component": "The user saves a proposed component in the studio; an MCP client asks its own user.",
    "get_component": "The name of seed 000 for MCP clients; describe_component does it in both.",
    "list_component_types": "The assistant's prompt names every type.",
    "count_components": "The assistant's prompt names every type.",
    "validate_flow": "Every edit of the assistant answers with it, and describe_flow_io gives all of it.",
    **dict.fromkeys(
        ("list_approvals", "read_approval", "decide_approval"),
        "A user decides in the inbox, and no model for them; read_run names approvals that a run waits for.",
    ),
    **dict.fromkeys(
        ("list_state", "read_state", "write_state", "delete_state"),
        "State belongs to runs; the user reads and changes it in the page, and steps do with ReadState and WriteState.",
    ),
    **dict.fromkeys(
        ("list_knowledge", "search_knowledge"),
        "The assistant builds flows that answer from knowledge, with Retrieve and AnswerFromKnowledge.",
    ),
    **dict.fromkeys(
        (
            "list_knowledge_questions",
            "list_knowledge_evaluations",
            "read_knowledge_evaluation",
            "evaluate_knowledge",
        ),
        "Editors evaluate a base in its page; the assistant works on flows.",
    ),
    "list_triggers": "The page lists the triggers of the open flow.",
    "cancel_run": _WAITS,
    "pause_run": _WAITS,
    "continue_run": _WAITS,
    "get_test_result": _WAITS,
    "cancel_tests": _WAITS,
    "send_event": "An event continues runs of others; a user or a program sends it, or a flow with SendEvent.",
    "get_run_evidence": "Evidence is for auditors; the page and the API hand it out.",
    "batch": "The assistant's model calls several tools in one message.",
}
OTHER_PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "run_flow": {
        "version": "The assistant runs the flow as it is on the canvas.",
        "wait": _WAITS,
        "idempotency_key": "A turn is not sent twice.",
        "deadline_seconds": _WAITS,
    },
    "run_tests": {"wait": _WAITS},
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
_OWN_FUNCTION = frozenset({"run_flow", "undo", "extract_flow", "inline_flow"})
"""Tools with the same name and meaning that work differently on a stored flow."""
_BUILD_FLOW = (
    "Replace the draft of a flow by a complete flow from text. Any error refuses it completely and is listed. "
    "The replaced draft is kept as a version."
)
_SAVING = frozenset({"save_tests", "run_tests"})
"""Shared tools that store the flow as on the canvas first."""
_STARTING = frozenset({"set_schedule", "set_trigger"})
"""Shared tools that store a new flow first: a trigger belongs to a stored one."""
_CHANGING = frozenset({"save_tests", *_STARTING})
"""Shared tools that wait while a plan does."""


def _operations() -> dict[str, Operation]:
    modules = (
        *(keeping, composing, running, eventing, remembering, approving, testing, triggering, viewing, searching),
        knowing,
        evaluating,
        surroundings,
        describing,
        attending,
    )
    listed = [operation(*row) for module in modules for row in module.OPERATIONS]
    for tool in (*tools.TOOLS, _DRY_RUN, _REGISTER):
        if tool.name in ONLY_ASSISTANT or tool.name in _OWN_FUNCTION:
            continue
        described = _BUILD_FLOW if tool.name == "build_flow" else ""
        listed.append(on_flow(tool, description=described) if tool.about == "flow" else personal(tool))
    named = {member.name: member for member in listed}
    return named | {"batch": batch_over(named)}


def _on_open_flow(stored_operation: Operation) -> ToolDefinition:
    """Return an operation on stored data as a tool of the assistant, for the open flow."""
    model, flow_bound = stored_operation.arguments, FLOW_ID in stored_operation.schema.get("required", ())
    if model is None:
        raise LookupError(stored_operation.name)
    omitted = {*OTHER_PARAMETERS.get(stored_operation.name, ()), *((FLOW_ID,) if flow_bound else ())}
    arguments = _without(model, omitted)

    async def call(bench: Workbench, **values: Any) -> Result:  # noqa: ANN401 - checked by the operation
        given: dict[str, Any] = to_jsonable_python(values)
        if stored_operation.name in _SAVING or (stored_operation.name in _STARTING and _is_new(bench)):
            await save_flow(bench, to_run=stored_operation.kind == "run")
        if flow_bound:
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
        arguments=arguments,
        schema=plain(arguments.model_json_schema()),
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


_DRY_RUN = define(dry_run, permission=Permission.RUNS_TEST, uses="stored")
_REGISTER = define(
    register_component, permission=Permission.FLOWS_EDIT, kind="add", about="user", uses="maker", replayed=False
)
OPERATIONS = _operations()
"""Operations of MCP clients, by name."""
TOOLS = (*tools.TOOLS, _DRY_RUN, *(_on_open_flow(OPERATIONS[name]) for name in _SHARED))
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


def offered(principal: Principal) -> list[Operation]:
    """Return the operations that a user may use at all."""
    return [
        operation
        for operation in OPERATIONS.values()
        if (principal.may_somewhere if is_of_space(operation.permission) else principal.may)(operation.permission)
    ]
