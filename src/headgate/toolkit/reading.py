"""Read-only tools: the catalog and the working flow."""

import orjson
from pydantic import JsonValue

from headgate.graph.flow_io import classify_io
from headgate.graph.model import Node
from headgate.graph.names import did_you_mean, listed
from headgate.graph.secret_reference import EXAMPLE
from headgate.graph.template import FieldTemplate, Template
from headgate.toolkit.flow.clipped import clipped_value, size_of
from headgate.toolkit.pages import page_of_text
from headgate.toolkit.shown import secret_fields, shown_params, shown_value
from headgate.toolkit.tool import Result, ToolRefused
from headgate.toolkit.workbench import Workbench

MOST_FOUND = 8
MOST_CHARACTERS = 5_000
"""Characters of a value in one answer."""
CLIP = 600
"""Characters of a value in a list."""
MOST_LISTED = 200


async def search_components(bench: Workbench, query: str = "", limit: int = MOST_FOUND) -> Result:
    """Find component types by what they do.

    Args:
        query: A few words; empty for all names.
        limit: 20 at most.
    """
    if not query.strip():
        return {"ok": True, "types": list[JsonValue](bench.registry.types()[:MOST_LISTED])}
    rows: list[JsonValue] = [
        {"type": template.type, "category": template.category, "what": first_sentence(template.description)}
        for template in bench.registry.search(query[:500], most=max(1, min(limit, 20)))
    ]
    strange, sought = bench.registry.strange_words(query[:500])
    if not rows or 2 * len(strange) >= sought:
        return {
            "ok": True,
            "components": [],
            "hint": _nothing_fits(bench, strange, query, is_near=bool(rows)),
            "nearest": rows[:3],
        }
    answer: Result = {"ok": True, "components": rows}
    if strange:
        answer["hint"] = f"No component is about {listed(strange, most=8)}; these are about the rest of the query."
    return answer


def _nothing_fits(bench: Workbench, strange: list[str], query: str, *, is_near: bool) -> str:
    about = listed([f"'{word}'" for word in strange], most=8) if strange else f"'{query[:80]}'"
    types = ", ".join(bench.registry.types()[:MOST_LISTED])
    rest = "`nearest` does something else." if is_near else f"Types: {types}."
    return (
        f"Nothing fits: no component is about {about}. Combine others, make one with generate_component or"
        f" propose_component, or say that it cannot be done. {rest}"
    )


async def describe_component(bench: Workbench, component_type: str) -> Result:
    """Show the inputs and outputs of a component type.

    Args:
        component_type: Exact type name.
    """
    return {"ok": True, **template_of(bench, component_type).as_reading}


async def get_field_value(bench: Workbench, node_id: str, field: str = "", offset: int = 0) -> Result:
    """Read a complete field of a node, long text in parts. Secrets are never shown.

    Args:
        node_id: Id of the node.
        field: Field name; empty for all that are set, truncated.
    """
    node = node_of(bench, node_id)
    if not field:
        values = shown_params(node, bench.registry)
        short: dict[str, JsonValue] = {name: clipped_value(value, CLIP) for name, value in values.items()}
        return {"ok": True, "component_type": node.type, "values": short}
    field_template = field_of(bench, node, field)
    hidden = field in secret_fields(bench.registry, node.type, node.params)
    value = shown_value(node.params.get(field, field_template.default), hidden=hidden)
    result: Result = {"ok": True, "set": field in node.params}
    if isinstance(value, str):
        return result | page_of_text(value, offset, MOST_CHARACTERS)
    if size_of(value) <= MOST_CHARACTERS:
        return result | {"value": value}
    return result | {"written_as": "JSON text, in parts"} | page_of_text(_as_json(value), offset, MOST_CHARACTERS)


def _as_json(value: JsonValue) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


async def describe_flow_io(bench: Workbench) -> Result:
    """Show the inputs and outputs of the flow, what prevents a run, and its external requirements."""
    return {"ok": True, **classify_io(bench.flow, bench.registry).as_json(), **bench.check(bench.flow).as_json()}


class TemplateReading:
    """A template reduced to what a model needs."""

    def __init__(self, template: Template) -> None:
        self.template = template

    @property
    def as_reading(self) -> Result:
        """Return type, description, inputs and outputs, as JSON."""
        return {
            "type": self.template.type,
            "description": self.template.description,
            "inputs": [_field(field) for field in self.template.fields],
            "outputs": [{"name": out.name, "type": out.type.value, "what": out.help} for out in self.template.outputs],
            "usable_as_tool": any(field.tool_mode for field in self.template.fields),
        }


def template_of(bench: Workbench, component_type: str) -> TemplateReading:
    """Return the template of a type. Raises `ToolRefused` naming the nearest type."""
    template = bench.registry.template(component_type)
    if template is None:
        known = bench.registry.types()
        raise ToolRefused(
            f"There is no component '{component_type}'{did_you_mean(component_type, known) or '.'}",
            remedy="Use search_components to find the type.",
        )
    return TemplateReading(template)


def node_of(bench: Workbench, node_id: str) -> Node:
    """Return a node of the working flow. Raises `ToolRefused` naming the nearest id."""
    node = bench.flow.node(node_id)
    if node is None:
        ids = [node.id for node in bench.flow.nodes]
        listed = f"Nodes: {', '.join(ids)}." if ids else "The flow has no nodes yet."
        raise ToolRefused(f"The flow has no node '{node_id}'{did_you_mean(node_id, ids) or '.'}", remedy=listed)
    return node


def field_of(bench: Workbench, node: Node, field: str) -> FieldTemplate:
    """Return a field of a node's component. Raises `ToolRefused` naming the nearest field."""
    template = bench.registry.template(node.type, node.params) or template_of(bench, node.type).template
    field_template = template.field(field)
    if field_template is None:
        names = [known_field.name for known_field in template.fields]
        raise ToolRefused(
            f"Node '{node.id}' ({node.type}) has no field '{field}'{did_you_mean(field, names) or '.'}",
            remedy=f"Fields: {', '.join(names)}.",
        )
    return field_template


def first_sentence(text: str) -> str:
    """Return the first sentence of a description."""
    return text.split("\n\n", 1)[0].replace("\n", " ").split(". ", 1)[0].rstrip(".") + "."


def _field(field: FieldTemplate) -> JsonValue:
    description: dict[str, JsonValue] = {"name": field.name, "kind": field.kind.value, "what": field.help}
    if field.required:
        description["required"] = True
    elif field.default not in (None, "", [], {}):
        description["default"] = field.default
    if field.types:
        description["accepts"] = [type_.value for type_ in field.types]
    if field.many:
        description["many"] = True
    if field.options:
        description["options"] = list(field.options)
    if field.is_secret:
        description["takes"] = EXAMPLE
    return description
