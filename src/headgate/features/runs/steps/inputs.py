"""Gathers the inputs of a step: params, values of edges, attachments and policy inputs."""

from typing import Any

from headgate.features.runs.ports.flows import Components
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.attachments import Attacher
from headgate.features.runs.steps.context import StepContext
from headgate.features.runs.steps.params import Context, own, resolved_params, shown_to
from headgate.features.runs.steps.planned import Inlet, PlannedStep
from headgate.features.runs.steps.policies import InputPolicy
from headgate.features.runs.steps.recorder import Recorder
from headgate.graph.context import build_context
from headgate.sdk.coerce import coerce, decode


async def gather_inputs(
    run: ActiveRun, step: PlannedStep, components: Components, *, ctx: StepContext, recorder: Recorder
) -> dict[str, Any]:
    """Return the values of a step's fields. Raises `Invalid` for a mismatch, or what fetching raises."""
    context: Context = {}
    if step.refers or step.attached or not step.plain:
        context = build_context(run.input, run.ledger.results, run.planned.plan, step.id)
    values: dict[str, Any] = dict(step.params)
    if step.refers:
        formatter = shown_to(step.component, ctx)
        values = resolved_params(
            step.params,
            step.step.template,
            context,
            raw=step.raw_fields,
            secret=step.secret_fields,
            formatter=formatter,
        )
    for inlet in step.inlets:
        if not inlet.overridden and run.ledger.arrives(inlet):
            values[inlet.field] = arriving(run, inlet)
    if not step.plain:
        await InputPolicy(run, step, context, ctx=ctx, recorder=recorder).apply(values)
    if step.attached:
        values |= await Attacher(components, context, ctx).values(step)
    return values


def arriving(run: ActiveRun, inlet: Inlet) -> Any:  # noqa: ANN401 - any port value
    """Return the coerced values of the live edges into a field; a list in edge order where the field takes many."""
    values = [
        coerce(decode(own(run.ledger.results[feed.source][feed.output]), feed.type), feed.type, inlet.types)
        for feed in inlet.feeds
        if run.ledger.alive(feed)
    ]
    return values if inlet.many else values[0]
