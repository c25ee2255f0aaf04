"""New steps in the flow at hand: `wait 3 seconds before saving`, `add a chat output after mails`."""

from collections.abc import Sequence
from dataclasses import replace

from headgate.agents.assistant.offline.assembly.assembler import Assembler
from headgate.agents.assistant.offline.assembly.draft import Draft
from headgate.agents.assistant.offline.assembly.shapes import as_text, realise
from headgate.agents.assistant.offline.assembly.values import Value
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.editing.existing import values_of
from headgate.agents.assistant.offline.editing.moves import Edited
from headgate.agents.assistant.offline.editing.nodes import NodeFinder
from headgate.agents.assistant.offline.grammar.operations import Operation, Part, Statement
from headgate.agents.assistant.offline.grammar.program import read_program
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.segments import Segment, segments
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.ports import accepts
from headgate.graph.template import Catalog

_ENDS = frozenset({"SaveFile", "ChatOutput", "WebhookOut"})
_PLACES = frozenset({"before", "after", "between"})


def insert(
    reading: Reading, clauses: Sequence[Segment], finder: NodeFinder, catalog: Catalog, default_model: str | None
) -> tuple[Edited, Workshop] | None:
    """New steps where the request says; None when it names none."""
    clauses = _with_pair(reading, clauses, finder)
    anchors = [clause for clause in clauses if clause.link in _PLACES]
    steps = [clause for clause in clauses if clause.link not in _PLACES]
    place = _place(reading, anchors, finder)
    shop = Workshop(Draft(catalog, finder.flow), reading, default_model)
    shop.values = values_of(finder.flow, catalog)
    _claim_announcing(reading, steps)
    parts = _with_components(reading, steps, catalog)
    if not parts:
        return None
    feed = _feed(finder.flow, place, shop)
    shop.current = [feed] if feed is not None else []
    known = set(shop.draft.nodes)
    already = len(shop.values)
    Assembler(shop).run(parts)
    if set(shop.draft.nodes) == known and len(shop.values) == already:
        return None
    for anchor in anchors:
        reading.claim(anchor.start, anchor.end)
    done = _splice(shop, place, feed, known, parts)
    _drop_loose(shop, known)
    if set(shop.draft.nodes) == known:
        return None
    added = [node for node in shop.draft.nodes if node not in known]
    flow = shop.draft.flow(finder.flow.name, finder.flow.description)
    return Edited(flow, f"Added {', '.join(added)}{done}."), shop


# where

Place = tuple[str, Node, Node | None]


def _with_pair(reading: Reading, clauses: Sequence[Segment], finder: NodeFinder) -> Sequence[Segment]:
    """`between mails and save that sorts ...`: the anchor ends with the second node; what follows is a step."""
    anchor = next((clause for clause in clauses if clause.link == "between"), None)
    if anchor is None:
        return clauses
    pair = finder.exact(reading, anchor.start, len(reading))[:2]
    if len(pair) < 2:
        return clauses
    reading.claim(anchor.start, pair[1].end)
    before = [clause for clause in clauses if clause.end <= anchor.start]
    return [*before, replace(anchor, end=pair[1].end), *segments(reading, pair[1].end)]


def _place(reading: Reading, anchors: Sequence[Segment], finder: NodeFinder) -> Place | None:
    """`before`, `after` or `between`, and the node or nodes."""
    for anchor in anchors:
        exact = finder.exact(reading, anchor.start, len(reading))
        if anchor.link == "between" and len(exact) > 1:
            return "between", exact[0].node, exact[1].node
        node = finder.doing(reading, anchor.start, anchor.end)
        if node is not None:
            return anchor.link, node, None
    return None


def _feed(flow: Flow, place: Place | None, shop: Workshop) -> Value | None:
    """The value that new steps go on from."""
    by_node = {value.node: value for value in shop.values}
    if place is not None and place[0] in {"after", "between"}:
        return by_node.get(place[1].id)
    target = place[1] if place is not None else _last_end(flow)
    if target is not None:
        edge = next(iter(flow.incoming(target.id)), None)
        if edge is not None and edge.source in by_node:
            return _as_taken(by_node[edge.source], edge)
    return shop.values[-1] if shop.values else None


def _as_taken(value: Value, edge: Edge) -> Value:
    """The value as the edge takes it: a list's text stays text."""
    if edge.output == value.port:
        return value
    if edge.output == value.text_port:
        return (
            value
            if value.kind in {"items", "number"}
            else value.like(kind="text", port=edge.output, text_port="", consumed=True)
        )
    return value.like(port=edge.output, consumed=True)


def _last_end(flow: Flow) -> Node | None:
    return next((node for node in reversed(flow.nodes) if node.type in _ENDS), None)


