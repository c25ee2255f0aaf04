from headgate.features.catalog.registry import Registry
from headgate.features.runs.views.drawing import draw
from headgate.graph.model import InputSource, Node, StepPolicy
from tests.support.engine import COMPONENTS, make_flow


class TestDraw:
    def test_dashes_edges_from_steps_that_are_read_and_not_connected(self) -> None:
        policy = StepPolicy(input_source=InputSource.ALL_PREVIOUS_STEPS)
        flow = make_flow(
            {"a": "Start", "b": "Echo", "c": Node(id="c", type="Echo", policy=policy)},
            ["a.text -> b.input", "b.text -> c.input"],
        )
        found = draw(flow, Registry(COMPONENTS), flow_id="f")
        assert [(edge.id, edge.kind) for edge in found.edges] == [
            ("a.text -> b.input", "data"),
            ("b.text -> c.input", "data"),
            ("a => c", "all_previous_steps"),
        ]

    def test_works_for_components_that_are_gone(self) -> None:
        flow = make_flow({"a": "Gone", "b": "Echo"}, ["a.text -> b.input"])
        found = draw(flow, Registry(COMPONENTS), flow_id="f")
        assert [(node.id, node.type, node.kind) for node in found.nodes] == [
            ("a", "Gone", "step"),
            ("b", "Echo", "step"),
        ]
