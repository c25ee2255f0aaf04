"""References of a description, which lead to another part of the same document, and self-contained schemas."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

import orjson
from pydantic import JsonValue

from headgate.components.readers.api.description import LONGEST_SUMMARY, Unusable, plain
from headgate.graph.expressions import re2
from headgate.graph.names import clipped

MOST_HOPS = 20
"""Of a reference to a reference."""
MOST_DEPTH = 40
"""Of a schema, between two references."""
Direction = Literal["input", "output"]
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_LISTS = {"anyOf": "anyOf", "oneOf": "anyOf", "allOf": "allOf"}
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_HIDDEN = {"input": "readOnly", "output": "writeOnly"}
"""Members that the other direction has."""
MOST_CHOICES = 500
MOST_PARTS = 4_000
"""Of one schema, without what it refers to."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A converted schema."""

    schema: dict[str, JsonValue]
    references: tuple[str, ...]
    size: int


class References:
    """Follows the references of one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._names: dict[str, str] = {}
        self._definitions: dict[tuple[str, Direction], _Part] = {}

    def resolved(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Return what a value refers to; a value that is no reference is returned as it is. Raises `Unusable`."""
        for _ in range(MOST_HOPS):
            if not isinstance(value, Mapping) or not isinstance(value.get("$ref"), str):
                return value
            value = self.target(value["$ref"])
        raise Unusable("a reference leads to itself")

    def target(self, reference: str) -> Any:  # noqa: ANN401
        """Return the part of the document that a reference names. Raises `Unusable` with the reference."""
        if not reference.startswith("#"):
            raise Unusable(f"it refers to another document, '{clipped(reference, 100)}'")
        value: Any = self._document
        for token in [] if reference in {"#", "#/"} else reference[1:].lstrip("/").split("/"):
            name = unquote(token).replace("~1", "/").replace("~0", "~")
            if isinstance(value, Mapping) and name in value:
                value = value[name]
            elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            else:
                raise Unusable(f"there is no '{clipped(reference, 100)}' in the document")
        return value

    def schema(self, schema: Any, direction: Direction, *, limit: int) -> dict[str, JsonValue]:  # noqa: ANN401
        """Return a schema with all that it refers to in `$defs`, up to a size; beyond it a reference is open.

        Raises `Unusable` for a reference that leads nowhere.
        """
        root = self._converted(schema, direction)
        size, waiting = root.size, dict.fromkeys(root.references)
        definitions: dict[str, JsonValue] = {}
        while waiting:  # breadth first: what is near fits
            reference = next(iter(waiting))
            del waiting[reference]
            part = self._definition(reference, direction)
            size += part.size
            definitions[self._name(reference)] = part.schema if size <= limit else {}
            if size <= limit:
                waiting |= {inner: None for inner in part.references if self._name(inner) not in definitions}
        if root.size > limit:
            return {}
        return {**root.schema, "$defs": definitions} if definitions else root.schema

    def _definition(self, reference: str, direction: Direction) -> "_Part":
        known = self._definitions.get((reference, direction))
        if known is None:
            known = self._definitions[reference, direction] = self._converted(self.target(reference), direction)
        return known

    def _converted(self, schema: Any, direction: Direction) -> "_Part":  # noqa: ANN401
        converter = _Converter(self._name, direction)
        converted = converter.converted(schema)
        return _Part(converted, tuple(converter.references), len(orjson.dumps(converted)))

    def _name(self, reference: str) -> str:
        """Return the name of a reference in `$defs`. Raises `Unusable` when it leads nowhere."""
        name = self._names.get(reference)
        if name is None:
            self.target(reference)
            name = _UNSAFE.sub("_", unquote(reference).rpartition("/")[2])[:80] or "root"
            name = f"{name}_{len(self._names)}" if name in self._names.values() else name
            self._names[reference] = name
        return name


