"""A tool: a typed async function on a `Workbench`, its name, its description and the schema of its arguments."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_type_hints

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError, create_model

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.foundation.log import get_logger
from headgate.sdk.outside import Marks
from headgate.toolkit.cache import call_key
from headgate.toolkit.schemas import plain
from headgate.toolkit.shown import masked, secrets_of
from headgate.toolkit.workbench import Workbench

log = get_logger(__name__)
Result = dict[str, JsonValue]
Kind = Literal["read", "add", "set", "remove", "run"]
"""What a tool does: reads; adds something new; sets to a value, so that twice is once; removes or replaces; runs."""
Subject = Literal["flow", "user"]
"""What a tool is about: the flow that it is called on, or the user (the catalogue and files included)."""
Means = Literal["files", "maker", "stored"]
ToolFunction = Callable[..., Awaitable[Result]]


class ToolRefused(Invalid):
    """A tool call cannot be carried out; says how to correct it."""

    code = "tool_refused"
    title = "Tool call refused"


def _read_object(value: object) -> object:
    """An object that a model wrote as JSON text, read; all else as it is. Raises `ValueError` saying what is wrong."""
    if not isinstance(value, str):
        return value
    try:
        found = orjson.loads(value or "{}")
    except orjson.JSONDecodeError as error:
        shape = 'Write an object such as {"field": "value"}'
        raise ValueError(
            f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}. {shape}"
        ) from error
    if not isinstance(found, dict):
        raise ValueError(f"expected a JSON object, got {type(found).__name__}")  # noqa: TRY004 - pydantic reads ValueError
    return found


Params = Annotated[dict[str, JsonValue], BeforeValidator(_read_object)]
"""Field name to value; JSON text is read too."""


Revision = Annotated[int, Field(ge=0)]
"""A revision of a flow; 0 for none."""


def _as_json(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, when they can be written as JSON again. Raises `ToolRefused`: half characters, endless numbers."""
    try:
        orjson.dumps(arguments)
    except TypeError as error:
        raise ToolRefused(f"The arguments are not valid JSON: {error}.", remedy="Write them again, plainly.") from error
    return arguments


