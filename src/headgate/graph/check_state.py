"""Checks of the values that last between runs of a flow."""

from collections.abc import Iterator

from headgate.graph.check_graph import named
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Node
from headgate.graph.value_names import ANY_TYPE, STATE_STEPS
from headgate.graph.wiring import Wiring


def state_types(wiring: Wiring) -> Iterator[Issue]:
    """Yield a warning for each step that declares another type for a value than an earlier step."""
    first: dict[str, Node] = {}
    for key, node in wiring.nodes.items():
        name, type_ = node.params.get("name"), node.params.get("value_type", ANY_TYPE)
        if node.type not in STATE_STEPS or not isinstance(name, str) or type_ == ANY_TYPE:
            continue
        earlier = first.setdefault(name, node)
        other = f"{named(earlier)} declares {earlier.params['value_type']}"
        if earlier.params["value_type"] != type_:
            yield Issue(
                IssueCode.STATE_TYPE,
                f"{named(node)} declares the type {type_} for the state '{name}', and {other}.",
                "Declare the same type, or use another name.",
                key,
                "value_type",
                severity="warning",
            )
