"""Patterns of paths."""

import fnmatch
import re
from collections.abc import Sequence


class Glob:
    """A pattern of names in which `**` matches any number of folders; matched name by name."""

    def __init__(self, parts: Sequence[str]) -> None:
        self._parts = [None if part == "**" else re.compile(fnmatch.translate(part)) for part in parts]
        self.start = self._closed({0})

    def step(self, states: frozenset[int], name: str) -> frozenset[int]:
        """Return the pattern's states after one more name; empty when nothing below can match."""
        following = set()
        for state in states - {len(self._parts)}:
            part = self._parts[state]
            if part is None:
                following.add(state)
            elif part.match(name):
                following.add(state + 1)
        return self._closed(following)

    def accepts(self, states: frozenset[int]) -> bool:
        """Return whether the names so far match."""
        return len(self._parts) in states

    def _closed(self, states: set[int]) -> frozenset[int]:
        closed = set(states)
        for state in sorted(states):
            position = state
            while position < len(self._parts) and self._parts[position] is None:
                position += 1
                closed.add(position)
        return frozenset(closed)
