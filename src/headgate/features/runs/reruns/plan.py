"""Decides which steps of a past run a new one may reuse, and why others may not be reused. Pure.

A result is reused only where executing the step again would do the same on the same input: the step is in both versions
with the same logic (`graph.execution_hash.step_logic_hash`: component, params, code, policy, edges, attachments; no
labels or positions), all of its predecessors are reused too, and it did not read an input that has changed. Everything
that might differ is executed again.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from headgate.features.runs.states import BORN_SETTLED, StepStatus
from headgate.features.runs.steps.planned import PlannedFlow, PlannedStep


class Why(StrEnum):
    """Why a step is reused or executed again."""

    UNCHANGED = "unchanged"
    """The same step on the same input: reused."""
    CHOSEN = "chosen"
    """The step to rerun from."""
    FOLLOWS = "follows"
    """An earlier step is executed again."""
    NEW = "new"
    """The past run's version does not contain it."""
    CHANGED = "changed"
    """Its logic or its inputs differ from the past run's version."""
    RENUMBERED = "renumbered"
    """Earlier steps that it may read by number have other numbers."""
    UNFINISHED = "unfinished"
    """It has no result in the past run."""
    INPUT = "input"
    """It reads the run's input, which has changed."""
    EVERYTHING = "everything"
    """Nothing was edited and everything was completed, so everything is executed again."""
    UPSTREAM = "upstream"
    """A predecessor of the failed step has changed, so everything is executed again."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision about one step."""

    step_id: str
    why: Why
    because: str | None = None
    """For `follows`: the earlier step that is executed again; for `upstream`: the one that changed."""

    @property
    def reuse(self) -> bool:
        """Whether its result is reused."""
        return self.why is Why.UNCHANGED


def decide_steps(
    source: PlannedFlow,
    target: PlannedFlow,
    past: Mapping[str, StepStatus],
    *,
    from_step: str | None = None,
    reads_input: Collection[str] = (),
) -> tuple[Decision, ...]:
    """Decide each step of a new run, in execution order.

    Args:
        source: The plan that the past run executed.
        target: The plan of the new run: the same, or another version of the flow.
        past: Step id to outcome in the past run.
        from_step: A step to execute again, with all that follow from it.
        reads_input: Steps that read the past run's input, if the new run's input differs; otherwise empty.
    """
    decisions: dict[str, Decision] = {}
    for step in target.steps.values():
        decisions[step.id] = _decide(
            step, decisions, source, target, past=past, from_step=from_step, reads_input=reads_input
        )
    return tuple(decisions.values())


def everything(target: PlannedFlow, why: Why, because: str | None = None) -> tuple[Decision, ...]:
    """Return decisions that execute every step again."""
    return tuple(Decision(step_id, why, because) for step_id in target.steps)


def changed_upstream(source: PlannedFlow, target: PlannedFlow, failed: str) -> str | None:
    """Return the first changed predecessor of a failed step; None when all are unchanged (seed 002, Resume rules).

    A failed step that the target no longer contains counts as changed.
    """
    if failed not in target.steps:
        return failed
    ancestors_before, now = source.plan.ancestors(failed), target.plan.ancestors(failed)
    for step_id in now:
        if step_id not in source.steps or source.steps[step_id].logic != target.steps[step_id].logic:
            return step_id
        if _renumbered(target.steps[step_id], source, target):
            return step_id
    return next((step_id for step_id in ancestors_before if step_id not in now), None)


def _decide(
    step: PlannedStep,
    decisions: Mapping[str, Decision],
    source: PlannedFlow,
    target: PlannedFlow,
    *,
    past: Mapping[str, StepStatus],
    from_step: str | None,
    reads_input: Collection[str],
) -> Decision:
    again = next((parent for parent in step.step.parents if not decisions[parent].reuse), None)
    why = Why.UNCHANGED
    if step.id == from_step:
        why = Why.CHOSEN
    elif step.id not in source.steps:
        why = Why.NEW
    elif source.steps[step.id].logic != step.logic:
        why = Why.CHANGED
    elif again is not None:
        return Decision(step.id, Why.FOLLOWS, again)
    elif past.get(step.id) not in BORN_SETTLED:
        why = Why.UNFINISHED
    elif _renumbered(step, source, target):
        why = Why.RENUMBERED
    elif step.id in reads_input:
        why = Why.INPUT
    return Decision(step.id, why)


def _renumbered(step: PlannedStep, source: PlannedFlow, target: PlannedFlow) -> bool:
    """Whether a step that may read others by number (`{{step_2}}`, all previous steps) would read different ones."""
    if not (step.refers or step.attached or not step.plain):
        return False
    return any(
        source.plan.step(ancestor).order != target.plan.step(ancestor).order
        for ancestor in target.plan.ancestors(step.id)
    )
