"""Linked values of steps: those of a shared assistant, the default model, and the flows that they run.

A step names an assistant in its field `assistant`, and a flow in a field of kind `flow`; a step whose model field is
empty uses the default model for steps. Freezing a flow stores them with the node, as `linked`, and a run reads only
that: a value that the step sets itself has precedence, then the assistant's (seed 002, prompt_override), then the
default. The name of a flow is replaced by its version. Runs never read or change assistants and defaults.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from pydantic import JsonValue

from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.names import did_you_mean
from headgate.graph.template import Catalog, FieldKind

LINK_FIELD = "assistant"
VERSION_FIELD = "version"
_INSTRUCTION_FIELDS = ("system", "instructions")


@dataclass(frozen=True, slots=True)
class SharedAssistant:
    """Values of a shared assistant for linked steps. Empty members have no effect."""

    instructions: str = ""
    model: str = ""
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class FlowLink:
    """A published flow that steps may run."""

    flow_id: str
    version: int
    name: str
    space_id: str
    fields: tuple[str, ...] = ()
    """Fields of its form."""
    file_fields: tuple[str, ...] = ()
    """Those that take files."""

    def target(self) -> dict[str, JsonValue]:
        """Return the value of a step's field in a version."""
        members: dict[str, JsonValue] = {"flow_id": self.flow_id, "version": self.version, "name": self.name}
        lists = {"fields": self.fields, "file_fields": self.file_fields}
        return members | {name: list(values) for name, values in lists.items() if values}


FlowReference = tuple[str, int | None]
"""The name or id of a flow, and its version; None: the published one."""


@dataclass(frozen=True, slots=True)
class StepDefaults:
    """Default values of steps in a space."""

    assistants: Mapping[str, SharedAssistant] = field(default_factory=dict)
    """Shared assistants by name."""
    model: JsonValue = None
    """The default model for steps, as in a model field; None when there is none."""
    flows: Mapping[FlowReference, FlowLink] = field(default_factory=dict)
    """Flows that steps run, by what the steps name."""


NO_DEFAULTS = StepDefaults()


def linked_names(flow: Flow, catalog: Catalog) -> dict[str, str]:
    """Return node id to the name of the linked assistant."""
    names = {}
    for node in flow.nodes:
        name = node.params.get(LINK_FIELD)
        if isinstance(name, str) and name:
            template = catalog.template(node.type, node.params)
            if template is not None and template.field(LINK_FIELD) is not None:
                names[node.id] = name
    return names


def empty_models(flow: Flow, catalog: Catalog) -> list[tuple[str, str]]:
    """Yield node id and name of each empty model field that uses the default model for steps."""
    connected = {(edge.target, edge.input) for edge in flow.edges}
    return [
        (node.id, name)
        for node in flow.nodes
        for name in _default_fields(node, catalog)
        if node.params.get(name) in (None, "")
        and (node.id, name) not in connected
        and name not in node.policy.input_bindings
    ]


def flow_references(flow: Flow, catalog: Catalog) -> dict[tuple[str, str], FlowReference]:
    """Return node id and field to the flow that is named there; empty fields are omitted."""
    references: dict[tuple[str, str], FlowReference] = {}
    for node in flow.nodes:
        template = catalog.template(node.type, node.params)
        for name in [port.name for port in template.fields if port.kind is FieldKind.FLOW] if template else []:
            reference = flow_reference(node.params.get(name), node.params.get(VERSION_FIELD))
            if reference is not None:
                references[node.id, name] = reference
    return references


def flow_reference(value: JsonValue, version: JsonValue) -> FlowReference | None:
    """Return the flow that a field names: by name or id, or as a version has it."""
    named, number = (value.get("flow_id"), value.get("version")) if isinstance(value, dict) else (value, version)
    if not isinstance(named, str) or not named.strip():
        return None
    return named.strip(), number if isinstance(number, int) and not isinstance(number, bool) else None


def targets_of(flow: Flow) -> list[tuple[str, int]]:
    """Return flows and versions that the steps of a version run."""
    values = (value for node in flow.nodes for value in (*node.linked.values(), *node.params.values()))
    return list(
        dict.fromkeys((str(value["flow_id"]), int(str(value["version"]))) for value in values if is_target(value))
    )


