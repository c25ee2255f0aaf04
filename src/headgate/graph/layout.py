"""Automatic layout: steps in columns from left to right, configuration below its step, notes at the end."""

from collections.abc import Mapping, Sequence

from headgate.graph.frames import framed, members
from headgate.graph.geometry import GROUP_TYPE, NODE_WIDTH, Box, boxes, node_height, ports_in_use
from headgate.graph.layering import Sheet
from headgate.graph.model import Flow, Position
from headgate.graph.template import Catalog
from headgate.graph.wiring import Wiring, by_attachment, wire

COLUMN_GAP = 72.0
COLUMN = NODE_WIDTH + COLUMN_GAP
ROW_GAP = 48.0
ATTACHED_GAP = 24.0
"""Space between a step and its attachments below."""
ATTACHED_INDENT = -56.0
"""Horizontal offset of a model or tool to the left of its step, so that its edge is visible."""
PART_GAP = 96.0
"""Space between unconnected parts of the flow."""
LOOSE_PER_ROW = 4
MOST_KEPT = 300
"""Maximum nodes of a flow that is laid out again after each edit."""


def arrange(flow: Flow, catalog: Catalog | None = None) -> Flow:
    """Return the flow with new positions, the upper left corner at the origin. Nothing else changes.

    Works on any flow, also an invalid one. The same flow always gets the same layout, and nodes do not overlap, except
    for a group and its members, which stay in it.
    """
    held = _held(flow, catalog)
    if held:
        return _framed(flow, catalog, held)
    wiring = wire(flow, catalog)
    used = ports_in_use(flow.edges)
    heights = {key: node_height(node, wiring.templates[key], used.get(key, 1)) for key, node in wiring.nodes.items()}
    below = _attached(wiring)
    hanging = {key for keys in below.values() for key in keys}
    units = [key for key in wiring.nodes if key not in wiring.notes and key not in hanging]
    corners: dict[str, tuple[float, float]] = {}
    bottom = 0.0
    loose: list[str] = []
    for part in _parts(wiring, units):
        if len(part) == 1:
            loose += part
            continue
        placed = _place_part(wiring, part, heights, below)
        for key, (x, y) in placed.items():
            corners[key] = (x, y + bottom)
        bottom = max(corners[key][1] + heights[key] for key in placed) + PART_GAP
    loose += [key for key in wiring.nodes if key in wiring.notes]
    bottom = _place_rows(corners, loose, heights, below, bottom)
    tallest = max((box.height for box in boxes(flow, catalog)), default=0.0)
    return _positioned(flow, corners, bottom, tallest)


def arrange_unplaced(flow: Flow, catalog: Catalog | None = None) -> Flow:
    """The flow, arranged if none of its nodes has a position: at the origin they would cover one another."""
    return flow if any("position" in node.model_fields_set for node in flow.nodes) else arrange(flow, catalog)


def keep_arranged(before: Flow, after: Flow, catalog: Catalog | None = None) -> Flow:
    """Lay out an edited flow again if it was automatically laid out before: in the same columns and order.

    A flow with manually placed nodes, one of over `MOST_KEPT` nodes, and one in which nothing was added, removed or
    connected are returned unchanged.
    """
    if len(after.nodes) > MOST_KEPT or _structure(before) == _structure(after):
        return after
    if _columns(before) != _columns(arrange(before, catalog)):
        return after
    return arrange(after, catalog)


def _structure(flow: Flow) -> tuple[object, ...]:
    ends = {(edge.source, edge.output, edge.target, edge.input) for edge in flow.edges}
    return ends, [node.id for node in flow.nodes]


def _columns(flow: Flow) -> list[tuple[int, str]]:
    left = min((node.position.x for node in flow.nodes), default=0.0)
    placed = sorted((round(node.position.x - left), node.position.y, node.id) for node in flow.nodes)
    return [(x, key) for x, _, key in placed]


def _held(flow: Flow, catalog: Catalog | None) -> dict[str, list[str]]:
    """Return groups with their members."""
    if not any(node.type == GROUP_TYPE for node in flow.nodes):
        return {}
    return members(flow.nodes, _boxes(flow, catalog))


def _framed(flow: Flow, catalog: Catalog | None, held: Mapping[str, Sequence[str]]) -> Flow:
    """Return the flow laid out without groups, which then enclose their members; empty groups are placed below."""
    rest = arrange(flow.model_copy(update={"nodes": tuple(n for n in flow.nodes if n.type != GROUP_TYPE)}), catalog)
    boxes_by_id, placed = _boxes(rest, catalog), iter(rest.nodes)
    nodes, bottom = [], max((box.bottom for box in boxes_by_id.values()), default=-PART_GAP) + PART_GAP
    for node in flow.nodes:
        if node.type != GROUP_TYPE:
            nodes.append(next(placed))
        elif held[node.id]:
            nodes.append(framed(node, [boxes_by_id[key] for key in held[node.id]]))
        else:
            nodes.append(node.model_copy(update={"position": Position(x=0, y=bottom)}))
            bottom += node_height(node, None) + PART_GAP
    left, top = min(node.position.x for node in nodes), min(node.position.y for node in nodes)
    offsets = [Position(x=node.position.x - left, y=node.position.y - top) for node in nodes]
    return flow.model_copy(
        update={"nodes": tuple(node.model_copy(update={"position": p}) for node, p in zip(nodes, offsets, strict=True))}
    )


