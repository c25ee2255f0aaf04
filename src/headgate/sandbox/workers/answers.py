"""Converts a worker's response to a value or an error. A worker's bytes are as hostile as its code."""

from collections.abc import Mapping
from typing import Any, Final, cast

import orjson
from pydantic import JsonValue

from headgate.sandbox.errors import CodeFailed, CodeTooBig
from headgate.sandbox.limits import Limits

TEXT_CHARACTERS = 2000
FRAMES = 20
DEEPEST_CHEAP: Final = 200
"""Values with fewer lists and objects than this cannot be nested too deeply for JSON."""

SIGNALS: Final = {
    6: "it aborted",
    7: "it accessed invalid memory",
    9: "the system killed it, probably because of its memory use",
    11: "it crashed the interpreter, for example through endless recursion or damaged memory",
    24: "it used up its processor time",
    31: "it made a forbidden kind of system call",
}


class ProtocolBroken(CodeFailed):
    """The response is invalid: the code wrote to the worker's own socket. The worker must not be used again."""


def read_answer(frame: bytes, call: int, code: str, target: str, limits: Limits) -> JsonValue:
    """Return the value of a response frame.

    Raises:
        CodeFailed: The code raised; with its exception, line and frames.
        CodeTooBig: The result exceeds a limit.
        ProtocolBroken: The frame is not a response to this call.
    """
    containers = frame.count(b"[") + frame.count(b"{")
    if containers > limits.output_containers:
        raise CodeTooBig(
            f"{target} returned more than {limits.output_containers} lists and objects.", remedy="Return less."
        )
    try:
        message = orjson.loads(frame)
        if containers > DEEPEST_CHEAP:
            orjson.dumps(message)  # rejects values that are too deep to store or send later
    except (orjson.JSONDecodeError, TypeError) as error:
        raise _broken(target, f"it is not valid JSON ({str(error)[:200]})") from None
    if not isinstance(message, dict) or message.get("id") != call:
        raise _broken(target, "it does not belong to this call")
    if "value" in message:
        return cast("JsonValue", message["value"])
    if isinstance(size := message.get("too_big"), int):
        raise CodeTooBig(
            f"{target} returned {size} bytes as JSON; the limit is {limits.output_bytes}.", remedy="Return less."
        )
    if isinstance(failure := message.get("failure"), dict):
        raise _failed(failure, code, target)
    raise _broken(target, "it contains neither a value nor an error")


def ended(target: str, status: int | None) -> CodeFailed:
    """Return the error for a worker that ended during a call."""
    if status is None:
        reason = "its process ended"
    elif status < 0:
        reason = SIGNALS.get(-status, "its process was killed") + f" (signal {-status})"
    else:
        reason = f"it ended its own process with status {status}"
    return CodeFailed(
        f"{target} returned no response: {reason}.", remedy="Return a value instead of ending the process."
    )


def _broken(target: str, reason: str) -> ProtocolBroken:
    return ProtocolBroken(
        f"{target} returned an invalid response: {reason}.",
        remedy="Return plain JSON values, and do not use the process's open file descriptors.",
    )


def _failed(failure: Mapping[str, Any], code: str, target: str) -> CodeFailed:
    exception = _text(failure.get("exception"))
    message = _text(failure.get("message"))
    line = failure.get("line")
    lines = code.splitlines()
    if not isinstance(line, int) or isinstance(line, bool) or not 1 <= line <= len(lines):
        line = None
    raised = f"{exception}: {message}".rstrip(": ") if exception else message
    verb = "raised" if exception else "failed:"
    location = f" (line {line}: {lines[line - 1].strip()[:200]})" if line else ""
    return CodeFailed(
        f"{target} {verb} {raised}{location}",
        remedy=_text(failure.get("remedy")) or REMEDIES.get(exception, "Correct the code of the node."),
        exception=exception,
        message=message,
        line=line,
        frames=_frames(failure.get("frames"), lines),
    )


REMEDIES: Final = {
    "": "Return text, numbers, true/false, None, lists and dicts with text keys.",
    "MemoryError": "Process less at a time; the sandbox limits memory.",
    "PermissionError": (
        "The sandbox has no programs, no files except its scratch folder, and no network "
        "except a component's, to hosts that the operator allows (HEADGATE_SANDBOX__HOSTS)."
    ),
    "UndeclaredImport": "Import it at the top of the code, by an import statement.",
    "ModuleNotFoundError": (
        "Use the standard library, or ask the operator to install the package in the environment of Headgate."
    ),
}


def _frames(frames: object, lines: list[str]) -> list[JsonValue]:
    """Return `[{"line", "function", "source"}]` for the worker's `[[line, function]]`; invalid frames are skipped."""
    if not isinstance(frames, list):
        return []
    result: list[JsonValue] = []
    for frame in frames[-FRAMES:]:
        match frame:
            case [int(line), str(name)] if 1 <= line <= len(lines):
                source = lines[line - 1].strip()[:200]
                result.append({"line": line, "function": name[:200], "source": source})
    return result


def _text(value: object) -> str:
    """Return text that every database accepts; empty for other values."""
    return value[:TEXT_CHARACTERS].replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else ""
