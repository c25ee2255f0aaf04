from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.features.runs.views.drawing import draw
from headgate.graph.model import HttpCall, InputSource, Node, StepPolicy
from tests.support.engine import COMPONENTS, make_flow


class TestDraw:
    def test_dashes_edges_from_steps_that_are_read_and_not_connected(self) -> None:
        policy = StepPolicy(input_source=InputSource.ALL_PREVIOUS_STEPS)
        flow = make_flow(
            {"a": "Start", "b": "Echo", "c": Node(id="c", type="Echo", policy=policy)},
            ["a.text -> b.input", "b.text -> c.input"],
        )
        found = draw(flow, Registry(COMPONENTS), flow_id="f")
        assert [(edge.id, edge.kind, edge.line) for edge in found.edges] == [
            ("a.text -> b.input", "data", "solid"),
            ("b.text -> c.input", "data", "solid"),
            ("a => c", "all_previous_steps", "dashed"),
        ]

    def test_works_for_components_that_are_gone(self) -> None:
        flow = make_flow({"a": "Gone", "b": "Echo"}, ["a.text -> b.input"])
        found = draw(flow, Registry(COMPONENTS), flow_id="f")
        assert [(node.id, node.type, node.kind) for node in found.nodes] == [
            ("a", "Gone", "step"),
            ("b", "Echo", "step"),
        ]

    def test_says_what_each_step_is_and_draws_its_badges(self) -> None:
        fetch = StepPolicy(input_source=InputSource.HTTP_GET, input_config=HttpCall(url="https://example.org"))
        deliver = StepPolicy(output_mode="http_post", output_config=HttpCall(url="https://example.org"))
        flow = make_flow(
            {
                "fetch": Node(id="fetch", type="TextInput", policy=fetch),
                "think": "AIStep",
                "middle": "PromptTemplate",
                "send": Node(id="send", type="ChatOutput", policy=deliver),
                "model": "LanguageModel",
                "note": "Note",
            },
            [
                "fetch.text -> think.input",
                "think.output -> middle.what",
                "middle.text -> send.input",
                "model.model -> think.model",
            ],
            middle={"template": "Say {what}"},
        )
        found = {node.id: node for node in draw(flow, Registry(BUILTINS), flow_id="f").nodes}
        assert {key: node.role for key, node in found.items()} == {
            "fetch": "input",
            "think": "model",
            "middle": "step",
            "send": "output",
            "model": None,
            "note": None,
        }
        assert {key: node.badges for key, node in found.items() if node.badges} == {
            "fetch": ["http_in"],
            "think": ["model"],
            "send": ["http_out"],
            "model": ["model"],
        }
        assert (found["think"].input_type, found["note"].input_type) == ("any", None)
