from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.graph.diff import diff_flows
from headgate.graph.links import SharedAssistant, effective, link, link_issues, linked_names, unlink
from headgate.graph.model import Flow, Node

CATALOG = Registry(BUILTINS)
LENA = SharedAssistant(instructions="You are Lena.", model="openai/gpt-5-mini", temperature=0.2)


def flow(**params: str) -> Flow:
    return Flow(nodes=(Node(id="ask", type="AIStep", params={"assistant": "Lena", **params}),))


class TestLinkedNames:
    def test_are_those_of_components_with_the_field(self) -> None:
        other = Node(id="note", type="TextInput", params={"assistant": "Lena"})
        assert linked_names(Flow(nodes=(*flow().nodes, other)), CATALOG) == {"ask": "Lena"}


class TestLink:
    def test_gives_only_what_the_component_has_fields_for(self) -> None:
        linked = link(flow(), CATALOG, {"Lena": LENA}).nodes[0].linked
        assert linked == {"model": "openai/gpt-5-mini", "temperature": 0.2, "system": "You are Lena."}
        agent = Flow(nodes=(Node(id="a", type="Agent", params={"assistant": "Lena"}),))
        assert "instructions" in link(agent, CATALOG, {"Lena": LENA}).nodes[0].linked

    def test_leaves_params_alone_and_is_undone_by_unlink(self) -> None:
        before = flow(system="Mine.")
        linked = link(before, CATALOG, {"Lena": LENA})
        assert linked.nodes[0].params == before.nodes[0].params
        assert unlink(linked) == before

    def test_shows_in_a_diff(self) -> None:
        old = link(flow(), CATALOG, {"Lena": LENA})
        new = link(flow(), CATALOG, {"Lena": SharedAssistant(instructions="New.", model="openai/gpt-5-mini")})
        assert any("linked.system" in line for line in diff_flows(old, new).lines())


class TestEffective:
    def test_puts_the_steps_own_values_first(self) -> None:
        found = effective(link(flow(system="Mine."), CATALOG, {"Lena": LENA})).nodes[0]
        assert (found.params["system"], found.params["model"], found.linked) == ("Mine.", "openai/gpt-5-mini", {})

    def test_fills_what_the_step_leaves_empty(self) -> None:
        found = effective(link(flow(system=""), CATALOG, {"Lena": LENA})).nodes[0]
        assert found.params["system"] == "You are Lena."


class TestLinkIssues:
    def test_name_what_is_missing_and_what_is_near(self) -> None:
        (issue,) = link_issues(flow(), CATALOG, {"Lenas": LENA})
        assert issue.node == "ask"
        assert "'Lena'" in issue.message
        assert "Lenas" in issue.message
