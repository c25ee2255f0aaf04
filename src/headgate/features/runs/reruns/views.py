"""Plans of reruns as the API shows them. Pure."""

from headgate.features.runs.reruns.costs import UNKNOWN, Cost, cost_of, total
from headgate.features.runs.reruns.plan import Decision, Why
from headgate.features.runs.reruns.schemas import RerunPlanOut, StepPlanOut
from headgate.features.runs.reruns.service import Rerun, cost_out

_SAID = {
    Why.UNCHANGED: "the same step on the same input",
    Why.CHOSEN: "chosen to be done again",
    Why.FOLLOWS: "'{because}' before it is done again",
    Why.NEW: "the past run's version does not have it",
    Why.CHANGED: "it was changed, or gets its input from elsewhere",
    Why.RENUMBERED: "steps before it, which it may read by number, have other numbers",
    Why.UNFINISHED: "it has no result in the past run",
    Why.INPUT: "it reads what the run is started with, and that was changed",
    Why.EVERYTHING: "nothing was changed and every step was done: all is done again",
    Why.UPSTREAM: "'{because}', before the step that failed, was changed: all is done again",
}


def rerun_plan(rerun: Rerun) -> RerunPlanOut:
    """What would be taken over, done again and paid."""
    costs = {one.step_id: _cost(rerun, one.step_id) for one in rerun.decisions}
    again = [one.step_id for one in rerun.decisions if not one.reuse]
    kept = [one.step_id for one in rerun.decisions if one.reuse]
    return RerunPlanOut(
        run_id=rerun.past.key.run_id,
        flow_id=rerun.past.key.flow_id,
        version=rerun.request.key.version,
        past_version=rerun.past.key.version,
        input_changed=rerun.input_changed,
        steps=[_step(rerun, one, costs[one.step_id]) for one in rerun.decisions],
        redo=cost_out(total([costs[step_id] for step_id in again])),
        saved=cost_out(total([costs[step_id] for step_id in kept])),
        unknown=[step_id for step_id in again if costs[step_id] is UNKNOWN],
    )


def _cost(rerun: Rerun, step_id: str) -> Cost:
    """What the step took in the past run; one that was skipped there took nothing."""
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
