"""Flows that one attempt at a step runs."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import orjson

from headgate.features.runs.errors import SubflowFailed
from headgate.features.runs.patience import patiently
from headgate.features.runs.ports.storage import RunFiles
from headgate.features.runs.quotas.bounds import Bound
from headgate.features.runs.states import RunStatus
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.guard import StepGuard
from headgate.features.runs.steps.outside import OutsideContent
from headgate.features.runs.steps.payloads import outside_of, unpack
from headgate.features.runs.steps.planned import PlannedFlow
from headgate.features.runs.steps.waits import Suspended
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import ChildRun, ChildStates, Parent, RunKey, clock
from headgate.features.runs.waiting import WaitReason
from headgate.foundation.errors import Unavailable
from headgate.graph.names import clipped
from headgate.graph.ports import PortType
from headgate.sdk.coerce import data_of, decode, text_of
from headgate.sdk.flows import FlowInput, FlowResult, FlowTarget, NextInput

READ_AT_ONCE = 200
"""Runs whose results are read in one query."""
AGAIN = 1_000_000
"""Microseconds after which a step starts a run that could not be stored."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A flow that a step may start: everything that is the same for each of its runs."""

    key: RunKey
    """Key of its runs, without an id."""
    planned: PlannedFlow
    bounds: tuple[Bound, ...]


class FlowStarter(Protocol):
    """Starts runs for steps: the engine."""

    @property
    def store(self) -> RunStore:
        """The rows of runs."""

    async def prepare(self, run: ActiveRun, target: FlowTarget) -> Prepared:
        """Check that a step of a run may start a flow now. Raises `SubflowRefused`, `FlowInvalid`, `QuotaExceeded`."""

    async def start(
        self, run: ActiveRun, parent: Parent, prepared: Prepared, inputs: FlowInput, outside: tuple[str, ...]
    ) -> None:
        """Start a run of a step. Raises `InputInvalid`, `ParentGone`, `QuotaExceeded`, `Unavailable`, `Suspended`."""

    async def resume(self, run: ActiveRun, key: RunKey) -> bool:
        """Resume a failed run of a step; paused where the run of the step is. Returns False when it cannot be."""

    async def wake(self, run_id: str) -> None:
        """Wake what is due in a run now, before the next look for due steps."""


