"""Models and tools attached to a step: nodes that are configuration, not steps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from headgate.features.runs.errors import PolicyUnmet
from headgate.features.runs.ports.flows import Components
from headgate.features.runs.steps.context import StepContext
from headgate.features.runs.steps.params import resolved_params, shown_to
from headgate.features.runs.steps.planned import PlannedStep
from headgate.graph.model import StepPolicy
from headgate.graph.names import listed
from headgate.graph.plan import Attachment
from headgate.graph.secret_reference import typed_params
from headgate.graph.template import TOOL_OUTPUT, Template
from headgate.graph.tool_names import component_tool_names
from headgate.sdk import Component, Tool
from headgate.sdk.tools import tool_of


class Attacher:
    """Builds the attachments of one step.

    Args:
        components: Component classes.
        context: Values of `{{...}}` in the attached nodes' params.
        ctx: The step's run context, which its tools use.
    """

    def __init__(self, components: Components, context: Mapping[str, JsonValue], ctx: StepContext) -> None:
        self._components = components
        self._context = context
        self._ctx = ctx

    async def values(self, step: PlannedStep) -> dict[str, Any]:
        """Return field to model or tools, limited to those that the step's tool policy allows."""
        return await self._values(step.step.template, step.step.attachments, step.step.policy)

    async def _values(self, target: Template, attachments: Sequence[Attachment], policy: StepPolicy) -> dict[str, Any]:
        """Apply the step's own policy to the tools of its tools too."""
        names = component_tool_names((attachment.node, attachment.template) for attachment in attachments)
        values: dict[str, Any] = {}
        for attachment in attachments:
            value = await self._value(attachment, names[attachment.node.id], policy)
            field = target.field(attachment.edge.input)
            if field is not None and field.many:
                values.setdefault(field.name, []).extend(allowed(value, policy))
            elif isinstance(value, list | Tool):
                values[attachment.edge.input] = _only(allowed(value, policy), attachment)
            else:
                values[attachment.edge.input] = value
        return values

    async def _value(self, attachment: Attachment, name: str, policy: StepPolicy) -> Any:  # noqa: ANN401 - a model, tools
        node = attachment.node
        component = self._components.component(node.type)
        values = resolved_params(
            typed_params(node.params, attachment.template),
            attachment.template,
            self._context,
            raw={field.name for field in attachment.template.fields if not field.interpolate},
            secret={field.name for field in attachment.template.fields if field.carries_secret},
            formatter=shown_to(component, self._ctx),
        )
        values |= await self._values(attachment.template, attachment.attachments, policy)
        if attachment.edge.output == TOOL_OUTPUT and attachment.template.output(TOOL_OUTPUT) is None:
            description = attachment.template.description
            return tool_of(
                component,
                values,
                self._ctx,
                name=name,
                description=f"{node.label}. {description}" if node.label else description,
            )
        return await self._made(component, values, attachment)

    async def _made(self, component: type[Component], values: dict[str, Any], attachment: Attachment) -> Any:  # noqa: ANN401
        extra = {field.name for field in component.extra_fields(values)}
        instance = component.create(
            {name: value for name, value in values.items() if name not in extra}, node_id=attachment.node.id
        )
        instance.receive_extra({name: value for name, value in values.items() if name in extra})
        return await instance.attach(self._ctx).produce(attachment.edge.output)


def allowed(value: object, policy: StepPolicy) -> list[Any]:
    """Return the allowed values of one edge; on a restricted step membership in the list means enabled.

    The tool rows of servers are not changed (seed 002, MCP Tool Resolution).
    """
    values = [_guarded(item, policy) for item in (value if isinstance(value, list) else [value])]
    if policy.tool_policy != "restricted":
        return values
    return [tool for tool in values if not isinstance(tool, Tool) or tool.full_name in policy.tool_allowlist]


def _guarded(value: object, policy: StepPolicy) -> object:
    """Return a tool with the approval that its calls need; other values as they are."""
    approval = policy.tool_approval
    if approval is None or not isinstance(value, Tool) or not approval.covers(value.full_name):
        return value
    return replace(value, approval=approval)


def _only(tools: Sequence[Tool], attachment: Attachment) -> Tool | None:
    """Return the only tool for an input that takes one; None when the policy allows none."""
    if len(tools) > 1:
        raise PolicyUnmet(
            f"{attachment.edge.id}: '{attachment.edge.input}' takes one tool, and '{attachment.node.id}' "
            f"has {len(tools)}: {listed(tool.full_name for tool in tools)}.",
            remedy=f"Name one in 'tools' of '{attachment.node.id}'.",
        )
    return tools[0] if tools else None
