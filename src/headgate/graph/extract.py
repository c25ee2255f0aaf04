"""Extract a selection of steps into another flow: the new flow, and the flow with one step that runs it.

A run has the same result before and after, or the selection is rejected with the reason. Values that reach the
selection become fields of the new flow's form, with their types; values that leave it become outputs of the new step.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from headgate.graph.crossing import (
    TEXT_INPUT,
    Crossing,
    Source,
    edge_source,
    name_of,
    named_by_id,
    output_source,
    referred,
    title,
    uncertain,
)
from headgate.graph.issues import Issue, IssueCode, raise_if_any
from headgate.graph.mentions import rename_paths
from headgate.graph.model import Edge, Flow, FlowSettings, FormField, InputSource, Node, Position
from headgate.graph.names import free_name
from headgate.graph.ports import PortType
from headgate.graph.selection import Selection, select, skip_faults
from headgate.graph.template import Catalog
from headgate.graph.value_names import FLOW_STEP, FLOW_STEP_INPUTS, FORM_OUTPUTS, FORM_TYPES, REPEATED_OUTPUTS
from headgate.graph.wiring import FLOW_INPUT, MAIN_OUTPUT, RESERVED_IDS, Wiring, wire

_APART = 320
"""Distance between the columns of a flow, in canvas units."""
_FIELD_TYPES = {PortType.TEXT: "text", PortType.FILE: "file"}


@dataclass(frozen=True, slots=True)
class Extraction:
    """A flow of which steps became another flow."""

    flow: Flow
    extracted: Flow
    """The new flow."""
    node_id: str
    """The step of `flow` that runs it."""
    left: tuple[str, ...]
    """Selected nodes that stay: they read the input of the run, or show its result."""


@dataclass(slots=True)
class _Border:
    """The values that cross the border of a selection, in the order in which they appear."""

    arriving: dict[Source, Crossing] = field(default_factory=dict)
    leaving: dict[Source, Crossing] = field(default_factory=dict)
    reads_text: bool = False
    """Whether a step reads the run's text."""


def extract(flow: Flow, node_ids: Collection[str], catalog: Catalog, *, name: str, reference: str) -> Extraction:
    """Return the flow with the selected steps as another flow. Raises `FlowInvalid` with the reason.

    Args:
        flow: The flow.
        node_ids: Selected nodes: steps, and notes that move with them. Models and tools follow their steps.
        catalog: Provides templates.
        name: Name of the new flow.
        reference: What the new step names it by: its id, or its name.
    """
    wiring = wire(named_by_id(flow, catalog), catalog)
    selection = select(wiring, node_ids)
    border = _border(wiring, selection)
    edges = [source for source, crossing in border.arriving.items() if crossing.by_edge]
    raise_if_any(skip_faults(wiring, selection, edges))
    call_id = free_name(_slug(name), {*wiring.nodes, *RESERVED_IDS})
    inner, paths, outputs = _inner(wiring, selection, border, catalog, name=name, call_id=call_id)
    call = _call(wiring, selection, border, call_id=call_id, reference=reference, label=name, outputs=outputs)
    return Extraction(_outer(wiring, selection, border, call, paths), inner, call_id, selection.left)


def _border(wiring: Wiring, selection: Selection) -> _Border:
    steps, border = set(selection.steps), _Border()
    for edge in wiring.flow.edges:
        if edge.target in steps and edge.source not in selection.inside:
            _cross(border.arriving, wiring, *edge_source(wiring, edge), by_edge=True, reserved=FLOW_STEP_INPUTS)
        elif edge.source in steps and edge.target not in selection.inside:
            _cross(border.leaving, wiring, *edge_source(wiring, edge), by_edge=True, reserved=REPEATED_OUTPUTS)
    form = {question.id for question in wiring.flow.form}
    for key, reference in referred(wiring, list(wiring.nodes)):
        if key in selection.inside:
            if reference.root == FLOW_INPUT:
                _read_input(border, wiring, reference.path, form)
            elif reference.root not in selection.inside and (value := output_source(wiring, reference)):
                _cross(border.arriving, wiring, *value, by_edge=False, reserved=FLOW_STEP_INPUTS)
        elif reference.root in steps and (value := output_source(wiring, reference)):
            _cross(border.leaving, wiring, *value, by_edge=False, reserved=REPEATED_OUTPUTS)
    reads = (wiring.templates[step] for step in selection.steps)
    border.reads_text |= any(template is not None and template.reads_input for template in reads)
    sources = (wiring.nodes[step].policy.input_source for step in selection.steps)
    border.reads_text |= InputSource.FLOW_INPUT in sources
    return border


