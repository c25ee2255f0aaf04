"""Steps that link a shared assistant: what it gives them is frozen with the version, and the run reads only that.

A step names an assistant in its field `assistant`. Freezing a flow puts the assistant's values beside the step's own
params, as `linked`; a value that the step sets itself stands before it (seed 002, prompt_override). The assistant
itself is never read or changed by a run.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.names import did_you_mean
from headgate.graph.template import Catalog

LINK_FIELD = "assistant"
_INSTRUCTION_FIELDS = ("system", "instructions")


@dataclass(frozen=True, slots=True)
class SharedAssistant:
    """What a shared assistant gives the steps that link it. Empty members give nothing."""

    instructions: str = ""
    model: str = ""
    temperature: float | None = None


def linked_names(flow: Flow, catalog: Catalog) -> dict[str, str]:
    """Node id to the name of the assistant that it links."""
    found = {}
    for node in flow.nodes:
        name = node.params.get(LINK_FIELD)
        if isinstance(name, str) and name:
            template = catalog.template(node.type, node.params)
            if template is not None and template.field(LINK_FIELD) is not None:
                found[node.id] = name
    return found


def link(flow: Flow, catalog: Catalog, assistants: Mapping[str, SharedAssistant]) -> Flow:
    """The flow with what its assistants give. An assistant that is not among them gives nothing."""
    names = linked_names(flow, catalog)
    if not names:
        return flow
    nodes = tuple(
        node.model_copy(update={"linked": _given(node, catalog, assistants[names[node.id]])})
        if names.get(node.id) in assistants
        else node
        for node in flow.nodes
    )
    return flow.model_copy(update={"nodes": nodes})


def link_issues(flow: Flow, catalog: Catalog, assistants: Mapping[str, SharedAssistant]) -> list[Issue]:
    """Steps that link an assistant that is not there."""
    return [
        Issue(
            IssueCode.UNRESOLVED_REFERENCE,
            f"step '{node_id}' links the shared assistant '{name}', which is not there"
            f"{did_you_mean(name, tuple(assistants)) or '.'}",
            "Make the assistant, or link another.",
            node_id,
            LINK_FIELD,
        )
        for node_id, name in linked_names(flow, catalog).items()
        if name not in assistants
    ]


def unlink(flow: Flow) -> Flow:
    """The flow as a draft holds it: the links, without what they gave when it was frozen."""
    if not any(node.linked for node in flow.nodes):
        return flow
    return flow.model_copy(update={"nodes": tuple(node.model_copy(update={"linked": {}}) for node in flow.nodes)})


def effective(flow: Flow) -> Flow:
    """The flow as it runs: what the assistants gave is among the params, behind what the steps set themselves."""
    if not any(node.linked for node in flow.nodes):
        return flow
    return flow.model_copy(update={"nodes": tuple(_merged(node) for node in flow.nodes)})


def _merged(node: Node) -> Node:
    own = {name: value for name, value in node.params.items() if value not in (None, "") or name not in node.linked}
    return node.model_copy(update={"params": {**node.linked, **own}, "linked": {}})


def _given(node: Node, catalog: Catalog, assistant: SharedAssistant) -> dict[str, JsonValue]:
    template = catalog.template(node.type, node.params)
    fields = {field.name for field in template.fields} if template is not None else set()
    given: dict[str, JsonValue] = {"model": assistant.model, "temperature": assistant.temperature}
    given |= dict.fromkeys(_INSTRUCTION_FIELDS, assistant.instructions)
    return {name: value for name, value in given.items() if name in fields and value not in (None, "")}
