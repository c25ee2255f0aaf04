import json
from collections.abc import Iterator
from typing import Any

import pytest
from celery.canvas import Signature
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.catalog.registry import Registry
from headgate.features.runs.engine.distributed.celery_app import make_app
from headgate.features.runs.engine.distributed.compiler import FlowCompiler
from headgate.features.runs.engine.distributed.limits import TaskLimits
from headgate.features.runs.engine.distributed.orders import JOIN, RECOVER, SEGMENT, Queues
from headgate.features.runs.engine.distributed.segments import stretch
from headgate.features.runs.engine.distributed.transport import SteadyTransport
from headgate.features.runs.transitions import RunKey
from headgate.foundation.settings import Settings
from headgate.graph.model import Flow
from headgate.graph.plan import Plan, compile_plan
from tests.support.engine import COMPONENTS, make_chain, make_flow
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, graphs

KEY = RunKey("run", "tenant", "flow", 3)
REGISTRY = Registry(COMPONENTS)
LIMITS = TaskLimits(step_seconds=600, visibility_seconds=21_600)
QUEUES = Queues("headgate")
DIAMOND = ["top.text -> left.parts", "top.text -> right.parts", "left.text -> end.parts", "right.text -> end.parts"]


@pytest.fixture(scope="module")
def compiler() -> FlowCompiler:
    return FlowCompiler(make_app(Settings(_env_file=None)), QUEUES, LIMITS, lanes=8)


def diamond() -> Plan:
    return compile_plan(make_flow(dict.fromkeys(("top", "left", "right", "end"), "Join"), DIAMOND), REGISTRY)


def flat(canvas: Any) -> Iterator[dict[str, Any]]:
    """Every task of a canvas as it goes over the wire: chains, groups and chords taken apart."""
    kind, kwargs = canvas["subtask_type"], canvas["kwargs"]
    if kind in {"chain", "group"}:
        for task in kwargs["tasks"]:
            yield from flat(task)
    elif kind == "chord":
        yield from flat(kwargs["header"])
        yield from flat(kwargs["body"])
    else:
        yield canvas


def wire(canvas: Signature) -> Any:
    return json.loads(json.dumps(canvas))


