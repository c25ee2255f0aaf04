"""Tool arguments of a custom component: JSON Schema derived from its template."""

from pydantic import JsonValue

from headgate.graph.template import FieldKind, FieldTemplate, Template

_OBJECT: dict[str, JsonValue] = {"type": "object"}
_KINDS: dict[FieldKind, dict[str, JsonValue]] = {
    FieldKind.NUMBER: {"type": "number"},
    FieldKind.INTEGER: {"type": "integer"},
    FieldKind.BOOLEAN: {"type": "boolean"},
    FieldKind.JSON: {},
    FieldKind.MULTISELECT: {"type": "array"},
    FieldKind.TABLE: _OBJECT
    | {
        "properties": {
            "columns": {"type": "array", "items": {"type": "string"}},
            "rows": {"type": "array", "items": {"type": "array"}},
        },
        "required": ["columns", "rows"],
    },
    FieldKind.FILE: _OBJECT | {"properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
    FieldKind.MESSAGE: _OBJECT | {"properties": {"text": {"type": "string"}}, "required": ["text"]},
}
"""All other kinds are text."""


def tool_schema(template: Template) -> dict[str, JsonValue]:
    """Return an object schema with one property for each field that an agent fills."""
    fields = [field for field in template.fields if field.tool_mode]
    return {
        "type": "object",
        "properties": {field.name: _property(field) for field in fields},
        "required": [field.name for field in fields if field.required],
        "additionalProperties": False,
    }


def _property(field: FieldTemplate) -> dict[str, JsonValue]:
    item_schema: dict[str, JsonValue] = dict(field.schema_ or _KINDS.get(field.kind, {"type": "string"}))
    if field.options and field.kind is FieldKind.SELECT:
        item_schema["enum"] = list(field.options)
    elif field.options:
        item_schema["items"] = {"type": "string", "enum": list(field.options)}
    schema: dict[str, JsonValue] = {"type": "array", "items": item_schema} if field.many else item_schema
    schema |= {"title": field.label, "description": field.help}
    return schema if field.required else schema | {"default": field.default}
