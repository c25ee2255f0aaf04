"""A tool: a typed async function on a `Workbench`, its name, description and argument schema."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, Literal, get_type_hints

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError, create_model

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.foundation.log import get_logger
from headgate.sdk.outside import Marks
from headgate.toolkit.cache import call_key
from headgate.toolkit.pages import CURSORS, OFFSET, offset_of, paged
from headgate.toolkit.schemas import plain
from headgate.toolkit.shown import masked, secrets_of
from headgate.toolkit.workbench import Workbench

log = get_logger(__name__)
MOST_ISSUES = 5
"""New issues of the flow in the result of an edit; `describe_flow_io` lists all."""
Result = dict[str, JsonValue]
Kind = Literal["read", "add", "set", "remove", "run"]
"""Effect of a tool: reads; adds; sets a value (idempotent); removes or replaces; runs."""
Subject = Literal["flow", "user"]
"""Subject of a tool: the flow that it is called on, or the user (including catalog and files)."""
Means = Literal["files", "maker", "stored"]
ToolFunction = Callable[..., Awaitable[Result]]


class ToolRefused(Invalid):
    """A tool call cannot be executed; contains the correction."""

    code = "tool_refused"
    title = "Tool call refused"


def _read_object(value: object) -> object:
    """Parse an object that a model wrote as JSON text; return all else unchanged. Raises `ValueError`."""
    if not isinstance(value, str):
        return value
    try:
        parsed = orjson.loads(value or "{}")
    except orjson.JSONDecodeError as error:
        shape = 'Write an object such as {"field": "value"}'
        raise ValueError(
            f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}. {shape}"
        ) from error
    if not isinstance(parsed, dict):
        raise ValueError(f"expected a JSON object, got {type(parsed).__name__}")  # noqa: TRY004 - pydantic reads ValueError
    return parsed


Params = Annotated[dict[str, JsonValue], BeforeValidator(_read_object)]
"""Field name to value; JSON text is accepted too."""


Revision = Annotated[int, Field(ge=0)]
"""A revision of a flow; 0 for none."""


def _as_json(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments if they are valid JSON. Raises `ToolRefused`: lone surrogates, infinite numbers."""
    try:
        orjson.dumps(arguments)
    except TypeError as error:
        raise ToolRefused(
            f"The arguments are not valid JSON: {error}.", remedy=("Write them again as plain JSON.")
        ) from error
    return arguments


def succeeded(answer: Result) -> bool:
    """Whether a tool succeeded; file tools indicate it by having no `error` (seed 003)."""
    return bool(answer.get("ok", "error" not in answer))


