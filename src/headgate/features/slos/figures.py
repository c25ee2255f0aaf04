"""Error budgets and burn rates, as in the Site Reliability Workbook, chapter 5. Targets and shares are percent."""

from collections.abc import Mapping
from dataclasses import dataclass

SECOND = 1_000_000
PART = 300 * SECOND
"""Length of a stored count in microseconds."""
SPANS: Mapping[str, int] = {
    "minutes_5": 300 * SECOND,
    "minutes_30": 1_800 * SECOND,
    "hour_1": 3_600 * SECOND,
    "hours_6": 6 * 3_600 * SECOND,
    "days_3": 3 * 86_400 * SECOND,
}
"""The windows of burn rates in microseconds."""
FAST, SLOW = ("hour_1", "minutes_5", 14.4), ("hours_6", "minutes_30", 6.0)
"""Alerts: the long window, the short one that shows that it still burns, and the burn rate of both.

`FAST` uses 2 % of the budget of 30 days in an hour, `SLOW` 5 % in six hours.
"""


@dataclass(frozen=True, slots=True)
class Count:
    """Runs that count, and how many of them are good."""

    total: int = 0
    good: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.total + other.total, self.good + other.good)

    @property
    def attained(self) -> float | None:
        """Percent of good runs."""
        return 100 * self.good / self.total if self.total else None

    def burn_rate(self, target: float) -> float | None:
        """Return the share of bad runs as a multiple of the share that the target allows."""
        attained = self.attained
        return None if attained is None else (100 - attained) / (100 - target)


def budget_left(bad: int, total: int, target: float) -> float:
    """Return the percent of the error budget of `total` runs that `bad` runs leave; all of it without runs."""
    return 100 * (1 - bad / (total * (100 - target) / 100)) if total else 100.0


def start_of(span: int, at: int) -> int:
    """Return the start of a window that ends at a time: at the start of a stored count, or exact for the shortest."""
    start = at - span
    return start if span <= PART else start - start % PART
