"""What a step is given: its params, what its edges bring, what hangs on it, and what its policy says."""

from functools import partial
from typing import Any

import orjson
from pydantic import JsonValue

from headgate.features.runs.ports import Components
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.attachments import Attacher
from headgate.features.runs.steps.context import StepContext
from headgate.features.runs.steps.planned import Inlet, PlannedStep
from headgate.features.runs.steps.policies import InputPolicy
from headgate.features.runs.steps.recorder import Recorder
from headgate.graph.context import build_context
from headgate.graph.embedding import embed
from headgate.graph.interpolate import Shown, interpolate, resolve
from headgate.graph.template import FieldKind
from headgate.sdk.coerce import coerce, decode
from headgate.sdk.outside import for_model

Context = dict[str, JsonValue]


async def gather_inputs(
    run: ActiveRun, step: PlannedStep, components: Components, *, ctx: StepContext, recorder: Recorder
) -> dict[str, Any]:
    """The values of a step's fields. Raises `Invalid` when something does not fit, or what fetching it raises."""
    context: Context = {}
    if step.refers or step.attached or not step.plain:
        context = build_context(run.input, run.ledger.results, run.planned.plan, step.id)
    shown = partial(_shown, ctx) if step.component.model_using else None
    values: dict[str, Any] = resolved_params(step, context, shown) if step.refers else dict(step.params)
    for inlet in step.inlets:
        if not inlet.overridden and run.ledger.arrives(inlet):
            values[inlet.field] = arriving(run, inlet)
    if not step.plain:
        await InputPolicy(run, step, context, ctx=ctx, recorder=recorder).apply(values)
    if step.attached:
        values |= await Attacher(components, context, ctx).values(step)
    return values


def resolved_params(step: PlannedStep, context: Context, shown: Shown | None = None) -> dict[str, Any]:
    """A node's params with `{{...}}` resolved; a param that is one whole reference gets the value itself.

    Secret references were read from the saved params before; what `{{...}}` resolves to is never read as one. In a
    query (SQL, JMESPath, RE2) a value is data, never syntax. With `shown`, the texts that a model is given as its
    instructions get values in that form. Raises `Invalid` where a value cannot be put into a query.
    """
    params = {
        name: value if name in step.raw_fields else _resolved(value, context, copied=name not in step.secret_fields)
        for name, value in step.params.items()
    }
    for field in step.step.template.fields:
        text = step.params.get(field.name)
        if not isinstance(text, str) or field.name in step.raw_fields:
            continue
        if field.syntax:
            params[field.name] = own(embed(text, context, field.syntax))
        elif shown is not None and field.kind is FieldKind.MULTILINE:
            params[field.name] = interpolate(text, context, shown=shown)
    return params


def _shown(ctx: StepContext, root: str, text: str) -> str:
    """A value in the instructions of a model: quoted as data where it comes from outside."""
    return for_model(text, ctx.outside_of(root))


def _resolved(value: Any, context: Context, *, copied: bool) -> Any:  # noqa: ANN401 - JSON, or secret references
    resolved = resolve(value, context)
    return own(resolved) if copied else resolved


def arriving(run: ActiveRun, inlet: Inlet) -> Any:  # noqa: ANN401 - any port value
    """What the live edges into a field bring, coerced; a list in edge order where the field takes many."""
    values = [
        coerce(decode(own(run.ledger.results[feed.source][feed.output]), feed.type), feed.type, inlet.types)
        for feed in inlet.feeds
        if run.ledger.alive(feed)
    ]
    return values if inlet.many else values[0]


def own(value: JsonValue) -> JsonValue:
    """A copy that the component may change without changing what other steps get."""
    if isinstance(value, dict | list):
        copy: JsonValue = orjson.loads(orjson.dumps(value))
        return copy
    return value
