"""Components for dates and waiting."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import JsonValue, PrivateAttr

from headgate.components.schedule import next_moment
from headgate.graph.names import did_you_mean
from headgate.sdk import Component, ComponentError, Data, Table, Text, field, output
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import clean_text, data_of

LONGEST_SECONDS = 315_360_000
"""Ten years."""
LONGEST_HOURS = LONGEST_SECONDS / 3600
SPARSER = 0.01
"""The least share of the time waited so far between two checks: each check is a row, a year has about a thousand."""


def timeout_field() -> Any:  # noqa: ANN401 - as `field`
    """Declare the hours after which a step that waits takes its timeout branch."""
    return field(
        default=0.0,
        label="Timeout in hours",
        help="Then the timeout branch is taken; 0: wait without limit.",
        ge=0,
        le=LONGEST_HOURS,
    )


def passed_field() -> Any:  # noqa: ANN401 - as `field`
    """Declare the value that the timeout branch passes on."""
    return field(default=None, name="value", label="Value", help="What the timeout branch outputs.", main=True)


class CurrentDate(Component):
    """Gives the date and time now, in any time zone and format."""

    label = "Current date"
    category = "data"
    icon = "calendar-clock"
    keywords = (
        "today", "now", "time", "clock", "datetime", "timestamp", "day", "week", "month", "year", "weekday",
        "timezone", "calendar", "date stamp",
    )  # fmt: skip

    timezone: str = field(
        default="UTC",
        label="Time zone",
        help="IANA name, for example Europe/Stockholm; empty is UTC.",
        tool_mode=True,
        port=False,
        max_length=100,
    )
    format: str = field(
        default="",
        label="Format",
        help="strftime pattern such as %Y-%m-%d %H:%M; empty is ISO 8601.",
        port=False,
        max_length=200,
    )
    _at: datetime | None = PrivateAttr(default=None)

    @output(help="The date and time in the chosen format.")
    def text(self) -> Text:
        """Return the current time as text."""
        now = self._now()
        if not self.format:
            return now.isoformat(timespec="seconds")
        try:
            return now.strftime(clean_text(self.format))
        except ValueError as error:
            raise ComponentError(
                f"CurrentDate: the format {self.format!r} is not valid: {error}.",
                remedy="Use strftime codes such as %Y, %m, %d, %H, %M.",
                field="format",
            ) from error

    @output(help="iso, date, time, year, month, day, weekday, week, timestamp (seconds since 1970) and timezone.")
    def data(self) -> Data:
        """Return the current time as an object."""
        now = self._now()
        return {
            "iso": now.isoformat(timespec="seconds"),
            "date": now.date().isoformat(),
            "time": now.strftime("%H:%M:%S"),
            "year": now.year,
            "month": now.month,
            "day": now.day,
            "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[now.weekday()],
            "week": now.isocalendar().week,
            "timestamp": int(now.timestamp()),
            "timezone": self.timezone or "UTC",
        }

    def _now(self) -> datetime:
        """Return the same time for all outputs of a step."""
        if self._at is None:
            self._at = current_time().astimezone(zone(self.timezone or "UTC"))
        return self._at


class Wait(Component):
    """Waits for a time, until a date or for a schedule, then passes its value on. A waiting run needs no worker."""

    label = "Wait"
    category = "logic"
    icon = "timer"
    keywords = (
        "sleep", "delay", "pause", "hold", "throttle", "rate limit", "seconds", "minutes", "timeout", "later",
        "slow down", "interval", "until", "date", "schedule", "days", "hours", "cron",
        "every day", "weekday", "next monday",
    )  # fmt: skip

    seconds: float = field(
        default=1.0,
        label="Seconds",
        help="How long to wait, up to ten years; 86400 is a day.",
        ge=0,
        le=LONGEST_SECONDS,
    )
    until: str = field(
        default="",
        label="Until",
        help="Date and time to wait until, for example 2027-01-31 09:00; empty: wait for the seconds.",
        max_length=100,
    )
    cron: str = field(
        default="",
        label="Cron expression",
        help="Wait for the next moment of a schedule, for example 0 8 * * MON-FRI; empty: no schedule.",
        port=False,
        max_length=100,
        syntax="cron",
    )
    timezone: str = field(
        default="",
        label="Time zone",
        help="Of the schedule, and of a date without one: an IANA name, for example Europe/Stockholm; empty is UTC.",
        port=False,
        max_length=100,
    )
    passed: str | Data | Table = field(
        default=None, name="value", label="Value", help="Passed on unchanged after the wait.", main=True
    )

    @output(name="value", label="Value", help="The input value; null without one.")
    async def value(self) -> Data:
        """The value, after the wait. The first attempt fixes the end time, so an interrupted wait does not restart."""

        async def due() -> JsonValue:
            return self._end().timestamp()

        wait: dict[str, JsonValue] = {"seconds": self.seconds}
        if self.until:
            wait = {"until": self.until, "timezone": self.timezone}
        if self.cron:
            wait |= {"cron": self.cron, "timezone": self.timezone}
        moment = (await self.ctx.once(CallRequest.of("value", "Wait", wait), due)).value
        if isinstance(moment, int | float):
            left = moment - current_time().timestamp()
            await self.ctx.sleep(left if self.until or self.cron else min(self.seconds, left), restartable=True)
        return data_of(self.passed)

    def _end(self) -> datetime:
        """The end of the wait. Raises `ComponentError`."""
        now = current_time()
        if self.cron.strip():
            return self._bounded(self._next(now), now, "cron")
        if not self.until.strip():
            return now + timedelta(seconds=self.seconds)
        try:
            end = datetime.fromisoformat(self.until.strip())
        except ValueError as error:
            raise ComponentError(
                f"Wait: '{clean_text(self.until)}' is not a date and time.",
                remedy="Write it as 2027-01-31 09:00, or with an offset as 2027-01-31T09:00:00+01:00.",
                field="until",
            ) from error
        if end.tzinfo is None:
            end = end.replace(tzinfo=zone(self.timezone or "UTC", of="Wait"))
        return self._bounded(end, now, "until")

    def _next(self, now: datetime) -> datetime:
        if self.until.strip():
            raise ComponentError(
                "Wait: it has both a date and a cron expression.", remedy="Remove one of them.", field="cron"
            )
        return next_moment(self.cron, now, zone(self.timezone or "UTC", of="Wait"), subject="Wait")

    @staticmethod
    def _bounded(end: datetime, now: datetime, field: str) -> datetime:
        if end > now + timedelta(seconds=LONGEST_SECONDS):
            raise ComponentError(
                f"Wait: {end.isoformat()} is more than ten years away.", remedy="Choose an earlier date.", field=field
            )
        return end


def current_time() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def zone(name: str, *, of: str = "CurrentDate") -> ZoneInfo:
    """Return a time zone by its IANA name. Raises `ComponentError` with the nearest name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ComponentError(
            f"{of}: there is no time zone '{name}'{did_you_mean(name, available_timezones()) or '.'}",
            remedy="Write it as Area/City, for example Europe/Stockholm.",
            field="timezone",
        ) from error
