"""Patterns of `grep_search`: literal text, or a regular expression that RE2 runs in linear time."""

import re
from collections.abc import Callable
from typing import Any

from headgate.features.workspace.errors import PatternRefused
from headgate.graph.expressions import re2

LONGEST_PATTERN = 1_000
"""Characters."""
_REPEAT = re.compile(r"\{(\d+)(,?)(\d*)\}")

Finder = Callable[[str], bool]
"""Returns whether a line matches."""


def finder(pattern: str, *, case_insensitive: bool, is_regex: bool) -> Finder:
    """Return a function that tests whether a line matches.

    Raises:
        PatternRefused: It is empty, too long, not supported by RE2, or has nested quantifiers.
    """
    if not pattern or len(pattern) > LONGEST_PATTERN:
        raise PatternRefused(f"The pattern must have 1 to {LONGEST_PATTERN} characters")
    if is_regex:
        return _compiled(pattern, case_insensitive=case_insensitive)
    if case_insensitive:
        folded = pattern.casefold()
        return lambda line: folded in line.casefold()
    return lambda line: pattern in line


def nested_quantifier(pattern: str) -> int | None:
    """The position of an unbounded quantifier on a group that contains one, such as `(a+)+`; None when there is none.

    RE2 is not slower for it. Such a pattern is still a mistake, and catastrophic in every backtracking engine where the
    model may use it next.
    """
    return _Scan(pattern).run()


def _compiled(pattern: str, *, case_insensitive: bool) -> Finder:
    position = nested_quantifier(pattern)
    if position is not None:
        raise PatternRefused(
            f"Regex pattern rejected: nested unbounded quantifier at character {position + 1}, as in (a+)+. "
            "Repeat once, or search for the text itself with is_regex=false"
        )
    module = re2()
    options = module.Options()
    options.case_sensitive = not case_insensitive
    options.log_errors = False
    try:
        compiled: Any = module.compile(pattern.encode(), options)
    except (module.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else ""
        message = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise PatternRefused(f"Invalid regex: {message}. RE2 does not support lookaround or backreferences") from error
    return lambda line: compiled.search(line.encode(errors="replace")) is not None


class _Scan:
    """One pass over a regular expression that handles groups, classes, escapes and quantifiers."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._outer: list[bool] = []
        self._repeats = False
        """Whether the group that is open has an unbounded repetition."""
        self._last = False
        """Whether what was just read is a group that has one."""

    def run(self) -> int | None:
        while self._at < len(self._pattern):
            character, began = self._pattern[self._at], self._at
            if character in "*+{":
                if self._repetition(character):
                    if self._last:
                        return began
                    self._repeats, self._last = True, False
                continue
            self._step(character)
        return None

    def _repetition(self, character: str) -> bool:
        """Skip a quantifier, and return whether it is unbounded."""
        match = _REPEAT.match(self._pattern, self._at) if character == "{" else None
        if character == "{" and match is None:
            self._at, self._last = self._at + 1, False
            return False
        self._at = match.end() if match else self._at + 1
        if self._pattern[self._at : self._at + 1] == "?":
            self._at += 1
        return match is None or bool(match[2] and not match[3])

    def _step(self, character: str) -> None:
        self._at += 1
        if character == "(":
            self._outer.append(self._repeats)
            self._repeats = self._last = False
            if self._pattern[self._at : self._at + 1] == "?":
                self._at += 1
        elif character == ")":
            self._last = self._repeats
            self._repeats = self._repeats or (self._outer.pop() if self._outer else False)
        elif character != "?":
            self._last = False
            if character == "[":
                self._skip_class()
            elif character == "\\":
                self._skip_escape()

    def _skip_escape(self) -> None:
        quoted = self._pattern[self._at : self._at + 1] == "Q"
        end = self._pattern.find("\\E", self._at) if quoted else self._at - 1
        self._at = len(self._pattern) if end < 0 else end + 2

    def _skip_class(self) -> None:
        pattern, position = self._pattern, self._at
        position += pattern[position : position + 1] == "^"
        position += pattern[position : position + 1] == "]"
        while position < len(pattern) and pattern[position] != "]":
            end = pattern.find(":]", position) if pattern.startswith("[:", position) else -1
            position = end + 2 if end >= 0 else position + (2 if pattern[position] == "\\" else 1)
        self._at = position + 1
