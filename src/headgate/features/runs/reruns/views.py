"""Converts plans of reruns for the API. Pure."""

from headgate.features.runs.reruns.costs import UNKNOWN, Cost, cost_of, total
from headgate.features.runs.reruns.plan import Decision, Why
from headgate.features.runs.reruns.schemas import RerunPlanOut, StepPlanOut
from headgate.features.runs.reruns.service import Rerun, cost_out

_SAID = {
    Why.UNCHANGED: "the same step on the same input",
    Why.CHOSEN: "selected to run again",
    Why.FOLLOWS: "'{because}' before it runs again",
    Why.NEW: "the version of the past run does not have it",
    Why.CHANGED: "it was changed, or its input comes from another source",
    Why.RENUMBERED: "previous steps, which it may read by number, have other numbers",
    Why.UNFINISHED: "it has no result in the past run",
    Why.INPUT: "it reads the run's input, which was changed",
    Why.EVERYTHING: "nothing was changed and every step was completed: all steps run again",
    Why.UPSTREAM: "'{because}', before the failed step, was changed: all steps run again",
}


def rerun_plan(rerun: Rerun) -> RerunPlanOut:
    """Return what would be reused, executed again and paid."""
    costs = {decision.step_id: _cost(rerun, decision.step_id) for decision in rerun.decisions}
    again = [decision.step_id for decision in rerun.decisions if not decision.reuse]
    reused = [decision.step_id for decision in rerun.decisions if decision.reuse]
    return RerunPlanOut(
        run_id=rerun.past.key.run_id,
        flow_id=rerun.past.key.flow_id,
        version=rerun.request.key.version,
        past_version=rerun.past.key.version,
        input_changed=rerun.input_changed,
        steps=[_step(rerun, decision, costs[decision.step_id]) for decision in rerun.decisions],
        redo=cost_out(total([costs[step_id] for step_id in again])),
        saved=cost_out(total([costs[step_id] for step_id in reused])),
        unknown=[step_id for step_id in again if costs[step_id] is UNKNOWN],
    )


def _cost(rerun: Rerun, step_id: str) -> Cost:
    """Return the step's usage in the past run; a skipped step used nothing."""
    row = rerun.past.steps.get(step_id)
    if row is None:
        return UNKNOWN
    if rerun.past.reusable.get(step_id) is not rerun.past.outcomes.get(step_id):
        return UNKNOWN
    return Cost(0, 0, 0.0, 0.0) if row.status == "skipped" else cost_of(row, rerun.prices)


def _step(rerun: Rerun, decision: Decision, cost: Cost) -> StepPlanOut:
    step = rerun.planned.steps[decision.step_id]
    return StepPlanOut(
        step_id=decision.step_id,
        label=step.label,
        type=step.step.node.type,
        reuse=decision.reuse,
        why=decision.why,
        reason=_SAID[decision.why].format(because=decision.because),
        cost=cost_out(cost),
    )
