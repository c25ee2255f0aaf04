"""Compact flows for results."""

from headgate.graph.model import Flow
from headgate.graph.template import Catalog
from headgate.graph.wiring import wire

MOST_OUTLINE = 160


def outline(flow: Flow, catalog: Catalog) -> str:
    """Return a flow in one line: its steps, numbered in execution order, without edges."""
    types = {node.id: node.type for node in flow.nodes}
    order = wire(flow, catalog).order
    line = ", ".join(f"{number}. {step} ({types[step]})" for number, step in enumerate(order, start=1))
    return line if len(line) <= MOST_OUTLINE else line[: MOST_OUTLINE - 4] + " ..."
