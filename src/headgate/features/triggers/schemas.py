"""API schemas of triggers."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.triggers.settings import Config, Kind, Policies, Time, TriggerInput
from headgate.foundation.names import Name
from headgate.graph.json_values import PlainText
from headgate.graph.model import FormField

FormLinkState = Literal["open", "used", "expired", "revoked"]
OccurrenceState = Literal["started", "queued", "skipped", "cancelled"]
TriggerState = Literal["on", "off", "failing", "unpublished"]
"""`failing`: paused with a reason, or its last poll failed. `unpublished`: occurrences are skipped until it is."""
TriggerName = Annotated[Name, Field(max_length=120)]


class TriggerIn(BaseModel):
    """A new trigger of a flow."""

    model_config = ConfigDict(extra="forbid")

    name: TriggerName
    config: Config
    policies: Policies | None = Field(default=None, description="By default one run at a time for a schedule.")
    input: TriggerInput = Field(default_factory=TriggerInput)
    owner_user_id: PlainText | None = Field(
        default=None, max_length=36, description="Whose rights each firing uses; you by default, others for admins."
    )
    enabled: bool = True
    secret: str | None = Field(
        default=None, min_length=8, max_length=500, description="Of a webhook, where the other side made it."
    )


class TriggerPatch(BaseModel):
    """Changes of a trigger; omitted members stay."""

    model_config = ConfigDict(extra="forbid")

    name: TriggerName | None = None
    config: Config | None = None
    policies: Policies | None = None
    input: TriggerInput | None = None
    owner_user_id: PlainText | None = Field(default=None, max_length=36)
    secret: str | None = Field(default=None, min_length=8, max_length=500)


class PauseIn(BaseModel):
    """Why a trigger is paused."""

    model_config = ConfigDict(extra="forbid")

    reason: PlainText = Field(default="", max_length=500)


class ClockNoteOut(BaseModel):
    """What a change of the clocks does to an occurrence."""

    kind: Literal["missing", "repeated"]
    day: str
    """Local date, ISO 8601."""
    written: str
    """Local time as the schedule has it, HH:MM."""
    runs: str
    """Local time at which it runs."""
    text: str
    """In words."""


class FiringOut(BaseModel):
    """A future occurrence."""

    due_at: datetime
    local: str
    """In the time zone of the schedule."""
    notes: list[ClockNoteOut] = []


class TriggerProblem(BaseModel):
    """Why runs of a trigger fail for certain, or miss what it is to give them."""

    field: str
    """Setting of the trigger: `form_from.amount`, `text_from`, `input.form_data.amount`."""
    message: str
    remedy: str


class TriggerOut(BaseModel):
    """A trigger."""

    id: str
    flow_id: str
    flow_name: str
    space_id: str
    name: str
    kind: Kind
    config: Config
    policies: Policies
    input: TriggerInput
    owner_user_id: str | None
    owner_name: str | None
    """Null when the owner was deleted: no occurrence starts a run."""
    enabled: bool
    paused_reason: str
    sentence: str
    """When it fires, in words."""
    next_at: datetime | None
    published: bool
    """Whether the flow is published: otherwise occurrences are skipped."""
    path: str | None = None
    """The path of its public address."""
    submissions: int = 0
    """How many submissions of its form started a run, or wait for theirs."""
    calendar_days: list[date] = []
    """Holidays that were last read from the address of a schedule's calendar."""
    polled_at: datetime | None = None
    """When it polled last."""
    poll_error: str = ""
    """Why that poll failed; empty when it did not."""
    waits_for: str = ""
    """The folder that does not exist yet, which the trigger waits for."""
    only_polled: str = ""
    """Why changes are found by polls alone; empty where they are reported at once, or should not be."""
    problems: list[TriggerProblem] | None = Field(
        default=None,
        description="Where it does not fit the form of the published version, else of the draft. Null: not checked, in"
        " lists of several flows and for a caller who may not view the flow.",
    )
    catching: bool = False
    """Whether the next call is shown instead of starting a run."""
    created_at: datetime
    updated_at: datetime


class TriggerMade(TriggerOut):
    """A new trigger, with the secret that is shown once."""

    secret: str | None = None


class OccurrenceOut(BaseModel):
    """One due time or event of a trigger."""

    id: str
    trigger_id: str
    key: str
    due_at: datetime | None
    created_at: datetime
    status: OccurrenceState
    reason: str
    """Code of why it started no run, or not yet; empty for a started one."""
    message: str
    run_id: str | None
    run_status: str | None = None
    """Null also when the run was deleted."""
    backfill_id: str | None = None


class SkippedOut(BaseModel):
    """Occurrences that started no run, for one reason."""

    reason: str
    occurrences: int


class LatenessOut(BaseModel):
    """How late occurrences with a due time were decided on, in seconds; jitter and waiting for their turn count."""

    occurrences: int
    p50_seconds: float
    p95_seconds: float
    max_seconds: float


