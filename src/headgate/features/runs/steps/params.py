"""The params of a step, or of a node attached to one, with resolved references."""

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import orjson
from pydantic import JsonValue

from headgate.features.runs.steps.context import StepContext
from headgate.graph.embedding import embed
from headgate.graph.interpolate import Shown, interpolate, resolve
from headgate.graph.template import FieldKind, Template
from headgate.sdk import Component
from headgate.sdk.outside import for_model

Context = dict[str, JsonValue]


def resolved_params(
    params: Mapping[str, Any],
    template: Template,
    context: Mapping[str, JsonValue],
    *,
    raw: Collection[str],
    secret: Collection[str],
    formatter: Shown | None = None,
) -> dict[str, Any]:
    """Return params with `{{...}}` resolved; a param that is exactly one reference gets the value itself.

    Secret references were read from the saved params before; a resolved `{{...}}` is never read as one. In a
    query (SQL, JMESPath, RE2) a value is data, never syntax. Raises `Invalid` where a value cannot be put into a query.

    Args:
        params: Params of the node, with typed secret references.
        template: Template of the node's component.
        context: Values of references.
        raw: Names of fields that are not interpolated.
        secret: Names of fields that may hold secret references.
        formatter: Formats a value for a model's instructions.
    """
    resolved = {
        name: value if name in raw else _resolved(value, context, copied=name not in secret)
        for name, value in params.items()
    }
    for field in template.fields:
        text = params.get(field.name)
        if not isinstance(text, str) or field.name in raw:
            continue
        if field.syntax:
            resolved[field.name] = own(embed(text, context, field.syntax))
        elif formatter is not None and field.kind is FieldKind.MULTILINE:
            resolved[field.name] = interpolate(text, context, shown=formatter)
    return resolved


def shown_to(component: type[Component], ctx: StepContext) -> Shown | None:
    """Return the formatter of untrusted values in a component's model instructions: quoted as data."""
    return partial(_shown, ctx) if component.model_using else None


def _shown(ctx: StepContext, root: str, text: str) -> str:
    return for_model(text, ctx.outside_of(root))


def _resolved(value: Any, context: Mapping[str, JsonValue], *, copied: bool) -> Any:  # noqa: ANN401 - JSON, or secrets
    resolved = resolve(value, context)
    return own(resolved) if copied else resolved


def own(value: JsonValue) -> JsonValue:
    """Return a copy that the component may change without affecting other steps."""
    if isinstance(value, dict | list):
        copy: JsonValue = orjson.loads(orjson.dumps(value))
        return copy
    return value