class _Converter:
    """Converts one schema, and collects the references in it."""

    def __init__(self, names: Callable[[str], str], direction: Direction) -> None:
        self._name = names
        self._direction = direction
        self._left = MOST_PARTS
        self.references: dict[str, None] = {}

    def converted(self, schema: Any, depth: int = 0) -> dict[str, JsonValue]:  # noqa: ANN401
        """Return the members of a schema that JSON Schema and OpenAPI have in common; too much of it is open."""
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > MOST_DEPTH or self._left < 0:
            return {}
        if isinstance(schema.get("$ref"), str):
            self.references[schema["$ref"]] = None
            return {"$ref": f"#/$defs/{self._name(schema['$ref'])}"}
        return {
            **self._scalars(schema),
            **self._type(schema),
            **self._members(schema, depth),
            **self._parts(schema, depth),
        }

    def _scalars(self, schema: Mapping[str, Any]) -> dict[str, JsonValue]:
        converted = _bounds(schema)
        if isinstance(schema.get("format"), str):
            converted["format"] = plain(schema["format"], 40)
        if description := plain(schema.get("description"), LONGEST_SUMMARY):
            converted["description"] = description
        if isinstance(schema.get("default"), str | int | float | bool):
            converted["default"] = schema["default"]
        if isinstance(pattern := schema.get("pattern"), str) and _is_expression(pattern):
            converted["pattern"] = pattern
        return converted

    def _type(self, schema: Mapping[str, Any]) -> dict[str, JsonValue]:
        types = schema.get("type")
        declared = types if isinstance(types, list) else [types]
        names = [name for name in declared if isinstance(name, str) and name in _TYPES]
        nullable = schema.get("nullable") is True or schema.get("x-nullable") is True
        converted: dict[str, JsonValue] = {}
        if nullable and names and "null" not in names:
            names.append("null")
        if names:
            converted["type"] = names[0] if len(names) == 1 else list[JsonValue](names)
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list) and choices and all(_is_scalar(choice) for choice in choices[:MOST_CHOICES]):
            converted["enum"] = [*choices, None] if nullable and None not in choices else list(choices)
            if len(choices) > MOST_CHOICES:
                del converted["enum"]
        return converted

    def _members(self, schema: Mapping[str, Any], depth: int) -> dict[str, JsonValue]:
        converted: dict[str, JsonValue] = {}
        properties = schema.get("properties")
        hidden: set[str] = set()
        if isinstance(properties, Mapping):
            hidden = {str(name) for name, inner in properties.items() if self._is_hidden(inner)}
            converted["properties"] = {
                str(name): self.converted(inner, depth + 1)
                for name, inner in properties.items()
                if str(name) not in hidden
            }
        required = schema.get("required")
        if isinstance(required, list):
            names = [name for name in required if isinstance(name, str) and name not in hidden]
            converted |= {"required": list[JsonValue](dict.fromkeys(names))} if names else {}
        more = schema.get("additionalProperties")
        if isinstance(more, bool):
            converted["additionalProperties"] = more or self._direction == "output"
        elif isinstance(more, Mapping):
            converted["additionalProperties"] = self.converted(more, depth + 1)
        return converted

    def _parts(self, schema: Mapping[str, Any], depth: int) -> dict[str, JsonValue]:
        converted: dict[str, JsonValue] = {}
        if isinstance(schema.get("items"), Mapping):
            converted["items"] = self.converted(schema["items"], depth + 1)
        for name, keyword in _LISTS.items():
            parts = schema.get(name)
            if isinstance(parts, list) and parts:
                converted[keyword] = [self.converted(part, depth + 1) for part in parts[:MOST_CHOICES]]
        if "anyOf" in converted and schema.get("nullable") is True and isinstance(converted["anyOf"], list):
            converted["anyOf"] = [*converted["anyOf"], {"type": "null"}]
        return converted

    def _is_hidden(self, schema: Any) -> bool:  # noqa: ANN401
        return isinstance(schema, Mapping) and schema.get(_HIDDEN[self._direction]) is True


def _bounds(schema: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return the bounds of numbers, texts, lists and objects."""
    converted: dict[str, JsonValue] = {}
    for name in _NUMBERS:
        if isinstance(schema.get(name), int | float) and not isinstance(schema[name], bool):
            converted[name] = schema[name]
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if schema.get(exclusive) is True and bound in converted:  # OpenAPI 3.0
            converted[exclusive] = converted.pop(bound)
    for name in _COUNTS:
        if isinstance(schema.get(name), int) and schema[name] >= 0:
            converted[name] = schema[name]
    return converted


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _is_expression(pattern: str) -> bool:
    """Return whether the engine for values can apply a pattern; look-ahead and the like are left to the server."""
    options = re2().Options()
    options.log_errors = False
    try:
        re2().compile(pattern, options)
    except Exception:  # noqa: BLE001 - the errors of the engine
        return False
    return len(pattern) <= 1_000
