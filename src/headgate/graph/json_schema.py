"""The subset of JSON Schema draft 7 that contracts use: validation of schemas, of values, and implication."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, cast

from pydantic import JsonValue

from headgate.graph.canonical import canonical_json
from headgate.graph.json_values import parse_json
from headgate.graph.names import clipped, did_you_mean, listed

MAX_DEPTH = 32
"""Maximum nesting of a schema."""
MAX_VIOLATIONS = 20
"""Maximum reported violations of one value."""
KEYWORDS = ("type", "required", "properties", "items", "enum", "additionalProperties")
NOTES = ("title", "description")
"""Allowed keywords without assertions."""
TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_WORD = re.compile(r"[^\W\d]\w*")
Schema = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Violation:
    """A fault of a value, a schema or a pair of contracts."""

    path: str
    """JSON path from the top: `$.items[2].name`."""
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class SchemaCheck(Protocol):
    """The used part of a jsonschema validator."""

    def iter_errors(self, instance: object) -> Iterator[Any]:
        """Yield every violation of the schema."""


def schema_faults(schema: JsonValue, path: str = "$", depth: int = 0) -> Iterator[Violation]:
    """Yield everything in a schema that is outside the subset."""
    if not isinstance(schema, dict):
        yield Violation(path, f"a schema must be an object, not {json_type(schema)}")
        return
    if depth > MAX_DEPTH:
        yield Violation(path, f"the schema is nested deeper than {MAX_DEPTH} levels")
        return
    for keyword in schema:
        if keyword not in KEYWORDS and keyword not in NOTES:
            hint = did_you_mean(keyword, KEYWORDS)
            yield Violation(path, f"keyword '{keyword}' is not supported{hint or '.'} Supported: {listed(KEYWORDS)}")
    yield from _own_faults(schema, path)
    yield from _inner_faults(schema, path, depth)


def _own_faults(schema: Schema, path: str) -> Iterator[Violation]:
    types = schema.get("type", [])
    for name in types if isinstance(types, list) else [types]:
        if name not in TYPES:
            hint = did_you_mean(str(name), TYPES)
            yield Violation(member_path(path, "type"), f"no JSON type '{name}'{hint or '.'} Types: {listed(TYPES)}")
    if "type" in schema and types == []:
        yield Violation(member_path(path, "type"), "the list of types is empty")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield Violation(member_path(path, "required"), "must be a list of property names")
    if "enum" in schema and (not isinstance(schema["enum"], list) or not schema["enum"]):
        yield Violation(member_path(path, "enum"), "must be a list of at least one value")


def _inner_faults(schema: Schema, path: str, depth: int) -> Iterator[Violation]:
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        yield Violation(member_path(path, "properties"), "must be an object of property name to schema")
        properties = {}
    for name, inner in properties.items():
        yield from schema_faults(inner, member_path(member_path(path, "properties"), name), depth + 1)
    if "items" in schema:
        yield from schema_faults(schema["items"], member_path(path, "items"), depth + 1)
    additional = schema.get("additionalProperties", True)
    if not isinstance(additional, bool):
        yield from schema_faults(additional, member_path(path, "additionalProperties"), depth + 1)


def schema_violations(value: JsonValue, schema: Schema) -> list[Violation]:
    """Return the violations of a schema of the subset, in the value's order; empty when the value is valid."""
    faults: dict[Violation, None] = {}
    for error in _compiled(canonical_json(dict(schema))).iter_errors(value):
        path = "$"
        for part in error.absolute_path:
            path = member_path(path, part)
        faults.update(
            dict.fromkeys(_error_text(path, error.validator, error.validator_value, error.instance, error.schema))
        )
        if len(faults) > MAX_VIOLATIONS:
            break
    return first_violations(sorted(faults, key=lambda violation: violation.path))


def first_violations(faults: Sequence[Violation]) -> list[Violation]:
    """Return the first violations; the last one mentions the number of further ones."""
    if len(faults) <= MAX_VIOLATIONS:
        return list(faults)
    return [*faults[: MAX_VIOLATIONS - 1], Violation("$", "has further violations")]