def _cross(
    border: dict[Source, Crossing],
    wiring: Wiring,
    source: Source,
    type_: PortType,
    *,
    by_edge: bool,
    reserved: Collection[str],
) -> None:
    """Note a value that crosses. A file that references name is data, and separate from one that an edge carries."""
    if type_ is PortType.FILE and not by_edge and reserved is FLOW_STEP_INPUTS:
        source, type_ = (*source, "as data"), PortType.DATA
    known = border.get(source)
    if known is not None:
        known.by_edge |= by_edge
        return
    taken = {*reserved, *FORM_OUTPUTS, *(crossing.name for crossing in border.values())}
    names = source[:2]
    border[source] = Crossing(name_of(names, wiring.templates.get(source[0]), taken), source, type_, by_edge)


def _read_input(border: _Border, wiring: Wiring, path: tuple[str, ...], form: Collection[str]) -> None:
    if len(path) > 1 and path[1] == TEXT_INPUT and TEXT_INPUT not in form:
        border.reads_text = True
    elif len(path) == 1 or path[1] in form:
        source = path[:2]
        question = next((question for question in wiring.flow.form if question.id == source[-1]), None)
        text = question is not None and question.type not in {"number", "json"}
        type_ = PortType.TEXT if text else PortType.DATA
        _cross(border.arriving, wiring, source, type_, by_edge=False, reserved=FLOW_STEP_INPUTS)


def _inner(
    wiring: Wiring, selection: Selection, border: _Border, catalog: Catalog, *, name: str, call_id: str
) -> tuple[Flow, dict[Source, Source], dict[str, JsonValue]]:
    """Return the new flow, the new names of the values that leave it, and the outputs that the step declares."""
    renamed = {
        crossing.source[:2]: (FLOW_INPUT, crossing.name)
        for crossing in border.arriving.values()
        if not (crossing.type is PortType.FILE and crossing.by_edge)
    }
    nodes = [
        rename_paths(node, _with_main(renamed, wiring), wiring.templates[node.id])
        for node in wiring.flow.nodes
        if node.id in selection.inside
    ]
    edges = [edge for edge in wiring.flow.edges if {edge.source, edge.target} <= selection.inside]
    taken = {*selection.inside, *RESERVED_IDS}
    entry_id = free_name("inputs", taken)
    typed: dict[str, JsonValue] = {
        crossing.name: crossing.type.value for crossing in border.arriving.values() if crossing.by_edge
    }
    if typed:
        place = Position(x=min(node.position.x for node in nodes) - _APART, y=nodes[0].position.y)
        nodes.insert(0, Node(id=entry_id, type="FormInput", params={FORM_TYPES: typed}, position=place))
        edges = _entering(wiring, selection, border, entry_id)
    inner = Flow(
        name=name,
        nodes=tuple(nodes),
        edges=tuple(edges),
        form=tuple(_question(wiring, crossing) for crossing in border.arriving.values()),
        settings=_settings(wiring.flow.settings),
    )
    return _with_result(inner, border, catalog, free_name("result", {*taken, entry_id}), call_id)


def _entering(wiring: Wiring, selection: Selection, border: _Border, entry_id: str) -> list[Edge]:
    """Return the edges inside the new flow in their order; those from outside come from its form."""
    edges = []
    for edge in wiring.flow.edges:
        if {edge.source, edge.target} <= selection.inside:
            edges.append(edge)
        elif edge.target in selection.steps:
            crossing = border.arriving[edge_source(wiring, edge)[0]]
            edges.append(edge.model_copy(update={"source": entry_id, "output": crossing.name}))
    return edges


def _question(wiring: Wiring, crossing: Crossing) -> FormField:
    """Return the question of the new flow's form for a value that reaches it."""
    root, *rest = crossing.source
    if root == FLOW_INPUT:
        known = next((question for question in wiring.flow.form if rest and question.id == rest[0]), None)
        label = known.label if known is not None else "Input of the run"
        private = known is not None and known.private
        type_ = "text" if crossing.type is PortType.TEXT else "json"
        return FormField(id=crossing.name, label=label, type=type_, private=private)
    label = title(wiring.nodes[root], rest[0] if rest else "", wiring.templates[root])
    type_ = _FIELD_TYPES.get(crossing.type, "json")
    required = crossing.type is PortType.FILE
    return FormField(id=crossing.name, label=label, type=type_, required=required)


def _settings(settings: FlowSettings) -> FlowSettings:
    """Return what the steps' own behaviour depends on."""
    names = ("retry", "step_timeout_seconds", "data_retention_days", "input_classification")
    return FlowSettings(**{name: getattr(settings, name) for name in names})


