"""JSON Schemas that users write: read, completed, applied without reaching out or running away."""

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


def full_schema(schema: object, *, who: str) -> dict[str, JsonValue]:
    """A JSON Schema of what a user wrote: a schema, JSON text of one, or the short form `{"name": "string"}`.

    Raises `ComponentError` when it is none of these or not a valid schema.
    """
    written = _loaded(schema, who)
    if not isinstance(written, dict) or not written:
        raise _wrong(who, f"it is {describe(written)}, not an object with fields")
    found = written if set(written) & _SCHEMA_WORDS and not _is_short(written) else _completed(written, who)
    if len(orjson.dumps(found)) > LONGEST_SCHEMA:
        raise _wrong(who, f"it has more than {LONGEST_SCHEMA} bytes")
    problem = _schema_problem(found)
    if problem:
        raise _wrong(who, problem)
    return found


def problems(value: JsonValue, schema: dict[str, JsonValue], *, most: int = 10) -> list[str]:
    """How a value breaks a schema, each with its path; empty when it keeps it. Never fetches a reference."""
    jsonschema, registry = _jsonschema()
    validator = _with_re2(jsonschema)(schema, registry=registry)
    found: list[str] = []
    try:
        for error in validator.iter_errors(value):
            path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
            found.append(f"${path}: {clipped(error.message, 200)}")
            if len(found) == most:
                break
    except RecursionError:
        found.append("$: the schema refers to itself without end")
    except Exception as error:  # noqa: BLE001 - referencing raises its own tree for unknown references
        found.append(f"$: the schema cannot be applied: {clipped(str(error), 200)}")
    return found


def _loaded(schema: object, who: str) -> JsonValue:
    if not isinstance(schema, str):
        return cast("JsonValue", schema)
    try:
        return cast("JsonValue", orjson.loads(schema))
    except orjson.JSONDecodeError as error:
        raise _wrong(who, f"it is not JSON: {error}") from error


def _is_short(written: dict[str, JsonValue]) -> bool:
    """Whether every member is a field and its type, as in `{"type": "string", "price": "number"}`."""
    only_types = all(
        isinstance(kind, dict) or (isinstance(kind, str) and kind.rstrip("?") in _TYPES) for kind in written.values()
    )
    return only_types and len(written) > 1 and not (set(written) - {"type"}) & _SCHEMA_WORDS


def _completed(written: dict[str, JsonValue], who: str) -> dict[str, JsonValue]:
    """The object schema of the short form; a `?` behind a type makes the field optional."""
    properties: dict[str, JsonValue] = {}
    required: list[JsonValue] = []
    for name, kind in written.items():
        if isinstance(kind, str) and kind.rstrip("?") in _TYPES:
            properties[name] = {"type": kind.rstrip("?")}
        elif isinstance(kind, dict):
            properties[name] = kind
        else:
            raise _wrong(who, f"the type of '{clipped(name)}' is {clipped(str(kind), 40)}")
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


def _wrong(who: str, reason: str) -> ComponentError:
    return ComponentError(
        f"{who}: the schema cannot be used: {reason}.",
        remedy='Write a JSON Schema, or the short form {"name": "string", "price": "number?"}.',
        field="schema",
    )


def _jsonschema() -> tuple[Any, Any]:
    """The jsonschema module and a registry that fetches nothing, imported when first used."""
    import jsonschema  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    return jsonschema, Registry()


def _with_re2(jsonschema: Any) -> Any:  # noqa: ANN401 - a lazily imported module
    """The validator of draft 2020-12 with `pattern` on RE2."""

    def pattern(_validator: Any, wanted: str, value: Any, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
        if isinstance(value, str) and compiled(wanted, ignore_case=False, who="pattern").search(value) is None:
            yield jsonschema.ValidationError(f"{value!r} does not match {wanted!r}")

    def pattern_properties(validator: Any, wanted: dict[str, Any], value: Any, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
        for expression, inner in wanted.items() if isinstance(value, dict) else ():
            regex = compiled(expression, ignore_case=False, who="patternProperties")
            for name, item in value.items():
                if regex.search(name) is not None:
                    yield from validator.descend(item, inner, path=name, schema_path=expression)

    return jsonschema.validators.extend(
        jsonschema.Draft202012Validator, {"pattern": pattern, "patternProperties": pattern_properties}
    )
