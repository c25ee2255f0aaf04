"""Settings of a trigger by kind, its policies and its saved input, as stored and as sent."""

import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from headgate.features.triggers.poll_settings import (
    Address,
    ApiConfig,
    Expression,
    FeedConfig,
    FolderConfig,
    MailConfig,
    PageConfig,
    QueueConfig,
    RowsConfig,
    StreamConfig,
    TopicConfig,
)
from headgate.features.triggers.schedule import MOST_HOLIDAYS, Days
from headgate.foundation.lazy import lazy_module
from headgate.foundation.names import Name
from headgate.graph.json_values import PlainObject, PlainText
from headgate.graph.widget import Colour
from headgate.sdk import ComponentError

if TYPE_CHECKING:
    from headgate.components.data import selecting
else:
    selecting = lazy_module("headgate.components.data.selecting")

Kind = Literal[
    "schedule",
    "webhook",
    "flow",
    "event",
    "manual",
    "feed",
    "page",
    "folder",
    "rows",
    "mail",
    "api",
    "form",
    "stream",
    "queue",
    "topic",
]
Verification = Literal["none", "github", "stripe", "slack", "standard", "hmac", "basic", "key"]
_YEARS = range(1970, 2201)


def _of_these_years(at: datetime) -> datetime:
    if at.year not in _YEARS:
        raise ValueError(f"the year is not in {_YEARS[0]} to {_YEARS[-1]}")
    return at


Time = Annotated[AwareDatetime, AfterValidator(_of_these_years)]
"""Far from the ends of the calendar, so that no time zone and no interval exceeds them."""


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ScheduleConfig(_Settings):
    """A cron expression in a time zone, or a true interval."""

    kind: Literal["schedule"] = "schedule"
    cron: str | None = Field(
        default=None, max_length=200, description="Five fields, or six with seconds first: `0 7 * * MON-FRI`."
    )
    every_seconds: int | None = Field(
        default=None, ge=1, le=366 * 86_400, description="A true interval instead of `cron`, counted from `start`."
    )
    time_zone: str = Field(default="UTC", max_length=64, description="IANA name, for example `Europe/Stockholm`.")
    start: Time | None = Field(default=None, description="No occurrence is before it.")
    end: Time | None = Field(default=None, description="No occurrence is after it.")
    jitter_seconds: int = Field(default=0, ge=0, le=3600, description="Start each one up to this much later.")
    days: Days = Field(
        default="every",
        description="Of `cron`: on Saturdays, Sundays and holidays fire too, do not (`business`), or fire at the same "
        "time of the next business day (`next_business`).",
    )
    holidays: list[date] = Field(
        default=[], max_length=MOST_HOLIDAYS, description="Other days that are no business days: `2027-01-01`."
    )
    calendar_url: Address | None = Field(
        default=None, description="Address of a calendar (ICS) whose all-day events are holidays, too; read every day."
    )

    @model_validator(mode="after")
    def _is_one(self) -> "ScheduleConfig":
        if (self.cron is None) == (self.every_seconds is None):
            raise ValueError("a schedule has either cron or every_seconds")
        if self.cron is None and self.days != "every":
            raise ValueError("a true interval has no business days")
        if self.calendar_url is not None and self.days == "every":
            raise ValueError("a calendar is for a schedule on business days")
        if self.start is not None and self.end is not None and self.end <= self.start:
            raise ValueError("the end is not after the start")
        return self


class CallEvent(_Settings):
    """The event that a call sends, in the space of the flow."""

    name: Annotated[Name, Field(max_length=200)] | None = Field(
        default=None, description="Name of the event. Without one the call is the body of `POST /events`."
    )
    correlation_from: Expression | None = Field(
        default=None, description="JMESPath of the correlation value, for example `body.order.id`; none by default."
    )
    data_from: Expression | None = Field(default=None, description="JMESPath of the data; the whole body.")
    deliver: Literal["one", "all"] = Field(
        default="one", description="Whether one waiting step receives it, or every one."
    )
    keep_hours: float = Field(default=24.0, ge=0, le=720, description="How long it is kept for steps that wait later.")

    @model_validator(mode="after")
    def _has_one_source(self) -> "CallEvent":
        if self.name is None and (self.correlation_from is not None or self.data_from is not None):
            raise ValueError("an event without a name is read from the call: it has no correlation_from and data_from")
        return self


def is_answer_status(status: int) -> bool:
    """Whether a response to a call may have a status: none that redirects, and none that is not final."""
    return 200 <= status < 300 or 400 <= status < 600


