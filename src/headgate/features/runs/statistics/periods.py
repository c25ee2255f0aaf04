"""Time ranges of statistics: a range that ends now, in equal parts, and the same range before it."""

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
"""Number of parts, and length of each in microseconds."""


@dataclass(frozen=True, slots=True)
class Period:
    """A range in microseconds, UTC; the end is exclusive."""

    start: int
    end: int
    step: int
    """Length of one part."""

    @property
    def parts(self) -> int:
        """Number of parts."""
        return (self.end - self.start) // self.step

    @property
    def before(self) -> int:
        """Start of the preceding range of the same length."""
        return 2 * self.start - self.end


def period_of(name: RangeName, at: int) -> Period:
    """Return the range that ends with the part that contains `at`: parts start at full hours and days."""
    parts, step = _PARTS[name]
    end = at - at % step + step
    return Period(end - parts * step, end, step)