class StepFlows:
    """Starts flows for one attempt, and returns the results of those that earlier attempts started.

    Args:
        starter: Starts runs.
        run: The run of the step.
        step_id: The step.
        files: Stores long results.
        outside: The untrusted content that reaches the step.
        guard: Checks classifications; None when they are disabled.
        scope: Identifies the call of a tool that is in progress; empty outside of one.
    """

    def __init__(
        self,
        starter: FlowStarter,
        run: ActiveRun,
        step_id: str,
        files: RunFiles,
        *,
        outside: OutsideContent,
        guard: StepGuard | None,
        scope: Callable[[], str],
    ) -> None:
        self._starter = starter
        self._run = run
        self._step_id = step_id
        self._files = files
        self._outside = outside
        self._guard = guard
        self._scope = scope
        self._answered = run.woken.get(step_id) == WaitReason.RUN
        """Whether this attempt begins because a run ended; another one begins a run that failed again."""

    async def run(self, target: FlowTarget, inputs: FlowInput, *, iteration: int = 0) -> FlowResult:
        """Return the result of a flow. Raises `Suspended` while it runs, `SubflowFailed`."""
        number = _in_scope(self._scope(), iteration)
        children = await self._children(number, number + 1)
        if not children:
            await self._start(await self._prepared(target), number, inputs)
            raise Suspended(WaitReason.RUN, None)
        child = children[0]
        if child.status is RunStatus.FAILED and not self._answered and await self._starter.resume(self._run, child.key):
            raise Suspended(WaitReason.RUN, None)
        if not child.status.over:
            raise Suspended(WaitReason.RUN, None)
        if child.status is not RunStatus.COMPLETED:
            raise _failure(child)
        return await self._result(child)

    async def started(self) -> int:
        """Return how many runs the step has started."""
        return (await self._states()).started

    async def ended(self, number: int) -> FlowResult:
        """Return the result of a run that has ended; with `error` of one that failed."""
        (child,) = await self._children(number, number + 1)
        return await self._outcome(child)

    async def run_each(
        self, target: FlowTarget, inputs: NextInput, *, parallel: int, stop_on_error: bool, total: int | None = None
    ) -> Sequence[FlowResult]:
        """Return the results of a flow for each input. Raises `Suspended` while they run, `SubflowFailed`."""
        states = await self._states()
        ended = [number for number, (_, status) in states.open.items() if status.over]
        active = len(states.open) - len(ended)
        if stop_on_error and ended:
            active += await self._again(ended)
        following = range(states.started, states.started + max(0, parallel - active))
        if await self._start_each(target, following, inputs) or active:
            raise Suspended(WaitReason.RUN, None, expected_runs=total)
        results: list[FlowResult] = []
        for first in range(0, states.started, READ_AT_ONCE):
            children = await self._children(first, first + READ_AT_ONCE)
            results += [await self._outcome(child) for child in children]
        return results

    async def _start_each(self, target: FlowTarget, numbers: Sequence[int], inputs: NextInput) -> bool:
        """Start the runs with these numbers, as far as there are inputs. Returns whether one was started."""
        prepared: Prepared | None = None
        for number in numbers:
            flow_input = await inputs(number)
            if flow_input is None:
                break
            prepared = prepared or await self._prepared(target)
            await self._start(prepared, number, flow_input)
        return prepared is not None

    async def _again(self, ended: Sequence[int]) -> int:
        """Resume runs that failed before this step was repeated. Raises `SubflowFailed` for one that cannot be."""
        for number in ended:
            (child,) = await self._children(number, number + 1)
            if self._answered or not await self._starter.resume(self._run, child.key):
                raise _failure(child)
        return len(ended)

    async def _children(self, first: int, stop: int) -> Sequence[ChildRun]:
        store, key = self._starter.store, self._run.key
        return await patiently(lambda: store.children(key, self._step_id, first, stop))

    async def _states(self) -> ChildStates:
        store, key = self._starter.store, self._run.key
        return await patiently(lambda: store.child_states(key, self._step_id))

    async def _prepared(self, target: FlowTarget) -> Prepared:
        prepared = await patiently(lambda: self._starter.prepare(self._run, target))
        if self._guard is not None:
            self._guard.check_flow(prepared.planned.flow)
        return prepared

    async def _start(self, prepared: Prepared, number: int, inputs: FlowInput) -> None:
        for file in inputs.files:  # a flow that reads a file may read what this flow may
            await self._files.read_in(self._run.key.tenant_id, self._run.key.flow_id, file.id)
        claim = self._run.working[self._step_id]
        parent = Parent(self._run.key.run_id, self._step_id, number, claim.attempt)
        try:
            await self._starter.start(self._run, parent, prepared, inputs, self._outside.marks)
        except Unavailable:  # it may be stored: the next attempt reads that
            raise Suspended(WaitReason.RUN, clock() + AGAIN) from None

    async def _outcome(self, child: ChildRun) -> FlowResult:
        if child.status is RunStatus.COMPLETED:
            return await self._result(child)
        failure = _failure(child)
        return FlowResult(
            child.key.run_id, "", None, error=failure.detail, code=failure.code, step=child.failed_step or ""
        )

    async def _result(self, child: ChildRun) -> FlowResult:
        """Return the result of a completed run; its classification and its untrusted content reach this step."""
        stored = orjson.loads(child.result) if child.result else {}
        self._outside.add(*outside_of(stored))
        if self._guard is not None and child.classification is not None:
            self._guard.receive(child.classification)
        if child.output is None:
            return FlowResult(child.key.run_id, stored.get("text") or "", None)
        payload = orjson.loads(child.output)
        main = payload["main"]
        value = decode(
            (await unpack(child.output, child.key.tenant_id, self._files))[main],
            PortType(payload["outputs"][main]["type"]),
        )
        return FlowResult(child.key.run_id, text_of(value), data_of(value))


def _failure(child: ChildRun) -> SubflowFailed:
    """Return why a run did not complete, with its flow and the step that failed."""
    flow, step = child.flow_name or "", child.failed_step or ""
    if child.status is RunStatus.CANCELLED:
        code, outcome = "subflow_cancelled", "was cancelled."
    else:
        place = f" at step '{step}'" if step else ""
        code, outcome = child.error_code or SubflowFailed.code, f"failed{place}: {child.error_message or ''}"
    message = f"The run of the flow '{clipped(flow)}', which this step started, {outcome}"
    key = child.key
    return SubflowFailed(code, message, run_id=key.run_id, flow_id=key.flow_id, flow=flow, step=step)


def _in_scope(scope: str, iteration: int) -> int:
    """Return the number of a run; of one that a tool call starts a number that belongs to the call alone."""
    if not scope:
        return iteration
    return int.from_bytes(hashlib.sha256(f"{scope}:{iteration}".encode()).digest()[:4], "big") >> 1
