"""Extracts the code of a component from a model's answer.

Only answers to a request for a component are read: example code in an answer to a question is never extracted (seed
001, ADR on the isolation of questions).
"""

import ast
import re
from collections.abc import Iterator

from headgate.sandbox.reading.source import Unreadable, read_source

MAX_ANSWER_CHARS = 400_000
"""Longer answers are truncated: no component is as long."""
_THOUGHT, _THOUGHT_ENDS = "<think>", "</think>"
_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})([^`\n]{0,100})$")
_CLASS = re.compile(r"^class\s+\w+\s*\([^)\n]{0,200}\bComponent\b", re.MULTILINE)
_FIRST_CODE = re.compile(r"^(?:from\s+\w|import\s+\w|class\s+\w|@\w|\"\"\"|#!|# -\*-)")
_MOST_TRAILING_LINES = 60


def extract_component_code(answer: str) -> str | None:
    """Return the code in an answer; None when there is none.

    Of several blocks the first that is Python and defines a component, else the first that seems to, else the first
    that is marked as Python or not marked at all. The last block may lack its end: the stream was cut. Without any
    fence the lines from the first that is code to the last that belongs to it.
    """
    text = _without_thoughts(answer)[:MAX_ANSWER_CHARS]
    blocks = [(tag, code) for tag, code in _blocks(text) if code.strip()]
    for chosen in (defines_component, seems_component):
        candidate = next((code for _, code in blocks if chosen(code)), None)
        if candidate is not None:
            return candidate
    if blocks:
        return next((code for tag, code in blocks if tag in {"", "py", "python", "python3"}), None)
    return _unfenced(text)


def defines_component(code: str) -> bool:
    """Whether it is Python with a class on top that subclasses `Component`."""
    tree = _parse(code)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)] if tree else []
    return any(_is_component(base) for definition in classes for base in definition.bases)


def seems_component(code: str) -> bool:
    """The same for code that cannot be read as Python: broken, or cut off."""
    return _CLASS.search(code) is not None


def class_name_of(code: str) -> str:
    """Return the class name that code defines; empty when it cannot be determined."""
    match = re.search(r"^class\s+(\w{1,100})\s*\([^)\n]{0,200}\bComponent\b", code, re.MULTILINE)
    return match.group(1) if match else ""


def _without_thoughts(answer: str) -> str:
    """Remove the reasoning that some models output before their answer: it may contain drafts."""
    text = answer.lstrip()
    return text.partition(_THOUGHT_ENDS)[2] if text.startswith(_THOUGHT) else answer


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """The fenced blocks in order: tag in lower case, content. A block that is not closed runs to the end."""
    fence = tag = ""
    lines: list[str] = []
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if not fence and mark:
            fence, tag, lines = mark.group(1), mark.group(2).strip().lower().partition(" ")[0], []
        elif fence and mark and not mark.group(2).strip() and mark.group(1).startswith(fence):
            yield tag, _as_code(lines)
            fence = ""
        elif fence:
            lines.append(line)
    if fence:
        yield tag, _as_code(lines)


def _unfenced(text: str) -> str | None:
    """Return code without a fence."""
    if not seems_component(text):
        return None
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if _FIRST_CODE.match(line))
    body = lines[first:]
    for cut in range(min(len(body), _MOST_TRAILING_LINES)):
        code = _as_code(body[: len(body) - cut])
        if defines_component(code):
            return code
    return _as_code(body)


def _as_code(lines: list[str]) -> str:
    return "\n".join(lines).strip("\n") + "\n"


def _is_component(base: ast.expr) -> bool:
    return (isinstance(base, ast.Name) and base.id == "Component") or (
        isinstance(base, ast.Attribute) and base.attr == "Component"
    )


def _parse(code: str) -> ast.Module | None:
    try:
        return read_source(code)
    except Unreadable:
        return None
