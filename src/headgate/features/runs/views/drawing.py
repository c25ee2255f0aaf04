"""A flow as nodes and edges to draw: the draft, or a run's version with that run's results. Pure."""

from collections.abc import Mapping
from typing import Any, Literal

from headgate.features.runs.schemas import ClassOut, GraphEdge, GraphNode, GraphOut, StepSummary
from headgate.graph.model import Flow, InputSource, Node
from headgate.graph.ports import PortType
from headgate.graph.template import Catalog
from headgate.graph.wiring import Wire, Wiring, ancestor_masks, wire

Badge = Literal["http_in", "http_out", "model", "tools", "own_code"]


def draw(
    flow: Flow,
    catalog: Catalog,
    *,
    flow_id: str,
    version: int | None = None,
    run_id: str | None = None,
    steps: Mapping[str, StepSummary] | None = None,
    outputs: Mapping[str, Mapping[str, Any]] | None = None,
    classes: Mapping[str, ClassOut] | None = None,
) -> GraphOut:
    """Return the graph of a flow.

    Args:
        flow: The definition.
        catalog: Types of ports.
        flow_id: Id of the flow.
        version: Number of the version; None for the draft.
        run_id: The run whose results are shown.
        steps: Step id to its outcome in the run.
        outputs: Step id to its stored outputs by name.
        classes: Step id to the classification of its output.
    """
    wiring = wire(flow, catalog)
    order = {step: number for number, step in enumerate(wiring.order, start=1)}
    results = steps or {}
    nodes = [
        GraphNode(
            id=node.id,
            type=node.type,
            label=node.label or node.id,
            position={"x": node.position.x, "y": node.position.y},
            kind=_kind(wiring, node.id),
            role=_role(wiring, node.id),
            badges=_badges(wiring, node),
            input_type=node.policy.input_type.value if node.id in order else None,
            output_type=node.policy.output_type.value if node.id in order else None,
            order=order.get(node.id),
            classification=(classes or {}).get(node.id),
            run=results.get(node.id),
        )
        for node in wiring.nodes.values()
    ]
    edges = [
        _edge(wire, None if run_id is None else wire.edge.output in (outputs or {}).get(wire.edge.source, {}))
        for leaving in wiring.leaving.values()
        for wire in leaving
    ]
    return GraphOut(
        flow_id=flow_id, version=version, run_id=run_id, nodes=nodes, edges=edges + _aggregations(wiring, results)
    )


def _kind(wiring: Wiring, node_id: str) -> Literal["step", "configuration", "note"]:
    if node_id in wiring.notes:
        return "note"
    return "configuration" if node_id in wiring.configuration else "step"


def _role(wiring: Wiring, node_id: str) -> Literal["input", "model", "output", "step"] | None:
    """Return the role of a step. A model call is shown as such at any position; an isolated step is an input."""
    if node_id not in wiring.parents:
        return None
    template = wiring.templates[node_id]
    if template is not None and template.model_using:
        return "model"
    if not wiring.parents[node_id]:
        return "input"
    return "step" if wiring.children[node_id] else "output"


def _badges(wiring: Wiring, node: Node) -> list[Badge]:
    template = wiring.templates[node.id]
    attached = {attachment.type for attachment in wiring.attachments(node.id)}
    delivers = node.policy.output_mode == "http_post" or (template is not None and template.outside)
    badges: dict[Badge, bool] = {
        "http_in": node.policy.input_source in {InputSource.HTTP_GET, InputSource.HTTP_POST},
        "http_out": delivers,
        "model": PortType.MODEL in attached or (template is not None and template.model_using),
        "tools": PortType.TOOL in attached,
        "own_code": node.code is not None,
    }
    return [badge for badge, is_shown in badges.items() if is_shown]


def _edge(wire: Wire, taken: bool | None) -> GraphEdge:  # noqa: FBT001 - three values, not a switch
    kinds: dict[PortType | None, Literal["model", "tool"]] = {PortType.MODEL: "model", PortType.TOOL: "tool"}
    return GraphEdge(
        id=wire.edge.id,
        source=wire.edge.source,
        output=wire.edge.output,
        target=wire.edge.target,
        input=wire.edge.input,
        kind=kinds.get(wire.type, "data"),
        taken=None if wire.configures else taken,
    )


def _aggregations(wiring: Wiring, results: Mapping[str, StepSummary]) -> list[GraphEdge]:
    """Return dashed edges into steps that read all previous ones, from steps without an edge to them."""
    bits, masks = ancestor_masks(wiring)
    edges: list[GraphEdge] = []
    for reader in wiring.order:
        if wiring.nodes[reader].policy.input_source is not InputSource.ALL_PREVIOUS_STEPS:
            continue
        joined = set(wiring.parents[reader]).difference(wiring.implied.get(reader, ()))
        for step in wiring.order:
            if masks[reader] & bits[step] and step not in joined:
                result = results.get(step)
                edges.append(
                    GraphEdge(
                        id=f"{step} => {reader}",
                        source=step,
                        output="output",
                        target=reader,
                        input="",
                        kind="all_previous_steps",
                        line="dashed",
                        taken=None if result is None else result.status == "completed",
                    )
                )
    return edges
