"""Renders untrusted text as Markdown that contains no markup of its own. Pure."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_BACKTICKS = re.compile(r"`+")
LONGEST_BLOCK = 20_000
"""Characters printed of one prompt or source code."""
_LONGEST_WORD = 88
"""Characters without a space that fit on a line of code."""


def plain(text: str) -> str:
    """Return the text in one line with all markup escaped."""
    line = " ".join(_CONTROL.sub(" ", text).split())
    return _PUNCTUATION.sub(r"\\\1", line)


def block(text: str, *, cut_off: str) -> str:
    """Return the text as a code block; `cut_off` states that it is truncated."""
    text = _CONTROL.sub(" ", text.replace("\r\n", "\n")).strip("\n")
    omitted = len(text) - LONGEST_BLOCK
    lines = [_broken(line) for line in text[:LONGEST_BLOCK].split("\n")]
    longest_run = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest_run + 1)
    code_block = "\n".join([fence, *lines, fence])
    return f"{code_block}\n\n*{plain(cut_off)}*" if omitted > 0 else code_block


def as_json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return a value as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown already."""
    lines = [head, [":--"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def facts(rows: Iterable[tuple[str, str]], head: tuple[str, str]) -> str:
    """Return a table of names and values, without empty values."""
    return table(head, [(f"**{plain(name)}**", value) for name, value in rows if value])


def _broken(line: str) -> str:
    """Return a line whose long words are broken to fit the page width."""
    return re.sub(rf"(\S{{{_LONGEST_WORD}}})(?=\S)", r"\1 ", line)
