"""A tool: a typed async function on a `Workbench`, its name, its description and the schema of its arguments."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, create_model

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.toolkit.workbench import Workbench

Result = dict[str, JsonValue]
ToolFunction = Callable[..., Awaitable[Result]]


class ToolRefused(Invalid):
    """A tool call cannot be carried out; says how to correct it."""

    code = "tool_refused"
    title = "Tool call refused"


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What a model or an MCP client sees of a tool, and how it is called."""

    name: str
    description: str
    arguments: type[BaseModel]
    function: ToolFunction
    permission: Permission
    """What its caller needs in the flow's space."""

    async def call(self, bench: Workbench, arguments: dict[str, Any]) -> Result:
        """Carry out a call. Never raises for what the caller did: the answer then says `error` and `remedy`."""
        try:
            if not bench.may(self.permission):
                raise PermissionMissing(self.permission)
            checked = self.arguments.model_validate(arguments)
            values = {name: getattr(checked, name) for name in self.arguments.model_fields}
            return await self.function(bench, **values)
        except ValidationError as error:
            return _refusal(self.name, error)
        except HeadgateError as error:
            return _as_answer(error)

    async def call_json(self, bench: Workbench, arguments: dict[str, Any]) -> str:
        """The same, as JSON text."""
        return orjson.dumps(await self.call(bench, arguments)).decode()


def define(function: ToolFunction, permission: Permission) -> ToolDefinition:
    """Make a tool of a function: the docstring is what the model reads; `Args:` describes each argument."""
    summary, described = _read_docstring(inspect.cleandoc(function.__doc__ or ""))
    hints = get_type_hints(function)
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        extra = {"default_factory": dict} if default == {} else {"default": default}
        fields[name] = (hints[name], Field(description=described.get(name, ""), **extra))
    name = getattr(function, "__name__", "tool")
    arguments = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    return ToolDefinition(name=name, description=summary, arguments=arguments, function=function, permission=permission)


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
