"""What `grep_search` looks for: a text as it stands, or a regular expression that RE2 runs in linear time."""

import re
from collections.abc import Callable
from typing import Any

from headgate.features.workspace.errors import PatternRefused
from headgate.graph.expressions import re2

LONGEST_PATTERN = 1_000
"""Characters."""
_REPEAT = re.compile(r"\{(\d+)(,?)(\d*)\}")

Finder = Callable[[str], bool]
"""Whether a line has it."""


def finder(pattern: str, *, case_insensitive: bool, is_regex: bool) -> Finder:
    """What tells whether a line has the pattern.

    Raises:
        PatternRefused: It is empty, too long, or a regular expression that RE2 cannot run or that repeats a repetition.
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
    """Where an unbounded repetition stands after a group that has one in it, such as `(a+)+`; None when nowhere.

    RE2 takes no longer for it. Such a pattern is a mistake all the same, and a disaster in every engine that
    backtracks, where the model may take it next.
    """
    return _Scan(pattern).run()


def _compiled(pattern: str, *, case_insensitive: bool) -> Finder:
    at = nested_quantifier(pattern)
    if at is not None:
        raise PatternRefused(
            f"Regex pattern rejected: nested unbounded quantifier at character {at + 1}, as in (a+)+. "
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
        said = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise PatternRefused(f"Invalid regex: {said}. RE2 has no look-around and no backreferences") from error
    return lambda line: compiled.search(line.encode(errors="replace")) is not None


class _Scan:
    """One pass over a regular expression that knows groups, classes, escapes and repetitions."""

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
            letter, began = self._pattern[self._at], self._at
            if letter in "*+{":
                if self._repetition(letter):
                    if self._last:
                        return began
                    self._repeats, self._last = True, False
                continue
            self._step(letter)
        return None

    def _repetition(self, letter: str) -> bool:
        """Go past a repetition, and say whether it has no end."""
        found = _REPEAT.match(self._pattern, self._at) if letter == "{" else None
        if letter == "{" and found is None:
            self._at, self._last = self._at + 1, False
            return False
        self._at = found.end() if found else self._at + 1
        if self._pattern[self._at : self._at + 1] == "?":
            self._at += 1
        return found is None or bool(found[2] and not found[3])

    def _step(self, letter: str) -> None:
        self._at += 1
        if letter == "(":
            self._outer.append(self._repeats)
            self._repeats = self._last = False
            if self._pattern[self._at : self._at + 1] == "?":
                self._at += 1
        elif letter == ")":
            self._last = self._repeats
            self._repeats = self._repeats or (self._outer.pop() if self._outer else False)
        elif letter != "?":
            self._last = False
            if letter == "[":
                self._skip_class()
            elif letter == "\\":
                self._skip_escape()

    def _skip_escape(self) -> None:
        quoted = self._pattern[self._at : self._at + 1] == "Q"
        end = self._pattern.find("\\E", self._at) if quoted else self._at - 1
        self._at = len(self._pattern) if end < 0 else end + 2

    def _skip_class(self) -> None:
        pattern, at = self._pattern, self._at
        at += pattern[at : at + 1] == "^"
        at += pattern[at : at + 1] == "]"
        while at < len(pattern) and pattern[at] != "]":
            named = pattern.find(":]", at) if pattern.startswith("[:", at) else -1
            at = named + 2 if named >= 0 else at + (2 if pattern[at] == "\\" else 1)
        self._at = at + 1