@dataclass(frozen=True)
class ToolDefinition:
    """The definition of a tool for a model or an MCP client, and its call.

    The model and schema of its arguments are made when they are first read: most processes call few tools.
    """

    name: str
    description: str
    make_arguments: Callable[[], type[BaseModel]]
    function: ToolFunction
    permission: Permission
    """Required permission in the flow's space."""
    kind: Kind = "read"
    about: Subject = "flow"
    uses: Means | None = None
    """Required resource of the bench."""
    pages: bool = False
    """Whether it takes `offset` and its answers are paged here; others page their answers themselves."""
    cached: bool = False
    """Whether it only reads what no edit changes, so that a result is valid for the request (`cache.ReadCache`)."""
    replayed: bool = True
    """Whether a repeated call without changes in between returns the first result."""
    touches: bool = False
    """Whether it changes something other than the flow that other tools read: files."""
    waits: bool = False
    """Whether it refuses while a proposed plan or component waits for a user."""

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """Model of the arguments."""
        return self.make_arguments()

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return plain(self.arguments.model_json_schema())

    @property
    def taken(self) -> frozenset[str]:
        """The arguments that its function takes."""
        return frozenset(self.arguments.model_fields) - ({OFFSET} if self.pages else set())

    def is_equipped(self, bench: Workbench) -> bool:
        """Whether the bench has the required resource."""
        return self.uses is None or getattr(bench, self.uses) is not None

    async def call(self, bench: Workbench, arguments: dict[str, Any]) -> Result:
        """Execute a call. Never raises for errors of the caller: the result then contains `error` and `remedy`.

        Results contain no secret of the flow, before or after the call. Files are the caller's own and are returned
        unchanged.
        """
        before = bench.flow
        answer = await self._called(bench, arguments)
        bench.outside.add(self.brought(bench, arguments, answer), before)
        if self.uses != "files":
            answer = masked(answer, secrets_of(bench.registry, before, bench.flow))
        if self.kind == "read" and not self.pages:
            return answer
        return paged(answer, offset_of(arguments) if self.pages else 0)

    def brought(self, bench: Workbench, arguments: dict[str, Any], answer: Result) -> Marks:
        """Return the origins of untrusted content in a result."""
        return bench.outside.brought(self.name, arguments, answer, bench.registry, bench.opened)

    async def _called(self, bench: Workbench, arguments: dict[str, Any]) -> Result:
        try:
            if not bench.may(self.permission):
                raise PermissionMissing(self.permission)
            if self.waits and bench.waiting:
                raise ToolRefused(
                    f"The {bench.waiting} you proposed is waiting for the user.", remedy="Stop here and end your turn."
                )
            checked = self.arguments.model_validate(_as_json(arguments))
            self._require_decided_inside(bench)
        except ValidationError as error:
            return _refusal(self.name, error)
        except HeadgateError as error:
            return _as_answer(error)
        values = {name: getattr(checked, name) for name in self.arguments.model_fields if name in self.taken}
        return await self._answer(bench, values)

    def _require_decided_inside(self, bench: Workbench) -> None:
        """Raise `OutsideContentRefused` if untrusted content may have determined a call with external effects."""
        try:
            bench.outside.require(self.name, reads=self.kind == "read", flow=bench.flow, registry=bench.registry)
        except HeadgateError as error:
            if self.kind == "run":
                bench.not_run = error.detail
            raise

    async def _answer(self, bench: Workbench, values: dict[str, Any]) -> Result:
        """Return the stored result of a repeated call, or a new one."""
        key, before = call_key(self.name, values), bench.state
        earlier = bench.calls.look(key, before, bench.flow, replay=self.replayed and not self.cached)
        if earlier is not None:
            return earlier
        if self.cached:
            answer = await bench.reads.answer(
                key, lambda: self._execute(bench, values), bench.watch, catalogue=bench.registry
            )
        else:
            answer = await self._execute(bench, values)
        bench.calls.keep(key, before, bench.state, answer)
        return answer

    async def _execute(self, bench: Workbench, values: dict[str, Any]) -> Result:
        before = bench.flow
        try:
            answer = await self.function(bench, **values)
        except HeadgateError as error:
            return _as_answer(error)
        except Exception:
            log.exception("tool failed", tool=self.name)  # a bug of Headgate, not of the model or its provider
            fault = HeadgateError(
                f"Internal error in {self.name}; see the server log.", remedy="Continue without this call."
            )
            return _as_answer(fault)
        if self.touches and succeeded(answer):
            bench.touch()
        issues = bench.issues_since(before) if bench.flow is not before and succeeded(answer) else []
        return answer | ({"issues": [issue.as_json() for issue in issues[:MOST_ISSUES]]} if issues else {})


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
    """Make a tool from a function: the model reads the docstring; `Args:` describes each argument."""
    summary, described = _read_docstring(inspect.cleandoc(function.__doc__ or ""))
    pages = kind == "read" and not CURSORS & inspect.signature(function).parameters.keys()
    return ToolDefinition(
        name=function.__name__,
        description=summary,
        make_arguments=partial(_arguments, function, described, pages=pages),
        function=function,
        permission=permission,
        kind=kind,
        about=about,
        uses=uses,
        pages=pages,
        cached=cached,
        replayed=replayed,
        touches=touches,
        waits=waits,
    )


def _arguments(function: ToolFunction, described: Mapping[str, str], *, pages: bool) -> type[BaseModel]:
    """Return the model of all parameters but the first, and of the page if answers are paged here."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        extra = {"default_factory": dict} if default == {} else {"default": default}
        fields[name] = (hints[name], Field(description=described.get(name, ""), **extra))
    if pages:
        fields[OFFSET] = (int, 0)
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


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
