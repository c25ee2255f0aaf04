"""Which steps of a past run may be taken over into a new one, and why the others may not. Pure.

A result is taken over only where doing the step again would be doing the same thing on the same input: the step is in
both versions with the same logic (`graph.execution_hash.step_logic_hash`: component, params, code, policy, edges,
attachments; no labels or positions), everything before it is taken over too, and it did not look at an input that has
changed. Whatever might differ is done again.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from headgate.features.runs.states import BORN_SETTLED, StepStatus
from headgate.features.runs.steps.planned import PlannedFlow, PlannedStep


class Why(StrEnum):
    """Why a step is taken over, or done again."""

    UNCHANGED = "unchanged"
    """The same step on the same input: taken over."""
    CHOSEN = "chosen"
    """The step from which to run again."""
    FOLLOWS = "follows"
    """A step before it is done again."""
    NEW = "new"
    """The past run's version does not have it."""
    CHANGED = "changed"
    """It does something else, or gets its input from elsewhere, than in the past run's version."""
    RENUMBERED = "renumbered"
    """Steps before it have other numbers, by which it may read them."""
    UNFINISHED = "unfinished"
    """It has no result in the past run."""
    INPUT = "input"
    """It looks at what the run is started with, and that is not the same."""
    EVERYTHING = "everything"
    """Nothing was edited and everything was done: so all of it is done again."""
    UPSTREAM = "upstream"
    """Something before the step that failed has changed: so all of it is done again."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of one step."""

    step_id: str
    why: Why
    because: str | None = None
    """The step before it that is done again, for `follows`; the one that changed, for `upstream`."""

    @property
    def reuse(self) -> bool:
        """Whether its result is taken over."""
        return self.why is Why.UNCHANGED


def decide_steps(
    source: PlannedFlow,
    target: PlannedFlow,
    past: Mapping[str, StepStatus],
    *,
    from_step: str | None = None,
    reads_input: Collection[str] = (),
) -> tuple[Decision, ...]:
    """What becomes of each step of a new run, in running order.

    Args:
        source: The plan that the past run carried out.
        target: The plan of the new run: the same, or another version of the flow.
        past: Step to what became of it in the past run.
        from_step: A step that is to be done again, with all that follows from it.
        reads_input: Steps that looked at the past run's input, where the new one has another; empty where it has not.
    """
    found: dict[str, Decision] = {}
    for step in target.steps.values():
        found[step.id] = _decide(step, found, source, target, past=past, from_step=from_step, reads_input=reads_input)
    return tuple(found.values())


def everything(target: PlannedFlow, why: Why, because: str | None = None) -> tuple[Decision, ...]:
    """Every step done again."""
    return tuple(Decision(step_id, why, because) for step_id in target.steps)


def changed_upstream(source: PlannedFlow, target: PlannedFlow, failed: str) -> str | None:
    """The first step before a failed one that is not what it was; None when all are (seed 002, Resume rules).

    A failed step that the target no longer has counts as changed itself.
    """
    if failed not in target.steps:
        return failed
    before, now = source.plan.ancestors(failed), target.plan.ancestors(failed)
    for step_id in now:
        if step_id not in source.steps or source.steps[step_id].logic != target.steps[step_id].logic:
            return step_id
        if _renumbered(target.steps[step_id], source, target):
            return step_id
    return next((step_id for step_id in before if step_id not in now), None)


def _decide(
    step: PlannedStep,
    found: Mapping[str, Decision],
    source: PlannedFlow,
    target: PlannedFlow,
    *,
    past: Mapping[str, StepStatus],
    from_step: str | None,
    reads_input: Collection[str],
) -> Decision:
    again = next((parent for parent in step.step.parents if not found[parent].reuse), None)
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
    """Whether a step that may read others by number (`{{step_2}}`, all previous steps) would read other ones."""
    if not (step.refers or step.attached or not step.plain):
        return False
    return any(
        source.plan.step(before).order != target.plan.step(before).order for before in target.plan.ancestors(step.id)
    )
