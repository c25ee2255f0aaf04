"""What steps get from their space where they set nothing: values of a linked shared assistant, and the default model.

A step names an assistant in its field `assistant`; a step whose model field is empty uses the default model for steps.
Freezing a flow stores both with the node, as `linked`, and a run reads only that: a value that the step sets itself
comes first, then the assistant's (seed 002, prompt_override), then the default. Assistants and defaults are never read
or changed by a run.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class StepDefaults:
    """What a space offers steps that set nothing themselves."""

    assistants: Mapping[str, SharedAssistant] = field(default_factory=dict)
    """Shared assistants by name."""
    model: JsonValue = None
    """The default model for steps, as a model field holds it; None where there is none."""


NO_DEFAULTS = StepDefaults()


def linked_names(flow: Flow, catalog: Catalog) -> dict[str, str]:
    """Node id to the name of the assistant that it links."""
    names = {}
    for node in flow.nodes:
        name = node.params.get(LINK_FIELD)
        if isinstance(name, str) and name:
            template = catalog.template(node.type, node.params)
            if template is not None and template.field(LINK_FIELD) is not None:
                names[node.id] = name
    return names


def empty_models(flow: Flow, catalog: Catalog) -> list[tuple[str, str]]:
    """Node id and name of each empty model field that takes the default model for steps."""
    connected = {(edge.target, edge.input) for edge in flow.edges}
    return [
        (node.id, name)
        for node in flow.nodes
        for name in _default_fields(node, catalog)
        if node.params.get(name) in (None, "")
        and (node.id, name) not in connected
        and name not in node.policy.input_bindings
    ]


def link(flow: Flow, catalog: Catalog, defaults: StepDefaults) -> Flow:
    """The flow with what its assistants and the default model give. An unknown assistant gives nothing."""
    given: dict[str, dict[str, JsonValue]] = {}
    if defaults.model is not None:
        for node_id, name in empty_models(flow, catalog):
            given.setdefault(node_id, {})[name] = defaults.model
    names = linked_names(flow, catalog)
    for node in flow.nodes:
        assistant = defaults.assistants.get(names.get(node.id, ""))
        if assistant is not None:
            given[node.id] = {**given.get(node.id, {}), **_given(node, catalog, assistant)}
    if not given:
        return flow
    nodes = (node.model_copy(update={"linked": given[node.id]}) if node.id in given else node for node in flow.nodes)
    return flow.model_copy(update={"nodes": tuple(nodes)})


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
    """The flow as a draft holds it: without what assistants and the default model gave when it was frozen."""
    if not any(node.linked for node in flow.nodes):
        return flow
    return flow.model_copy(update={"nodes": tuple(node.model_copy(update={"linked": {}}) for node in flow.nodes)})


def effective(flow: Flow) -> Flow:
    """The flow as it runs: what was linked is among the params, behind what the steps set themselves."""
    if not any(node.linked for node in flow.nodes):
        return flow
    return flow.model_copy(update={"nodes": tuple(_merged(node) for node in flow.nodes)})


def _merged(node: Node) -> Node:
    own = {name: value for name, value in node.params.items() if value not in (None, "") or name not in node.linked}
    return node.model_copy(update={"params": {**node.linked, **own}, "linked": {}})


def _default_fields(node: Node, catalog: Catalog) -> Iterator[str]:
    template = catalog.template(node.type, node.params)
    yield from (one.name for one in template.fields if one.default_model) if template is not None else ()


def _given(node: Node, catalog: Catalog, assistant: SharedAssistant) -> dict[str, JsonValue]:
    template = catalog.template(node.type, node.params)
    fields = {field.name for field in template.fields} if template is not None else set()
    given: dict[str, JsonValue] = {"model": assistant.model, "temperature": assistant.temperature}
    given |= dict.fromkeys(_INSTRUCTION_FIELDS, assistant.instructions)
    return {name: value for name, value in given.items() if name in fields and value not in (None, "")}
