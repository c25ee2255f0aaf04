"""Totals of a dry run, with those of the flows that its steps run. Pure."""

from collections.abc import Sequence

from headgate.features.runs.preview.schemas import DryCall, DryStep, DryTotals


def totals_of(steps: Sequence[DryStep]) -> DryTotals:
    """Return the least that a run uses: the first models of its certain steps, and the runs that these start."""
    certain = [step for step in steps if step.runs == "certain"]
    models = [model for step in certain for model in step.models if not model.fallback]
    calls = [call for step in certain for call in step.calls if call.at_least]
    started = [(call.at_least, call.totals) for call in calls if call.totals is not None]
    known_costs = [model.cost_usd_at_least for model in models if model.cost_usd_at_least is not None]
    known = sum(known_costs) + sum(count * totals.cost_usd_known for count, totals in started)
    complete = (
        len(known_costs) == len(models)
        and len(started) == len(calls)
        and all(totals.cost_usd_at_least is not None for _, totals in started)
    )
    return DryTotals(
        steps=len(steps),
        certain_steps=len(certain),
        model_steps=sum(bool(step.models) or any(map(_asks, step.calls)) for step in steps),
        model_calls_at_least=len(models) + sum(count * totals.model_calls_at_least for count, totals in started),
        tokens_input_at_least=sum(model.tokens_input_at_least for model in models)
        + sum(count * totals.tokens_input_at_least for count, totals in started),
        cost_usd_at_least=known if complete else None,
        cost_usd_known=known,
    )


def _asks(call: DryCall) -> bool:
    return call.totals is not None and call.totals.model_steps > 0
