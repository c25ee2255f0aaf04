"""The compiler: a flow becomes a plan of steps in the order they can run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from headgate.graph.check_graph import MAX_ATTACHMENTS
from headgate.graph.issues import FlowInvalid
from headgate.graph.mentions import mentions
from headgate.graph.model import Edge, Flow, InputSource, Node, OutputType, StepPolicy
from headgate.graph.own_code import unchecked_issues
from headgate.graph.ports import PortType
from headgate.graph.template import DOCUMENT_OUTPUT, ERROR_OUTPUT, Catalog, Template
from headgate.graph.validate import check_draft
from headgate.graph.wiring import (
    FILE_IDS,
    FLOW_INPUT,
    MAIN_OUTPUT,
    Wiring,
    ancestor_masks,
    attachment_counts,
    by_attachment,
    wire,
)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A model or a tool attached to a step, with its own attachments."""

    edge: Edge
    """From the attached node into the step, or into another attachment."""
    node: Node
    template: Template
    attachments: tuple["Attachment", ...] = ()

    @property
    def effect(self) -> bool:
        """Return whether calling it, or its attachments, may have an external effect."""
        return self.template.effect or any(attachment.effect for attachment in self.attachments)


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step as the engine executes it. `children` and `parents` are step ids in running order."""

    node: Node
    template: Template
    order: int
    """From 1; for display and for the alias. A step is identified by its node id."""
    parents: tuple[str, ...]
    children: tuple[str, ...]
    inbound: tuple[Edge, ...]
    """Data edges into the step, in the flow's order."""
    outputs: tuple[str, ...]
    """Outputs to produce: connected or referenced ones, else the main one."""
    attachments: tuple[Attachment, ...]
    """Models and tools attached to the step, in the flow's order, without disabled ones."""

    @property
    def id(self) -> str:
        """The node id."""
        return self.node.id

    @property
    def alias(self) -> str:
        """`step_3`, for references by position."""
        return f"step_{self.order}"

    @property
    def policy(self) -> StepPolicy:
        """The rules of the step."""
        return self.node.policy

    @property
    def effect(self) -> bool:
        """Return whether the step, or one of its tools, may have an external effect."""
        return self.template.effect or any(attachment.effect for attachment in self.attachments)

    @property
    def main_output(self) -> str | None:
        """Return the output of `{{step.output}}`; None when the step produces no data."""
        output = self.template.main_output
        return output.name if output else None

    def into(self, input_: str) -> tuple[Edge, ...]:
        """Data edges into one input, in the flow's order."""
        return tuple(edge for edge in self.inbound if edge.input == input_)


@dataclass(frozen=True)
class Plan:
    """Every step of a flow, parents before children; ties keep the flow's node order."""

    steps: tuple[PlanStep, ...]

    @cached_property
    def by_id(self) -> Mapping[str, PlanStep]:
        """Node id to step."""
        return {step.id: step for step in self.steps}

    @cached_property
    def roots(self) -> tuple[PlanStep, ...]:
        """Return steps without predecessors."""
        return tuple(step for step in self.steps if not step.parents)

    @cached_property
    def leaves(self) -> tuple[PlanStep, ...]:
        """Return steps without successors: their outputs are the run's result."""
        return tuple(step for step in self.steps if not step.children)

    def step(self, step_id: str) -> PlanStep:
        """Return the step with a node id. Raises `KeyError`."""
        return self.by_id[step_id]

    def ancestors(self, step_id: str) -> list[str]:
        """Return ids of all steps before one, in running order."""
        return self._reached(step_id, lambda step: step.parents)

    def descendants(self, step_id: str) -> list[str]:
        """Return ids of all steps after one, in running order."""
        return self._reached(step_id, lambda step: step.children)

    def _reached(self, step_id: str, following: Callable[[PlanStep], tuple[str, ...]]) -> list[str]:
        reached: set[str] = set()
        waiting = list(following(self.by_id[step_id]))
        while waiting:
            following_id = waiting.pop()
            if following_id not in reached:
                reached.add(following_id)
                waiting.extend(following(self.by_id[following_id]))
        return sorted(reached, key=lambda key: self.by_id[key].order)


