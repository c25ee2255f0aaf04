"""Field values as JSON on their way into the sandbox, marked as port values where needed.

Text, numbers, lists and objects are sent as `{"json": ...}`, messages, tables and files as `{"port": "Table", "value":
...}`, lists of those as `{"items": [...]}`. Parsing restores the original type: a table in a field that accepts data or
a table stays a table.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import JsonValue

from headgate.graph.ports import PortType
from headgate.sdk.coerce import ValueMismatch, decode, encode
from headgate.sdk.values import File, Message, Model, Table

DESCRIBE: Final = "headgate.sdk.hosting:describe"
PRODUCE: Final = "headgate.sdk.hosting:produce"
"""The trusted functions in the sandbox, as `CodeRunner.call_host` expects them."""

_PORTS: dict[type, PortType] = {
    Message: PortType.MESSAGE,
    Table: PortType.TABLE,
    File: PortType.FILE,
    Model: PortType.MODEL,
}
_NAMES = frozenset(port.value for port in PortType)


def pack(value: object) -> JsonValue:
    """Return a field's value in its transport form. Raises `ValueMismatch` for values that are not JSON."""
    port = _PORTS.get(type(value))
    if port is not None:
        return {"port": port.value, "value": encode(value, port)}
    if isinstance(value, list | tuple) and any(type(item) in _PORTS for item in value):
        return {"items": [pack(item) for item in value]}
    return {"json": encode(value, PortType.DATA)}


def unpack(packed: JsonValue) -> Any:  # noqa: ANN401 - what it was
    """Return the value of a transport form of `pack`. Raises `ValueMismatch`."""
    match packed:
        case {"json": value}:
            return value
        case {"items": list(items)}:
            return [unpack(item) for item in items]
        case {"port": str(port), "value": value} if port in _NAMES:
            return decode(value, PortType(port))
    raise ValueMismatch("A value was changed in transfer.")


def unpack_all(packed: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Return all values by name."""
    return {name: unpack(value) for name, value in packed.items()}
