"""The form in which every description of an API is read, and its limits. Everything in it is content from outside."""

import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from pydantic import JsonValue

from headgate.components.readers.document import Unreadable
from headgate.foundation.quoting import shortened
from headgate.graph.names import clipped

MOST_BYTES: Final = 25_000_000
"""Of a document."""
MOST_OPERATIONS: Final = 5_000
MOST_NOTES: Final = 50
LONGEST_KEY: Final = 500
"""Characters of a method and a path."""
LONGEST_SUMMARY: Final = 300
LONGEST_DESCRIPTION: Final = 2_000
SCHEMA_BYTES: Final = 32_000
"""Of one schema of an operation; what does not fit is open."""
ALL_BYTES: Final = 24_000_000
"""Of the schemas of all operations."""
METHODS: Final = ("get", "post", "put", "patch", "delete", "head", "options")
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
Location = Literal["path", "query", "header", "cookie"]
Style = Literal["simple", "form", "space", "pipe", "deep", "json"]


class Unusable(Exception):
    """Part of a description that cannot be used: the operation is skipped with this reason."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation."""

    argument: str
    """Name of the argument that fills it."""
    name: str
    location: Location
    style: Style = "form"
    explode: bool = True
    """Whether each item of a list is sent as a separate parameter."""


@dataclass(frozen=True, slots=True)
class Body:
    """The body of an operation."""

    argument: str
    media_type: str
    deep: tuple[str, ...] = ()
    """Members of a form that are sent as `name[key]=value`."""
    files: tuple[str, ...] = ()
    """Members that are stored files, or text; `""`: the body itself."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. Its key is the method and the path: `GET /users/{id}`."""

    key: str
    id: str
    """As the description names it; empty without one."""
    summary: str
    description: str
    tags: tuple[str, ...]
    deprecated: bool
    server: str
    """Address that replaces that of the connection; empty for none."""
    parameters: tuple[Parameter, ...]
    body: Body | None
    input: dict[str, JsonValue]
    """JSON Schema of the arguments: an object."""
    output: dict[str, JsonValue] | None
    """JSON Schema of a successful response."""
    paging: dict[str, JsonValue] | None = None
    """How the next page is found: values of the paging fields of `ApiCall`."""

    @property
    def method(self) -> str:
        """Return the method in upper case."""
        return self.key.partition(" ")[0]

    @property
    def path(self) -> str:
        """Return the path with its placeholders."""
        return self.key.partition(" ")[2]


@dataclass(frozen=True, slots=True)
class Authentication:
    """How the API wants requests to be authenticated: a kind of connections, and values of its fields."""

    kind: str = "public_api"
    fields: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ApiDescription:
    """A description of an API."""

    format: str
    """As it calls itself: `OpenAPI 3.1.0`."""
    title: str
    version: str
    server: str
    """Address of the API; empty when the description has none."""
    authentication: Authentication
    operations: tuple[Operation, ...]
    skipped: tuple[str, ...] = ()
    """Operations that cannot be used, with the reason, one line each."""
    skipped_count: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def operation_of(members: Mapping[str, Any]) -> Operation:
    """Return an operation from its JSON."""
    body = members.get("body")
    return Operation(
        **{
            **members,
            "tags": tuple(members["tags"]),
            "parameters": tuple(Parameter(**parameter) for parameter in members["parameters"]),
            "body": None if body is None else _body_of(body),
        }
    )


def contract_of(operation: Operation) -> dict[str, Any]:
    """Return the JSON of an operation that is pinned; empty members that are newer than pins are omitted."""
    members = asdict(operation)
    if members["body"] is not None and not members["body"]["files"]:
        del members["body"]["files"]
    return members


def _body_of(members: Mapping[str, Any]) -> Body:
    return Body(**{**members, "deep": tuple(members["deep"]), "files": tuple(members.get("files", ()))})


def description_of(members: Mapping[str, Any]) -> ApiDescription:
    """Return a description from its JSON."""
    return ApiDescription(
        **{
            **members,
            "authentication": Authentication(**members["authentication"]),
            "operations": tuple(operation_of(operation) for operation in members["operations"]),
            "skipped": tuple(members["skipped"]),
        }
    )


def unreadable(reason: str, remedy: str = "Check that it is a complete description of an API.") -> Unreadable:
    """Return the error of a document that cannot be used at all."""
    return Unreadable(f"The description of the API cannot be read: {clipped(reason, 300)}.", remedy=remedy)


def plain(value: object, longest: int) -> str:
    """Return text from outside, on one line or several, without invisible characters and not too long."""
    if not isinstance(value, str | int | float):
        return ""
    text = "".join(
        character
        for character in str(value)[: longest * 2]
        if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Co", "Cs", "Cn"}
    )
    return shortened(text.strip(), longest)
