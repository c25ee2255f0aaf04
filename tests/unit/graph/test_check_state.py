"""Values between runs that steps declare with different types."""

from headgate.components import BUILTINS
from headgate.graph.model import Flow, Node
from headgate.graph.validate import check_advice
from tests.unit.components.test_builtins import Builtins


def flow(*types: str | None) -> Flow:
    nodes = []
    for number, type_ in enumerate(types):
        params = {"name": "n"} | ({} if type_ is None else {"value_type": type_})
        nodes.append(Node(id=f"s{number}", type="WriteState" if number % 2 else "ReadState", params=params))
    return Flow(name="f", nodes=tuple(nodes))


class TestStateTypes:
    def test_are_the_same_for_one_name(self) -> None:
        assert BUILTINS
        assert check_advice(flow("number", None, "any", "number"), Builtins()) == []
        (issue,) = check_advice(flow("number", "text", None), Builtins())
        assert (issue.code, issue.severity, issue.node, issue.field) == ("state_type", "warning", "s1", "value_type")
        assert "declares the type text for the state 'n'" in issue.message
        assert "declares number" in issue.message
