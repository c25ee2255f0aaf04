"""What of a flow a model is told: never a secret, whichever component it is in and whichever tool is asked."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headgate.components import BUILTINS
from headgate.features.access.principal import LOCAL
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import component_index
from headgate.foundation.secret_values import REDACTED
from headgate.graph.model import Flow, HttpCall, Node, StepPolicy
from headgate.graph.secret_reference import SecretReference
from headgate.graph.spec import print_spec
from headgate.toolkit.registry import TOOLS
from headgate.toolkit.shown import RedactedValue, refuse_redacted, secret_fields, shown_flow, with_secrets_of
from headgate.toolkit.workbench import Workbench
from tests.support.properties import cases

REGISTRY = Registry(BUILTINS)
OVERLAY = Overlay(REGISTRY, component_index(REGISTRY))
KEY = "sk-abcdefghijklmnop1234"
BY_NAME = {tool.name: tool for tool in TOOLS}
HIDING = [
    (template.type, name)
    for type_ in REGISTRY.types()
    if (template := REGISTRY.template(type_)) is not None
    for name in sorted(secret_fields(REGISTRY, type_))
]
SECRETS = st.text(st.sampled_from("abcXYZ019+/=-_. :'\"\\åß"), min_size=12, max_size=60).map(lambda one: f"q{one}z")
OTHER = "name: New\nnodes:\n  one: ChatInput\n  out: ChatOutput\nedges:\n  one.text -> out.input"


def holding(type_: str, field: str, secret: str) -> Node:
    """A node with a secret wherever one may stand."""
    value: Any = {"Authorization": secret, "X-Plain": secret} if field == "headers" else secret
    call = HttpCall(url=f"https://me:{'p' * 8}word@example.org/", headers={"X-Key": secret})
    return Node(id="one", type=type_, params={field: value}, policy=StepPolicy(input_config=call))


def asked(node: Node) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of tools that answer with something of the node."""
    field = next(iter(node.params))
    yield "get_field_value", {"node_id": "one"}
    yield "get_field_value", {"node_id": "one", "field": field}
    yield "describe_flow_io", {}
    yield "propose_field_edit", {"node_id": "one", "field": field, "new_value": "OTHER"}
    yield "configure_component", {"node_id": "one", "params": {field: node.params[field]}}
    yield "configure_component", {"node_id": "one", "params": {field: 17}}
    yield "configure_component", {"node_id": "one", "params": {field: None}}
    yield "undo", {}
    yield "add_component", {"component_type": node.type, "node_id": "two", "params": node.params}
    yield "rename_component", {"node_id": "one", "new_id": "three"}
    yield "remove_component", {"node_id": "three"}
    yield "undo", {}
    yield (
        "build_flow",
        {"spec": OTHER},
    )
    yield "undo", {}


class TestSecrets:
    def test_are_in_the_built_in_components(self) -> None:
        assert {("WebhookOut", "secret"), ("WebhookOut", "headers"), ("HTTPRequest", "headers")} <= set(HIDING)

    @pytest.mark.parametrize(("type_", "field"), HIDING)
    @given(secret=SECRETS)
    @example(secret="whsec_c2VjcmV0LXRoYXQtbm9ib2R5LXNlZXM=")
    @example(secret="Bearer abcdef0123456789")
    @cases(40)
    async def test_are_in_nothing_that_a_model_is_told(self, type_: str, field: str, secret: str) -> None:
        node = holding(type_, field, secret)
        flow = Flow(nodes=(node,))
        told = [print_spec(shown_flow(flow, OVERLAY))]
        bench = Workbench(principal=LOCAL, space_id=LOCAL.space_id, flow=flow, registry=OVERLAY)
        for name, arguments in asked(node):
            told.append(orjson.dumps(await BY_NAME[name].call(bench, arguments)).decode())
        told += [str(action.get("diff")) for action in bench.actions]
        for text in told:
            assert secret not in text
            assert json.dumps(secret, ensure_ascii=False)[1:-1] not in text
            assert "ppppword" not in text

    async def test_of_a_node_that_becomes_another_are_not_in_the_difference(self) -> None:
        flow = Flow(
            nodes=(Node(id="one", type="WebhookOut", params={"url": "https://a.example", "secret": "hidden-one"}),)
        )
        bench = Workbench(principal=LOCAL, space_id=LOCAL.space_id, flow=flow, registry=OVERLAY)
        assert (await BY_NAME["build_flow"].call(bench, {"spec": OTHER}))["ok"]
        assert "params.secret" in str(bench.actions[-1]["diff"])
        assert "hidden-one" not in str(bench.actions[-1]["diff"])