# what


def _claim_announcing(reading: Reading, steps: Sequence[Segment]) -> None:
    """Words such as `add` and `step` only announce what comes."""
    for clause in steps:
        for at in range(clause.start, clause.end):
            if reading.mark(at, "e.add") is not None and at <= clause.start + 2:
                reading.claim(at, at + 1)


def _with_components(reading: Reading, steps: Sequence[Segment], catalog: Catalog) -> list[Part]:
    """The statements, with components called by their name as operations of their own."""
    parts: list[Part] = []
    for clause in steps:
        named = component_named(reading, clause.start, clause.end, catalog)
        if named is None:
            parts += [
                part for part in read_program(reading, [clause]) if not isinstance(part, Statement) or part.operations
            ]
            continue
        type_, start, end = named
        reading.claim(start, end)
        parts.append(Statement((_component_operation(type_, start, end),), (), clause.start, clause.end))
    return parts


def component_named(reading: Reading, start: int, end: int, catalog: Catalog) -> tuple[str, int, int] | None:
    """A component called by its type or label: `a chat output`, `SaveFile`."""
    known = {type_.lower(): type_ for type_ in catalog.types()}
    labels = {
        template.label.lower(): type_ for type_ in catalog.types() if (template := catalog.template(type_)) is not None
    }
    for length in (3, 2, 1):
        for at in range(start, end - length + 1):
            words = [reading.tokens[n].word for n in range(at, at + length)]
            joined = "".join(words)
            type_ = known.get(joined) or (labels.get(" ".join(words)) if length > 1 else None)
            single = length == 1 and (reading.tokens[at].text != type_ or (at == 0 and len(joined) < 6))
            if type_ is not None and not single:
                return type_, at, at + length
    return None


def _component_operation(type_: str, start: int, end: int) -> Operation:
    if type_ == "ChatOutput":
        return Operation("show", {}, start, end)
    return Operation("component", {"type": type_}, start, end)


# splice in


def _splice(shop: Workshop, place: Place | None, feed: Value | None, known: set[str], parts: Sequence[Part]) -> str:
    """Lead the edges that went on from the feed through the new steps; returns where, in words."""
    made = [value for value in shop.values if not value.consumed and (value.node not in known or value.query)]
    if not made or feed is None or (shop.outputs and not _transforms(parts)):
        return f" after {feed.node}" if feed is not None else ""
    last = made[-1]
    moved = _moved_edges(shop, place, feed)
    for edge in moved:
        _redirect(shop, edge, last)
    if not moved and not shop.outputs:
        _show_end(shop, last)
    return f" between {feed.node} and {', '.join(edge.target for edge in moved)}" if moved else f" after {feed.node}"


def _transforms(parts: Sequence[Part]) -> bool:
    return not any(isinstance(part, Statement) and part.has("save", "show", "send") for part in parts)


def _moved_edges(shop: Workshop, place: Place | None, feed: Value) -> list[Edge]:
    old = [edge for edge in shop.draft.base.edges if edge.source == feed.node]
    if place is None:
        return [edge for edge in old if shop.draft.nodes[edge.target].type in _ENDS] or old[:1]
    where, node, other = place
    if where == "before":
        return [edge for edge in old if edge.target == node.id]
    if where == "between" and other is not None:
        return [edge for edge in old if edge.target == other.id]
    return old


def _redirect(shop: Workshop, edge: Edge, value: Value) -> None:
    """Let the new value come where the edge led, in the edge's place among the others."""
    draft = shop.draft
    template = draft.catalog.template(draft.nodes[edge.target].type, draft.nodes[edge.target].params)
    port = template.field(edge.input) if template is not None else None
    source = realise(shop, value)
    sender = draft.catalog.template(draft.nodes[source.node].type, draft.nodes[source.node].params)
    output = sender.output(source.port) if sender is not None else None
    readable = port is not None and value.kind == "items" and edge.output == "text"
    fits = output is not None and port is not None and accepts(output.type, port.types) and not readable
    node, name = (source.node, source.port) if fits else as_text(shop, value)
    at = draft.edges.index(edge)
    draft.edges[at] = Edge(source=node, output=name, target=edge.target, input=edge.input)
    shop.use(value)


def _show_end(shop: Workshop, value: Value) -> None:
    node, port = as_text(shop, value)
    shown = shop.draft.add("ChatOutput", "show", {}, "Show")
    shop.draft.connect(node, port, shown, "input")


def _drop_loose(shop: Workshop, known: set[str]) -> None:
    connected = {end for edge in shop.draft.edges for end in (edge.source, edge.target)}
    for node in [node for node in shop.draft.nodes if node not in known and node not in connected]:
        shop.draft.remove(node)