def _error_text(path: str, keyword: str, expected: Any, value: Any, schema: Any) -> list[Violation]:  # noqa: ANN401 - JSON
    """Return a jsonschema error in Headgate's own text, which never repeats the value."""
    if keyword == "required":
        return [Violation(member_path(path, name), "is missing") for name in expected if name not in value]
    if keyword == "additionalProperties":
        extra = [name for name in value if name not in schema.get("properties", {})]
        return [Violation(member_path(path, name), "is not allowed here") for name in extra]
    if keyword == "type":
        names = expected if isinstance(expected, list) else [expected]
        return [Violation(path, f"must be {listed(names)}, not {json_type(value)}")]
    choices = listed([clipped(canonical_json(choice), 40) for choice in expected])
    return [Violation(path, f"must be one of {choices}")]


@lru_cache(maxsize=128)
def _compiled(schema: str) -> SchemaCheck:
    """Return the jsonschema validator of a schema; imported here because it takes a tenth of a second at start-up."""
    from jsonschema import Draft7Validator  # noqa: PLC0415

    return cast("SchemaCheck", Draft7Validator(cast("dict[str, Any]", parse_json(schema))))


def schema_gaps(given: Schema, required: Schema, path: str = "$", *, lenient: bool = False) -> Iterator[Violation]:
    """Yield why a valid value of `given` may violate `required`; nothing when it cannot.

    With `lenient`, a part that `given` leaves open (`{}`) is no reason.
    """
    if lenient and not given:
        return
    have, want = types_of(given), types_of(required)
    unfit = [name for name in have if name not in want and not (name == "integer" and "number" in want)]
    if unfit:
        yield Violation(path, f"must be {listed(want)}, but may be {listed(unfit)}")
        return
    yield from _enum_gaps(given, required, path)
    if "object" in have:
        yield from _property_gaps(given, required, path, lenient=lenient)
    if "array" in have and isinstance(required.get("items"), dict):
        inner = given.get("items")
        yield from schema_gaps(_schema(inner), _schema(required["items"]), path + "[*]", lenient=lenient)


def _enum_gaps(given: Schema, required: Schema, path: str) -> Iterator[Violation]:
    allowed = required.get("enum")
    if not isinstance(allowed, list):
        return
    possible = given.get("enum")
    if not isinstance(possible, list):
        yield Violation(path, f"must be one of {_choices(allowed)}, but may be any value")
        return
    keys = {canonical_json(value) for value in allowed}
    extra = [value for value in possible if canonical_json(value) not in keys]
    if extra:
        yield Violation(path, f"must be one of {_choices(allowed)}, but may be {_choices(extra)}")


def _property_gaps(given: Schema, required: Schema, path: str, *, lenient: bool) -> Iterator[Violation]:
    have, want = _members(given), _members(required)
    promised = _names(given)
    for name in _names(required):
        if name not in promised:
            yield Violation(member_path(path, name), "is required, but not promised")
    for name, inner in want.items():
        if name in have:
            yield from schema_gaps(_schema(have[name]), _schema(inner), member_path(path, name), lenient=lenient)
    if required.get("additionalProperties") is False:
        for name in have:
            if name not in want:
                yield Violation(member_path(path, name), "is present, but not allowed")
        if given.get("additionalProperties") is not False:
            yield Violation(path, "must have no additional properties, but may have some")


def types_of(schema: Schema) -> tuple[str, ...]:
    """Return the JSON types that a schema allows; all of them when it does not restrict them."""
    named = schema.get("type")
    if isinstance(named, str):
        return (named,)
    return tuple(str(name) for name in named) if isinstance(named, list) else tuple(t for t in TYPES if t != "integer")


def json_type(value: object) -> str:
    """Return the JSON name of a value's type: `a string`, `an object`, `null`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an object" if isinstance(value, dict) else "an array"


def member_path(path: str, member: str | int) -> str:
    """Return the JSON path of a member of the value at `path`."""
    if isinstance(member, int):
        return f"{path}[{member}]"
    return f"{path}.{member}" if _WORD.fullmatch(member) else f"{path}[{canonical_json(member)}]"


def _choices(values: Iterable[JsonValue]) -> str:
    return listed([clipped(canonical_json(value), 40) for value in values])


def _members(schema: Schema) -> dict[str, JsonValue]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _names(schema: Schema) -> list[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _schema(value: JsonValue) -> Schema:
    return value if isinstance(value, dict) else {}
