"""Sanitises the tool descriptions of servers: limited, cleaned, or skipped with the reason.

All of this is untrusted. Names are checked against the protocol's rule (SEP-986), text loses the characters that hide
instructions from users (control, bidirectional, tag and other invisible ones), schemas must be valid and small.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from headgate.foundation.quoting import shortened
from headgate.graph.names import clipped

MAX_DESCRIPTION = 4000
"""Maximum characters."""
MAX_SCHEMA_BYTES = 65_536
MAX_SCHEMA_DEPTH = 32
MAX_LEFT_OUT = 20
_NAME = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Described:
    """A tool as its server describes it, unchecked."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    read_only: bool = False
    """Whether the server declares that it is read-only."""


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A checked tool."""

    name: str
    description: str
    input_schema: dict[str, Any]
    read_only: bool = False

    @property
    def contract(self) -> dict[str, Any]:
        """The description that is pinned."""
        return contract_of(self.description, self.input_schema, read_only=self.read_only)


def contract_of(description: str, input_schema: Mapping[str, Any], *, read_only: bool) -> dict[str, Any]:
    """Return what a user accepts of a tool: everything that a model or a policy reads of it."""
    return {"description": description, "input_schema": dict(input_schema), "read_only": read_only}


@dataclass(frozen=True, slots=True)
class Discovery:
    """The tools of a server."""

    protocol: str
    server: str
    """The server's own name."""
    tools: tuple[FoundTool, ...]
    left_out: tuple[str, ...]
    """Skipped tools and reasons, one line each."""


def taken_tools(descriptions: Iterable[Described], *, limit: int) -> tuple[tuple[FoundTool, ...], tuple[str, ...]]:
    """Return the tools to store, up to the limit, and the skipped ones with reasons."""
    tools: dict[str, FoundTool] = {}
    left_out: list[str] = []
    excess = 0
    for described in descriptions:
        reason = _refusal(described, tools)
        if reason is not None:
            left_out.append(f"{clipped(clean(described.name), 80) or 'a tool without a name'}: {reason}")
        elif len(tools) >= limit:
            excess += 1
        else:
            schema = _clean_json(dict(described.input_schema))
            description = shortened(clean(described.description).strip(), MAX_DESCRIPTION)
            tools[described.name] = FoundTool(described.name, description, schema, described.read_only)
    if excess:
        left_out.append(f"{excess} more tools than the maximum of {limit} for each server")
    if len(left_out) > MAX_LEFT_OUT:
        left_out[MAX_LEFT_OUT:] = [f"and {len(left_out) - MAX_LEFT_OUT} more"]
    return tuple(tools.values()), tuple(left_out)


def clean(text: str) -> str:
    """Return the text without invisible characters; tabs and line breaks stay."""
    return "".join(
        character
        for character in text
        if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Co", "Cs", "Cn"}
    )


def _refusal(tool: Described, tools: Mapping[str, FoundTool]) -> str | None:
    if not _NAME.fullmatch(tool.name):
        return "its name must have at most 128 letters, digits, '.', '_' and '-'"
    if tool.name in tools:
        return "it is listed twice"
    if _depth(tool.input_schema) > MAX_SCHEMA_DEPTH:
        return f"its schema is nested more than {MAX_SCHEMA_DEPTH} levels deep"
    try:
        size = len(orjson.dumps(tool.input_schema))
    except (TypeError, ValueError):
        return "its schema is not JSON"
    if size > MAX_SCHEMA_BYTES:
        return f"its schema is larger than {MAX_SCHEMA_BYTES} bytes"
    if tool.input_schema.get("type") != "object":
        return "its arguments must be an object"
    fault = _schema_fault(dict(tool.input_schema))
    return f"its schema is not valid: {clipped(clean(fault), 200)}" if fault else None


def _schema_fault(schema: dict[str, Any]) -> str:
    """Return why it is not a JSON Schema; empty when it is one."""
    remote = next((ref for ref in _references(schema) if not ref.startswith("#")), None)
    if remote is not None:
        return f"it refers to the external schema {remote}"
    jsonschema = _jsonschema()
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        return str(error.message)
    return ""


def _references(value: object) -> list[str]:
    if isinstance(value, Mapping):
        own_references = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return [*own_references, *(ref for inner in value.values() for ref in _references(inner))]
    return [ref for inner in value for ref in _references(inner)] if isinstance(value, list) else []


def _jsonschema() -> Any:  # noqa: ANN401 - the module
    """Return the library, imported when a server's tools are first checked."""
    import jsonschema  # noqa: PLC0415

    return jsonschema


def _depth(value: object) -> int:
    """Return the nesting depth of a value, computed without recursion; counting stops above the limit."""
    level, layer = 0, [value]
    while layer and level <= MAX_SCHEMA_DEPTH:
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, Mapping) else outer if isinstance(outer, list) else ())
        ]
        level += 1
    return level


def _clean_json(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _clean_json(inner) for key, inner in value.items()}
    return [_clean_json(inner) for inner in value] if isinstance(value, list) else value
