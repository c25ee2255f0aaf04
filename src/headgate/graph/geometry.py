"""Node sizes on the canvas, in canvas units. The canvas uses the same numbers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headgate.graph.model import Edge, Flow, Node
from headgate.graph.template import Catalog, Template
from headgate.graph.wiring import NOTE_TYPE

NODE_WIDTH = 240.0
HEADER_HEIGHT = 64.0
"""Title and type, with the padding below the last port."""
PORT_HEIGHT = 28.0
"""One row per input and output."""
NOTE_HEIGHT = 160.0
GROUP_TYPE = "Group"
DEFAULT_WIDTH, DEFAULT_HEIGHT = 640, 360
"""Of a group's frame."""
SMALLEST, LARGEST = 120, 20_000
"""Sides of a frame."""


@dataclass(frozen=True, slots=True)
class Box:
    """A node's rectangle."""

    x: float
    y: float
    height: float
    width: float = NODE_WIDTH

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height

    def overlaps(self, other: "Box") -> bool:
        """Return whether the two share any area."""
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom


def node_height(node: Node, template: Template | None, ports_in_use: int = 1) -> float:
    """Height of a node: by its template's ports, else by the ports its edges use."""
    if node.type == GROUP_TYPE:
        return _side(node, "height", DEFAULT_HEIGHT)
    if template.annotation if template is not None else node.type == NOTE_TYPE:
        return NOTE_HEIGHT
    rows = len(template.ports) + len(template.outputs) if template is not None else ports_in_use
    return HEADER_HEIGHT + PORT_HEIGHT * max(rows, 1)


def node_width(node: Node) -> float:
    """Width of a node."""
    return _side(node, "width", DEFAULT_WIDTH) if node.type == GROUP_TYPE else NODE_WIDTH


def _side(node: Node, name: str, default: int) -> float:
    value = node.params.get(name)
    usable = isinstance(value, int | float) and not isinstance(value, bool) and SMALLEST <= value <= LARGEST
    return float(value) if usable else float(default)  # type: ignore[arg-type]


def ports_in_use(edges: Iterable[Edge]) -> dict[str, int]:
    """Return node id to the number of its ports with an edge."""
    used: set[tuple[str, str, bool]] = set()
    for edge in edges:
        used.add((edge.source, edge.output, True))
        used.add((edge.target, edge.input, False))
    counts: dict[str, int] = {}
    for node_id, _, _ in used:
        counts[node_id] = counts.get(node_id, 0) + 1
    return counts


def boxes(flow: Flow, catalog: Catalog | None = None) -> Iterator[Box]:
    """Yield the rectangle of every node, in the flow's order."""
    used = ports_in_use(flow.edges)
    for node in flow.nodes:
        template = catalog.template(node.type, node.params) if catalog else None
        yield Box(node.position.x, node.position.y, node_height(node, template, used.get(node.id, 1)), node_width(node))


def bounds(flow: Flow, catalog: Catalog | None = None) -> Box | None:
    """Return the rectangle around all nodes; None when there are none."""
    all_boxes = list(boxes(flow, catalog))
    if not all_boxes:
        return None
    left, top = min(box.x for box in all_boxes), min(box.y for box in all_boxes)
    return Box(left, top, max(box.bottom for box in all_boxes) - top, max(box.right for box in all_boxes) - left)
