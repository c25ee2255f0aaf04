"""Texts that anybody wrote, as Markdown in which nothing of them is markup. Pure."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_BACKTICKS = re.compile(r"`+")
LONGEST_BLOCK = 20_000
"""Characters of one prompt or one code that are printed."""
_LONGEST_WORD = 88
"""Characters without a space that fit a line of code."""


def plain(text: str) -> str:
    """The text in one line, every sign of it as it is."""
    line = " ".join(_CONTROL.sub(" ", text).split())
    return _PUNCTUATION.sub(r"\\\1", line)


def block(text: str, *, cut_off: str) -> str:
    """The text as a block of code; `cut_off` says that only its beginning is there."""
    text = _CONTROL.sub(" ", text.replace("\r\n", "\n")).strip("\n")
    rest = len(text) - LONGEST_BLOCK
    lines = [_broken(line) for line in text[:LONGEST_BLOCK].split("\n")]
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    found = "\n".join([fence, *lines, fence])
    return f"{found}\n\n*{plain(cut_off)}*" if rest > 0 else found


def as_json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """A value as JSON over several lines."""
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown already."""
    lines = [head, [":--"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def facts(rows: Iterable[tuple[str, str]], head: tuple[str, str]) -> str:
    """A table of names and values; what has no value is left out."""
    return table(head, [(f"**{plain(name)}**", value) for name, value in rows if value])


def _broken(line: str) -> str:
    """A line whose long words are broken, so that no page ends before it does."""
    return re.sub(rf"(\S{{{_LONGEST_WORD}}})(?=\S)", r"\1 ", line)
