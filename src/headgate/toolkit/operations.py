"""The operations of MCP clients, which name the flow that each works on.

`ONLY_ASSISTANT` and `ONLY_MCP` list every tool that `registry.TOOLS` and these do not share, with its reason.
"""

from collections.abc import Mapping

from headgate.features.access.permissions import Permission, is_of_space
from headgate.features.access.principal import Principal
from headgate.toolkit import tools
from headgate.toolkit.components import register_component
from headgate.toolkit.registry import DRY_RUN, WAITS
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
from headgate.toolkit.stored.operation import Operation, operation
from headgate.toolkit.tool import define

_STORED = "The assistant works on the flow that is open; the page creates, publishes and deletes flows."
_SEED = "A name of seed 000 for MCP clients; read_flow and get_field_value do it in both."
ONLY_ASSISTANT: Mapping[str, str] = {
    "propose_plan": "A plan waits for a user at the canvas; an MCP client asks its own user.",
    "propose_field_edit": "A proposal waits for a user at the canvas; an MCP client asks its own user.",
    "generate_component": "The client calls a model itself and gives the code to propose_component.",
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
    "cancel_run": WAITS,
    "pause_run": WAITS,
    "continue_run": WAITS,
    "get_test_result": WAITS,
    "cancel_tests": WAITS,
    "send_event": "An event continues runs of others; a user or a program sends it, or a flow with SendEvent.",
    "get_run_evidence": "Evidence is for auditors; the page and the API hand it out.",
    "batch": "The assistant's model calls several tools in one message.",
}
_OWN_FUNCTION = frozenset({"run_flow", "undo", "extract_flow", "inline_flow"})
"""Tools with the same name and meaning that work differently on a stored flow."""
_BUILD_FLOW = (
    "Replace the draft of a flow by a complete flow from text. Any error refuses it completely and is listed. "
    "The replaced draft is kept as a version."
)


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
    for tool in (*tools.TOOLS, DRY_RUN, _REGISTER):
        if tool.name in ONLY_ASSISTANT or tool.name in _OWN_FUNCTION:
            continue
        described = _BUILD_FLOW if tool.name == "build_flow" else ""
        listed.append(on_flow(tool, description=described) if tool.about == "flow" else personal(tool))
    named = {member.name: member for member in listed}
    return named | {"batch": batch_over(named)}


_REGISTER = define(
    register_component, permission=Permission.FLOWS_EDIT, kind="add", about="user", uses="maker", replayed=False
)
OPERATIONS = _operations()
"""Operations of MCP clients, by name."""


def offered(principal: Principal) -> list[Operation]:
    """Return the operations that a user may use at all."""
    return [
        operation
        for operation in OPERATIONS.values()
        if (principal.may_somewhere if is_of_space(operation.permission) else principal.may)(operation.permission)
    ]
