"""API schemas of alerts."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.slos.figures import FAST, SLOW, SPANS
from headgate.foundation.names import Name
from headgate.graph.json_values import PlainText

RuleKind = Literal[
    "failure", "failure_rate", "slow", "silent", "cost", "queue", "budget", "burn_fast", "burn_slow", "dead_worker"
]
RuleState = Literal["ok", "open", "acknowledged", "muted", "off"]
AlertState = Literal["open", "acknowledged", "resolved"]
NoticeKind = Literal["opened", "resolved", "escalated", "test"]
Channel = Literal["connection", "webhook", "escalation"]
NoticeStatus = Literal["pending", "delivered", "failed"]
Language = Literal["en", "sv"]

THRESHOLDS: Mapping[RuleKind, tuple[float, float]] = {
    "failure": (1, 1_000_000),
    "failure_rate": (0.1, 100),
    "slow": (1, 10_000_000),
    "silent": (0, 0),
    "cost": (0.000_1, 1_000_000),
    "queue": (1, 1_000_000),
    "budget": (0.1, 100),
    "burn_fast": (FAST[2], FAST[2]),
    "burn_slow": (SLOW[2], SLOW[2]),
    "dead_worker": (1, 1_000_000),
}
"""Lowest and highest by kind: failed runs, percent, seconds, none, US dollars, runs, percent, burn rates, processes."""
BURN_RATES: Mapping[str, tuple[str, str, float]] = {"burn_fast": FAST, "burn_slow": SLOW}
FIXED: Mapping[str, tuple[float, int | None]] = {"silent": (0, None)} | {
    kind: (rate, SPANS[long] // 1_000_000) for kind, (long, _, rate) in BURN_RATES.items()
}
"""Kinds with a threshold that cannot be chosen, and some with a window that cannot: those of the rule are replaced."""
SHORTEST_WINDOW, LONGEST_WINDOW = 60, 30 * 86_400
MOST_RECIPIENTS = 20
_HOW = (
    "Failed runs (`failure`, `queue`: runs), percent (`failure_rate`, `budget`), seconds (`slow`), US dollars (`cost`);"
    " servers and workers (`dead_worker`); 0 for `silent`."
    " Fixed: 14.4 for `burn_fast`, 6 for `burn_slow` (burn rates of service level objectives)."
)
_WINDOW = (
    "The time that counts, up to now. `silent`: how late a run may start. `queue`: how long a run may wait. Without"
    " effect for `budget`, which counts a day in UTC. Fixed: an hour for `burn_fast`, six hours for `burn_slow`."
)
Id = Annotated[PlainText, Field(max_length=36)]
Recipients = Annotated[list[Annotated[PlainText, Field(max_length=254)]], Field(max_length=MOST_RECIPIENTS)]
Threshold = Annotated[float, Field(ge=0, le=10_000_000, allow_inf_nan=False, description=_HOW)]
Window = Annotated[int, Field(ge=SHORTEST_WINDOW, le=LONGEST_WINDOW, description=_WINDOW)]
Fewest = Annotated[
    int, Field(ge=1, le=1_000_000, description="`failure_rate`, `burn_fast`, `burn_slow`: runs that must have ended.")
]
Quiet = Annotated[int, Field(ge=60, le=7 * 86_400, description="Least time between two notices of the rule.")]
Escalation = Annotated[int, Field(ge=60, le=30 * 86_400, description="Escalates alerts that nobody acknowledged.")]
Webhook = Annotated[PlainText, Field(max_length=2_000, description="A signed request is sent there; empty for none.")]
RuleName = Annotated[Name, Field(max_length=120)]


class AlertRuleIn(BaseModel):
    """A new rule: for a flow, for a space, or without both for the whole organisation."""

    model_config = ConfigDict(extra="forbid")

    name: RuleName
    kind: RuleKind
    flow_id: Id | None = None
    space_id: Id | None = None
    threshold: Threshold = 1
    window_seconds: Window = 3_600
    fewest_runs: Fewest = 5
    connection_id: Id | None = Field(default=None, description="A shared connection: mail or notification address.")
    recipients: Recipients = []
    webhook_url: Webhook = ""
    escalation_seconds: Escalation | None = None
    escalation_connection_id: Id | None = None
    escalation_recipients: Recipients = []
    quiet_seconds: Quiet = 900
    notify_resolved: bool = True
    language: Language = "en"
    enabled: bool = True


class AlertRulePatch(BaseModel):
    """Changes of a rule; omitted members stay. Its kind and its scope stay."""

    model_config = ConfigDict(extra="forbid")

    name: RuleName | None = None
    threshold: Threshold | None = None
    window_seconds: Window | None = None
    fewest_runs: Fewest | None = None
    connection_id: Id | None = None
    recipients: Recipients | None = None
    webhook_url: Webhook | None = None
    escalation_seconds: Escalation | None = None
    escalation_connection_id: Id | None = None
    escalation_recipients: Recipients | None = None
    quiet_seconds: Quiet | None = None
    notify_resolved: bool | None = None
    language: Language | None = None
    enabled: bool | None = None
    muted_until: datetime | None = Field(default=None, description="No notices until then; null ends it.")


class NoticeError(BaseModel):
    """Why a notice was not delivered."""

    code: str
    message: str


class AlertNoticeOut(BaseModel):
    """A notice of alerts of one rule through one channel."""

    id: str
    rule_id: str
    kind: NoticeKind
    channel: Channel
    status: NoticeStatus
    opened: int = Field(description="Alerts that it reports as open.")
    resolved: int = Field(description="Alerts that it reports as resolved.")
    attempts: int
    last_status: int | None = Field(description="HTTP status of the last attempt by webhook.")
    error: NoticeError | None
    created_at: datetime
    sent_at: datetime | None
    next_attempt_at: datetime | None


class AlertRuleOut(BaseModel):
    """A rule and its state."""

    id: str
    name: str
    kind: RuleKind
    state: RuleState
    flow_id: str | None
    flow_name: str | None
    space_id: str | None
    threshold: float
    window_seconds: int
    fewest_runs: int
    connection_id: str | None
    recipients: list[str]
    webhook_shown: str = Field(description="The address without its confidential parts; empty for none.")
    escalation_seconds: int | None
    escalation_connection_id: str | None
    escalation_recipients: list[str]
    quiet_seconds: int
    notify_resolved: bool
    language: Language
    enabled: bool
    muted_until: datetime | None
    open: int = Field(description="Alerts that are not resolved.")
    fired_at: datetime | None = Field(description="When it last opened an alert.")
    failed_notices: int = Field(description="Notices that could not be delivered.")
    created_at: datetime
    updated_at: datetime


class AlertOut(BaseModel):
    """A condition that held."""

    id: str
    rule_id: str
    rule_name: str
    kind: RuleKind
    state: AlertState
    flow_id: str | None
    name: str = Field(description="Name of the flow; empty for all that the rule covers.")
    value: float = Field(description="The latest, in the unit of the threshold.")
    threshold: float
    window_seconds: int
    opened_at: datetime
    resolved_at: datetime | None
    acknowledged_at: datetime | None
    escalated_at: datetime | None


class AlertTestOut(BaseModel):
    """The outcome of a test notice through one channel."""

    channel: Channel
    delivered: bool
    status: int | None = Field(description="HTTP status, by webhook.")
    code: str
    message: str
