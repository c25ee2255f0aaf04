"""From what a worker sent back to a value or an error. A worker's bytes are as hostile as its code."""

from collections.abc import Mapping
from typing import Any, Final, cast

import orjson
from pydantic import JsonValue

from headgate.sandbox.errors import CodeFailed, CodeTooBig
from headgate.sandbox.limits import Limits

TEXT_CHARACTERS = 2000
FRAMES = 20
DEEPEST_CHEAP: Final = 200
"""Values with fewer lists and objects than this cannot be nested too deeply to be written as JSON again."""

SIGNALS: Final = {
    6: "it aborted",
    7: "it touched memory that is not there",
    9: "the system killed it, most likely for its memory",
    11: "it crashed the interpreter, as endless recursion or broken memory does",
    24: "it used up its processor time",
    31: "it made a forbidden kind of system call",
}


class ProtocolBroken(CodeFailed):
    """What came back is not an answer: the code wrote to the worker's own socket. The worker must not be used again."""


def read_answer(frame: bytes, call: int, code: str, what: str, limits: Limits) -> JsonValue:
    """The value in an answer frame.

    Raises:
        CodeFailed: The code raised; with its exception, line and frames.
        CodeTooBig: The result is over a limit.
        ProtocolBroken: The frame is no answer to this call.
    """
    containers = frame.count(b"[") + frame.count(b"{")
    if containers > limits.output_containers:
        raise CodeTooBig(
            f"{what} returned more than {limits.output_containers} lists and objects.", remedy="Return less."
        )
    try:
        answer = orjson.loads(frame)
        if containers > DEEPEST_CHEAP:
            orjson.dumps(answer)  # refuses what is too deep for whoever stores or sends it later
    except (orjson.JSONDecodeError, TypeError) as error:
        raise _broken(what, f"it is not proper JSON ({str(error)[:200]})") from None
    if not isinstance(answer, dict) or answer.get("id") != call:
        raise _broken(what, "it does not belong to this call")
    if "value" in answer:
        return cast("JsonValue", answer["value"])
    if isinstance(size := answer.get("too_big"), int):
        raise CodeTooBig(
            f"{what} returned {size} bytes as JSON; the limit is {limits.output_bytes}.", remedy="Return less."
        )
    if isinstance(failure := answer.get("failure"), dict):
        raise _failed(failure, code, what)
    raise _broken(what, "it holds neither a value nor a failure")


def ended(what: str, status: int | None) -> CodeFailed:
    """The error for a worker that ended in the middle of a call."""
    if status is None:
        reason = "its process ended"
    elif status < 0:
        reason = SIGNALS.get(-status, "its process was killed") + f" (signal {-status})"
    else:
        reason = f"it ended its own process with status {status}"
    return CodeFailed(f"{what} gave no answer: {reason}.", remedy="Return a value instead of ending the process.")


def _broken(what: str, why: str) -> ProtocolBroken:
    return ProtocolBroken(
        f"{what} gave no usable answer: {why}.",
        remedy="Return plain JSON values, and leave the process's open descriptors alone.",
    )


def _failed(failure: Mapping[str, Any], code: str, what: str) -> CodeFailed:
    exception = _text(failure.get("exception"))
    message = _text(failure.get("message"))
    line = failure.get("line")
    lines = code.splitlines()
    if not isinstance(line, int) or isinstance(line, bool) or not 1 <= line <= len(lines):
        line = None
    raised = f"{exception}: {message}".rstrip(": ") if exception else message
    verb = "raised" if exception else "failed:"
    place = f" (line {line}: {lines[line - 1].strip()[:200]})" if line else ""
    return CodeFailed(
        f"{what} {verb} {raised}{place}",
        remedy=_text(failure.get("remedy")) or REMEDIES.get(exception, "Correct the code of the node."),
        exception=exception,
        message=message,
        line=line,
        frames=_frames(failure.get("frames"), lines),
    )


REMEDIES: Final = {
    "": "Return text, numbers, true/false, None, lists and dicts with text keys.",
    "MemoryError": "Work on less at a time; the sandbox limits memory.",
    "PermissionError": "The sandbox has no programs, no files but its scratch folder, and no network but a "
    "component's, to hosts that the operator allows (HEADGATE_SANDBOX__HOSTS).",
    "UndeclaredImport": "Import it at the top of the code, by an import statement.",
    "ModuleNotFoundError": "Use the standard library, or have the operator install the package beside Headgate.",
}


def _frames(frames: object, lines: list[str]) -> list[JsonValue]:
    """`[{"line", "function", "source"}]` from the worker's `[[line, function]]`; anything else is left out."""
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
    """Text that every database takes; empty for anything else."""
    return value[:TEXT_CHARACTERS].replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else ""
