from typing import Any

import pytest

from headgate.features.catalog.registry import Registry
from headgate.graph.execution_hash import step_logic_hash
from headgate.graph.model import Flow, FlowSettings, RetryPolicy, StepPolicy
from headgate.graph.plan import compile_plan
from headgate.graph.spec import parse_spec
from headgate.graph.spec_print import print_spec
from headgate.graph.validate import check_runnable
from tests.support.engine import COMPONENTS, make_flow

REGISTRY = Registry(COMPONENTS)


def flow_of(*edges: str, **policy: Any) -> Flow:
    """`one -> two -> end`, with a policy of the second; `end` takes any number of texts."""
    flow = make_flow(
        {"one": "Start", "two": "Echo", "end": "Join"}, ["one.text -> two.input", "two.text -> end.parts", *edges]
    )
    nodes = [
        node.model_copy(update={"policy": StepPolicy(**policy)}) if node.id == "two" else node for node in flow.nodes
    ]
    return flow.model_copy(update={"nodes": tuple(nodes)})


def fields(flow: Flow) -> list[str]:
    return [issue.field for issue in check_runnable(flow, REGISTRY)]


class TestChecks:
    def test_the_error_edge_needs_a_connection_and_is_an_output_only_then(self) -> None:
        assert fields(flow_of(on_error="error_edge")) == ["on_error"]
        assert not fields(flow_of("two.error -> end.parts", on_error="error_edge"))
        assert fields(flow_of("two.error -> end.parts"))

    def test_a_default_value_is_required_where_it_is_used(self) -> None:
        assert fields(flow_of(on_error="default_value")) == ["default_value"]
        assert not fields(flow_of(on_error="default_value", default_value="none"))

    def test_only_what_has_an_input_and_an_output_can_be_passed_through(self) -> None:
        flow = make_flow({"one": "Start", "end": "Join"}, ["one.text -> end.parts"])
        first = flow.nodes[0].model_copy(update={"policy": StepPolicy(disabled="pass_through")})
        assert fields(flow.model_copy(update={"nodes": (first, *flow.nodes[1:])})) == ["disabled"]
        assert not fields(flow_of(disabled="pass_through"))
        assert not fields(flow_of(disabled="skip"))

    def test_a_file_has_no_default(self) -> None:
        flow = make_flow({"one": "Start", "two": "Keep"}, ["one.text -> two.input"])
        kept = flow.nodes[1].model_copy(update={"policy": StepPolicy(on_error="error_data")})
        assert fields(flow.model_copy(update={"nodes": (flow.nodes[0], kept)})) == ["on_error"]


class TestText:
    def test_reads_back_what_it_prints(self) -> None:
        retry = RetryPolicy(max_attempts=4, backoff="fixed", codes=("step_timeout", "*"))
        flow = flow_of(
            "two.error -> end.parts", retry=retry, timeout_seconds=5, total_timeout_seconds=60, on_error="error_edge"
        ).model_copy(update={"settings": FlowSettings(retry=RetryPolicy(max_attempts=2), step_timeout_seconds=9)})
        text = print_spec(flow)
        assert [node.policy for node in parse_spec(text).nodes] == [node.policy for node in flow.nodes]
        assert parse_spec(text).settings == flow.settings
        assert '{"max_attempts": 4, "backoff": "fixed", "codes": ["step_timeout", "*"]}' in text

    @pytest.mark.parametrize("retry", [{"max_attempts": 0}, {"max_attempts": 2, "codes": ["Not A Code"]}, {}])
    def test_refuses_retries_that_make_no_sense(self, retry: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"retry"):
            StepPolicy.model_validate({"retry": retry})


class TestPlan:
    def test_has_the_output_error_only_where_it_is_connected(self) -> None:
        plan = compile_plan(flow_of("two.error -> end.parts", on_error="error_edge"), REGISTRY)
        assert plan.step("two").outputs == ("text", "error")
        assert compile_plan(flow_of(), REGISTRY).step("two").outputs == ("text",)

    def test_retries_and_limits_do_not_change_the_logic_of_a_step(self) -> None:
        plain = compile_plan(flow_of(), REGISTRY).step("two")
        retried = compile_plan(flow_of(retry=RetryPolicy(max_attempts=4), timeout_seconds=5), REGISTRY).step("two")
        other = compile_plan(flow_of(on_error="default_value", default_value="x"), REGISTRY).step("two")
        assert step_logic_hash(plain) == step_logic_hash(retried)
        assert step_logic_hash(plain) != step_logic_hash(other)