def compile_plan(flow: Flow, catalog: Catalog) -> Plan:
    """Return the plan of a flow.

    Required values may still be missing (see `validate.check_runnable`), but the graph must be valid. Raises
    `FlowInvalid` with every fault that a draft may not have.
    """
    wiring = wire(flow, catalog)
    if not _holds_together(wiring):
        raise FlowInvalid([*check_draft(flow, catalog), *unchecked_issues(flow, catalog)])
    templates = {key: template for key, template in wiring.templates.items() if template is not None}
    attached = _attachments(wiring, templates)
    outputs = _outputs(wiring, templates)
    positions = {step: number for number, step in enumerate(wiring.order)}
    return Plan(
        tuple(
            PlanStep(
                node=wiring.nodes[step],
                template=templates[step],
                order=positions[step] + 1,
                parents=tuple(sorted(wiring.parents[step], key=positions.__getitem__)),
                children=tuple(sorted(wiring.children[step], key=positions.__getitem__)),
                inbound=tuple(wire.edge for wire in wiring.data_into(step)),
                outputs=outputs[step],
                attachments=attached[step],
            )
            for step in wiring.order
        )
    )


def _holds_together(wiring: Wiring) -> bool:
    """Return whether ids are unique, types and outputs known, and edges complete and acyclic."""
    wires = [edge_wire for arriving in wiring.arriving.values() for edge_wire in arriving]
    return (
        len(wiring.nodes) == len(wiring.flow.nodes)
        and len(wires) == len(wiring.flow.edges)
        and None not in wiring.templates.values()
        and all(wire.type is not None for wire in wires)
        and len(wiring.order) == len(wiring.steps)
        and len(by_attachment(wiring)) == len(wiring.nodes)
        and max(attachment_counts(wiring).values(), default=0) <= MAX_ATTACHMENTS
    )


def _attachments(wiring: Wiring, templates: Mapping[str, Template]) -> dict[str, tuple[Attachment, ...]]:
    attachments: dict[str, tuple[Attachment, ...]] = {}
    for key in by_attachment(wiring):
        attachments[key] = tuple(
            Attachment(
                attachment.edge,
                wiring.nodes[attachment.edge.source],
                templates[attachment.edge.source],
                attachments[attachment.edge.source],
            )
            for attachment in wiring.attachments(key)
            if wiring.nodes[attachment.edge.source].policy.disabled == "no"
        )
    return attachments


def _outputs(wiring: Wiring, templates: Mapping[str, Template]) -> dict[str, tuple[str, ...]]:
    """Return the used outputs of each step, in the template's order; the main one when none is used."""
    used: dict[str, set[str]] = {step: set() for step in wiring.order}
    for step in wiring.order:
        used[step].update(edge_wire.edge.output for edge_wire in wiring.leaving[step] if not edge_wire.configures)
    for step, output in [*_referred(wiring), *_main_output_readers(wiring)]:
        used[step].add(output)
    produced: dict[str, tuple[str, ...]] = {}
    for step, names in used.items():
        template = templates[step]
        main = template.main_output.name if template.main_output else ""
        if MAIN_OUTPUT in names or not names - {ERROR_OUTPUT} or _shapes_output(wiring.nodes[step].policy):
            names.add(main)
        if wiring.nodes[step].policy.makes_document:
            names.add(DOCUMENT_OUTPUT)
        if FILE_IDS in names:
            names |= {main, *(output.name for output in template.outputs if output.type is PortType.FILE)}
        produced[step] = tuple(output.name for output in template.outputs if output.name in names)
    return produced


def _referred(wiring: Wiring) -> list[tuple[str, str]]:
    """Yield step and output of every reference in the flow; `output` for the main one."""
    aliases = wiring.aliases
    members = set(wiring.order)
    references: list[tuple[str, str]] = []
    for key, node in wiring.nodes.items():
        for mention in mentions(node, wiring.templates[key]):
            path = mention.reference.path
            step = wiring.step_named(path[0], aliases)
            if path[0] != FLOW_INPUT and step in members:
                references.append((step, path[1] if len(path) > 1 else MAIN_OUTPUT))
    return references


def _main_output_readers(wiring: Wiring) -> list[tuple[str, str]]:
    """Return steps whose main output is read by a later step that reads all previous steps."""
    readers = [
        step for step in wiring.order if wiring.nodes[step].policy.input_source is InputSource.ALL_PREVIOUS_STEPS
    ]
    if not readers:
        return []
    bits, masks = ancestor_masks(wiring)
    read = 0
    for reader in readers:
        read |= masks[reader]
    return [(step, MAIN_OUTPUT) for step in wiring.order if bits[step] & read]


def _shapes_output(policy: StepPolicy) -> bool:
    """Return whether the policy uses the main output, so that it must be produced."""
    return (
        policy.output_mode == "http_post"
        or policy.output_contract is not None
        or policy.output_type is not OutputType.TEXT
        or policy.on_error in {"default_value", "error_data"}
    )