def _answer_status(status: int) -> int:
    if not is_answer_status(status):
        raise ValueError("a status is 200 to 299 or 400 to 599")
    return status


def _parsed(expression: str) -> str:
    try:
        selecting.parse_expression(expression, subject="The trigger")
    except ComponentError as error:
        raise ValueError(str(error)) from error
    return expression


_OURS = re.compile(
    r"(access-control|clear-site|connection|content-(e|le|lo|r|s|t)|cross-origin|proxy-|reporting-|sec-|transfer)"
    r".*|(x-forwarded|x-frame).*|(x-)?(alt-svc|content-type-options|date|forwarded|host|keep-alive|nel|origin-agent-cluster|permissions-policy|"
    r"powered-by|referrer-policy|refresh|report-to|run-id|server|service-worker-allowed|set-cookie2?|sourcemap|"
    r"strict-transport-security|te|trailers?|upgrade|www-authenticate|xss-protection)"
)
"""Headers of the connection and of what browsers may do here: only this server sets them."""


def _free_header(name: str) -> str:
    if _OURS.fullmatch(name.lower()):
        raise ValueError(f"the header {name} is set by the server")
    return name


_HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$"), AfterValidator(_free_header)]
_Parsed = Annotated[Expression, AfterValidator(_parsed)]
_AnswerStatus = Annotated[int, AfterValidator(_answer_status)]


class CallResponse(_Settings):
    """What a caller that waits for the result receives.

    JMESPath selects from `text`, `data` and `run_id` of the run; `data` is the result of type Data or Table, else its
    text as JSON, else null.
    """

    status: _AnswerStatus = Field(default=200, description="Status of a result: 200 to 299 or 400 to 599.")
    status_from: _Parsed | None = Field(default=None, description="JMESPath of the status instead: `data.status`.")
    media_type: str = Field(
        default="text/plain",
        pattern=r"^(text|application|image)/[A-Za-z0-9][A-Za-z0-9.+-]{0,100}$",
        description="Content type of the body.",
    )
    body_from: _Parsed | None = Field(
        default=None,
        description="JMESPath of the body; the text of the result. Written as JSON where the type is JSON.",
    )
    headers: dict[_HeaderName, _Parsed] = Field(
        default_factory=dict,
        max_length=20,
        description="JMESPath by header; a fixed text is in quotes: `'no-cache'`. Null omits it. Those of the "
        "connection, of security and of cookies are refused.",
    )
    failed_status: _AnswerStatus = Field(
        default=503, ge=400, description="Status for a run that failed or was cancelled, or a result without an answer."
    )


class WebhookConfig(_Settings):
    """Calls of other services at the trigger's address."""

    kind: Literal["webhook"] = "webhook"
    verification: Verification = Field(default="key", description="How a call proves that it knows the secret.")
    header: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9-]{1,64}$", description="Of `hmac` and `key`: the header with the proof."
    )
    algorithm: Literal["sha256", "sha1", "sha512"] = "sha256"
    encoding: Literal["hex", "base64"] = "hex"
    prefix: PlainText = Field(
        default="", max_length=32, description="Of `hmac`: text before the signature, e.g. `sha256=`."
    )
    replay_seconds: int = Field(
        default=300, ge=1, le=86_400, description="How old a signed call may be, where its scheme signs the time."
    )
    event_key: str | None = Field(
        default=None,
        pattern=r"^(header:[A-Za-z0-9-]{1,64}|body:[^\x00]{1,200})$",
        description="Where a call has its unique key: `header:NAME` or `body:EXPRESSION`. The preset's own by default.",
    )
    answer: Literal["accepted", "result", "stream"] = Field(
        default="accepted",
        description="Respond at once with 202, when the run has ended, with its result, or with its text as it comes.",
    )
    response: CallResponse | None = Field(
        default=None, description="Of `result`: status, headers and body. By default 200 with the text."
    )
    text_from: Expression | None = Field(default=None, description="JMESPath of the run's text; the whole body.")
    form_from: dict[PlainText, Expression] = Field(
        default_factory=dict, max_length=100, description="JMESPath by form field of the flow."
    )
    max_bytes: int = Field(default=1_000_000, ge=1, le=3_500_000)
    calls_per_minute: int = Field(default=600, ge=1, le=100_000)
    event: CallEvent | None = Field(default=None, description="Send this event instead of starting a run.")

    @model_validator(mode="after")
    def _does_one(self) -> "WebhookConfig":
        if self.response is not None and self.answer != "result":
            raise ValueError("a response is of the answer `result`")
        if self.event is not None and (self.answer != "accepted" or self.text_from is not None or self.form_from):
            raise ValueError("a webhook that sends an event starts no run: it has no answer, text_from and form_from")
        return self


