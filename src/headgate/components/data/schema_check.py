"""JSON Schemas written by users: parsed, completed, and applied in bounded time without fetching references."""

from collections.abc import Iterator
from typing import Any, cast

import orjson
from pydantic import JsonValue

from headgate.components.expressions import compiled
from headgate.graph.names import clipped
from headgate.sdk import ComponentError
from headgate.sdk.coerce import describe

LONGEST_SCHEMA = 100_000
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_SCHEMA_WORDS = frozenset(
    {"type", "properties", "items", "anyOf", "oneOf", "allOf", "enum", "const", "$ref", "$defs", "required", "not"}
)


def full_schema(schema: object, *, subject: str) -> dict[str, JsonValue]:
    """Return a JSON Schema from a user's input: a schema, JSON text of one, or the short form `{"name": "string"}`.

    Raises `ComponentError` when it is none of these or not a valid schema.
    """
    loaded = _loaded(schema, subject)
    if not isinstance(loaded, dict) or not loaded:
        raise _wrong(subject, f"it is {describe(loaded)}, not an object with fields")
    result = loaded if set(loaded) & _SCHEMA_WORDS and not _is_short(loaded) else _completed(loaded, subject)
    if len(orjson.dumps(result)) > LONGEST_SCHEMA:
        raise _wrong(subject, f"it has more than {LONGEST_SCHEMA} bytes")
    problem = _schema_problem(result)
    if problem:
        raise _wrong(subject, problem)
    return result


def problems(value: JsonValue, schema: dict[str, JsonValue], *, limit: int = 10) -> list[str]:
    """Return the violations of a schema with their paths; empty when the value is valid. Never fetches a reference."""
    jsonschema, registry = _jsonschema()
    validator = _with_re2(jsonschema)(schema, registry=registry)
    messages: list[str] = []
    try:
        for error in validator.iter_errors(value):
            path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
            messages.append(f"${path}: {clipped(error.message, 200)}")
            if len(messages) == limit:
                break
    except RecursionError:
        messages.append("$: the schema refers to itself in a loop")
    except Exception as error:  # noqa: BLE001 - referencing raises its own tree for unknown references
        messages.append(f"$: the schema cannot be applied: {clipped(str(error), 200)}")
    return messages


def _loaded(schema: object, subject: str) -> JsonValue:
    if not isinstance(schema, str):
        return cast("JsonValue", schema)
    try:
        return cast("JsonValue", orjson.loads(schema))
    except orjson.JSONDecodeError as error:
        raise _wrong(subject, f"it is not JSON: {error}") from error


def _is_short(members: dict[str, JsonValue]) -> bool:
    """Return whether every member is a field and its type, as in `{"type": "string", "price": "number"}`."""
    only_types = all(
        isinstance(kind, dict) or (isinstance(kind, str) and kind.rstrip("?") in _TYPES) for kind in members.values()
    )
    return only_types and len(members) > 1 and not (set(members) - {"type"}) & _SCHEMA_WORDS


def _completed(members: dict[str, JsonValue], subject: str) -> dict[str, JsonValue]:
    """Return the object schema of the short form; a `?` after a type makes the field optional."""
    properties: dict[str, JsonValue] = {}
    required: list[JsonValue] = []
    for name, kind in members.items():
        if isinstance(kind, str) and kind.rstrip("?") in _TYPES:
            properties[name] = {"type": kind.rstrip("?")}
        elif isinstance(kind, dict):
            properties[name] = kind
        else:
            raise _wrong(subject, f"the type of '{clipped(name)}' is {clipped(str(kind), 40)}")
        if not (isinstance(kind, str) and kind.endswith("?")):
            required.append(name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _schema_problem(schema: dict[str, JsonValue]) -> str:
    jsonschema, _ = _jsonschema()
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        return clipped(error.message, 200)
    except RecursionError:
        return "it is nested too deep"
    return ""


def _wrong(subject: str, reason: str) -> ComponentError:
    return ComponentError(
        f"{subject}: the schema is not valid: {reason}.",
        remedy='Write a JSON Schema, or the short form {"name": "string", "price": "number?"}.',
        field="schema",
    )


def _jsonschema() -> tuple[Any, Any]:
    """Return the jsonschema module and a registry that fetches nothing, imported when first used."""
    import jsonschema  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    return jsonschema, Registry()


def _with_re2(jsonschema: Any) -> Any:  # noqa: ANN401 - a lazily imported module
    """Return the validator of draft 2020-12 with `pattern` evaluated by RE2."""

    def pattern(_validator: Any, expression: str, value: Any, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
        if isinstance(value, str) and compiled(expression, ignore_case=False, subject="pattern").search(value) is None:
            yield jsonschema.ValidationError(f"{value!r} does not match {expression!r}")

    def pattern_properties(validator: Any, expressions: dict[str, Any], value: Any, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
        for expression, inner in expressions.items() if isinstance(value, dict) else ():
            regex = compiled(expression, ignore_case=False, subject="patternProperties")
            for name, item in value.items():
                if regex.search(name) is not None:
                    yield from validator.descend(item, inner, path=name, schema_path=expression)

    return jsonschema.validators.extend(
        jsonschema.Draft202012Validator, {"pattern": pattern, "patternProperties": pattern_properties}
    )
