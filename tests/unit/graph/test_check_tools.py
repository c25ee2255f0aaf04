"""Allow-lists hold names of tools that the step has."""

import pytest

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.graph.canonical import logic_checksum
from headgate.graph.issues import Issue
from headgate.graph.model import Edge, Flow, Node, StepPolicy
from headgate.graph.plan import compile_plan
from headgate.graph.ports import PortType
from headgate.graph.template import OutputTemplate, Template
from headgate.graph.tool_names import GENERIC_METHODS, component_tool_names, offer, tool_name
from headgate.graph.validate import check_draft, check_runnable
from headgate.graph.wiring import wire

CATALOG = Registry(BUILTINS)


def flow(*allowed: str, tool_policy: str = "restricted", tools: tuple[str, ...] = (), second: bool = False) -> Flow:
    """An agent with a calculator and the tools of a server; its helper has a clock."""
    policy = StepPolicy(tool_policy=tool_policy, tool_allowlist=allowed)
    nodes = [
        Node(id="heard", type="ChatInput"),
        Node(id="sums", type="Calculator"),
        Node(id="mcp", type="McpTools", params={"server": "weather", "tools": list(tools)}),
        Node(id="clock", type="CurrentDate"),
        Node(id="helper", type="Agent", params={"model": "openai/x"}),
        Node(id="boss", type="Agent", params={"model": "openai/x"}, policy=policy),
        Node(id="said", type="ChatOutput"),
    ]
    links = ["sums.tool boss.tools", "mcp.tools boss.tools", "clock.tool helper.tools", "heard.text boss.input"]
    if second:
        nodes.append(Node(id="more", type="Calculator"))
        links.append("more.tool boss.tools")
    links += ["boss.response said.input"]
    edges = []
    for link in links:
        (source, output), (target, into) = (end.split(".") for end in link.split())
        edges.append(Edge(source=source, output=output, target=target, input=into))
    return Flow(name="x", nodes=tuple(nodes), edges=tuple(edges))


def about_tools(found: list[Issue]) -> list[str]:
    return [issue.message for issue in found if issue.field == "tool_allowlist"]


class TestAllowlist:
    @pytest.mark.parametrize("allowed", [(), ("calculator",), ("weather.forecast", "calculator"), ("weather.a.b",)])
    def test_of_names_that_the_step_may_have_passes(self, allowed: tuple[str, ...]) -> None:
        assert about_tools(check_runnable(flow(*allowed), CATALOG)) == []

    def test_names_the_nearest(self) -> None:
        (said,) = about_tools(check_runnable(flow("calculater"), CATALOG))
        assert said == (
            "the tool allow-list of node 'boss' (Agent) contains 'calculater', which is not a tool of this "
            "step; did you mean 'calculator'?"
        )

    @pytest.mark.parametrize("name", ["current_date", "other.forecast", "weather", "sums", "weatherforecast"])
    def test_refuses_tools_of_others(self, name: str) -> None:
        assert len(about_tools(check_runnable(flow(name), CATALOG))) == 1

    def test_knows_the_tools_that_a_node_names(self) -> None:
        assert about_tools(check_runnable(flow("weather.a", tools=("a",)), CATALOG)) == []
        assert len(about_tools(check_runnable(flow("weather.b", tools=("a",)), CATALOG))) == 1

    def test_calls_two_of_one_type_by_their_ids(self) -> None:
        assert about_tools(check_runnable(flow("sums", "more", second=True), CATALOG)) == []
        assert len(about_tools(check_runnable(flow("calculator", second=True), CATALOG))) == 1

    def test_may_be_unfinished_in_a_draft(self) -> None:
        assert about_tools(check_draft(flow("calculater"), CATALOG)) == []

    def test_is_not_looked_at_where_it_is_not_in_force(self) -> None:
        assert about_tools(check_runnable(flow("anything", tool_policy="inherit"), CATALOG)) == []


class TestOffer:
    def test_holds_the_tools_of_tools(self) -> None:
        found = flow()
        edges = (*found.edges, Edge(source="helper", output="tool", target="boss", input="tools"))
        offered = offer(wire(found.model_copy(update={"edges": edges})), "boss")
        assert set(offered.names) == {"calculator", "agent", "current_date"}
        assert offered.servers == ("weather",)


class TestToolName:
    @pytest.mark.parametrize(
        ("type_", "name"),
        [
            ("Calculator", "calculator"),
            ("HTTPRequest", "http_request"),
            ("HTTPClient", "http_client"),
            ("S3Bucket", "s3_bucket"),
            ("RandomMenuItem", "random_menu_item"),
            ("ParseJSON", "parse_json"),
        ],
    )
    def test_is_the_type_in_snake_case(self, type_: str, name: str) -> None:
        assert tool_name(type_) == name

    @pytest.mark.parametrize("method", sorted(GENERIC_METHODS))
    def test_is_the_type_where_the_only_method_says_nothing(self, method: str) -> None:
        assert tool_name("RandomMenuItem", [method]) == "random_menu_item"

    @pytest.mark.parametrize("method", ["get_forecast", "search_products"])
    def test_is_the_method_where_it_says_what_it_does(self, method: str) -> None:
        assert tool_name("Weather", [method]) == method

    def test_is_the_method_where_there_are_several(self) -> None:
        assert tool_name("Weather", ["run", "get_alerts"]) == "run"


class TestComponentToolNames:
    def template(self, type_: str, *outputs: str) -> Template:
        given = tuple(OutputTemplate(name=name, type=PortType.TEXT) for name in outputs)
        return Template(type=type_, label="", description="", category="other", outputs=given)

    def test_tell_own_components_by_their_methods_and_others_by_their_type(self) -> None:
        weather, menu = self.template("Weather", "get_forecast"), self.template("RandomMenuItem", "run")
        attached = [
            (Node(id="sky", type="Weather", code="..."), weather),
            (Node(id="menu", type="RandomMenuItem", code="..."), menu),
            (Node(id="now", type="Weather"), weather),
            (Node(id="lost", type="NeverChecked", code="..."), None),
        ]
        assert component_tool_names(attached) == {
            "sky": "get_forecast",
            "menu": "random_menu_item",
            "now": "weather",
            "lost": "never_checked",
        }

    def test_are_ids_where_two_would_be_called_the_same(self) -> None:
        first, second = self.template("Weather", "get_forecast"), self.template("Wind", "get_forecast")
        attached = [(Node(id="sky", type="Weather", code="a"), first), (Node(id="air", type="Wind", code="b"), second)]
        assert component_tool_names(attached) == {"sky": "sky", "air": "air"}


class TestEffect:
    def test_of_a_step_is_that_of_its_tools_too(self) -> None:
        plan = compile_plan(flow(), CATALOG)
        assert {step.id: step.effect for step in plan.steps} == {
            "heard": False,
            "helper": False,
            "boss": True,
            "said": False,
        }


class TestLogic:
    def test_counts_an_allowlist_as_a_set(self) -> None:
        assert logic_checksum(flow("a", "b")) == logic_checksum(flow("b", "a", "b"))
        assert logic_checksum(flow("a")) != logic_checksum(flow("b"))
        assert logic_checksum(flow("a")) != logic_checksum(flow())

    def test_counts_it_only_where_it_is_in_force(self) -> None:
        assert logic_checksum(flow("a", tool_policy="inherit")) == logic_checksum(flow(tool_policy="inherit"))
        assert logic_checksum(flow(tool_policy="inherit")) != logic_checksum(flow())