class FlowConfig(_Settings):
    """The end of a run of another flow."""

    kind: Literal["flow"] = "flow"
    flow_id: PlainText = Field(max_length=36)
    outcomes: list[Literal["completed", "failed", "cancelled"]] = Field(default=["completed"], min_length=1)


class EventConfig(_Settings):
    """An event that a step or a program sends in the space of the flow."""

    kind: Literal["event"] = "event"
    name: Annotated[Name, Field(max_length=200)]
    correlation: PlainText | None = Field(default=None, max_length=500, description="Only events with this value.")


class ManualConfig(_Settings):
    """A start by hand, with the saved input."""

    kind: Literal["manual"] = "manual"


def _web_address(value: str) -> str:
    try:
        address = urlsplit(value)
        is_valid = address.scheme in {"http", "https"} and bool(address.hostname) and address.username is None
    except ValueError:
        is_valid = False
    if not is_valid or not value.isprintable() or " " in value:
        raise ValueError("an address is written https://www.example.org/thanks, without a user name")
    return value


class FormConfig(_Settings):
    """Submissions of the form of the flow on a public page."""

    kind: Literal["form"] = "form"
    access: Literal["anyone", "links"] = Field(
        default="anyone", description="Open to anyone with the address, or only by one-time links."
    )
    title: PlainText = Field(default="", max_length=120, description="Heading; by default the name of the flow.")
    welcome_text: PlainText = Field(default="", max_length=2_000, description="Markdown above the form.")
    color: Colour = "#0f766e"
    theme: Literal["light", "dark", "auto"] = "auto"
    after_text: PlainText = Field(default="", max_length=2_000, description="Markdown after a submission.")
    redirect_url: Annotated[PlainText, AfterValidator(_web_address)] | None = Field(
        default=None, max_length=2_000, description="The page that follows a submission, instead of a text."
    )
    closes_at: Time | None = Field(default=None, description="No submission is accepted from this time on.")
    max_submissions: int | None = Field(
        default=None, ge=1, le=1_000_000, description="Close after this many submissions, counted from the first."
    )

    @model_validator(mode="after")
    def _ends_once(self) -> "FormConfig":
        if self.after_text and self.redirect_url is not None:
            raise ValueError("after a submission either a text or another page follows")
        return self


Config = Annotated[
    ScheduleConfig
    | WebhookConfig
    | FlowConfig
    | EventConfig
    | ManualConfig
    | FeedConfig
    | PageConfig
    | FolderConfig
    | RowsConfig
    | MailConfig
    | ApiConfig
    | StreamConfig
    | QueueConfig
    | TopicConfig
    | FormConfig,
    Field(discriminator="kind"),
]


class Policies(_Settings):
    """What happens when occurrences meet: a run that waits for approval counts as running."""

    overlap: Literal["skip", "queue_one", "queue_all", "replace", "cancel_old", "allow"] = "skip"
    limit: int = Field(default=1, ge=1, le=10_000, description="Most runs at the same time.")
    catch_up: Literal["none", "latest", "all"] = Field(
        default="latest", description="Which due times of a downtime are run afterwards."
    )
    catch_up_hours: float = Field(default=24.0, gt=0, le=24 * 366, description="Older due times are skipped.")
    pause_after_failures: int | None = Field(
        default=None, ge=1, le=1_000, description="Pause after this many failed runs in a row."
    )
    rate_runs: int | None = Field(default=None, ge=1, le=100_000, description="Most starts within `rate_seconds`.")
    rate_seconds: int = Field(default=3600, ge=1, le=86_400)


def default_policies(config: Config) -> Policies:
    """Return the policies of a new trigger."""
    return Policies() if config.kind in {"schedule", "flow"} else Policies(overlap="allow", limit=100)


class TriggerInput(_Settings):
    """The saved input of the runs."""

    text: PlainText = Field(default="", max_length=100_000)
    form_data: PlainObject = Field(default_factory=dict)
    file_ids: list[Annotated[PlainText, Field(max_length=36)]] = Field(default_factory=list, max_length=100)


class OccurrenceInput(TriggerInput):
    """The input of one run: the saved one with the content of a call, a run or an event."""

    text: PlainText = Field(default="", max_length=4_000_000)