def is_target(value: JsonValue) -> TypeGuard[dict[str, JsonValue]]:
    """Return whether a value is a version of a flow."""
    return isinstance(value, dict) and isinstance(value.get("flow_id"), str) and isinstance(value.get("version"), int)


def link(flow: Flow, catalog: Catalog, defaults: StepDefaults) -> Flow:
    """Return the flow with the values of its assistants and the default model. Unknown assistants are ignored."""
    given: dict[str, dict[str, JsonValue]] = {}
    if defaults.model is not None:
        for node_id, name in empty_models(flow, catalog):
            given.setdefault(node_id, {})[name] = defaults.model
    names = linked_names(flow, catalog)
    for node in flow.nodes:
        assistant = defaults.assistants.get(names.get(node.id, ""))
        if assistant is not None:
            given[node.id] = {**given.get(node.id, {}), **_given(node, catalog, assistant)}
    for (node_id, name), reference in flow_references(flow, catalog).items():
        target = defaults.flows.get(reference)
        if target is not None:
            given[node_id] = {**given.get(node_id, {}), name: target.target()}
    if not given:
        return flow
    nodes = (node.model_copy(update={"linked": given[node.id]}) if node.id in given else node for node in flow.nodes)
    return flow.model_copy(update={"nodes": tuple(nodes)})


def link_issues(flow: Flow, catalog: Catalog, assistants: Mapping[str, SharedAssistant]) -> list[Issue]:
    """Yield steps that link a missing assistant."""
    return [
        Issue(
            IssueCode.UNRESOLVED_REFERENCE,
            (
                f"step '{node_id}' refers to the shared assistant '{name}', which does not "
                f"exist{did_you_mean(name, tuple(assistants)) or '.'}"
            ),
            "Create the assistant, or choose another.",
            node_id,
            LINK_FIELD,
        )
        for node_id, name in linked_names(flow, catalog).items()
        if name not in assistants
    ]


def flow_link_issues(flow: Flow, catalog: Catalog, flows: Mapping[FlowReference, FlowLink]) -> list[Issue]:
    """Yield steps that run a flow which is missing, not published, or not accessible."""
    return [
        Issue(
            IssueCode.UNRESOLVED_REFERENCE,
            f"step '{node_id}' runs the flow '{name}'"
            + (f" version {version}" if version is not None else "")
            + ", and you may run no published flow of that name or id"
            + (did_you_mean(name, [known for known, _ in flows]) or "."),
            "Publish the flow, or choose another.",
            node_id,
            field,
        )
        for (node_id, field), (name, version) in flow_references(flow, catalog).items()
        if (name, version) not in flows
    ]


def unlink(flow: Flow) -> Flow:
    """Return the flow as a draft: without linked values of assistants and of the default model."""
    if not any(node.linked for node in flow.nodes):
        return flow
    return flow.model_copy(update={"nodes": tuple(node.model_copy(update={"linked": {}}) for node in flow.nodes)})


def effective(flow: Flow) -> Flow:
    """Return the flow as it runs: linked values are added to the params, after those that the steps set themselves."""
    if not any(node.linked for node in flow.nodes):
        return flow
    return flow.model_copy(update={"nodes": tuple(_merged(node) for node in flow.nodes)})


def _merged(node: Node) -> Node:
    own = {
        name: value
        for name, value in node.params.items()
        if name not in node.linked or (value not in (None, "") and not is_target(node.linked[name]))
    }
    return node.model_copy(update={"params": {**node.linked, **own}, "linked": {}})


def _default_fields(node: Node, catalog: Catalog) -> Iterator[str]:
    template = catalog.template(node.type, node.params)
    yield from (field.name for field in template.fields if field.default_model) if template is not None else ()


def _given(node: Node, catalog: Catalog, assistant: SharedAssistant) -> dict[str, JsonValue]:
    template = catalog.template(node.type, node.params)
    fields = {field.name for field in template.fields} if template is not None else set()
    given: dict[str, JsonValue] = {"model": assistant.model, "temperature": assistant.temperature}
    given |= dict.fromkeys(_INSTRUCTION_FIELDS, assistant.instructions)
    return {name: value for name, value in given.items() if name in fields and value not in (None, "")}
