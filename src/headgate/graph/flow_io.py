"""Inputs and outputs of a flow, derived from its wiring: never from the names of nodes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from headgate.graph.check_run import is_set
from headgate.graph.mentions import mentions
from headgate.graph.model import Flow, FormField, InputSource, Node, OutputType
from headgate.graph.ports import PortType
from headgate.graph.template import TOOL_OUTPUT, Catalog, Template
from headgate.graph.wiring import FLOW_INPUT, Wiring, wire

InputKind = Literal["chat", "text", "form", "files"]
OutputKind = Literal["chat", "text", "data", "file", "webhook"]

_TEXT_INPUTS: dict[str, InputKind] = {"ChatInput": "chat", "TextInput": "text"}
_OUTPUTS: dict[str, OutputKind] = {"ChatOutput": "chat", "SaveFile": "file", "WebhookOut": "webhook"}
_BY_TYPE: dict[PortType, OutputKind] = {PortType.FILE: "file", PortType.DATA: "data", PortType.TABLE: "data"}


@dataclass(frozen=True, slots=True)
class FlowInput:
    """A step that reads the run's input."""

    node: str
    kind: InputKind
    fields: tuple[str, ...] = ()
    """Ids of the form fields it reads."""


@dataclass(frozen=True, slots=True)
class FlowOutput:
    """A step whose result leaves the flow."""

    node: str
    kind: OutputKind
    output: str
    """Its main output; empty when it has none."""


@dataclass(frozen=True, slots=True)
class FlowIO:
    """Inputs and outputs of a flow."""

    inputs: tuple[FlowInput, ...]
    outputs: tuple[FlowOutput, ...]
    fields: tuple[FormField, ...]
    """The complete form that starts a run."""
    tools: tuple[tuple[str, str], ...]
    """Node that is a tool, and the node that may call it."""

    @property
    def is_chat(self) -> bool:
        """Return whether it is a chat flow: a chat message is its input and its output."""
        return any(flow_input.kind == "chat" for flow_input in self.inputs) and any(
            flow_input.kind == "chat" for flow_input in self.outputs
        )

    def as_json(self) -> dict[str, JsonValue]:
        """Return the classification as a JSON object."""
        inputs: list[JsonValue] = [
            {"node": flow_input.node, "kind": flow_input.kind, "fields": list(flow_input.fields)}
            for flow_input in self.inputs
        ]
        outputs: list[JsonValue] = [
            {"node": flow_output.node, "kind": flow_output.kind, "output": flow_output.output}
            for flow_output in self.outputs
        ]
        return {
            "inputs": inputs,
            "outputs": outputs,
            "form": [field.model_dump(mode="json") for field in self.fields],
            "tools": [{"tool": tool, "agent": agent} for tool, agent in self.tools],
            "is_chat": self.is_chat,
        }


def classify_io(flow: Flow, catalog: Catalog) -> FlowIO:
    """Return the inputs and outputs of a flow. Works on drafts, also invalid ones."""
    wiring = wire(flow, catalog)
    form = tuple(field.id for field in flow.form)
    inputs = [flow_input for step in wiring.steps for flow_input in _inputs(wiring, wiring.nodes[step], form)]
    outputs = [
        FlowOutput(step, kind, _main(wiring.templates[step]))
        for step in wiring.steps
        for kind in _output_kinds(wiring.nodes[step], wiring.templates[step], is_leaf=not wiring.children[step])
    ]
    tools = [
        (key, edge_wire.edge.target)
        for key in wiring.nodes
        for edge_wire in wiring.leaving[key]
        if edge_wire.type is PortType.TOOL and edge_wire.edge.output == TOOL_OUTPUT
    ]
    return FlowIO(tuple(inputs), tuple(outputs), flow.form, tuple(tools))


def _inputs(wiring: Wiring, node: Node, form: tuple[str, ...]) -> Iterator[FlowInput]:
    if node.type in _TEXT_INPUTS:
        given = is_set(node, "text") or any(edge_wire.edge.input == "text" for edge_wire in wiring.arriving[node.id])
        if not given:
            yield FlowInput(node.id, _TEXT_INPUTS[node.type])
        if any(edge_wire.edge.output == "files" for edge_wire in wiring.leaving[node.id]):
            yield FlowInput(node.id, "files")
    elif node.type == "FormInput":
        only = node.params.get("only")
        chosen = tuple(str(name) for name in only) if isinstance(only, list) and only else form
        yield FlowInput(node.id, "form", chosen)
    elif node.type == "FileInput":
        field = node.params.get("field")
        yield FlowInput(node.id, "files", (field,) if isinstance(field, str) and field else ())
    else:
        yield from _read_directly(wiring, node)


def _read_directly(wiring: Wiring, node: Node) -> Iterator[FlowInput]:
    """Yield direct uses of the run's input: in a policy, or by `{{flow_input...}}` in a step or its attachments."""
    readers = [node, *(wiring.nodes[wire.edge.source] for wire in wiring.attachments(node.id))]
    names = dict.fromkeys(
        mention.reference.path[1]
        for reader in readers
        for mention in mentions(reader, wiring.templates[reader.id])
        if mention.reference.root == FLOW_INPUT and len(mention.reference.path) > 1
    )
    if node.policy.input_source is InputSource.FLOW_INPUT or "text" in names:
        yield FlowInput(node.id, "text")
    fields = tuple(name for name in names if name != "text")
    if fields:
        yield FlowInput(node.id, "form", fields)


def _output_kinds(node: Node, template: Template | None, *, is_leaf: bool) -> Iterator[OutputKind]:
    if node.policy.output_mode == "http_post":
        yield "webhook"
    if node.type in _OUTPUTS:
        yield _OUTPUTS[node.type]
    elif node.policy.output_type in {OutputType.PDF, OutputType.DOCX}:
        yield "file"
    elif is_leaf and template is not None and template.main_output is not None:
        yield _BY_TYPE.get(template.main_output.type, "text")


def _main(template: Template | None) -> str:
    return template.main_output.name if template is not None and template.main_output is not None else ""
