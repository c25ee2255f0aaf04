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
    """The graph of a flow.

    Args:
        flow: The definition.
        catalog: Types of ports.
        flow_id: Whose it is.
        version: The version it is; None for the draft.
        run_id: The run whose results are given.
        steps: Step id to what became of it in the run.
        outputs: Step id to its stored outputs by name.
        classes: Step id to the class of what it gives.
    """
    wiring = wire(flow, catalog)
    place = {step: number for number, step in enumerate(wiring.order, start=1)}
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
            input_type=node.policy.input_type.value if node.id in place else None,
            output_type=node.policy.output_type.value if node.id in place else None,
            order=place.get(node.id),
            classification=(classes or {}).get(node.id),
            run=results.get(node.id),
        )
        for node in wiring.nodes.values()
    ]
    edges = [
        _edge(one, None if run_id is None else one.edge.output in (outputs or {}).get(one.edge.source, {}))
        for leaving in wiring.leaving.values()
        for one in leaving
    ]
    return GraphOut(
        flow_id=flow_id, version=version, run_id=run_id, nodes=nodes, edges=edges + _aggregations(wiring, results)
    )


def _kind(wiring: Wiring, node_id: str) -> Literal["step", "configuration", "note"]:
    if node_id in wiring.notes:
        return "note"
    return "configuration" if node_id in wiring.configuration else "step"


def _role(wiring: Wiring, node_id: str) -> Literal["input", "model", "output", "step"] | None:
    """A model's work is shown as such wherever it stands; a step that stands alone is an input."""
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
    attached = {one.type for one in wiring.attachments(node.id)}
    delivers = node.policy.output_mode == "http_post" or (template is not None and template.outside)
    shown: dict[Badge, bool] = {
        "http_in": node.policy.input_source in {InputSource.HTTP_GET, InputSource.HTTP_POST},
        "http_out": delivers,
        "model": PortType.MODEL in attached or (template is not None and template.model_using),
        "tools": PortType.TOOL in attached,
        "own_code": node.code is not None,
    }
    return [badge for badge, is_shown in shown.items() if is_shown]


def _edge(one: Wire, taken: bool | None) -> GraphEdge:  # noqa: FBT001 - three values, not a switch
    kinds: dict[PortType | None, Literal["model", "tool"]] = {PortType.MODEL: "model", PortType.TOOL: "tool"}
    return GraphEdge(
        id=one.edge.id,
        source=one.edge.source,
        output=one.edge.output,
        target=one.edge.target,
        input=one.edge.input,
        kind=kinds.get(one.type, "data"),
        taken=None if one.configures else taken,
    )


def _aggregations(wiring: Wiring, results: Mapping[str, StepSummary]) -> list[GraphEdge]:
    """Dashed edges into the steps that read all previous ones, from those that no edge joins to them already."""
    bits, masks = ancestor_masks(wiring)
    found: list[GraphEdge] = []
    for reader in wiring.order:
        if wiring.nodes[reader].policy.input_source is not InputSource.ALL_PREVIOUS_STEPS:
            continue
        joined = set(wiring.parents[reader]).difference(wiring.implied.get(reader, ()))
        for step in wiring.order:
            if masks[reader] & bits[step] and step not in joined:
                done = results.get(step)
                found.append(
                    GraphEdge(
                        id=f"{step} => {reader}",
                        source=step,
                        output="output",
                        target=reader,
                        input="",
                        kind="all_previous_steps",
                        line="dashed",
                        taken=None if done is None else done.status == "completed",
                    )
                )
    return found
