"""Differences between two flows, in lines for users and models, without secrets.

The toolkit's lines name a node that was added and no more. Here its values stand behind it: a person who reviews a new
flow, and a model that is to change one, have to see the prompts.
"""

from collections.abc import Iterator

import orjson

from headgate.graph.diff import diff_flows
from headgate.graph.model import Flow, Node
from headgate.graph.names import clipped
from headgate.graph.template import Catalog
from headgate.toolkit.proof import without_secrets
from headgate.toolkit.shown import shown_params

LONGEST_VALUE = 300
"""Characters of one value."""


def lines_of(before: Flow, after: Flow, catalog: Catalog) -> list[str]:
    """Return one line per change, and one per value of an added node."""
    diff = without_secrets(diff_flows(before, after), before, after, catalog)
    added = len(diff.nodes_added)
    lines = diff.lines()
    nodes = [line for node in diff.nodes_added for line in _added(node, catalog)]
    return [*nodes, *lines[added:]]


def _added(node: Node, catalog: Catalog) -> Iterator[str]:
    yield f"+ node '{node.id}' ({node.type})"
    for name, value in shown_params(node, catalog).items():
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        yield f"+ node '{node.id}' {name}: {clipped(text, LONGEST_VALUE)}"
