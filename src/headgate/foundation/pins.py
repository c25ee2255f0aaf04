"""Descriptions from outside that a user accepts: tools of MCP servers, operations of APIs.

A description is pinned by the SHA-256 of its canonical JSON. When its source changes it, models no longer get it until
a user has seen the difference and accepted it. A description that is gone stays pinned, so that it cannot come back
with other words that nobody has seen.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.canonical import digest, portable
from headgate.foundation.database import Json
from headgate.foundation.quoting import shortened

GONE = ""
"""Hash of a description that its source no longer has."""
MOST_LINES = 400
LONGEST_LINE = 1_000
CONTEXT = 3
MOST_COMPARED = 1_000
"""Lines of a text that are aligned with another one; the time for that grows with the square. More are listed."""
Contract = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pin:
    """The hash of a description, and what a user accepted."""

    sha256: str
    accepted_sha256: str
    accepted: Contract | None = None
    """The accepted description, while the current one is another; None also where it was not stored."""


class Pinned:
    """Columns of a pinned description."""

    sha256: Mapped[str] = mapped_column(String(64), default=GONE)
    """Of the description; empty: its source no longer has it."""
    accepted_sha256: Mapped[str] = mapped_column(String(64), default=GONE)
    """Of the description that a user has accepted; models get no other."""
    accepted: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """The accepted description, while the current one is another."""

    @property
    def changed(self) -> bool:
        """Whether the description has changed since a user accepted it."""
        return self.sha256 != self.accepted_sha256

    @property
    def pin(self) -> Pin:
        """The stored pin."""
        return Pin(self.sha256, self.accepted_sha256, self.accepted)


def hash_of(contract: Contract) -> str:
    """Return the hash of a description."""
    return digest(portable(contract))


def renewed(pin: Pin | None, before: Contract | None, contract: Contract | None) -> Pin:
    """Return the pin of a new description; None: it is gone. The first description counts as accepted.

    Args:
        pin: The pin of the stored description; None when there is none.
        before: The stored description.
        contract: The new one.
    """
    sha256 = GONE if contract is None else hash_of(contract)
    if pin is None:
        return Pin(sha256, sha256)
    if sha256 == pin.accepted_sha256:
        return Pin(sha256, sha256)
    accepted = pin.accepted if pin.sha256 != pin.accepted_sha256 else before
    return Pin(sha256, pin.accepted_sha256, accepted)


def difference(accepted: Contract | None, contract: Contract | None) -> list[str]:
    """Return the lines that differ, with three lines around them, each with `+`, `-` or a space before it.

    Long texts are not aligned: the removed lines come before the added ones. Empty where the accepted description was
    not stored.
    """
    if accepted is None or contract is None:
        return []
    before, after = _differing(_lines(accepted), _lines(contract))
    if max(len(before), len(after)) > MOST_COMPARED:
        removed = [f"-{line}" for line in before]
        lines = [*removed[: MOST_LINES // 2], *(f"+{line}" for line in after), *removed[MOST_LINES // 2 :]]
    else:
        compared = difflib.unified_diff(before, after, n=CONTEXT, lineterm="")
        lines = [line for line in compared if not line.startswith(("---", "+++", "@@"))]
    excess = len(lines) - MOST_LINES
    shown = [shortened(line, LONGEST_LINE) for line in lines[:MOST_LINES]]
    return [*shown, f"  ... {excess} more lines"] if excess > 0 else shown


def _differing(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """Return two texts without what both begin and end with, except the lines around the difference."""
    least = min(len(before), len(after))
    start = next((at for at in range(least) if before[at] != after[at]), least)
    end = next((at for at in range(least - start) if before[-1 - at] != after[-1 - at]), least - start)
    start, end = max(start - CONTEXT, 0), max(end - CONTEXT, 0)
    return before[start : len(before) - end], after[start : len(after) - end]


def _lines(contract: Contract) -> list[str]:
    text = orjson.dumps(portable(contract), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    return text.replace("\\n", "\n    ").splitlines()
