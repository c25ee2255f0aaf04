"""Models and tools attached to a step: nodes that are configuration, not steps."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from headgate.features.runs.errors import PolicyUnmet
from headgate.features.runs.ports import Components
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
        return await self._values(step.step.template, step.step.attachments, step.step.policy)

    async def _values(self, target: Template, attachments: Sequence[Attachment], policy: StepPolicy) -> dict[str, Any]:
        """The policy is the step's own: it holds for the tools of its tools too."""
        names = component_tool_names((one.node, one.template) for one in attachments)
        found: dict[str, Any] = {}
        for one in attachments:
            value = await self._value(one, names[one.node.id], policy)
            field = target.field(one.edge.input)
            if field is not None and field.many:
                found.setdefault(field.name, []).extend(allowed(value, policy))
            elif isinstance(value, list | Tool):
                found[one.edge.input] = _only(allowed(value, policy), one)
            else:
                found[one.edge.input] = value
        return found

    async def _value(self, attachment: Attachment, name: str, policy: StepPolicy) -> Any:  # noqa: ANN401 - a model, tools
        node = attachment.node
        component = self._components.component(node.type)
        values = resolved_params(
            typed_params(node.params, attachment.template),
            attachment.template,
            self._context,
            raw={field.name for field in attachment.template.fields if not field.interpolate},
            secret={field.name for field in attachment.template.fields if field.carries_secret},
            shown=shown_to(component, self._ctx),
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
        made = component.create(
            {name: value for name, value in values.items() if name not in extra}, node_id=attachment.node.id
        )
        made.receive_extra({name: value for name, value in values.items() if name in extra})
        return await made.attach(self._ctx).produce(attachment.edge.output)


def allowed(value: object, policy: StepPolicy) -> list[Any]:
    """What may be used of what one edge brings; on a restricted step membership in the list means enabled.

    The tools themselves are not touched: what a server's row says stays as it is (seed 002, MCP Tool Resolution).
    """
    values = value if isinstance(value, list) else [value]
    if policy.tool_policy != "restricted":
        return values
    return [one for one in values if not isinstance(one, Tool) or one.full_name in policy.tool_allowlist]


def _only(tools: Sequence[Tool], attachment: Attachment) -> Tool | None:
    """The one tool for an input that takes one; None when the policy lets none through."""
    if len(tools) > 1:
        raise PolicyUnmet(
            f"{attachment.edge.id}: '{attachment.edge.input}' takes one tool, and '{attachment.node.id}' brings "
            f"{len(tools)}: {listed(tool.full_name for tool in tools)}.",
            remedy=f"Name one in 'tools' of '{attachment.node.id}'.",
        )
    return tools[0] if tools else None
