"""What follows when a step is settled, checked on any graph against a slow and simple reading of the rule."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.features.catalog.registry import Registry
from headgate.features.runs.steps.ledger import Following, Ledger
from headgate.features.runs.steps.planned import PlannedFlow, Plans
from headgate.features.runs.transitions import RunKey
from headgate.graph.model import Flow
from tests.support.engine import COMPONENTS, make_flow
from tests.support.properties import cases

KEY = RunKey("r", "t", "f", 1)


async def planned(flow: Flow) -> PlannedFlow:
    async def definition(key: RunKey) -> Flow:
        return flow

    return await Plans(definition, Registry(COMPONENTS)).of(KEY)


FORKED = make_flow(
    {"start": "Start", "fork": "Fork", "a": "Echo", "b": "Echo", "end": "Join"},
    [
        "start.text -> fork.input",
        "fork.left -> a.input",
        "fork.right -> b.input",
        "a.text -> end.parts",
        "b.text -> end.parts",
    ],
)


class TestSettle:
    async def test_offers_the_step_that_waited_for_nothing_else(self) -> None:
        ledger = Ledger(await planned(FORKED))
        following = ledger.settle("start", {"text": "x"})
        assert (following.settles, following.skip, following.offered) == ({"fork": 1}, [], ["fork"])

    async def test_skips_what_hangs_on_an_output_that_was_not_taken(self) -> None:
        ledger = Ledger(await planned(FORKED))
        ledger.settle("start", {"text": "x"})
        following = ledger.settle("fork", {"left": "x"})
        assert (following.skip, following.offered) == (["b"], ["a"])
        assert following.settles == {"a": 1, "end": 1}

    async def test_offers_a_join_once_its_last_live_branch_is_there(self) -> None:
        ledger = Ledger(await planned(FORKED))
        ledger.settle("start", {"text": "x"})
        ledger.settle("fork", {"left": "x"})
        assert ledger.settle("a", {"text": "x"}).offered == ["end"]

    async def test_skips_a_join_when_every_branch_is_dead(self) -> None:
        ledger = Ledger(await planned(FORKED))
        ledger.settle("start", {"text": "x"})
        following = ledger.settle("fork", {})
        assert sorted(following.skip) == ["a", "b", "end"]
        assert following.settles == {}

    async def test_offers_a_step_once_that_is_reached_over_a_skipped_one_too(self) -> None:
        flow = make_flow(
            {"start": "Start", "fork": "Fork", "no": "Echo", "end": "Join"},
            [
                "start.text -> fork.input",
                "fork.left -> no.input",
                "start.text -> end.parts",
                "fork.left -> end.parts",
                "no.text -> end.parts",
            ],
        )
        ledger = Ledger(await planned(flow))
        ledger.settle("start", {"text": "x"})
        following = ledger.settle("fork", {})
        assert (following.skip, following.offered, following.settles) == (["no"], ["end"], {"end": 2})


class TestDecide:
    async def test_offers_roots(self) -> None:
        assert Ledger(await planned(FORKED)).decide(["start"]).offered == ["start"]

    async def test_skips_a_step_that_became_ready_through_others(self) -> None:
        ledger = Ledger(await planned(FORKED))
        ledger.results = {"start": {"text": "x"}, "fork": {}}
        ledger.skipped = {"a"}
        assert ledger.decide(["b"]).skip == ["b", "end"]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Flow, dict[str, set[str]], list[int]]:
    """Forks and joins in any order, what each fork takes, and an order to finish steps in."""
    size = draw(st.integers(2, 8))
    nodes: dict[str, str] = {"n0": "Start"}
    outputs = {"n0": ["text"]}
    edges: list[str] = []
    for number in range(1, size):
        name = f"n{number}"
        kind = draw(st.sampled_from(["Fork", "Echo", "Join"]))
        nodes[name] = kind
        outputs[name] = ["left", "right"] if kind == "Fork" else ["text"]
        earlier = draw(
            st.lists(st.sampled_from(sorted(outputs.keys() - {name})), min_size=1, max_size=1 if kind != "Join" else 3)
        )
        into = "parts" if kind == "Join" else "input"
        for source in earlier:
            output = draw(st.sampled_from(outputs[source]))
            edge = f"{source}.{output} -> {name}.{into}"
            if edge not in edges:
                edges.append(edge)
    taken = {
        name: draw(st.sets(st.sampled_from(names)) if nodes[name] == "Fork" else st.just(set(names)))
        for name, names in outputs.items()
    }
    return make_flow(nodes, edges), taken, draw(st.lists(st.integers(0, 100), min_size=size, max_size=size))


def expected_skips(flow: Flow, taken: Mapping[str, set[str]], order: list[str]) -> set[str]:
    """The rule, read from the front: no live edge, or a required field (here: `input`) without one."""
    skipped: set[str] = set()
    for name in order:
        incoming = flow.incoming(name)
        live = [edge for edge in incoming if edge.source not in skipped and edge.output in taken[edge.source]]
        if incoming and not live:
            skipped.add(name)
    return skipped


class TestAnyGraph:
    @cases(150)
    @given(graphs())
    async def test_every_step_is_settled_once_and_skips_are_the_same_in_any_order(
        self, graph: tuple[Flow, dict[str, set[str]], list[int]]
    ) -> None:
        flow, taken, choices = graph
        plan = await planned(flow)
        ledger = Ledger(plan)
        waiting = {seed.step_id: seed.waiting for seed in plan.seeds}
        ready: list[str] = []
        done: list[str] = []

        def take_in(following: Following) -> None:
            for step in following.skip:
                waiting[step] = 0
                done.append(step)
            for step, parents in following.settles.items():
                waiting[step] -= parents
            assert all(waiting[step] == 0 for step in following.offered)
            ready.extend(following.offered)

        take_in(ledger.decide(plan.roots))
        for choice in choices:
            if not ready:
                break
            step = ready.pop(choice % len(ready))
            done.append(step)
            produced: dict[str, Any] = {name: "x" for name, _ in plan.steps[step].outputs if name in taken[step]}
            take_in(ledger.settle(step, produced))
        assert sorted(done) == sorted(plan.steps)
        assert set(waiting.values()) == {0}
        assert ledger.skipped == expected_skips(flow, taken, [step.id for step in plan.plan.steps])
