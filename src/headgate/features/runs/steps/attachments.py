"""Models and tools attached to a step: nodes that are configuration, not steps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from headgate.features.runs.ports import Components
from headgate.features.runs.steps.context import StepContext
from headgate.features.runs.steps.planned import PlannedStep
from headgate.graph.interpolate import resolve
from headgate.graph.model import StepPolicy
from headgate.graph.plan import Attachment
from headgate.graph.template import TOOL_OUTPUT, Template
from headgate.sdk import Component, Tool, tool_name
from headgate.sdk.tools import tool_of


class Attacher:
    """Builds what is attached to one step.

    Args:
        components: Where the classes come from.
        context: What `{{...}}` in the attached nodes' params resolves to.
        ctx: The step's run context, which its tools work in.
    """

    def __init__(self, components: Components, context: Mapping[str, JsonValue], ctx: StepContext) -> None:
        self._components = components
        self._context = context
        self._ctx = ctx

    async def values(self, step: PlannedStep) -> dict[str, Any]:
        """Field to model or tools, those that the step's tool policy allows."""
        found = await self._values(step.step.template, step.step.attachments)
        return {name: _allowed(value, step.step.policy) for name, value in found.items()}

    async def _values(self, target: Template, attachments: Sequence[Attachment]) -> dict[str, Any]:
        types = Counter(one.node.type for one in attachments)
        found: dict[str, Any] = {}
        for one in attachments:
            value = await self._value(one, alone=types[one.node.type] == 1)
            field = target.field(one.edge.input)
            if field is not None and field.many:
                found.setdefault(field.name, []).append(value)
            else:
                found[one.edge.input] = value
        return found

    async def _value(self, attachment: Attachment, *, alone: bool) -> Any:  # noqa: ANN401 - a model or a tool
        node = attachment.node
        component = self._components.component(node.type)
        raw = {field.name for field in attachment.template.fields if not field.interpolate}
        values: dict[str, Any] = {
            name: value if name in raw else resolve(value, self._context) for name, value in node.params.items()
        }
        values |= await self._values(attachment.template, attachment.attachments)
        if attachment.edge.output == TOOL_OUTPUT and attachment.template.output(TOOL_OUTPUT) is None:
            description = attachment.template.description
            return tool_of(
                component,
                values,
                self._ctx,
                name=tool_name(node.type) if alone else node.id,
                description=f"{node.label}. {description}" if node.label else description,
            )
        return await self._made(component, values, attachment)

    async def _made(self, component: type[Component], values: dict[str, Any], attachment: Attachment) -> Any:  # noqa: ANN401
        extra = {field.name for field in component.extra_fields(values)}
        made = component.create(
            {name: value for name, value in values.items() if name not in extra}, node_id=attachment.node.id
        )
        made.receive_extra({name: value for name, value in values.items() if name in extra})
        return await made.attach(self._ctx).produce(attachment.edge.output)


def _allowed(value: object, policy: StepPolicy) -> object:
    """Tools on a restricted step's list; membership means enabled. Everything else untouched."""
    if policy.tool_policy != "restricted":
        return value
    if isinstance(value, list):
        return [one for one in value if not isinstance(one, Tool) or one.name in policy.tool_allowlist]
    return value
