"""One worker: locked down, it loads one piece of code and answers calls to its functions until its socket closes."""

import asyncio
import contextlib
import inspect
import json
import os
import re
import socket
import sys
import tempfile
import traceback
import types
from collections.abc import Callable
from typing import Any

from headgate.sandbox.guest.lockdown import lock_down
from headgate.sandbox.guest.policy import Policy
from headgate.sandbox.guest.wire import pack, receive

CODE_NAME = "<code>"
"""File name of the user's code in tracebacks."""
MODULE_NAME = "node_code"
MESSAGE_CHARACTERS = 2000
FRAMES = 20
ENVELOPE_BYTES = 64
MANY_DIGITS = re.compile(rb"\d{19}")


class Refused(Exception):
    """The worker's own complaint about the user's code or its result."""


def run_worker(connection: socket.socket, policy: Policy, scratch: str, *, user: int | None, parent: int) -> None:
    """Lock down, report readiness or the reason why not, and serve. The caller ends the process."""
    try:
        _settle_in(scratch)
        lock_down(policy, scratch, user=user, parent=parent)
    except Exception as error:  # noqa: BLE001 - whatever it is, the server has to hear of it
        connection.sendall(pack(json.dumps({"fatal": f"{type(error).__name__}: {error}"}).encode()))
        return
    connection.sendall(pack(json.dumps({"ready": os.getpid()}).encode()))
    module = types.ModuleType(MODULE_NAME)
    sys.modules[MODULE_NAME] = module  # dataclasses and type hints look their module up
    with contextlib.suppress(EOFError):
        while True:
            request = json.loads(receive(connection, policy.input_bytes))
            connection.sendall(pack(answer(module, request, policy.output_bytes)))


def _settle_in(scratch: str) -> None:
    os.chdir(scratch)
    os.environ.clear()
    os.environ.update(HOME=scratch, TMPDIR=scratch, PATH="", LANG="C.UTF-8")
    tempfile.tempdir = scratch


def answer(module: types.ModuleType, request: dict[str, Any], limit: int) -> bytes:
    """Do what one request asks: `{"id", "function", "arguments", "code"?}` to `{"id", "value"}` or `{"id", "failure"}`.

    `code` comes with the first request and stays loaded. A result over `limit` bytes is answered `{"id", "too_big"}`.
    """
    function = None
    try:
        if "code" in request:
            exec(compile(request["code"], CODE_NAME, "exec"), vars(module))  # noqa: S102 - what this process is for
        function = _find(module, request["function"])
        encoded = _encode(_call(function, request["arguments"]))
        if len(encoded) > limit - ENVELOPE_BYTES:
            return json.dumps({"id": request["id"], "too_big": len(encoded)}).encode()
    except BaseException as error:  # noqa: BLE001 - exits and interrupts of the user's code are failures as well
        return json.dumps({"id": request["id"], "failure": describe(error, function)}).encode()
    return b'{"id":%d,"value":%b}' % (request["id"], encoded)


def _find(module: types.ModuleType, name: str) -> Callable[..., Any]:
    function: Callable[..., Any] | None = vars(module).get(name)
    if not callable(function):
        raise Refused(f"the code defines no function '{name}'")
    return function


def _call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401 - the user's own types
    result = function(**arguments)
    return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result


async def _awaited(result: Any) -> Any:  # noqa: ANN401
    return await result


def _encode(result: Any) -> bytes:  # noqa: ANN401
    try:
        encoded = json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise Refused("the result holds text that is not valid Unicode") from None
    except RecursionError:
        raise Refused("the result is nested too deeply, or contains itself") from None
    except (TypeError, ValueError) as error:
        raise Refused(f"the result is not JSON: {error}") from None
    if MANY_DIGITS.search(encoded):
        _refuse_long_integers(result)
    return encoded


def _refuse_long_integers(result: Any) -> None:  # noqa: ANN401
    """JSON readers turn integers beyond 64 bits into inexact numbers: better said here than lost later."""
    pending = [result]
    while pending:
        value = pending.pop()
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise Refused(f"the result holds the integer {str(value)[:40]}, beyond 64 bits; return it as text")
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list | tuple):
            pending.extend(value)


def describe(error: BaseException, function: object) -> dict[str, Any]:
    """What went wrong, in the user's own lines: `{"exception", "message", "line", "frames": [[line, name], ...]}`."""
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
        "message": _message(error),
        "line": line,
        "frames": frames[-FRAMES:],
    }


def _message(error: BaseException) -> str:
    try:
        return str(error)[:MESSAGE_CHARACTERS].encode("utf-8", "replace").decode()
    except BaseException:  # noqa: BLE001 - an exception's __str__ is the user's code too
        return ""
