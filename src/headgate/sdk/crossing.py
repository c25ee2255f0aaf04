"""Values of a component's fields as they cross into the sandbox: JSON that says which of them are port values.

Text, numbers, lists and objects travel as `{"json": ...}`, messages, tables and files as `{"port": "Table", "value":
...}`, lists of those as `{"items": [...]}`. Read back, each is what it was: a table in a field that takes data or a
table stays one.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import JsonValue

from headgate.graph.ports import PortType
from headgate.sdk.coerce import ValueMismatch, decode, encode
from headgate.sdk.values import File, Message, Model, Table

DESCRIBE: Final = "headgate.sdk.hosting:describe"
PRODUCE: Final = "headgate.sdk.hosting:produce"
"""What is called on the other side, as `CodeRunner.call_host` takes it."""

_PORTS: dict[type, PortType] = {
    Message: PortType.MESSAGE,
    Table: PortType.TABLE,
    File: PortType.FILE,
    Model: PortType.MODEL,
}
_NAMES = frozenset(port.value for port in PortType)


def pack(value: object) -> JsonValue:
    """A field's value as it crosses. Raises `ValueMismatch` for what JSON does not have."""
    port = _PORTS.get(type(value))
    if port is not None:
        return {"port": port.value, "value": encode(value, port)}
    if isinstance(value, list | tuple) and any(type(item) in _PORTS for item in value):
        return {"items": [pack(item) for item in value]}
    return {"json": encode(value, PortType.DATA)}


def unpack(packed: JsonValue) -> Any:  # noqa: ANN401 - what it was
    """The value that `pack` made this of. Raises `ValueMismatch`."""
    match packed:
        case {"json": value}:
            return value
        case {"items": list(items)}:
            return [unpack(item) for item in items]
        case {"port": str(port), "value": value} if port in _NAMES:
            return decode(value, PortType(port))
    raise ValueMismatch("A value did not arrive as it was sent.")


def unpack_all(packed: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Every value by its name."""
    return {name: unpack(value) for name, value in packed.items()}