def succeeded(answer: Result) -> bool:
    """Whether a tool did what it was asked; the file tools say it by having no `error` (seed 003)."""
    return bool(answer.get("ok", "error" not in answer))


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What a model or an MCP client sees of a tool, and how it is called."""

    name: str
    description: str
    arguments: type[BaseModel]
    schema: dict[str, Any]
    """JSON Schema of the arguments."""
    function: ToolFunction
    permission: Permission
    """What its caller needs in the flow's space."""
    kind: Kind = "read"
    about: Subject = "flow"
    uses: Means | None = None
    """What the bench must have for it."""
    cached: bool = False
    """Whether it reads only what no edit changes, so that an answer holds for the request (`cache.ReadCache`)."""
    replayed: bool = True
    """Whether the same call again, nothing changed between, is answered with the first answer."""
    touches: bool = False
    """Whether it changes something beside the flow that other tools read: files."""
    waits: bool = False
    """Whether it refuses while a proposed plan or component waits for a user."""

    def is_equipped(self, bench: Workbench) -> bool:
        """Whether the bench has what the tool works with."""
        return self.uses is None or getattr(bench, self.uses) is not None

    async def call(self, bench: Workbench, arguments: dict[str, Any]) -> Result:
        """Carry out a call. Never raises for what the caller did: the answer then says `error` and `remedy`.

        Whatever a tool answers, no secret of the flow is in it, neither of the flow before the call nor after it.
        Files are the caller's own and come as they are.
        """
        before = bench.flow
        answer = await self._called(bench, arguments)
        bench.outside.add(self.brought(bench, arguments, answer), before)
        if self.uses == "files":
            return answer
        told: Result = masked(answer, secrets_of(bench.registry, before, bench.flow))
        return told

    def brought(self, bench: Workbench, arguments: dict[str, Any], answer: Result) -> Marks:
        """Where the content of an answer comes from that is from outside."""
        return bench.outside.brought(self.name, arguments, answer, bench.registry, bench.opened)

    async def _called(self, bench: Workbench, arguments: dict[str, Any]) -> Result:
        try:
            if not bench.may(self.permission):
                raise PermissionMissing(self.permission)
            if self.waits and bench.waiting:
                raise ToolRefused(
                    f"The {bench.waiting} you proposed waits for the user.", remedy="Stop here and end your turn."
                )
            checked = self.arguments.model_validate(_as_json(arguments))
            self._require_decided_inside(bench)
        except ValidationError as error:
            return _refusal(self.name, error)
        except HeadgateError as error:
            return _as_answer(error)
        values = {name: getattr(checked, name) for name in self.arguments.model_fields}
        return await self._answer(bench, values)

    def _require_decided_inside(self, bench: Workbench) -> None:
        """Raise `OutsideContentRefused` where content from outside may have decided a call with effects outside."""
        try:
            bench.outside.require(self.name, reads=self.kind == "read", flow=bench.flow, registry=bench.registry)
        except HeadgateError as error:
            if self.kind == "run":
                bench.not_run = error.detail
            raise

    async def _answer(self, bench: Workbench, values: dict[str, Any]) -> Result:
        """The answer from memory where the call repeats one, else a new one."""
        key, before = call_key(self.name, values), bench.state
        earlier = bench.calls.look(key, before, bench.flow, replay=self.replayed and not self.cached)
        if earlier is not None:
            return earlier
        if self.cached:
            answer = await bench.reads.answer(
                key, lambda: self._carried_out(bench, values), bench.watch, catalogue=bench.registry
            )
        else:
            answer = await self._carried_out(bench, values)
        bench.calls.keep(key, before, bench.state, answer)
        return answer

    async def _carried_out(self, bench: Workbench, values: dict[str, Any]) -> Result:
        try:
            answer = await self.function(bench, **values)
        except HeadgateError as error:
            return _as_answer(error)
        except Exception:
            log.exception("tool failed", tool=self.name)  # a mistake of ours: nobody's model or provider is to blame
            fault = HeadgateError(
                f"Headgate failed in {self.name}; its log says why.", remedy="Go on without this call."
            )
            return _as_answer(fault)
        if self.touches and succeeded(answer):
            bench.touch()
        return answer


def define(
    function: ToolFunction,
    permission: Permission,
    *,
    kind: Kind = "read",
    about: Subject = "flow",
    uses: Means | None = None,
    cached: bool = False,
    replayed: bool = True,
    touches: bool = False,
    waits: bool = False,
) -> ToolDefinition:
    """Make a tool of a function: the docstring is what the model reads; `Args:` describes each argument."""
    summary, described = _read_docstring(inspect.cleandoc(function.__doc__ or ""))
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        extra = {"default_factory": dict} if default == {} else {"default": default}
        fields[name] = (hints[name], Field(description=described.get(name, ""), **extra))
    name = getattr(function, "__name__", "tool")
    arguments = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    return ToolDefinition(
        name=name,
        description=summary,
        arguments=arguments,
        schema=plain(arguments.model_json_schema()),
        function=function,
        permission=permission,
        kind=kind,
        about=about,
        uses=uses,
        cached=cached,
        replayed=replayed,
        touches=touches,
        waits=waits,
    )


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    summary, _, rest = text.partition("\n\nArgs:\n")
    described: dict[str, str] = {}
    name = ""
    for line in rest.splitlines():
        stripped = line.strip()
        head, colon, tail = stripped.partition(": ")
        if colon and head.isidentifier() and line.startswith("    ") and not line.startswith("     "):
            name = head
            described[name] = tail
        elif name:
            described[name] += f" {stripped}"
    return summary.strip(), described


def _refusal(tool: str, error: ValidationError) -> Result:
    faults = [
        f"{'.'.join(str(part) for part in item['loc']) or tool}: {item['msg']}"
        for item in error.errors(include_url=False)
    ]
    return {"ok": False, "error": f"{tool}: " + "; ".join(faults), "remedy": "Correct the arguments and call again."}


def _as_answer(error: HeadgateError) -> Result:
    answer: Result = {"ok": False, "error": error.detail, "remedy": error.remedy, "code": error.code}
    issues = error.extra.get("issues")
    if issues:
        answer["issues"] = issues
    return answer
