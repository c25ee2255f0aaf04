"""Dates and waiting."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import JsonValue, PrivateAttr

from headgate.graph.names import did_you_mean
from headgate.sdk import Component, ComponentError, Data, Table, Text, field, output
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import clean_text, data_of


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
        """Now as text."""
        now = self._now()
        if not self.format:
            return now.isoformat(timespec="seconds")
        try:
            return now.strftime(clean_text(self.format))
        except ValueError as error:
            raise ComponentError(
                f"CurrentDate: the format {self.format!r} does not work: {error}.",
                remedy="Use strftime codes such as %Y, %m, %d, %H, %M.",
                field="format",
            ) from error

    @output(help="iso, date, time, year, month, day, weekday, week, timestamp (seconds since 1970) and timezone.")
    def data(self) -> Data:
        """Now as an object."""
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
        """One moment for all outputs of a step."""
        if self._at is None:
            self._at = current_time().astimezone(zone(self.timezone or "UTC"))
        return self._at


class Wait(Component):
    """Waits a while, then passes its value on. Ends at once when the run is cancelled."""

    label = "Wait"
    category = "logic"
    icon = "timer"
    keywords = (
        "sleep", "delay", "pause", "hold", "throttle", "rate limit", "seconds", "minutes", "timeout", "later",
        "slow down", "interval",
    )  # fmt: skip

    seconds: float = field(default=1.0, label="Seconds", help="How long to wait, up to a day.", ge=0, le=86_400)
    passed: str | Data | Table = field(
        default=None, name="value", label="Value", help="Passed on unchanged after the wait.", main=True
    )

    @output(name="value", label="Value", help="The value that came in; null when nothing did.")
    async def value(self) -> Data:
        """The value, after the wait. The first attempt fixes the end time, so an interrupted wait does not restart."""

        async def due() -> JsonValue:
            return current_time().timestamp() + self.seconds

        moment = (await self.ctx.once(CallRequest.of("value", "Wait", {"seconds": self.seconds}), due)).value
        if isinstance(moment, int | float):
            seconds = min(self.seconds, moment - current_time().timestamp())
            await self.ctx.sleep(seconds, restartable=True)
        return data_of(self.passed)


def current_time() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def zone(name: str) -> ZoneInfo:
    """A time zone by its IANA name. Raises `ComponentError` naming the nearest."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ComponentError(
            f"CurrentDate: there is no time zone '{name}'{did_you_mean(name, available_timezones()) or '.'}",
            remedy="Write it as Area/City, for example Europe/Stockholm.",
            field="timezone",
        ) from error
