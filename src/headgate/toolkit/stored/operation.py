"""An operation: a typed async function on a `Visit`, its name, description, schemas and kind of effect."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast, get_type_hints

from pydantic import JsonValue, TypeAdapter, ValidationError

from headgate.features.access.permissions import Permission
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.graph.json_values import plain_json
from headgate.graph.names import did_you_mean
from headgate.toolkit.pages import offset_of, paged
from headgate.toolkit.schemas import plain, plain_answer
from headgate.toolkit.stored.visit import Visit
from headgate.toolkit.tool import Kind, Result, ToolDefinition, define

Function = Callable[..., Awaitable[Mapping[str, Any]]]
Call = Callable[[Visit, dict[str, Any]], Awaitable[Mapping[str, Any]]]
Row = tuple[Function, Permission, Kind]
"""A function, the required permission, and the kind of effect."""
__all__ = ["ANY_OBJECT", "BadArguments", "Operation", "OperationFailed", "Row", "error_answer", "operation", "plain"]
ANY_OBJECT: dict[str, Any] = {"type": "object"}


class OperationFailed(HeadgateError):
    """An operation was refused; `answer` is the result for the caller."""

    def __init__(self, answer: Mapping[str, JsonValue]) -> None:
        super().__init__(str(answer.get("error", "")), remedy=str(answer.get("remedy", "")))
        self.answer: Result = dict(answer)


class BadArguments(Invalid):
    """The arguments do not match the operation."""

    code = "bad_arguments"
    title = "Wrong arguments"


@dataclass(frozen=True)
class Operation:
    """The definition of an operation for clients, and its call. Its schemas are made when they are first read."""

    name: str
    description: str
    make_schema: Callable[[], dict[str, Any]]
    make_output: Callable[[], dict[str, Any]]
    permission: Permission
    """Required permission; for one of a space, in the space of the subject."""
    kind: Kind
    function: Call
    definition: ToolDefinition | None = None
    """Has the model of the arguments; None for a tool of the toolkit, which has its own."""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return self.make_schema()

    @cached_property
    def output(self) -> dict[str, Any]:
        """JSON Schema of the result."""
        return self.make_output()

    async def call(self, visit: Visit, arguments: dict[str, Any]) -> Result:
        """Execute it. Raises `OperationFailed` for everything that the caller can fix or must know."""
        try:
            visit.require(self.permission)
            _refuse_unstorable(self.name, arguments)
            return dict(await self.function(visit, arguments))
        except OperationFailed:
            raise
        except HeadgateError as error:
            raise OperationFailed(error_answer(error)) from error


def operation(function: Function, permission: Permission, kind: Kind = "read") -> Operation:
    """Make an operation from a function: clients read the docstring; `Args:` describes each argument."""
    definition = define(cast("Any", function), permission, kind=kind)

    async def call(visit: Visit, arguments: dict[str, Any]) -> Mapping[str, Any]:
        try:
            checked = definition.arguments.model_validate(arguments)
        except ValidationError as error:
            raise _bad_arguments(definition.name, error, list(definition.arguments.model_fields)) from error
        values = {name: getattr(checked, name) for name in definition.taken}
        answer = await function(visit, **values)
        if kind == "read" and not definition.pages:
            return answer
        return paged(answer, offset_of(arguments) if definition.pages else 0)

    return Operation(
        name=definition.name,
        description=definition.description,
        make_schema=lambda: definition.schema,
        make_output=lambda: plain_answer(TypeAdapter(get_type_hints(function)["return"]).json_schema()),
        permission=permission,
        kind=kind,
        function=call,
        definition=definition,
    )


def error_answer(error: HeadgateError) -> Result:
    """Return an error for the caller."""
    answer: Result = {"error": error.detail, "code": error.code}
    if error.remedy:
        answer["remedy"] = error.remedy
    return answer | {name: error.extra[name] for name in ("issues", "revision", "flows") if error.extra.get(name)}


def _refuse_unstorable(name: str, arguments: dict[str, Any]) -> None:
    """Raise `BadArguments` for what no database can store: NUL, lone surrogates, NaN, excessive nesting."""
    try:
        plain_json(arguments)
    except ValueError as error:
        raise BadArguments(f"{name}: {error}", remedy="Omit it.") from error


def _bad_arguments(name: str, error: ValidationError, known: list[str]) -> BadArguments:
    faults = []
    for item in error.errors(include_url=False, include_input=False):
        where = ".".join(str(part) for part in item["loc"])
        hint = did_you_mean(where, known) if item["type"] == "extra_forbidden" else ""
        faults.append(f"{where or name}: {item['msg']}{hint}")
    return BadArguments(f"{name}: {'; '.join(faults)}", remedy=f"Arguments: {', '.join(known) or 'none'}.")