def _boxes(flow: Flow, catalog: Catalog | None) -> dict[str, Box]:
    return dict(zip((node.id for node in flow.nodes), boxes(flow, catalog), strict=True))


def _attached(wiring: Wiring) -> dict[str, list[str]]:
    """Return step to the configuration nodes below it, each below the first step it configures."""
    host: dict[str, str] = {}
    below: dict[str, list[str]] = {}
    for key in reversed(by_attachment(wiring)):
        if key not in wiring.configuration:
            continue
        first = wiring.leaving[key][0].edge.target
        host[key] = host.get(first, first)
    for key in wiring.nodes:
        if key in host and host[key] not in wiring.notes:
            below.setdefault(host[key], []).append(key)
    return below


def _parts(wiring: Wiring, units: Sequence[str]) -> list[list[str]]:
    """Return connected units, also through shared attachments, in order of their first node."""
    positions = {key: number for number, key in enumerate(units)}
    visited: set[str] = set(wiring.notes)
    parts: list[list[str]] = []
    for start in units:
        if start in visited:
            continue
        visited.add(start)
        part, waiting = [], [start]
        while waiting:
            key = waiting.pop()
            part.append(key)
            ends = [edge_wire.edge.target for edge_wire in wiring.leaving[key]] + [
                edge_wire.edge.source for edge_wire in wiring.arriving[key]
            ]
            for end in ends:
                if end not in visited:
                    visited.add(end)
                    waiting.append(end)
        parts.append(sorted((key for key in part if key in positions), key=positions.__getitem__))
    return parts


def _place_part(
    wiring: Wiring, part: Sequence[str], heights: Mapping[str, float], below: Mapping[str, Sequence[str]]
) -> dict[str, tuple[float, float]]:
    """Compute upper left corners of a part's nodes, relative to the origin."""
    sheet = Sheet(ROW_GAP)
    numbers = {key: sheet.add(heights[key] / 2, _depth(key, heights, below) - heights[key] / 2) for key in part}
    for key in part:
        for target in dict.fromkeys(edge_wire.edge.target for edge_wire in wiring.leaving[key]):
            if target in numbers:
                sheet.connect(numbers[key], numbers[target])
    corners: dict[str, tuple[float, float]] = {}
    drawn = [(key, column, middle - heights[key] / 2) for key, (column, middle) in zip(part, sheet.draw(), strict=True)]
    highest = min(top for _, _, top in drawn)
    for key, column, top in drawn:
        _place_unit(corners, key, (column * COLUMN, round(top - highest)), heights, below)
    return corners


def _place_rows(
    corners: dict[str, tuple[float, float]],
    loose: Sequence[str],
    heights: Mapping[str, float],
    below: Mapping[str, Sequence[str]],
    bottom: float,
) -> float:
    """Place unconnected nodes in rows; returns the bottom."""
    for start in range(0, len(loose), LOOSE_PER_ROW):
        row = loose[start : start + LOOSE_PER_ROW]
        for position, key in enumerate(row):
            _place_unit(corners, key, (position * COLUMN, bottom), heights, below)
        bottom += max(_depth(key, heights, below) for key in row) + ROW_GAP
    return bottom


def _place_unit(
    corners: dict[str, tuple[float, float]],
    key: str,
    corner: tuple[float, float],
    heights: Mapping[str, float],
    below: Mapping[str, Sequence[str]],
) -> None:
    """Place a node and its attachments below it."""
    corners[key] = corner
    y = corner[1] + heights[key]
    for attached in below.get(key, ()):
        corners[attached] = (corner[0] + ATTACHED_INDENT, y + ATTACHED_GAP)
        y += ATTACHED_GAP + heights[attached]


def _depth(key: str, heights: Mapping[str, float], below: Mapping[str, Sequence[str]]) -> float:
    """Return the height of a node including attachments below it."""
    return heights[key] + sum(ATTACHED_GAP + heights[attached] for attached in below.get(key, ()))


def _positioned(flow: Flow, corners: Mapping[str, tuple[float, float]], bottom: float, tallest: float) -> Flow:
    """Return the flow with these corners moved to the origin; nodes with a duplicate id are placed at the bottom."""
    left = min((x for x, _ in corners.values()), default=0.0)
    placed: set[str] = set()
    nodes = []
    for node in flow.nodes:
        x, y = corners[node.id]
        if node.id in placed:
            x, y, bottom = left, bottom, bottom + tallest + ROW_GAP
        placed.add(node.id)
        nodes.append(node.model_copy(update={"position": Position(x=x - left, y=y)}))
    return flow.model_copy(update={"nodes": tuple(nodes)})
