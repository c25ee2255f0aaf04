"""The time that figures are of: a range that ends now, in equal parts, and the same range before it."""

from dataclasses import dataclass
from typing import Literal

RangeName = Literal["24h", "7d", "30d", "90d"]
SECOND = 1_000_000
HOUR = 3600 * SECOND
_PARTS: dict[RangeName, tuple[int, int]] = {
    "24h": (24, HOUR),
    "7d": (28, 6 * HOUR),
    "30d": (30, 24 * HOUR),
    "90d": (45, 48 * HOUR),
}
"""How many parts, and how long each is, in microseconds."""


@dataclass(frozen=True, slots=True)
class Period:
    """Microseconds in UTC; the end is no part of it."""

    start: int
    end: int
    step: int
    """How long one part is."""

    @property
    def parts(self) -> int:
        """How many parts it has."""
        return (self.end - self.start) // self.step

    @property
    def before(self) -> int:
        """Where the same length of time before it starts."""
        return 2 * self.start - self.end


def period_of(name: RangeName, at: int) -> Period:
    """The range that ends with the part in which `at` is: parts start at whole hours and days."""
    parts, step = _PARTS[name]
    end = at - at % step + step
    return Period(end - parts * step, end, step)
