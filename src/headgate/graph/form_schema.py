"""The form of a flow as a JSON Schema, for programs and models that fill it in. `features.runs.form` checks answers."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from pydantic import JsonValue

from headgate.graph.model import FILE_FIELD_TYPES, FormField, FormFieldType

Schema = dict[str, JsonValue]


def form_schema(fields: Iterable[FormField]) -> Schema:
    """Return the schema of an object with the answers by field id."""
    known = tuple(fields)
    schema: Schema = {
        "type": "object",
        "properties": {field.id: _described(field) for field in known},
        "additionalProperties": False,
    }
    required = [field.id for field in known if field.required]
    return {**schema, "required": list[JsonValue](required)} if required else schema


def _described(field: FormField) -> Schema:
    schema = {"title": field.label, **_SCHEMAS[field.type](field)} if field.label else _SCHEMAS[field.type](field)
    if field.type in FILE_FIELD_TYPES:
        schema["description"] = f"Id of an uploaded file ({field.type}), or a list of ids."
    return schema


def _bounds(field: FormField, least: str, most: str, *, is_count: bool = False) -> Schema:
    bounds = {least: field.min, most: field.max}
    return {name: int(bound) if is_count else bound for name, bound in bounds.items() if bound is not None}


def _text(field: FormField) -> Schema:
    return {"type": "string", **_bounds(field, "minLength", "maxLength", is_count=True)}


def _choice(field: FormField) -> Schema:
    options: Schema = {"type": "string", "enum": list[JsonValue](field.options)}
    if field.type == "select":
        return options
    return {"type": "array", "items": options, **_bounds(field, "minItems", "maxItems", is_count=True)}


def _file(_field: FormField) -> Schema:
    return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


_SCHEMAS: Mapping[FormFieldType, Callable[[FormField], Schema]] = MappingProxyType(
    {
        "text": _text,
        "long_text": _text,
        "number": lambda field: {"type": "number", **_bounds(field, "minimum", "maximum")},
        "checkbox": lambda _field: {"type": "boolean"},
        "date": lambda _field: {"type": "string", "format": "date"},
        "json": lambda _field: {},
        "select": _choice,
        "multiselect": _choice,
        "image": _file,
        "audio": _file,
        "document": _file,
        "file": _file,
    }
)
