"""A server that answers the operations of a description with values of the described types."""

from collections.abc import Mapping
from typing import Any

from headgate.components.readers.api.description import Operation
from tests.support.scripted_server import Asked, Reply, ScriptedServer, json_reply

MOST_LEVELS = 6


class ApiServer(ScriptedServer):
    """Answers each request with a value of the operation's output."""

    def __init__(self, operation: Operation) -> None:
        super().__init__()
        self._output = operation.output
        self.script(self._answer)

    def _answer(self, _asked: Asked) -> Reply:
        return json_reply(example(self._output, self._output) if self._output else {})


def arguments_of(operation: Operation) -> dict[str, Any]:
    """Values of the required arguments."""
    value: dict[str, Any] = example(operation.input, operation.input)
    return value


def example(schema: Any, root: Any, level: int = 0) -> Any:
    """A value of a schema, with what is required only."""
    if "$ref" in schema:
        return example(root["$defs"][schema["$ref"].rpartition("/")[2]], root, level + 1)
    if schema.get("enum"):
        return schema["enum"][0]
    for part in (schema.get("anyOf") or schema.get("allOf") or [])[:1]:
        return example(part, root, level + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    return _of_kind(kind, schema, root, level)


def _of_kind(kind: str, schema: Mapping[str, Any], root: Any, level: int) -> Any:
    if kind == "object":
        members = schema.get("properties", {})
        made = {name: example(members.get(name, {}), root, level + 1) for name in schema.get("required", [])}
        more = schema.get("additionalProperties")
        if schema.get("minProperties", 0) > len(made) and isinstance(more, dict):
            made["another"] = example(more, root, level + 1)
        return made
    if kind == "array":
        return [example(schema.get("items", {}), root, level + 1)] if level < MOST_LEVELS else []
    number = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
    text = str(schema.get("default", "value")).ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength", 1_000)]
    return {"integer": int(number), "number": number, "boolean": True, "null": None}.get(kind, text)
