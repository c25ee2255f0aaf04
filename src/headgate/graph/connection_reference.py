"""References to connections: a flow names a connection of its space, and contains neither its address nor its secrets.

In a saved flow a reference is the name, as text: `connection: crm`. At run time it is a `ConnectionReference`, which
only `typed_params` creates, from the saved flow, before any `{{...}}` is resolved. Pydantic does not create one from
text, so input from a visitor, a model, a file or an earlier step never selects a connection.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, JsonValue
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

if TYPE_CHECKING:  # `template` imports what `model` imports
    from headgate.graph.template import Template

CONNECTION_NAME_PATTERN = r"[a-z][a-z0-9_-]{0,63}"
EXPECTED_CONNECTION = "the name of a connection: lower-case letters, digits, - and _, starting with a letter"
_NAME = re.compile(CONNECTION_NAME_PATTERN, re.ASCII)


@dataclass(frozen=True, slots=True)
class ConnectionReference:
    """The name of a connection in a saved flow."""

    name: str
    kinds: tuple[str, ...] = ()
    """Kinds that the field takes; empty: any."""

    def __str__(self) -> str:
        return self.name

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Accept instances only: text is data."""
        return core_schema.no_info_plain_validator_function(_instance, serialization=core_schema.to_string_ser_schema())

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _schema: core_schema.CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The saved form."""
        return {"type": "string", "title": "Connection", "pattern": f"^{CONNECTION_NAME_PATTERN}$"}


def is_connection_name(name: str) -> bool:
    """Return whether a text can be the name of a connection."""
    return _NAME.fullmatch(name) is not None


def connections_of(params: Mapping[str, JsonValue], template: "Template") -> Iterator[tuple[str, ConnectionReference]]:
    """Yield field and reference of every connection that a node's saved params name."""
    for field in template.fields:
        value = params.get(field.name)
        if field.is_connection and isinstance(value, str) and is_connection_name(value.strip()):
            yield field.name, ConnectionReference(value.strip(), field.connection_kinds)


def _instance(value: object) -> ConnectionReference:
    if isinstance(value, ConnectionReference):
        return value
    raise PydanticCustomError("connection_reference", "a connection is named in the saved flow and nowhere else")
