from hypothesis import given
from hypothesis import strategies as st

from headgate.graph.mentions import mentions, rename_paths, rename_roots
from headgate.graph.model import HttpCall, Node, StepPolicy
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import nodes
from tests.unit.graph.wires import node

POLICY = StepPolicy(
    input_bindings={"prompt": "{{a.output}}"},
    input_config=HttpCall(url="https://x/{{b.output}}", headers={"X": "{{c.output}}"}),
    output_config=HttpCall(url="https://y", body='{"v": "{{ d.output.v }}"}'),
)


class TestMentions:
    def test_are_found_in_params_and_everywhere_in_the_policy(self) -> None:
        found = [
            (one.field, one.reference.root, one.own_output)
            for one in mentions(node("n", "AIStep", POLICY, x=["{{p.text}}"]))
        ]
        assert found == [
            ("x", "p", False),
            ("input_bindings.prompt", "a", False),
            ("input_config.url", "b", False),
            ("input_config.headers.X", "c", False),
            ("output_config.body", "d", True),
        ]

    def test_do_not_count_in_fields_that_are_not_interpolated(self) -> None:
        made = node("n", "Python", source="'{{a.output}}'", inputs="{{b.output}}")
        assert [one.field for one in mentions(made, PALETTE.template("Python"))] == ["inputs"]


class TestRenameRoots:
    def test_follows_every_mention_and_nothing_else(self) -> None:
        made = node("n", "AIStep", POLICY, x="{{ a.output }} {{ab.output}} a.output {{b.a}}")
        renamed = rename_roots(made, {"a": "z", "d": "y"})
        assert renamed.params["x"] == "{{ z.output }} {{ab.output}} a.output {{b.a}}"
        assert renamed.policy.input_bindings == {"prompt": "{{z.output}}"}
        assert renamed.policy.output_config is not None
        assert renamed.policy.output_config.body == '{"v": "{{ y.output.v }}"}'

    def test_leaves_fields_that_are_not_interpolated(self) -> None:
        made = node("n", "Python", source="'{{a.output}}'")
        assert rename_roots(made, {"a": "z"}, PALETTE.template("Python")) is made

    def test_swaps_names_without_mixing_them_up(self) -> None:
        assert rename_roots(node("n", "A", x="{{a.x}}{{b.x}}"), {"a": "b", "b": "a"}).params["x"] == "{{b.x}}{{a.x}}"

    @given(st.just("n").flatmap(nodes))
    def test_gives_the_same_node_when_nothing_is_mentioned(self, made: Node) -> None:
        assert rename_roots(made, {"zzz": "y"}) is made


class TestRenamePaths:
    def test_replaces_the_beginnings_of_paths(self) -> None:
        made = node("n", "A", x="{{flow_input.a.b}} {{flow_input.ab}} {{flow_input}}")
        renamed = rename_paths(made, {("flow_input", "a"): ("flow_input", "z")})
        assert renamed.params["x"] == "{{flow_input.z.b}} {{flow_input.ab}} {{flow_input}}"
