"""What a server says about its tools, made fit to keep: bounded, cleaned, or left out with the reason.

Everything here is the word of somebody else. Names are checked against the protocol's own rule (SEP-986), text loses
the characters that hide instructions from people (control, bidirectional, tag and other invisible ones), schemas must
be schemas and small.
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
"""Characters."""
MAX_SCHEMA_BYTES = 65_536
MAX_SCHEMA_DEPTH = 32
MAX_LEFT_OUT = 20
_NAME = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Described:
    """A tool as its server describes it, not yet looked at."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    read_only: bool = False
    """Whether the server says that it changes nothing."""


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool fit to keep."""

    name: str
    description: str
    input_schema: dict[str, Any]
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a server offers."""

    protocol: str
    server: str
    """The name it gives itself."""
    tools: tuple[FoundTool, ...]
    left_out: tuple[str, ...]
    """What was listed and is not kept, and why; a line each."""


def taken_tools(listed: Iterable[Described], *, most: int) -> tuple[tuple[FoundTool, ...], tuple[str, ...]]:
    """The tools to keep, at most that many, and what was left out with the reason."""
    found: dict[str, FoundTool] = {}
    left_out: list[str] = []
    over = 0
    for one in listed:
        reason = _refusal(one, found)
        if reason is not None:
            left_out.append(f"{clipped(clean(one.name), 80) or 'a tool without a name'}: {reason}")
        elif len(found) >= most:
            over += 1
        else:
            schema = _clean_json(dict(one.input_schema))
            description = shortened(clean(one.description).strip(), MAX_DESCRIPTION)
            found[one.name] = FoundTool(one.name, description, schema, one.read_only)
    if over:
        left_out.append(f"{over} more tools than the {most} that are kept of one server")
    if len(left_out) > MAX_LEFT_OUT:
        left_out[MAX_LEFT_OUT:] = [f"and {len(left_out) - MAX_LEFT_OUT} more"]
    return tuple(found.values()), tuple(left_out)


def clean(text: str) -> str:
    """The text without characters that people do not see; tabs and line breaks stay."""
    return "".join(
        one for one in text if one in "\n\t" or unicodedata.category(one) not in {"Cc", "Cf", "Co", "Cs", "Cn"}
    )


def _refusal(tool: Described, found: Mapping[str, FoundTool]) -> str | None:
    if not _NAME.fullmatch(tool.name):
        return "its name is not up to 128 letters, digits, '.', '_' and '-'"
    if tool.name in found:
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
        return "its arguments are not an object"
    fault = _schema_fault(dict(tool.input_schema))
    return f"its schema is wrong: {clipped(clean(fault), 200)}" if fault else None


def _schema_fault(schema: dict[str, Any]) -> str:
    """Why it is no JSON Schema; empty when it is one."""
    remote = next((ref for ref in _references(schema) if not ref.startswith("#")), None)
    if remote is not None:
        return f"it refers to {remote}, outside itself"
    jsonschema = _jsonschema()
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        return str(error.message)
    return ""


def _references(value: object) -> list[str]:
    if isinstance(value, Mapping):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return [*own, *(ref for inner in value.values() for ref in _references(inner))]
    return [ref for inner in value for ref in _references(inner)] if isinstance(value, list) else []


def _jsonschema() -> Any:  # noqa: ANN401 - the module
    """The library, imported when a server's tools are first looked at."""
    import jsonschema  # noqa: PLC0415

    return jsonschema


def _depth(value: object) -> int:
    """How deep a value is nested, told without recursion; counting stops behind what is allowed."""
    level, layer = 0, [value]
    while layer and level <= MAX_SCHEMA_DEPTH:
        layer = [
            inner
            for one in layer
            for inner in (one.values() if isinstance(one, Mapping) else one if isinstance(one, list) else ())
        ]
        level += 1
    return level


def _clean_json(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _clean_json(inner) for key, inner in value.items()}
    return [_clean_json(inner) for inner in value] if isinstance(value, list) else value