class TestShownFlow:
    def test_hides_what_an_object_calls_a_key_and_what_looks_like_one(self) -> None:
        params: Any = {"query": {"api_key": "plainwords", "page": "2"}, "list": [KEY, 1]}
        shown = shown_flow(Flow(nodes=(Node(id="a", type="HTTPRequest", params=params),)), OVERLAY).nodes[0].params
        assert shown == {"query": {"api_key": REDACTED, "page": "2"}, "list": [REDACTED, 1]}

    def test_shows_which_secret_is_referred_to(self) -> None:
        token: Any = {"secret": "CRM_TOKEN", "scheme": "Bearer"}
        params: Any = {"headers": {"Authorization": token, "X-Team": "plain"}, "secret": {"secret": "HOOK"}}
        call = HttpCall(url="https://a.example", headers={"Authorization": SecretReference("CRM_TOKEN"), "X": "plain"})
        node = Node(id="a", type="WebhookOut", params=params, policy=StepPolicy(output_config=call))
        shown = shown_flow(Flow(nodes=(node,)), OVERLAY).nodes[0]
        assert shown.params == {**params, "headers": {"Authorization": token, "X-Team": REDACTED}}
        assert shown.policy.output_config is not None
        assert shown.policy.output_config.headers == {"Authorization": SecretReference("CRM_TOKEN"), "X": REDACTED}

    def test_hides_passwords_in_addresses(self) -> None:
        node = Node(id="a", type="URL", params={"url": "https://anna:hush-hush@example.org/x"})
        shown = shown_flow(Flow(nodes=(node,)), OVERLAY)
        assert shown.nodes[0].params == {"url": f"https://{REDACTED}@example.org/x"}

    def test_of_a_component_nobody_knows_goes_by_the_names(self) -> None:
        node = Node(id="a", type="Gone", params={"api_key": "plain", "text": "kept"})
        assert shown_flow(Flow(nodes=(node,)), OVERLAY).nodes[0].params == {"api_key": REDACTED, "text": "kept"}

    def test_leaves_everything_else(self) -> None:
        node = Node(id="a", type="AIStep", params={"prompt": "Say {{x.y}}", "model": "openai/gpt-5-mini"}, label="A")
        flow = Flow(name="F", nodes=(node,))
        assert shown_flow(flow, OVERLAY) == flow


class TestWithSecretsOf:
    NODE = Node(id="a", type="WebhookOut", params={"url": "https://a.example", "headers": {"X-Team": "hidden-one"}})

    def test_puts_them_back_where_nothing_else_changed(self) -> None:
        flow = Flow(nodes=(self.NODE,))
        assert with_secrets_of(flow, shown_flow(flow, OVERLAY), OVERLAY) == flow

    @pytest.mark.parametrize(
        "change", [{"id": "b"}, {"params": {"url": "https://thief.example", "headers": {"X-Team": REDACTED}}}]
    )
    def test_gives_them_to_no_other_node_and_no_other_address(self, change: dict[str, Any]) -> None:
        flow = Flow(nodes=(self.NODE,))
        written = shown_flow(flow, OVERLAY).nodes[0].model_copy(update=change)
        assert "hidden-one" not in str(with_secrets_of(flow, Flow(nodes=(written,)), OVERLAY))

    async def test_let_a_model_write_a_flow_again_that_it_was_shown(self) -> None:
        ask = Node(id="ask", type="ChatInput")
        nodes = (
            "nodes:\n  ask: ChatInput\n  a: WebhookOut\n    url: https://a.example\n    headers:\n      X-Team: {}\n"
        )
        spec = nodes + "edges:\n  ask.text -> a.payload"
        bench = Workbench(principal=LOCAL, space_id=LOCAL.space_id, flow=Flow(nodes=(ask, self.NODE)), registry=OVERLAY)
        assert (await BY_NAME["build_flow"].call(bench, {"spec": spec.format(REDACTED)}))["ok"]
        assert [node.params.get("headers") for node in bench.flow.nodes] == [None, {"X-Team": "hidden-one"}]
        other = replace(bench, flow=Flow())
        assert (await BY_NAME["build_flow"].call(other, {"spec": spec.format(REDACTED)}))["code"] == "redacted_value"


class TestRefuseRedacted:
    @pytest.mark.parametrize("value", ["[redacted]", {"a": ["Bearer [redacted]"]}, {"spec": "x: [redacted]"}])
    def test_keeps_the_mark_from_taking_a_secrets_place(self, value: object) -> None:
        with pytest.raises(RedactedValue):
            refuse_redacted(value)

    def test_lets_everything_else_through(self) -> None:
        refuse_redacted({"a": ["text", 1, None, {"redacted": True}]})
