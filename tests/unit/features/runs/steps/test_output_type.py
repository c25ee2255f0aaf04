"""Outputs of a step whose policy wants JSON."""

import pytest

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.features.runs.errors import ContractBroken
from headgate.features.runs.steps.planned import PlannedStep, prepare_step
from headgate.features.runs.steps.policies import shape_output
from headgate.graph.plan import compile_plan
from headgate.graph.spec import read_spec

REGISTRY = Registry(BUILTINS)
SPEC = """name: Ask
nodes:
  ask: AIStep
    prompt: Answer.
    model: openai/gpt-5-mini
    policy:
      output_type: json
  pick: SelectData
    expression: total
edges:
  ask.data -> pick.data
"""
FENCED = 'Here it is:\n```json\n{"total": 3}\n```'


def step(policy: str = "") -> PlannedStep:
    spec = SPEC.replace("output_type: json", f"output_type: json\n      {policy}") if policy else SPEC
    plan = compile_plan(read_spec(spec, REGISTRY), REGISTRY)
    return prepare_step(plan, plan.steps[0], REGISTRY)


class TestJson:
    def test_is_cleaned_in_every_output_that_gives_the_answer(self) -> None:
        shaped = shape_output(step(), {"output": FENCED, "data": FENCED})
        assert shaped == {"output": '{"total": 3}', "data": {"total": 3}}

    def test_leaves_other_data_as_it_is(self) -> None:
        shaped = shape_output(step(), {"output": FENCED, "data": "something else"})
        assert shaped["data"] == "something else"


class TestContract:
    def test_is_checked_on_every_output_that_the_check_promises(self) -> None:
        promised = step(policy='output_contract: {"type": "object", "required": ["total"]}')
        assert shape_output(promised, {"output": FENCED, "data": {"total": 3}})["data"] == {"total": 3}
        with pytest.raises(
            ContractBroken, match=("The output 'data' of step 'ask' violates its contract: \\$\\.total: is")
        ):
            shape_output(promised, {"output": FENCED, "data": {"sum": 3}})
