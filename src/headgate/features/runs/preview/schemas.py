"""Request and response bodies of dry runs."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.flows.summaries import Wanted
from headgate.features.runs.budgets.accounts import BudgetScope, Kind
from headgate.features.runs.schemas import ClassOut, Identifier
from headgate.graph.json_values import PlainObject, PlainText
from headgate.graph.model import Concurrency


class DryRunStart(BaseModel):
    """A run to preview. Without an input only the flow is checked."""

    model_config = ConfigDict(extra="forbid")

    text: PlainText = Field(default="", max_length=4_000_000)
    form_data: PlainObject | None = Field(default=None, description="If given, it is checked against the form.")
    file_ids: list[Identifier] = Field(default_factory=list, max_length=100)
    version: Wanted = Field(default="draft", description="`draft`, `published`, or the number of a version.")


class Finding(BaseModel):
    """A finding of a dry run."""

    severity: Literal["error", "warning"]
    """An error prevents the run from starting or completing; a warning may."""
    code: str
    message: str
    remedy: str = ""
    node: str = ""
    about: str = ""
    """What has to be configured outside the flow: the name of a variable, a model or an MCP server."""


class DryInput(BaseModel):
    """Source of one input of a step."""

    field: str
    source: str
    """`step.output` over an edge, `flow_input`, `all_previous_steps`, `http_get` or `http_post` with the address, or
    the binding as it is written."""


class DryModel(BaseModel):
    """A model that a step would call."""

    model: str
    usable: bool
    fallback: bool = False
    """Whether it is only called when the models before it cannot answer; it is not part of the totals."""
    tokens_input_at_least: int
    """Counted from the texts that are known now, at four characters per token."""
    cost_usd_at_least: float | None
    """Cost of these tokens; None when the price is unknown."""
    price_in: float | None
    """US dollars per million input tokens."""
    price_out: float | None
    """US dollars per million output tokens."""


class DryWait(BaseModel):
    """What a step would wait for."""

    reason: Literal["time", "event", "approval"]
    tools: list[str] = []
    """Tools of an agent whose calls need approval: the step waits when its model calls one of them."""
    event: str = ""
    """Name of the event."""
    correlation: str = ""
    """As it is written: it may refer to data of the run."""
    until: str = ""
    """Date and time, or condition on the state of the flow, as written."""
    cron: str = ""
    """Cron expression: the step waits for its next moment."""
    seconds: float | None = None
    """Length of the wait, or its timeout; None when it has no limit or depends on data of the run."""


class ConnectionLimit(BaseModel):
    """A connection that only so many steps may use at the same time."""

    name: str
    max: int


class DryStep(BaseModel):
    """One step of the expected path."""

    step_id: str
    order: int
    type: str
    label: str
    runs: Literal["certain", "possible", "never"]
    """`possible`: an earlier branch may skip it. `never`: it is disabled."""
    inputs: list[DryInput]
    models: list[DryModel]
    tools: list[str]
    classification: ClassOut | None = None
    max_attempts: int = 1
    timeout_seconds: float | None = None
    """Limit of one attempt where its policy or the flow sets one; at most the installation's maximum."""
    on_error: Literal["fail", "default_value", "error_data", "error_edge"] = "fail"
    disabled: Literal["no", "pass_through", "skip"] = "no"
    waits_for: DryWait | None = None
    effect: str = ""
    """What it would send, change or store, in one sentence; empty when it only computes."""
    effect_pattern: str = ""
    """The sentence with placeholders in braces, for translation."""
    effect_values: dict[str, str] = {}
    """Values of the placeholders."""
    concurrency: Concurrency | None = None
    """Limit of steps with the same key, which the step may wait for."""
    connection_limits: list[ConnectionLimit] = []
    """Connections with a limit, which the step may wait for."""
    calls: "list[DryCall]" = []
    """Flows that it would run, itself or with its tools, each with a dry run."""


class DryCall(BaseModel):
    """A flow that a step would run."""

    node: str
    """The step, or a tool of it."""
    flow_id: str
    version: int
    name: str
    repeats: Literal["once", "item", "round", "tool"]
    """How often: once, for each item, for each round of a loop, or whenever a model calls the tool."""
    at_least: int
    """Runs that are certain when the step runs; the totals include so many."""
    at_most: int | None
    """None when only the run knows."""
    problem: Literal["", "cycle", "depth", "unavailable", "limit"] = ""
    """Why there is no dry run: `cycle`: the flow leads back to one that runs it; `depth`: flows run each other too
    deep; `unavailable`: it does not exist or you may not run it; `limit`: the dry run has too many flows."""
    trail: list[str] = []
    """Names of the flows from the one that was started to this one, where the problem is `cycle`."""
    shown_before: bool = False
    """Whether the dry run of this version is omitted here because an earlier call has it."""
    totals: "DryTotals | None" = None
    """Totals of one run."""
    preview: "DryRunOut | None" = None


class DryHost(BaseModel):
    """A server that a step would access."""

    step_id: str
    host: str
    """Name and port; empty when it depends on data of the run."""
    purpose: Literal["model", "input", "delivery", "component", "tool", "text", "flow"]
    """`flow`: accessed by a flow that the step runs. `text`: found in the text of an imported file; the plan does not
    show whether a step accesses it."""


class DrySecret(BaseModel):
    """A variable that a step would use, by name."""

    step_id: str
    name: str
    known: bool
    """Whether it has a value."""


class DryReach(BaseModel):
    """Everything that the run would access."""

    hosts: list[DryHost]
    secrets: list[DrySecret]


class DryBudget(BaseModel):
    """A budget that the run would charge."""

    model_config = ConfigDict(from_attributes=True)

    scope: BudgetScope
    kind: Kind
    limit: float
    """US dollars, tokens or seconds."""
    used: float
    """What is used of a daily budget today."""


class DryTotals(BaseModel):
    """Totals of the run."""

    steps: int
    certain_steps: int
    model_steps: int
    """Steps that call models, themselves or in flows that they run."""
    model_calls_at_least: int = 0
    tokens_input_at_least: int
    """Of the first models of the certain steps, with the runs of other flows that are certain."""
    cost_usd_at_least: float | None
    """In the same way; None when a price is unknown."""
    cost_usd_known: float = 0.0
    """The part of it whose price is known."""


class DryRunOut(BaseModel):
    """Preview of a run. Nothing was stored, called or sent."""

    ok: bool
    """Whether the findings contain no error."""
    flow_id: str
    version: int | None
    """None for the draft."""
    findings: list[Finding]
    path: list[DryStep]
    """In plan order; empty when the flow is invalid."""
    reach: DryReach
    totals: DryTotals
    max_concurrent_runs: int | None = None
    """Runs of the flow at the same time; where so many run, this one waits."""
    runs_ahead: int = 0
    """Runs that hold a slot of the flow or wait for one."""
    budgets: list[DryBudget] = []
    """Budgets of the flow. A finding `budget_exceeded` says which of them the certain steps exceed."""
