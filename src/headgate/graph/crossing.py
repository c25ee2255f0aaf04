"""What crosses the border of a selection of steps: the values that reach them, and those that leave them. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from headgate.graph.interpolate import Reference
from headgate.graph.mentions import mentions, rename_roots
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.named_outputs import Locate, NamedOutput, named_outputs, required_outputs
from headgate.graph.names import free_name
from headgate.graph.ports import PortType
from headgate.graph.template import Catalog, Template
from headgate.graph.wiring import FLOW_INPUT, MAIN_OUTPUT, Wiring, wire

TEXT_INPUT = "text"
"""Name of the run's text in `{{flow_input.text}}`."""
Source = tuple[str, ...]
"""A value: a step and one of its outputs; a step alone is its complete entry; or `flow_input` and a field."""
_NOT_A_NAME = re.compile(r"[^a-z0-9_]+")


@dataclass(slots=True)
class Crossing:
    """One value that crosses the border, under one name on both sides."""

    name: str
    source: Source
    type: PortType
    by_edge: bool
    """Whether an edge carries it; else only references name it."""


def referred(wiring: Wiring, keys: Collection[str]) -> Iterator[tuple[str, Reference]]:
    """Yield the references of nodes, each with its node; notes have none."""
    for key in keys:
        if key not in wiring.notes:
            for mention in mentions(wiring.nodes[key], wiring.templates[key]):
                yield key, mention.reference


def output_source(wiring: Wiring, reference: Reference) -> tuple[Source, PortType] | None:
    """Return the output that a reference names with its type; the complete entry counts as Data.

    Returns None for what is not a value of this flow.
    """
    root = reference.root
    if root not in wiring.steps:
        return None
    template = wiring.templates[root]
    name = reference.path[1] if len(reference.path) > 1 else ""
    if name == MAIN_OUTPUT and template is not None and template.main_output is not None:
        name = template.main_output.name
    output = template.output(name) if template is not None else None
    if output is not None:
        return (root, output.name), output.type
    return ((root, name) if name else (root,)), PortType.DATA


def edge_source(wiring: Wiring, edge: Edge) -> tuple[Source, PortType]:
    """Return the output that an edge carries, with its type."""
    template = wiring.templates[edge.source]
    output = template.output(edge.output) if template is not None else None
    return (edge.source, edge.output), output.type if output is not None else PortType.DATA


def name_of(source: Source, template: Template | None, taken: Collection[str]) -> str:
    """Return a free name for a value: that of its step for a main output, with the output's name for others."""
    root, *rest = source
    main = template.main_output.name if template is not None and template.main_output is not None else None
    words = rest if root == FLOW_INPUT else [root, *(part for part in rest if part != main)]
    name = _NOT_A_NAME.sub("_", "_".join(words).lower()).strip("_") or "value"
    return free_name(name[:60] if name[0].isalpha() else f"v_{name}"[:60], taken)


def uncertain(wiring: Wiring) -> set[str]:
    """Return steps that a run may skip, at least: after a branch, or because a policy disables them."""
    skipped: set[str] = set()
    locate = _locate(wiring)

    def may_be_dead(source: str, output: str | None) -> bool:
        return source in skipped or (output is not None and is_branch(wiring.templates[source], output))

    for step in wiring.order:
        dead: dict[str, bool] = {}
        for inbound in wiring.data_into(step):
            edge = inbound.edge
            dead[edge.input] = dead.get(edge.input, True) and may_be_dead(edge.source, edge.output)
        template = wiring.templates[step]
        required = {field.name for field in template.fields if field.required} if template is not None else set(dead)
        alternatives = [] if template is None else [*required_outputs(wiring.nodes[step], template, dead, locate)]
        if not dead and wiring.parents[step]:
            alternatives.append(_named(wiring, step, locate))
        if (
            wiring.nodes[step].policy.disabled == "skip"
            or (dead and all(dead.values()))
            or any(is_dead for name, is_dead in dead.items() if name in required)
            or any(all(may_be_dead(*named) for named in names) for names in alternatives)
        ):
            skipped.add(step)
    return skipped


def _locate(wiring: Wiring) -> Locate:
    """Return what finds the steps of a flow by their ids and aliases."""
    aliases, members = wiring.aliases, set(wiring.steps)

    def locate(root: str) -> tuple[str, Template] | None:
        step = wiring.step_named(root, aliases)
        template = wiring.templates[step] if step is not None and step in members else None
        return (step, template) if step is not None and template is not None else None

    return locate


def _named(wiring: Wiring, step: str, locate: Locate) -> tuple[NamedOutput, ...]:
    """Return what the references of a step and of what configures it name of other steps."""
    keys = [step]
    for key in keys:
        keys += [attachment.edge.source for attachment in wiring.attachments(key)]
    return tuple(named_outputs((reference for _, reference in referred(wiring, keys)), locate))


def is_branch(template: Template | None, output: str) -> bool:
    """Return whether a run may not take an output."""
    port = template.output(output) if template is not None else None
    return port is not None and port.branch


def named_by_id(flow: Flow, catalog: Catalog) -> Flow:
    """Return the flow whose references name steps by id instead of by number: numbers change when steps move."""
    wiring = wire(flow, catalog)
    used = {reference.root for _, reference in referred(wiring, list(wiring.nodes))}
    aliases = {alias: step for alias, step in wiring.aliases.items() if alias in used and alias not in wiring.nodes}
    if not aliases:
        return flow
    nodes = (rename_roots(node, aliases, wiring.templates[node.id]) for node in flow.nodes)
    return flow.model_copy(update={"nodes": tuple(nodes)})


def between(wiring: Wiring, chosen: Collection[str]) -> list[str]:
    """Return steps that are not chosen, and lie on a path from one chosen step to another."""
    after = _reached(chosen, wiring.children)
    before = _reached(chosen, wiring.parents)
    return [step for step in wiring.order if step in after and step in before and step not in chosen]


def _reached(starts: Collection[str], following: Mapping[str, tuple[str, ...]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(starts)
    while waiting:
        for other in following.get(waiting.pop(), ()):
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    return reached


def title(node: Node, output: str, template: Template | None) -> str:
    """Return the words for an output of a step, for a question of a form."""
    label = node.label or (template.label if template is not None else node.type)
    port = template.output(output) if template is not None else None
    main = template.main_output.name if template is not None and template.main_output is not None else output
    return label if port is None or output == main else f"{label}: {port.label or output}"
