"""Frames on the canvas: a group contains the nodes whose centre is inside, and encloses them."""

from collections.abc import Mapping, Sequence

from headgate.graph.geometry import DEFAULT_HEIGHT, DEFAULT_WIDTH, GROUP_TYPE, LARGEST, SMALLEST, Box
from headgate.graph.model import Node, Position

__all__ = ["DEFAULT_HEIGHT", "DEFAULT_WIDTH", "LARGEST", "SMALLEST", "framed", "members"]
PADDING = 32
TITLE = 28
"""Space above the members for the title."""


def members(nodes: Sequence[Node], boxes: Mapping[str, Box]) -> dict[str, list[str]]:
    """Return the nodes of each group by position; a node in several belongs to the smallest."""
    members_by_group: dict[str, list[str]] = {node.id: [] for node in nodes if node.type == GROUP_TYPE}
    smallest_first = sorted(members_by_group, key=lambda key: boxes[key].width * boxes[key].height)
    for node in nodes:
        if node.type == GROUP_TYPE:
            continue
        box = boxes[node.id]
        x, y = box.x + box.width / 2, box.y + box.height / 2
        for key in smallest_first:
            frame = boxes[key]
            if frame.x <= x <= frame.right and frame.y <= y <= frame.bottom:
                members_by_group[key].append(node.id)
                break
    return members_by_group


def framed(group: Node, inside: Sequence[Box]) -> Node:
    """Return the group, resized to enclose these boxes."""
    left, top = min(box.x for box in inside), min(box.y for box in inside)
    width = max(box.right for box in inside) - left + 2 * PADDING
    height = max(box.bottom for box in inside) - top + 2 * PADDING + TITLE
    position = Position(x=left - PADDING, y=top - PADDING - TITLE)
    size = {"width": _side(width), "height": _side(height)}
    return group.model_copy(update={"position": position, "params": {**group.params, **size}})


def _side(length: float) -> int:
    return int(min(max(length, SMALLEST), LARGEST))