class TriggerStatistics(BaseModel):
    """Occurrences of a trigger in a time up to now, and their runs."""

    days: int
    started: int
    queued: int
    cancelled: int
    skipped: list[SkippedOut] = Field(description="By reason, the most frequent first.")
    completed: int = Field(description="Runs.")
    failed: int = Field(description="Runs.")
    lateness: LatenessOut | None = Field(description="Null without occurrences that had a due time and started a run.")


class FiredOut(BaseModel):
    """Outcome of an occurrence."""

    occurrence: OccurrenceOut
    duplicate: bool = False
    """Whether the same event had occurred before."""


class PreviewIn(BaseModel):
    """A schedule to explain, not stored."""

    model_config = ConfigDict(extra="forbid")

    config: Config
    count: int = Field(default=10, ge=1, le=100)
    calendar: PlainText | None = Field(
        default=None,
        max_length=1_000_000,
        description="iCalendar text (.ics) of a schedule: the days of its all-day events are added to `holidays`.",
    )
    read_calendar: bool = Field(
        default=False, description="Whether the calendar of the address is read now; its days are added to `holidays`."
    )


class PreviewOut(BaseModel):
    """A schedule in words, with its next occurrences."""

    sentence: str
    next: list[FiringOut]
    holidays: list[date] = []
    """Of the schedule, with those of the calendar."""


class BackfillIn(BaseModel):
    """A range of due times to run afterwards."""

    model_config = ConfigDict(extra="forbid")

    since: Time
    until: Time
    parallel: int = Field(
        default=1, ge=1, le=100, description="Most runs of the trigger at the same time; one: in order."
    )
    dry_run: bool = Field(default=False, description="Only list what would run.")


class BackfillEstimate(BaseModel):
    """What a backfill will take and cost, from completed runs."""

    basis: Literal["trigger", "flow"]
    """Whether they are runs of the trigger, or other ones of its flow."""
    runs: int
    """How many: the newest."""
    seconds: float
    """From the first start to the last end."""
    cost_usd: float
    """Cost of model calls, at the organisation's prices or list prices."""
    unpriced: int
    """Model calls of the past runs without a known price: the cost excludes them."""


class BackfillOut(BaseModel):
    """Due times of a backfill that had no occurrence."""

    id: str | None
    """Null for a dry run."""
    count: int
    due: list[FiringOut]
    """The first hundred."""
    estimate: BackfillEstimate | None = None
    """Of a dry run. Null where nothing would run, and without completed runs."""


class BackfillCancelled(BaseModel):
    """Outcome of cancelling a backfill."""

    cancelled: int


class CallOut(BaseModel):
    """The call that test mode caught."""

    waiting: bool
    until: datetime | None = None
    call: dict[str, Any] | None = None


class AgendaEntry(FiringOut):
    """A future occurrence of one of several triggers, or several at the same gap on one day."""

    trigger_id: str
    trigger_name: str
    flow_id: str
    flow_name: str
    count: int = 1
    until: datetime | None = None
    """The last of several."""
    every_seconds: float | None = None
    """Between two of several."""


class PollItemOut(BaseModel):
    """An item of a dry run."""

    key: str
    text: str
    """The text of its run, cut when it is long."""
    form_data: dict[str, Any]
    files: list[str]
    """Names."""
    occurred: bool
    """Whether it has an occurrence already, and would start nothing."""
    refusal: str = ""
    """Why it would start no run."""


class PollDryRunOut(BaseModel):
    """What the next poll would start."""

    items: list[PollItemOut]
    more: bool
    """Whether further items follow in the next polls."""
    first: bool
    """Whether it would be the first poll."""
    example: PollItemOut | None = None
    """An item that the first poll would only note, to see what runs receive."""
    waits_for: str = ""
    """The folder that does not exist yet."""


class FormLinksIn(BaseModel):
    """New one-time links to a form."""

    model_config = ConfigDict(extra="forbid")

    count: int = Field(default=1, ge=1, le=100)
    label: PlainText = Field(default="", max_length=200, description="For whom they are.")
    expires_at: Time | None = None


class FormLinkOut(BaseModel):
    """A one-time link to a form."""

    id: str
    trigger_id: str
    label: str
    state: FormLinkState
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    run_id: str | None
    """The run of its submission; null also while that waits, and when its occurrence was deleted."""


class FormLinkMade(FormLinkOut):
    """A new one-time link, with the path of its address, which is shown once."""

    path: str


class FormLinksMade(BaseModel):
    """New one-time links."""

    items: list[FormLinkMade]


class FormPageOut(BaseModel):
    """A form for its public page."""

    state: Literal["open", "closed", "link_needed", "link_spent", "missing"]
    color: str = "#0f766e"
    theme: Literal["light", "dark", "auto"] = "auto"
    title: str = ""
    welcome_text: str = ""
    form: list[FormField] = []
    visit: str = ""


class FormReceived(BaseModel):
    """An accepted submission."""

    text: str
    """Markdown; empty for the usual words."""
    redirect_url: str | None
    again: bool
    """Whether the visitor may send another one."""
