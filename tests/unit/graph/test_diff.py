import json
import time

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.graph.diff import diff_flows, is_replaced
from headgate.graph.edits import rename_node
from headgate.graph.layout import arrange
from headgate.graph.model import Flow, FlowSettings, FormField, HttpCall, StepPolicy
from headgate.graph.value_changes import same, shown, shown_apart
from tests.unit.graph.strategies import SOME, flows, json_values
from tests.unit.graph.wires import chain, flow, node

BASE = flow(
    node("page", "URL", url="https://a"),
    node("brief", "AIStep", prompt="Sum up {{page.text}} in three lines, please, for readers in a hurry"),
    node("out", "ChatOutput"),
    edges="page.text -> brief.input\nbrief.output -> out.input",
)


def _without_positions(flow: Flow) -> str:
    nodes = [node.model_dump(mode="json", exclude={"position"}) for node in flow.nodes]
    return json.dumps([nodes, flow.model_dump(mode="json", exclude={"nodes"})], sort_keys=True)


class TestDiffFlows:
    @SOME
    @given(flows())
    def test_finds_nothing_between_equal_flows_wherever_they_stand(self, made: Flow) -> None:
        found = diff_flows(made, arrange(made))
        assert found.is_empty
        assert found.lines() == []
        assert found.as_json() == {}

    @SOME
    @given(flows(), flows())
    def test_finds_something_between_different_flows(self, before: Flow, after: Flow) -> None:
        found = diff_flows(before, after)
        # As JSON: Python takes `True` for 1 and 0.0 for -0.0.
        same_but_position = _without_positions(before) == _without_positions(after)
        assert found.is_empty is same_but_position
        assert bool(found.lines()) is not found.is_empty
        json.dumps(found.as_json())

    def test_tells_every_kind_of_change_in_a_line(self) -> None:
        policy = StepPolicy(output_mode="http_post", output_config=HttpCall(url="https://hook"))
        after = flow(
            node("page", "URL", url="https://b"),
            node(
                "brief", "AIStep", policy, prompt="Sum up {{page.text}} in five lines, please, for readers in a hurry"
            ),
            node("save", "SaveFile"),
            edges="page.text -> brief.input\nbrief.output -> save.content",
        ).model_copy(
            update={"name": "New", "form": (FormField(id="x"),), "settings": FlowSettings(data_retention_days=3)}
        )
        assert diff_flows(BASE, after).lines() == [
            "+ node 'save' (SaveFile)",
            "- node 'out' (ChatOutput)",
            '~ node \'page\' params.url: "https://a" -> "https://b"',
            (
                "~ node 'brief' params.prompt: …{page.text}} in three lines, please, for readers… -> "
                "…{page.text}} in five lines, please, for readers …"
            ),
            '~ node \'brief\' policy.output_mode: "pass_through" -> "http_post"',
            '~ node \'brief\' policy.output_config set to {"url": "https://hook"}',
            "+ edge brief.output -> save.content",
            "- edge brief.output -> out.input",
            '~ name: "Untitled flow" -> "New"',
            "~ settings.data_retention_days: null -> 3",
            '~ form.x set to {"label": "", "max": null, "min": null, "options…',
        ]

    def test_compares_requests_member_by_member(self) -> None:
        def made(url: str) -> Flow:
            return flow(node("a", "URL", StepPolicy(output_config=HttpCall(url=url))))

        assert diff_flows(made("https://a"), made("https://b")).lines() == [
            '~ node \'a\' policy.output_config.url: "https://a" -> "https://b"'
        ]

    def test_recognises_a_renamed_node_and_the_references_that_followed(self) -> None:
        found = diff_flows(BASE, rename_node(BASE, "page", "source").flow)
        assert found.lines() == ["~ node 'page' is now 'source'"]
        assert found.nodes_changed[0].renamed_from == "page"
        assert not found.edges_added

    def test_recognises_several_renamed_at_once(self) -> None:
        after = rename_node(rename_node(BASE, "page", "x").flow, "brief", "y").flow
        assert diff_flows(BASE, after).lines() == ["~ node 'page' is now 'x'", "~ node 'brief' is now 'y'"]

    @SOME
    @given(flows(), st.data())
    def test_adds_and_removes_nothing_when_a_node_is_renamed(self, made: Flow, data: st.DataObject) -> None:
        if made.nodes:
            chosen = data.draw(st.sampled_from(made.nodes)).id
            found = diff_flows(made, rename_node(made, chosen, "zzz_new_zzz").flow)
            assert (found.nodes_added, found.nodes_removed, found.edges_added, found.edges_removed) == ((), (), (), ())

    def test_does_not_take_another_type_for_a_renamed_node(self) -> None:
        found = diff_flows(flow(node("a", "URL")), flow(node("b", "ReadFile")))
        assert [one.id for one in found.nodes_added + found.nodes_removed] == ["b", "a"]

    def test_tells_when_only_the_order_changed(self) -> None:
        turned = BASE.model_copy(update={"nodes": BASE.nodes[::-1], "edges": BASE.edges[::-1]})
        assert diff_flows(BASE, turned).lines() == ["~ order of the nodes", "~ order of the edges"]

    def test_counts_edges_that_occur_twice(self) -> None:
        twice = BASE.model_copy(update={"edges": (*BASE.edges, BASE.edges[0])})
        assert diff_flows(BASE, twice).lines() == ["+ edge page.text -> brief.input"]

    def test_of_a_thousand_renamed_nodes_takes_little_time(self) -> None:
        before = chain(1000)
        text = before.model_dump_json().replace('"n', '"m')
        after = Flow.model_validate_json(
            text.replace('"mame', '"name').replace('"modes', '"nodes').replace('"mo"', '"no"')
        )
        started = time.process_time()
        found = diff_flows(before, after)
        assert time.process_time() - started < 1.5
        assert not found.nodes_added


class TestValueChanges:
    @given(json_values, json_values)
    def test_tells_values_apart_as_json_does(self, before: JsonValue, after: JsonValue) -> None:
        assert same(before, after) == (json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True))

    @given(json_values, json_values)
    def test_shows_values_that_differ_differently_and_short(self, before: JsonValue, after: JsonValue) -> None:
        old, new = shown_apart(before, after)
        assert max(len(old), len(new), len(shown(before))) <= 50
        assert (old != new) or same(before, after)


class TestIsReplaced:
    def test_is_not_so_while_half_of_the_nodes_are_left(self) -> None:
        two = flow(node("page", "URL"), node("brief", "AIStep"))
        assert not is_replaced(two, flow(node("page", "URL"), node("other", "ChatOutput")))
        assert is_replaced(two, flow(node("other", "ChatOutput")))

    def test_does_not_take_a_node_of_another_type_for_the_same(self) -> None:
        assert is_replaced(flow(node("page", "URL")), flow(node("page", "ChatInput")))

    def test_is_never_so_of_an_empty_flow(self) -> None:
        assert not is_replaced(Flow(), BASE)