def _with_result(
    inner: Flow, border: _Border, catalog: Catalog, result_id: str, call_id: str
) -> tuple[Flow, dict[Source, Source], dict[str, JsonValue]]:
    """Return the new flow with a last step that gathers its results, unless one step already is the result."""
    wiring = wire(inner, catalog)
    skipped = uncertain(wiring)
    leaving = list(border.leaving.values())
    for crossing in leaving:
        template = wiring.templates[crossing.source[0]]
        port = template.output(crossing.source[1]) if template is not None else None
        if crossing.source[0] in skipped or (port is not None and port.branch):
            problem = f"a run may skip the output {'.'.join(crossing.source)}, which steps outside use."
            remedy = "Select the steps of all branches as well, up to the one that joins them."
            raise_if_any([Issue(IssueCode.CANNOT_MOVE, problem, remedy, crossing.source[0])])
    if not leaving:
        return inner, {}, {}
    last = [step for step in wiring.order if not wiring.children[step]]
    (first, *more) = leaving
    template = wiring.templates[first.source[0]]
    main = template.main_output if template is not None else None
    alone = not more and last == [first.source[0]] and main is not None and main.name == first.source[1]
    if alone and first.type in {PortType.TEXT, PortType.DATA}:
        output = "text" if first.type is PortType.TEXT else "result"
        return inner, {first.source: (call_id, output)}, {}
    values: dict[str, JsonValue] = {crossing.name: f"{{{{{'.'.join(crossing.source)}}}}}" for crossing in leaving}
    place = Position(x=max(node.position.x for node in inner.nodes) + _APART, y=inner.nodes[0].position.y)
    result = Node(id=result_id, type="SelectData", params={"data": values, "expression": "@"}, position=place)
    paths: dict[Source, Source] = {crossing.source: (call_id, crossing.name) for crossing in leaving}
    outputs: dict[str, JsonValue] = {crossing.name: crossing.type.value for crossing in leaving}
    return inner.model_copy(update={"nodes": (*inner.nodes, result)}), paths, outputs


def _call(
    wiring: Wiring,
    selection: Selection,
    border: _Border,
    *,
    call_id: str,
    reference: str,
    label: str,
    outputs: Mapping[str, JsonValue],
) -> Node:
    """Return the step that runs the new flow, where the selection was."""
    arriving = border.arriving.values()
    params: dict[str, JsonValue] = {
        "flow": reference,
        "text": f"{{{{{FLOW_INPUT}.{TEXT_INPUT}}}}}" if border.reads_text else "",
        "answers": {
            crossing.name: f"{{{{{'.'.join(crossing.source[:2])}}}}}" for crossing in arriving if not crossing.by_edge
        },
        "inputs": {crossing.name: crossing.type.value for crossing in arriving if crossing.by_edge},
        "outputs": dict(outputs),
    }
    places = [wiring.nodes[step].position for step in selection.steps]
    middle = Position(
        x=round(sum(place.x for place in places) / len(places)), y=round(sum(place.y for place in places) / len(places))
    )
    given = {name: value for name, value in params.items() if value}
    return Node(id=call_id, type=FLOW_STEP, label=label, position=middle, params=given)


def _outer(wiring: Wiring, selection: Selection, border: _Border, call: Node, paths: Mapping[Source, Source]) -> Flow:
    """Return the flow with the step in place of the selection."""
    renamed = _with_main(paths, wiring)
    nodes: list[Node] = []
    for node in wiring.flow.nodes:
        if node.id == selection.steps[0]:
            nodes.append(call)
        if node.id not in selection.moved:
            nodes.append(rename_paths(node, renamed, wiring.templates[node.id]))
    edges: dict[Edge, None] = {}
    for edge in wiring.flow.edges:
        if edge.source not in selection.inside and edge.target in selection.steps:
            name = border.arriving[edge_source(wiring, edge)[0]].name
            edges[edge.model_copy(update={"target": call.id, "input": name})] = None
        elif edge.source in selection.steps and edge.target not in selection.inside:
            root, output = paths[edge_source(wiring, edge)[0]]
            edges[edge.model_copy(update={"source": root, "output": output})] = None
        elif not {edge.source, edge.target} & selection.moved:
            edges[edge] = None
    return wiring.flow.model_copy(update={"nodes": tuple(nodes), "edges": tuple(edges)})


def _with_main(paths: Mapping[Source, Source], wiring: Wiring) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the paths, and those that name a main output `output`."""
    every = dict(paths)
    for source, name in paths.items():
        template = wiring.templates.get(source[0])
        main = template.main_output if template is not None else None
        if len(source) > 1 and main is not None and main.name == source[1]:
            every.setdefault((source[0], MAIN_OUTPUT), name)
    return every


def _slug(name: str) -> str:
    words = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name.lower())
    slug = "_".join(part for part in words.split("_") if part)[:40]
    return slug if slug[:1].isalpha() else f"flow_{slug}".rstrip("_")
