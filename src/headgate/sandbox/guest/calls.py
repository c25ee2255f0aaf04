"""Executes calls: of the user's code, or of a trusted function that receives the user's code as a module."""

import asyncio
import builtins
import inspect
import json
import re
import traceback
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any

CODE_NAME = "<code>"
"""File name of the user's code in tracebacks."""
MESSAGE_CHARACTERS = 2000
FRAMES = 20
ENVELOPE_BYTES = 64
MANY_DIGITS = re.compile(rb"\d{19}")

_runners: list[asyncio.Runner] = []
"""The event loop of the last call, reused for the next: creating one takes longer than most calls."""

HostFunction = Callable[[types.ModuleType, dict[str, Any]], Any]
"""A trusted function of Headgate for the loaded code: `host(module, arguments)` returns JSON."""


class Refused(Exception):
    """The worker rejects the user's code or its result."""


def answer(
    module: types.ModuleType, request: dict[str, Any], limit: int, hosts: Mapping[str, HostFunction] | None = None
) -> bytes:
    """Execute a request and return its outcome: `{"id", "value"}` or `{"id", "failure"}`.

    A request is `{"id", "function" or "host", "arguments", "code"?, "imports"?}`. The first request contains `code`,
    which stays loaded. For a result over `limit` bytes, the outcome is `{"id", "too_big"}`.

    Args:
        module: The module of the code.
        request: The call.
        limit: Maximum size of the result, in bytes.
        hosts: The trusted functions, by name.
    """
    function = None
    try:
        if "code" in request:
            load(module, request["code"], request.get("imports"))
        if "host" in request:
            encoded = _encode(_awaited(_host(hosts or {}, request["host"])(module, request["arguments"])))
        else:
            function = _find(module, request["function"])
            encoded = _encode(_awaited(function(**request["arguments"])))
        if len(encoded) > limit - ENVELOPE_BYTES:
            return json.dumps({"id": request["id"], "too_big": len(encoded)}).encode()
    except BaseException as error:  # noqa: BLE001 - exits and interrupts of the user's code are failures as well
        return json.dumps({"id": request["id"], "failure": describe(error, function)}).encode()
    return b'{"id":%d,"value":%b}' % (request["id"], encoded)


def load(module: types.ModuleType, code: str, imports: Collection[str] | None) -> None:
    """Execute the code as the module's body; with `imports`, only those top-level modules can be imported.

    The code gets separate built-ins, so its imports may import anything.
    """
    if imports is not None:
        vars(module)["__builtins__"] = vars(builtins) | {"__import__": _importing(frozenset(imports))}
    exec(compile(code, CODE_NAME, "exec"), vars(module))  # noqa: S102 - what this process is for


def _importing(allowed: frozenset[str]) -> Callable[..., types.ModuleType]:
    real = builtins.__import__

    def import_declared(name: str, *positional: Any, **keywords: Any) -> types.ModuleType:  # noqa: ANN401 - as the built-in
        if name.partition(".")[0] not in allowed:
            raise UndeclaredImport(f"'{name}' cannot be imported: the code's manifest does not declare it")
        return real(name, *positional, **keywords)

    return import_declared


class UndeclaredImport(ImportError):
    """Custom code imports a module that its manifest does not declare."""


def _host(hosts: Mapping[str, HostFunction], name: str) -> HostFunction:
    if name not in hosts:
        raise Refused(f"there is no host function '{name}'")
    return hosts[name]


def _find(module: types.ModuleType, name: str) -> Callable[..., Any]:
    function: Callable[..., Any] | None = vars(module).get(name)
    if not callable(function):
        raise Refused(f"the code defines no function '{name}'")
    return function


def _awaited(result: Any) -> Any:  # noqa: ANN401 - the user's own types
    if not inspect.isawaitable(result):
        return result
    runner = _runners.pop() if _runners else asyncio.Runner()
    try:
        value = runner.get_loop().run_until_complete(_await(result))  # without the runner's signal handling
    except BaseException:
        runner.close()
        raise
    loop = runner.get_loop()
    if asyncio.all_tasks(loop) or vars(loop).get("_scheduled", True) or vars(loop).get("_ready", True):
        runner.close()  # ends everything that a call left running or scheduled
    else:
        _runners.append(runner)
    return value


async def _await(result: Any) -> Any:  # noqa: ANN401
    return await result


def _encode(result: Any) -> bytes:  # noqa: ANN401
    try:
        encoded = json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise Refused("the result contains text that is not valid Unicode") from None
    except RecursionError:
        raise Refused("the result is nested too deeply, or contains itself") from None
    except (TypeError, ValueError) as error:
        raise Refused(f"the result is not JSON: {error}") from None
    if MANY_DIGITS.search(encoded):
        _refuse_long_integers(result)
    return encoded


def _refuse_long_integers(result: Any) -> None:  # noqa: ANN401
    """Reject integers beyond 64 bits, which JSON readers would silently convert to inexact numbers."""
    pending = [result]
    while pending:
        value = pending.pop()
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise Refused(f"the result contains the integer {str(value)[:40]}, beyond 64 bits; return it as text")
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list | tuple):
            pending.extend(value)


def describe(error: BaseException, function: object) -> dict[str, Any]:
    """Return the error in terms of the user's code: `{"exception", "message", "remedy"?, "line", "frames"}`.

    Each frame is `[line, name]`.
    """
    frames = [
        [line, frame.f_code.co_name]
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == CODE_NAME
    ]
    line = frames[-1][0] if frames else None
    if isinstance(error, SyntaxError) and error.filename == CODE_NAME:
        line = error.lineno
    elif line is None and inspect.isfunction(function):
        line = function.__code__.co_firstlineno
    return {
        "exception": "" if isinstance(error, Refused) else type(error).__name__,
        **_error_text(error),
        "line": line,
        "frames": frames[-FRAMES:],
    }


def _error_text(error: BaseException) -> dict[str, str]:
    """Return the message and, for errors of Headgate, the remedy."""
    try:
        match vars(error):
            case {"detail": str(detail), "remedy": str(remedy)}:
                return {"message": _cut(detail), "remedy": _cut(remedy)}
        return {"message": _cut(str(error))}
    except BaseException:  # noqa: BLE001 - an exception's __str__ is the user's code too
        return {"message": ""}


def _cut(text: str) -> str:
    return text[:MESSAGE_CHARACTERS].encode("utf-8", "replace").decode()
