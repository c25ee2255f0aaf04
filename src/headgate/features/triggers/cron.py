"""Cron expressions of cronsim, with `15W` for the day of month: the weekday nearest to it, within the same month."""

import re
from calendar import monthrange
from datetime import date, datetime

from cronsim import CronSim, CronSimError

_NEAREST = re.compile(r"([1-9]|[12]\d|3[01])W")
_DAY = -3
"""The field of the day of month, with and without seconds before it."""


class Cron(CronSim):
    """The times of an expression after a time.

    Args:
        expression: Five fields, or six with seconds first. Raises `CronSimError` for another text.
        after: Its time zone is that of the times.
    """

    def __init__(self, expression: str, after: datetime) -> None:
        fields = expression.upper().split()
        nearest: dict[int, None] = {}
        others: list[str] = []
        if len(fields) >= -_DAY:
            for term in fields[_DAY].split(","):
                match = _NEAREST.fullmatch(term)
                if match:
                    nearest[int(match[1])] = None
                else:
                    others.append(term)
            fields[_DAY] = ",".join(others) or "1"  # replaced below
        super().__init__(" ".join(fields), after)
        self._nearest = sorted(nearest)
        self._has_last = "LW" in others
        if nearest and not others:
            self.days = set()

    def match_dom(self, d: date) -> bool:
        """Whether the day of month matches."""
        return super().match_dom(d) or any(d == nearest_weekday(d.year, d.month, day) for day in self._nearest)

    def explain(self) -> str:
        """Return the expression in words."""
        if not self._nearest:
            return super().explain()
        fields = list(self.parts)
        plain = [term for term in fields[_DAY].split(",") if self.days and term != "LW"]
        fields[_DAY] = ",".join([*plain, "LW"])
        many = len(self._nearest) > 1
        days = " and ".join(filter(None, [", ".join(map(str, self._nearest[:-1])), str(self._nearest[-1])]))
        words = f"the weekday{'s' if many else ''} nearest to day{'s' if many else ''} {days} of"
        if self._has_last:
            words = f"the last weekday and {words}"
        return CronSim(" ".join(fields), self.dt).explain().replace("the last weekday of", words)


def nearest_weekday(year: int, month: int, day: int) -> date | None:
    """Return the weekday nearest to a day, within its month; None in a month without the day."""
    last = monthrange(year, month)[1]
    if day > last:
        return None
    weekday = date(year, month, day).weekday()
    if weekday == 5:  # Saturday
        day += -1 if day > 1 else 2
    elif weekday == 6:
        day += 1 if day < last else -2
    return date(year, month, day)


__all__ = ["Cron", "CronSimError", "nearest_weekday"]
