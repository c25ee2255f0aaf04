import pytest

from headgate.features.catalog.registry import Registry
from headgate.features.runs.steps.planned import Plans
from headgate.features.runs.transitions import RunKey
from headgate.graph.issues import FlowInvalid
from headgate.graph.model import Flow, InputSource, Node, StepPolicy
from tests.support.engine import COMPONENTS, make_chain, make_flow


class Versions:
    """Definitions by flow id, and how often each was read."""

    def __init__(self, **flows: Flow) -> None:
        self.flows = flows
        self.reads: list[str] = []

    async def __call__(self, key: RunKey) -> Flow:
        self.reads.append(key.flow_id)
        return self.flows[key.flow_id]


def key(flow_id: str) -> RunKey:
    return RunKey("run", "tenant", flow_id, 1)


class TestPlans:
    async def test_are_made_once_a_version(self) -> None:
        versions = Versions(a=make_chain(2))
        plans = Plans(versions, Registry(COMPONENTS))
        assert await plans.of(key("a")) is await plans.of(RunKey("other", "tenant", "a", 1))
        assert versions.reads == ["a"]

    async def test_forget_the_one_not_used_for_longest(self) -> None:
        versions = Versions(a=make_chain(1), b=make_chain(1), c=make_chain(1))
        plans = Plans(versions, Registry(COMPONENTS), most=2)
        for flow_id in ("a", "b", "a", "c", "a", "b"):
            await plans.of(key(flow_id))
        assert versions.reads == ["a", "b", "c", "b"]

    async def test_refuse_a_version_whose_components_are_gone(self) -> None:
        with pytest.raises(FlowInvalid):
            await Plans(Versions(a=make_flow({"x": "Gone"})), Registry(COMPONENTS)).of(key("a"))


class TestPlannedStep:
    async def test_knows_what_can_be_left_out(self) -> None:
        policy = StepPolicy(input_source=InputSource.FLOW_INPUT)
        flow = make_flow(
            {
                "s": "Start",
                "plain": "Echo",
                "set": "Echo",
                "own": Node(id="own", type="Echo", policy=policy),
                "many": "Join",
            },
            ["s.text -> plain.input", "s.text -> set.input", "s.text -> own.input", "s.text -> many.parts"],
            set={"input": "value", "mark": "{{s.output}}"},
        )
        steps = (await Plans(Versions(a=flow), Registry(COMPONENTS)).of(key("a"))).steps
        inlets = {name: steps[name].inlets[0] for name in ("plain", "set", "own", "many")}
        assert [inlet.indispensable for inlet in inlets.values()] == [True, False, False, False]
        assert [inlet.overridden for inlet in inlets.values()] == [False, False, True, False]
        assert [steps[name].refers for name in ("plain", "set")] == [False, True]
        assert [steps[name].plain for name in ("plain", "own")] == [True, False]
