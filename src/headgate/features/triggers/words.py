"""Triggers in words."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from headgate.features.triggers.cron import Cron
from headgate.features.triggers.poll_settings import (
    ApiConfig,
    FeedConfig,
    FolderConfig,
    MailConfig,
    PageConfig,
    PollConfig,
    QueueConfig,
    RowsConfig,
    StreamConfig,
    TopicConfig,
)
from headgate.features.triggers.polling.cursor import cursor_of
from headgate.features.triggers.schedule import Schedule, checked_cron, checked_zone
from headgate.features.triggers.settings import (
    Config,
    EventConfig,
    FlowConfig,
    FormConfig,
    ManualConfig,
    ScheduleConfig,
    WebhookConfig,
)
from headgate.features.triggers.tables import TriggerRow
from headgate.foundation.database import microseconds, moment

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
_WEEKDAYS = {"on Monday through Friday": "on weekdays"}
_PRESETS = {
    "none": "without verification",
    "github": "signed by GitHub",
    "stripe": "signed by Stripe",
    "slack": "signed by Slack",
    "standard": "signed as a Standard Webhook",
    "hmac": "signed with HMAC",
    "basic": "with a user name and a password",
    "key": "with the secret as key",
}
_ANSWERS = {"accepted": "", "result": "; answers with the result", "stream": "; answers with the text as it comes"}
_DAYS = {"every": "", "business": ", on business days only", "next_business": ", else on the next business day"}
_FORM_ACCESS = {"anyone": "by anyone with the address", "links": "by one-time links"}


def schedule_of_row(row: TriggerRow) -> Schedule:
    """Return the schedule of a trigger, with the days of its calendar. Raises `ScheduleInvalid`."""
    return schedule_of(ScheduleConfig.model_validate(row.config), row.created_at, calendar_days(row))


def calendar_days(row: TriggerRow) -> list[date]:
    """Return the holidays that were last read from the address of a schedule's calendar."""
    cursor = cursor_of(row.poll_cursor) if row.kind == "schedule" else None
    days = cursor.value if cursor is not None and isinstance(cursor.value, list) else []
    return [date.fromisoformat(str(day)) for day in days]


def schedule_of(config: ScheduleConfig, created_at: int, days: Iterable[date] = ()) -> Schedule:
    """Return the checked schedule; an interval without a start counts from its creation.

    `days`: holidays of its calendar. Raises `ScheduleInvalid`.
    """
    start = None if config.start is None else microseconds(config.start)
    return Schedule(
        checked_zone(config.time_zone),
        cron=None if config.cron is None else checked_cron(config.cron),
        every_seconds=config.every_seconds,
        anchor=created_at if start is None else start,
        start=start,
        end=None if config.end is None else microseconds(config.end),
        jitter_seconds=config.jitter_seconds,
        days=config.days,
        holidays=frozenset([*config.holidays, *days]),
    )


def sentence_of(config: Config, names: Mapping[str, str]) -> str:
    """Return when a trigger fires, in words. `names`: of other flows by id."""
    match config:
        case ScheduleConfig():
            return _schedule(config)
        case WebhookConfig():
            event = config.event
            sent = "" if event is None else f"; sends the event {event.name}" if event.name else "; sends its event"
            return f"When its address is called, {_PRESETS[config.verification]}{sent}{_ANSWERS[config.answer]}"
        case FlowConfig():
            outcomes = " or ".join(config.outcomes)
            return f"When a run of {names.get(config.flow_id, 'a deleted flow')} has {outcomes}"
        case EventConfig():
            value = "" if config.correlation is None else f" with the value {config.correlation}"
            return f"When the event {config.name}{value} is sent"
        case FormConfig():
            return f"When its form is submitted, {_FORM_ACCESS[config.access]}"
        case ManualConfig():
            return "When it is started by hand"
        case _:
            return f"{_polled(config)}, looked at {_interval(config.every_seconds).lower()}"


def _polled(config: PollConfig) -> str:
    match config:
        case FeedConfig():
            return f"For each new entry of the feed {config.url}"
        case PageConfig():
            part = f", the part {config.selector}" if config.selector else ""
            return f"When the page {config.url} changes{part}"
        case FolderConfig():
            place = f"the folder {config.folder}" if config.folder else config.connection or "the workspace"
            place += f" of {config.connection}" if config.folder and config.connection else ""
            return f"For each new or changed file {config.pattern} in {place}"
        case RowsConfig():
            return f"For each new row of a query on {config.connection}"
        case MailConfig():
            return f"For each new mail in {config.folder} of {config.connection}"
        case ApiConfig():
            return f"For each new item of {config.url}"
        case StreamConfig():
            return f"For each new entry of the stream {config.stream} on {config.connection}"
        case QueueConfig():
            return f"For each message in the queue {config.queue} of {config.connection}"
        case TopicConfig():
            return f"For each message of the topic {config.topic} on {config.connection}"


def _interval(seconds: int) -> str:
    size, unit = next(entry for entry in _UNITS if seconds % entry[0] == 0)
    count = seconds // size
    return f"Every {unit}" if count == 1 else f"Every {count:,} {unit}s"


def _schedule(config: ScheduleConfig) -> str:
    if config.every_seconds is not None:
        words = _interval(config.every_seconds)
    else:
        words = Cron(config.cron or "", moment(0)).explain()
        for written, shorter in _WEEKDAYS.items():
            words = words.replace(written, shorter)
        words += f" ({config.time_zone}){_DAYS[config.days]}"
        if config.days != "every" and config.holidays:
            words += f", {len(config.holidays)} holiday{'s' if len(config.holidays) > 1 else ''}"
        if config.calendar_url:
            words += f", calendar of {urlsplit(config.calendar_url).hostname}"
    if config.start is not None:
        words += f", from {_local(config, config.start)}"
    if config.end is not None:
        words += f", until {_local(config, config.end)}"
    if config.jitter_seconds:
        words += f", up to {config.jitter_seconds} s later"
    return words


def _local(config: ScheduleConfig, at: Any) -> str:  # noqa: ANN401 - an aware datetime
    return f"{at.astimezone(checked_zone(config.time_zone)):%Y-%m-%d %H:%M}"
