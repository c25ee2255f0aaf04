"""Flows as an answer shows them: short."""

from headgate.graph.model import Flow
from headgate.graph.template import Catalog
from headgate.graph.wiring import wire

MOST_CHARACTERS = 6_000
"""Of one text in an answer."""
MOST_OUTLINE = 160


def cut_text(text: str, hint: str = "") -> str:
    """A text of at most `MOST_CHARACTERS`; where it was cut it says how to get the rest."""
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n... [{len(text) - MOST_CHARACTERS} more characters. {hint or 'Ask for less.'}]"


def outline(flow: Flow, catalog: Catalog) -> str:
    """A flow in one line: its steps, numbered in the order in which they run. Edges are not in it."""
    types = {node.id: node.type for node in flow.nodes}
    order = wire(flow, catalog).order
    line = ", ".join(f"{number}. {step} ({types[step]})" for number, step in enumerate(order, start=1))
    return line if len(line) <= MOST_OUTLINE else line[: MOST_OUTLINE - 4] + " ..."
