"""Edits of the graph itself: rename, remove, connect, disconnect."""

from dataclasses import dataclass, field

from headgate.agents.assistant.offline.assembly.draft import slug
from headgate.agents.assistant.offline.editing.nodes import Named, NodeFinder, is_step_word
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.ports import accepts
from headgate.graph.template import Catalog, FieldTemplate, OutputTemplate


@dataclass(frozen=True, slots=True)
class Edited:
    """A changed flow and what was done, in words."""

    flow: Flow
    done: str
    renamed: dict[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()


def rename(reading: Reading, finder: NodeFinder) -> Edited | None:
    """`rename brief to summary`, `call the last step report`."""
    mark = _verb(reading, "e.rename")
    if mark is None:
        return None
    start, end = mark
    to = next((at for at in range(start, end) if reading.tokens[at].word in {"to", "as", "into", "till"}), None)
    if to is None or to + 1 >= end:
        return None
    named = finder.find(reading, start, to)
    new_id = slug(" ".join(reading.tokens[at].text for at in range(to + 1, end) if not reading.is_punctuation(at)))
    if named is None or not new_id or any(reading.tokens[at].kind in {Kind.FILE, Kind.URL} for at in range(to, end)):
        return None
    if finder.flow.node(new_id) is not None:
        return None
    reading.claim(0, end)
    old = named.node.id
    nodes = tuple(node.model_copy(update={"id": new_id}) if node.id == old else node for node in finder.flow.nodes)
    edges = tuple(_moved(edge, old, new_id) for edge in finder.flow.edges)
    return Edited(
        finder.flow.model_copy(update={"nodes": nodes, "edges": edges}), f"Renamed {old} to {new_id}.", {old: new_id}
    )


def _moved(edge: Edge, old: str, new: str) -> Edge:
    return edge.model_copy(
        update={
            "source": new if edge.source == old else edge.source,
            "target": new if edge.target == old else edge.target,
        }
    )


def remove(reading: Reading, finder: NodeFinder, catalog: Catalog) -> Edited | None:
    """`remove the wait`; the steps before and after it are joined where their types fit."""
    mark = _verb(reading, "e.remove")
    if mark is None:
        return None
    start, end = mark
    named = finder.exact(reading, start, end) or _as_step(reading, finder, start, end)
    if not named:
        return None
    flow, done = finder.flow, []
    for one in named:
        flow = without(flow, one.node, catalog)
        done.append(one.node.id)
    reading.claim(0, end)
    return Edited(flow, f"Removed {', '.join(done)}.")


def _as_step(reading: Reading, finder: NodeFinder, start: int, end: int) -> list[Named]:
    """A node named by what it does, when the words say that a step is meant or can mean little else."""
    said = any(is_step_word(reading.tokens[at].word) for at in range(start, end))
    content = [at for at in range(start, end) if reading.is_content(at)]
    found = finder.find(reading, start, end)
    nothing_else = len(content) <= 1 and reading.find(start, end, "t.", "u.", "c.", "v.dedupe") is None
    return [found] if found is not None and (said or nothing_else) else []


def without(flow: Flow, node: Node, catalog: Catalog) -> Flow:
    """The flow without a node; what fed its main port feeds what it fed, where the types allow it."""
    template = catalog.template(node.type, node.params)
    main = template.main_field.name if template is not None and template.main_field is not None else ""
    feeds = [edge for edge in flow.incoming(node.id) if edge.input == main][:1]
    healed: list[Edge] = []
    for edge in flow.edges:
        if edge.source == node.id and feeds:
            joined = edge.model_copy(update={"source": feeds[0].source, "output": feeds[0].output})
            if fits(flow, joined, catalog) and joined not in flow.edges:
                healed.append(joined)
        elif node.id not in {edge.source, edge.target}:
            healed.append(edge)
    nodes = tuple(one for one in flow.nodes if one.id != node.id)
    return flow.model_copy(update={"nodes": nodes, "edges": tuple(healed)})


def fits(flow: Flow, edge: Edge, catalog: Catalog) -> bool:
    """Whether the types of an edge's ends agree."""
    output, port = _output(flow, edge.source, edge.output, catalog), _port(flow, edge.target, edge.input, catalog)
    return output is not None and port is not None and accepts(output.type, port.types)


def _output(flow: Flow, node_id: str, name: str, catalog: Catalog) -> OutputTemplate | None:
    node = flow.node(node_id)
    template = catalog.template(node.type, node.params) if node is not None else None
    return template.output(name) if template is not None else None


def _port(flow: Flow, node_id: str, name: str, catalog: Catalog) -> FieldTemplate | None:
    node = flow.node(node_id)
    template = catalog.template(node.type, node.params) if node is not None else None
    return template.field(name) if template is not None else None


def connect(reading: Reading, finder: NodeFinder, catalog: Catalog) -> Edited | None:
    """`connect brief to save`: the first outputs and inputs that fit."""
    pair = _pair(reading, finder, "e.connect")
    if pair is None:
        return None
    source, target = pair
    edge = best_edge(finder.flow, source, target, catalog)
    if edge is None:
        return None
    edges = list(finder.flow.edges)
    field_ = _port(finder.flow, edge.target, edge.input, catalog)
    if field_ is not None and not field_.many:
        edges = [one for one in edges if (one.target, one.input) != (edge.target, edge.input)]
    flow = finder.flow.model_copy(update={"edges": (*edges, edge)})
    return Edited(flow, f"Connected {edge.id}.")


def best_edge(flow: Flow, source: Node, target: Node, catalog: Catalog) -> Edge | None:
    """The edge between two nodes whose types fit best: main output into main port first."""
    sender, receiver = catalog.template(source.type, source.params), catalog.template(target.type, target.params)
    if sender is None or receiver is None:
        return None
    main = receiver.main_field
    ports = sorted(receiver.ports, key=lambda port: port != main)
    for exactly in (True, False):
        for port in ports:
            for output in sender.outputs:
                fit = output.type in port.types if exactly else accepts(output.type, port.types)
                edge = Edge(source=source.id, output=output.name, target=target.id, input=port.name)
                if fit and edge not in flow.edges:
                    return edge
    return None


def disconnect(reading: Reading, finder: NodeFinder) -> Edited | None:
    """`disconnect mails from save`: every edge between the two."""
    pair = _pair(reading, finder, "e.disconnect")
    if pair is None:
        return None
    ends = {pair[0].id, pair[1].id}
    gone = [edge for edge in finder.flow.edges if {edge.source, edge.target} == ends]
    if not gone:
        return None
    kept = tuple(edge for edge in finder.flow.edges if edge not in gone)
    return Edited(
        finder.flow.model_copy(update={"edges": kept}), f"Disconnected {', '.join(edge.id for edge in gone)}."
    )


def _pair(reading: Reading, finder: NodeFinder, sense: str) -> tuple[Node, Node] | None:
    mark = _verb(reading, sense)
    if mark is None:
        return None
    start, end = mark
    named = finder.exact(reading, start, end)
    middle = next(
        (
            at
            for at in range(start + 1, end)
            if reading.tokens[at].word in {"to", "from", "and", "with", "into", "till", "från", "och", "med"}
        ),
        None,
    )
    if len(named) < 2 and middle is not None:
        sides = (finder.find(reading, start, middle), finder.find(reading, middle + 1, end))
        named = [one for one in sides if one is not None]
    if len(named) < 2 or named[0].node.id == named[1].node.id:
        return None
    reading.claim(0, end)
    return named[0].node, named[1].node


def _verb(reading: Reading, sense: str) -> tuple[int, int] | None:
    """The words behind a verb of editing that begins the request."""
    at = 0
    while at < len(reading) and reading.is_light(at) and reading.mark(at, sense) is None:
        at += 1
    mark = reading.mark(at, sense)
    if mark is None:
        return None
    end = len(reading)
    while end > mark.end and reading.is_punctuation(end - 1):
        end -= 1
    return mark.end, end