class TestFlowCompiler:
    def test_makes_one_task_of_a_chain_of_steps(self, compiler: FlowCompiler) -> None:
        canvas = wire(compiler.compile(KEY, compile_plan(make_chain(10), REGISTRY), 1, lane="0-1", started=False))
        assert (canvas["task"], canvas["subtask_type"]) == (SEGMENT, None)
        assert canvas["kwargs"] == {
            "run_id": "run",
            "tenant_id": "tenant",
            "flow_id": "flow",
            "version": 3,
            "head": "s1",
            "dispatch": 1,
        }
        assert canvas["options"]["task_id"] == "run:1:s1"
        assert canvas["options"]["ignore_result"]

    def test_keeps_results_only_where_branches_are_joined(self, compiler: FlowCompiler) -> None:
        canvas = wire(compiler.compile(KEY, diamond(), 1, lane="0-1", started=False))
        assert {task["options"]["ignore_result"] for task in flat(canvas)} == {False}

    def test_has_the_run_looked_after_when_branches_cannot_be_joined(self, compiler: FlowCompiler) -> None:
        tasks = {
            task["kwargs"]["head"]: task
            for task in flat(wire(compiler.compile(KEY, diamond(), 1, lane="0-1", started=False)))
        }
        (errback,) = tasks["end"]["options"]["link_error"]
        assert (errback["task"], errback["immutable"]) == (RECOVER, True)
        assert errback["options"]["queue"] == QUEUES.upkeep
        assert "link_error" not in tasks["left"]["options"]

    def test_lets_runs_that_have_begun_go_first(self, compiler: FlowCompiler) -> None:
        plan = diamond()
        queues = {
            task["kwargs"]["head"]: task["options"]["queue"]
            for task in flat(wire(compiler.compile(KEY, plan, 1, lane="0-1", started=False)))
        }
        assert queues == {
            "top": QUEUES.first("0-1"),
            "left": QUEUES.begun("0-1"),
            "right": QUEUES.begun("0-1"),
            "end": QUEUES.begun("0-1"),
        }
        again = wire(compiler.compile(KEY, plan, 2, lane="0-1", started=True))
        assert {task["options"]["queue"] for task in flat(again)} == {QUEUES.begun("0-1")}

    def test_puts_a_task_between_two_groups(self, compiler: FlowCompiler) -> None:
        plan = compile_plan(
            make_flow(
                dict.fromkeys("abcd", "Join"),
                [f"{one}.text -> {other}.parts" for one in "ab" for other in "cd"],
            ),
            REGISTRY,
        )
        names = [task["task"] for task in flat(wire(compiler.compile(KEY, plan, 1, lane="0-1", started=False)))]
        assert names == [SEGMENT, SEGMENT, JOIN, SEGMENT, SEGMENT]

    def test_sends_one_task_where_only_the_end_is_left(self, compiler: FlowCompiler) -> None:
        plan = diamond()
        canvas = wire(compiler.compile(KEY, plan, 4, {step.id for step in plan.steps}, lane="0-1", started=True))
        assert canvas["options"]["task_id"] == "run:4:end"

    def test_names_the_messages_that_can_be_taken_back(self, compiler: FlowCompiler) -> None:
        assert compiler.task_ids(KEY, diamond(), 2, ["top"]) == ["run:2:left", "run:2:right", "run:2:end"]

    @SOME
    @given(graphs(), st.randoms(use_true_random=False))
    def test_orders_every_step_that_is_left_once(self, compiler: FlowCompiler, flow: Flow, random: Any) -> None:
        plan = compile_plan(flow, PALETTE)
        settled: set[str] = set()
        for step in plan.steps:
            if settled.issuperset(step.parents) and random.random() < 0.4:
                settled.add(step.id)
        left = [step.id for step in plan.steps if step.id not in settled]
        if not left:
            return
        canvas = wire(compiler.compile(KEY, plan, 1, settled, lane="0-1", started=False))
        heads = [task["kwargs"]["head"] for task in flat(canvas) if task["task"] == SEGMENT]
        carried = [step for head in heads for step in stretch(plan, head, LIMITS.longest)]
        assert sorted(carried) == sorted(left)


class TestTaskLimits:
    def test_give_each_step_its_time_and_stay_below_the_visibility_timeout(self) -> None:
        assert LIMITS.soft(1) == 630
        assert LIMITS.soft(3) == 1830
        assert LIMITS.longest == 28
        for steps in range(1, LIMITS.longest + 1):
            assert LIMITS.soft(steps) >= 600 * steps
            assert LIMITS.soft(steps) < LIMITS.hard(steps) < 21_600

    def test_cut_a_step_off_that_may_take_longer_than_the_visibility_timeout(self) -> None:
        tight = TaskLimits(step_seconds=600, visibility_seconds=300)
        assert tight.longest == 1
        assert tight.hard(1) < 300


class TestCeleryApp:
    def test_sets_what_durable_work_needs(self) -> None:
        conf = make_app(Settings(_env_file=None)).conf
        assert (conf.task_acks_late, conf.task_reject_on_worker_lost, conf.worker_prefetch_multiplier) == (
            True,
            True,
            1,
        )
        timeouts = {
            conf.visibility_timeout,
            conf.broker_transport_options["visibility_timeout"],
            conf.result_backend_transport_options["visibility_timeout"],
        }
        assert timeouts == {21_600}
        assert (conf.task_serializer, conf.accept_content) == ("json", ["json"])
        assert conf.broker_url != conf.result_backend
        assert conf.result_expires > 0

    def test_tells_a_channel_of_a_closed_connection_as_a_lost_connection(self) -> None:
        """Anything else ends the worker whose Redis died."""
        app = make_app(Settings(_env_file=None))
        connection = app.connection_for_write()
        channel = SteadyTransport.Channel.__new__(SteadyTransport.Channel)
        channel.connection = connection.transport
        assert isinstance(channel.connection, SteadyTransport)
        connection.release()
        with pytest.raises(SteadyTransport.connection_errors):
            channel._connparams()
