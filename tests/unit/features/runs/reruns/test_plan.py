from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headgate.features.catalog.registry import Registry
from headgate.features.runs.reruns.plan import Decision, Why, changed_upstream, decide_steps
from headgate.features.runs.states import StepStatus
from headgate.features.runs.steps.planned import PlannedFlow, Plans
from headgate.features.runs.transitions import RunKey
from headgate.graph.model import Flow, InputSource, Node, Position, StepPolicy
from tests.support.engine import COMPONENTS, make_edge, make_flow

EDGES = ("a.text -> b.input", "b.text -> c.input", "b.text -> d.input", "c.text -> e.parts", "d.text -> e.parts")
NODES: Mapping[str, str | Node] = {"a": "Start", "b": "Echo", "c": "Echo", "d": "Echo", "e": "Join"}
DONE = dict.fromkeys(NODES, StepStatus.COMPLETED)


async def plan(flow: Flow) -> PlannedFlow:
    async def definition(key: RunKey) -> Flow:
        return flow

    return await Plans(definition, Registry(COMPONENTS)).of(RunKey("r", "t", "f", 1))


async def diamond(
    nodes: Mapping[str, str | Node] = NODES, edges: tuple[str, ...] = EDGES, **params: Any
) -> PlannedFlow:
    return await plan(make_flow(nodes, edges, **params))


def whys(decisions: tuple[Decision, ...]) -> dict[str, str]:
    return {one.step_id: one.why.value for one in decisions}


class TestDecideSteps:
    async def test_takes_over_everything_that_is_the_same(self) -> None:
        found = decide_steps(await diamond(), await diamond(), DONE)
        assert all(one.reuse for one in found)

    async def test_takes_no_label_or_position_for_a_change(self) -> None:
        moved = Node(id="b", type="Echo", label="New name", position=Position(x=9, y=9))
        found = decide_steps(await diamond(), await diamond({**NODES, "b": moved}), DONE)
        assert all(one.reuse for one in found)

    async def test_does_a_changed_step_again_with_all_behind_it_only(self) -> None:
        found = decide_steps(await diamond(), await diamond(c={"mark": "!"}), DONE)
        assert whys(found) == {"a": "unchanged", "b": "unchanged", "c": "changed", "d": "unchanged", "e": "follows"}
        assert found[-1].because == "c"

    async def test_does_the_chosen_step_again_with_all_behind_it_only(self) -> None:
        found = decide_steps(await diamond(), await diamond(), DONE, from_step="d")
        assert whys(found) == {"a": "unchanged", "b": "unchanged", "c": "unchanged", "d": "chosen", "e": "follows"}

    async def test_does_what_reads_another_input_again(self) -> None:
        found = decide_steps(await diamond(), await diamond(), DONE, reads_input={"c"})
        assert whys(found) == {"a": "unchanged", "b": "unchanged", "c": "input", "d": "unchanged", "e": "follows"}

    async def test_does_what_has_no_result_again(self) -> None:
        past = DONE | {"d": StepStatus.FAILED, "e": StepStatus.PENDING}
        found = decide_steps(await diamond(), await diamond(), past)
        assert [one.step_id for one in found if not one.reuse] == ["d", "e"]

    async def test_takes_over_that_a_step_was_skipped(self) -> None:
        past = DONE | {"c": StepStatus.SKIPPED}
        assert all(one.reuse for one in decide_steps(await diamond(), await diamond(), past))

    async def test_sees_an_edge_that_leads_elsewhere(self) -> None:
        edges = tuple(edge.replace("b.text -> d", "a.text -> d") for edge in EDGES)
        found = whys(decide_steps(await diamond(), await diamond(edges=edges), DONE))
        assert (found["d"], found["e"], found["c"]) == ("changed", "follows", "unchanged")

    async def test_sees_a_new_step_in_between(self) -> None:
        nodes = {"a": "Start", "n": "Echo", "b": "Echo", "c": "Echo", "d": "Echo", "e": "Join"}
        edges = ("a.text -> n.input", "n.text -> b.input", *EDGES[1:])
        found = whys(decide_steps(await diamond(), await diamond(nodes, edges), DONE))
        assert (found["a"], found["n"], found["b"]) == ("unchanged", "new", "changed")

    async def test_does_a_step_again_that_may_read_others_by_numbers_which_changed(self) -> None:
        policy = StepPolicy(input_source=InputSource.ALL_PREVIOUS_STEPS)
        reader = {"e": Node(id="e", type="Echo", policy=policy)}
        edges = (*EDGES[:3], "c.text -> e.input")
        source = await diamond({"a": "Start", "b": "Echo", "c": "Echo", "d": "Echo", **reader}, edges)
        target = await diamond({"z": "Start", "a": "Start", "b": "Echo", "c": "Echo", "d": "Echo", **reader}, edges)
        found = whys(decide_steps(source, target, DONE))
        assert (found["c"], found["e"], found["z"]) == ("unchanged", "renumbered", "new")


class TestChangedUpstream:
    async def test_is_nothing_when_only_the_failed_step_or_what_follows_changed(self) -> None:
        source = await diamond()
        assert changed_upstream(source, await diamond(), "d") is None
        assert changed_upstream(source, await diamond(d={"mark": "!"}, e={}), "d") is None
        assert changed_upstream(source, await diamond(c={"mark": "!"}), "d") is None

    async def test_names_the_first_step_before_it_that_changed(self) -> None:
        assert changed_upstream(await diamond(), await diamond(b={"mark": "!"}), "d") == "b"

    async def test_names_a_step_that_came_or_went_before_it(self) -> None:
        source = await diamond()
        without = tuple(edge for edge in EDGES if not edge.startswith(("a.", "b.text -> d")))
        assert changed_upstream(source, await diamond(edges=(*without, "a.text -> d.input")), "d") == "b"
        nodes = {**NODES, "n": "Echo"}
        more = (*EDGES[:2], "a.text -> n.input", "n.text -> d.input", *EDGES[3:])
        assert changed_upstream(source, await diamond(nodes, more), "d") == "n"

    async def test_is_the_failed_step_itself_when_it_is_gone(self) -> None:
        flow = make_flow({"a": "Start", "b": "Echo"}, EDGES[:1])
        assert changed_upstream(await diamond(), await plan(flow), "d") == "d"


class TestReadsInput:
    async def test_is_seen_in_params_and_policy_and_attachments_only_where_it_is_said(self) -> None:
        policy = StepPolicy(input_source=InputSource.FLOW_INPUT)
        flow = Flow(
            name="Test",
            nodes=(
                Node(id="a", type="Echo", params={"mark": "{{flow_input.text}}", "input": "x"}),
                Node(id="b", type="Echo", policy=policy),
                Node(id="c", type="Echo", policy=StepPolicy(input_bindings={"input": "{{flow_input.text}}"})),
                Node(id="d", type="Echo", params={"mark": "{{a.text}}"}),
            ),
            edges=tuple(make_edge(f"{left}.text -> {right}.input") for left, right in ("ab", "bc", "cd")),
        )
        found = await plan(flow)
        assert {step.id: step.reads_input for step in found.steps.values()} == {
            "a": True,
            "b": True,
            "c": True,
            "d": False,
        }


def test_reasons_say_whether_a_step_is_taken_over() -> None:
    reused = [why for why in Why if replace(Decision("x", Why.NEW), why=why).reuse]
    assert reused == [Why.UNCHANGED]
