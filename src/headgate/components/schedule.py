"""Cron expressions: the next moment of a schedule in a time zone."""

from datetime import datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from headgate.graph.names import clipped
from headgate.sdk import ComponentError

FIELDS = ("minute", "hour", "day of month", "month", "day of week")
_EXAMPLE = "for example 0 8 * * MON-FRI for 08:00 on working days"


def checked_cron(text: str, *, subject: str) -> str:
    """Return a cron expression of five fields. Raises `ComponentError`."""
    parts = text.split()
    if len(parts) != len(FIELDS):
        raise ComponentError(
            f"{subject}: '{clipped(text)}' has {len(parts)} fields; a cron expression has {len(FIELDS)}.",
            remedy=f"Write {', '.join(FIELDS)}: {_EXAMPLE}.",
            field="cron",
        )
    try:
        CronSim(" ".join(parts), datetime(2026, 1, 1))  # noqa: DTZ001 - the library reads the fields, no moment
    except CronSimError as error:
        reason = str(error).removeprefix("Bad ").replace("-", " ")
        raise ComponentError(
            f"{subject}: '{clipped(text)}' is not a cron expression: its {reason} is not valid.",
            remedy=f"Write {', '.join(FIELDS)}: {_EXAMPLE}.",
            field="cron",
        ) from error
    return " ".join(parts)


def next_moment(text: str, now: datetime, zone: ZoneInfo, *, subject: str) -> datetime:
    """Return the first moment of a schedule after `now`. Raises `ComponentError` also for one that never comes.

    A fixed time that a change to summer time skips is moved to the end of the gap; one that the change back repeats
    comes once, the first time.
    """
    expression = checked_cron(text, subject=subject)
    try:
        return next(CronSim(expression, now.astimezone(zone)))
    except StopIteration as error:
        raise ComponentError(
            f"{subject}: '{clipped(text)}' never comes.", remedy="Choose a date that exists.", field="cron"
        ) from error
