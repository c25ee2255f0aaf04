"""Builds the session's flow from a pattern or a ready-made template, without the model writing it out again."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue, ValidationError

from headgate.agents.codev.domain import Answer, Change, DomainTool, Held, Phase
from headgate.features.catalog.gallery import find_recipe
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import is_id
from headgate.graph.model import Flow
from headgate.graph.spec import parse_spec, print_spec

NAME = "build_from_pattern"
BUILD = "build_flow"
"""The platform's tool that writes a complete flow: its checks apply here too."""
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Id of the pattern, or of a template."},
        "name": {"type": "string", "description": "Name of the flow; the pattern's when omitted."},
        "values": {
            "type": "object",
            "description": 'Changed values by node id: {"words": {"template": "Hi {text}"}}, including secrets, '
            'which patterns do not contain: {"secret": "CRM_TOKEN"}.',
            "additionalProperties": {"type": "object"},
        },
    },
    "required": ["id"],
    "additionalProperties": False,
}
RecipeOf = Callable[[str], Awaitable[Mapping[str, JsonValue]]]
"""The recipe of a pattern by its id. Raises `HeadgateError`."""


@dataclass(frozen=True, slots=True)
class FromPattern:
    """The tool `build_from_pattern`."""

    recipe_of: RecipeOf
    build: DomainTool

    def tool(self) -> DomainTool:
        """As the model is offered it."""
        return DomainTool(
            name=NAME,
            description="Write the complete flow from a pattern or template that the plan names, with changed "
            f"values. Shorter than {BUILD}, with the same checks; change the rest afterwards.",
            schema=_SCHEMA,
            phases=frozenset({Phase.PATCH}),
            change=self.change,
        )

    async def change(self, held: Held | None, arguments: dict[str, Any]) -> Change | Answer:
        """Return the resulting flow; refused with every fault that the platform finds."""
        try:
            flow = await self._flow(str(arguments.get("id", "")).strip())
            spec = print_spec(_adapted(flow, arguments))
        except HeadgateError as error:
            return {"error": error.detail, "remedy": error.remedy}
        except (ValidationError, ValueError) as error:
            return {"error": f"{NAME}: {str(error)[:500]}", "remedy": f"Correct the arguments, or use {BUILD}."}
        if self.build.change is None:
            raise ValueError(f"{self.build.name} writes nothing")
        return await self.build.change(held, {"spec": spec})

    async def _flow(self, pattern_id: str) -> Flow:
        if not is_id(pattern_id):
            return parse_spec(find_recipe(pattern_id[:200]).spec)
        return Flow.model_validate({"name": "Pattern", **await self.recipe_of(pattern_id)})


def build_tool(own: Sequence[DomainTool]) -> DomainTool | None:
    """Return the platform's tool that writes a complete flow from spec text; None without one."""
    return next((tool for tool in own if tool.name == BUILD and tool.change is not None), None)


def _adapted(flow: Flow, arguments: Mapping[str, Any]) -> Flow:
    """The flow with another name and the values that differ. Raises `ValueError` for a node that it does not have."""
    values = arguments.get("values") or {}
    known = {node.id for node in flow.nodes}
    strange = sorted(str(node_id) for node_id in values if node_id not in known)
    if strange:
        raise ValueError(f"the pattern has no node '{strange[0][:100]}'; its nodes are {', '.join(sorted(known))}")
    nodes = [
        node.model_copy(update={"params": {**node.params, **values[node.id]}}) if node.id in values else node
        for node in flow.nodes
    ]
    name = str(arguments.get("name") or "").strip() or flow.name
    return Flow.model_validate(
        {**flow.model_dump(mode="json"), "name": name, "nodes": [_plain(node) for node in nodes]}
    )


def _plain(node: Any) -> Any:  # noqa: ANN401 - a node
    return node.model_dump(mode="json")
