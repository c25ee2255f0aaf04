"""Positions of new nodes on Flowise's canvas: one column per step. Pure."""

from collections.abc import Mapping, Sequence

COLUMN = 400
ROW = 600
_MOST_STEPS = 200


def places(ids: Sequence[str], edges: Sequence[tuple[str, str]], *, below: float = 0) -> Mapping[str, dict[str, float]]:
    """A position for each node: as many columns to the right as the longest way to it has steps."""
    depth = dict.fromkeys(ids, 0)
    for _ in range(min(len(ids), _MOST_STEPS)):  # a loop would push its nodes to the right for ever
        moved = False
        for source, target in edges:
            if source in depth and target in depth and depth[target] <= depth[source] < len(ids):
                depth[target] = depth[source] + 1
                moved = True
        if not moved:
            break
    rows: dict[int, int] = {}
    positions = {}
    for node in ids:
        column = depth[node]
        row = rows.setdefault(column, 0)
        rows[column] += 1
        positions[node] = {"x": float(column * COLUMN), "y": float(below + row * ROW)}
    return positions
