"""Request and response bodies of the runs API. Times are in UTC, durations in milliseconds."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from headgate.features.flows.summaries import Wanted
from headgate.features.runs.deliveries.schemas import DeliveryOut
from headgate.features.runs.detail_schemas import RunDetails, RunTriggerOut
from headgate.features.runs.waiting import WaitReason
from headgate.graph.json_values import PlainObject, PlainText
from headgate.graph.model import Budget

RunState = Literal["queued", "running", "waiting", "paused", "completed", "failed", "cancelled"]
StepState = Literal["pending", "running", "waiting", "completed", "failed", "cancelled", "skipped"]
Identifier = Annotated[str, Field(max_length=36)]
StepId = Annotated[str, Field(max_length=64)]
ASSISTANT_SESSION_PREFIX = "agentic_"
"""Prefix of the ids of assistant conversations. They are kept separate from chats of flows (seed 001,
ADR-011): no run may use one."""


class RunStart(BaseModel):
    """The input of a new run."""

    model_config = ConfigDict(extra="forbid")

    text: PlainText = Field(default="", max_length=4_000_000)
    form_data: PlainObject = Field(default_factory=dict)
    file_ids: list[Identifier] = Field(default_factory=list, max_length=100)
    session_id: PlainText | None = Field(
        default=None, min_length=1, max_length=128, description="Runs of one chat share it."
    )
    version: Wanted = Field(default="draft", description="`draft`, `published`, or the number of a version.")
    only_step: StepId | None = Field(
        default=None, description="Run only this step and the steps before it; its output is the result."
    )
    from_step: StepId | None = Field(
        default=None, description="Run only this step and the steps after it, with what those need."
    )
    pins: dict[StepId, PlainObject] = Field(
        default_factory=dict,
        max_length=200,
        description="Outputs by name that replace the execution of steps, by step id. For runs of the draft only.",
    )
    wait: bool = Field(default=False, description="Respond when the run has ended, not when it starts.")
    deadline_seconds: float | None = Field(
        default=None,
        gt=0,
        le=315_360_000,
        allow_inf_nan=False,
        description=(
            "The run fails with `deadline_exceeded` if it has not ended this long after its start, or after the "
            "`run_deadline_seconds` of the flow where that is less. Pauses do not count."
        ),
    )
    budget: Budget | None = Field(
        default=None,
        description=(
            "What the run may use, with the runs of its steps, or the `run_budget` of the flow where that is less. A "
            "model call or step that would exceed it fails with `budget_exceeded`."
        ),
    )

    priority: int | None = Field(
        default=None,
        ge=-100,
        le=100,
        description="Place among runs that wait for a slot: the highest first. Default: the `priority` of the flow.",
    )

    stop_before: list[StepId] = Field(
        default_factory=list,
        max_length=1_000,
        description="Breakpoints: ids of steps before which the run stops until it is continued.",
    )
    step_through: bool = Field(default=False, description="Stop before every step until the run is continued.")

    @field_validator("session_id")
    @classmethod
    def _is_a_chat_of_flows(cls, session_id: str | None) -> str | None:
        if session_id is not None and session_id.startswith(ASSISTANT_SESSION_PREFIX):
            raise ValueError(
                f"ids that begin with '{ASSISTANT_SESSION_PREFIX}' are conversations with the assistant; "
                "choose another for the chat of a flow"
            )
        return session_id


class Ending(BaseModel):
    """Why a run or step failed."""

    code: str
    message: str


class RunInputOut(BaseModel):
    """The input of a run."""

    text: str
    form_data: dict[str, JsonValue]
    file_ids: list[str]


class ClassOut(BaseModel):
    """A classification."""

    level: int
    name: str


class PartOut(BaseModel):
    """The part of its flow that a run executed, if not all of it."""

    only_step: str | None
    """The last executed step."""
    from_step: str | None
    """The first executed step."""
    pinned: list[str]
    """Steps with a pinned output: they were not executed and cost nothing."""


class WaitingOut(BaseModel):
    """What a waiting step waits for."""

    reason: WaitReason
    until: datetime | None
    """When it is woken at the latest; null: when it is answered."""
    answered: bool = False
    """Whether that has happened: the step continues as soon as its run does."""


class WaitsForOut(WaitingOut):
    """What a run waits for that somebody has to do."""

    run_id: str
    """The run of the step: this one, or one that its steps started."""
    flow_id: str
    step_id: str
    remedy: str
    """How the run continues."""


class StepSummary(BaseModel):
    """Summary of a step of a run."""

    step_id: str
    order: int
    type: str
    label: str
    status: StepState
    attempts: int
    ms: float | None
    tokens_input: int | None
    tokens_output: int | None
    error: Ending | None
    """Of a completed step: its last attempt failed, and the run continued as its policy says."""
    started_at: datetime | None
    finished_at: datetime | None
    waiting: WaitingOut | None = None
    """Null where the step does not wait now."""
    failures: int = 0
    """Attempts that failed and were followed by another one, since the run started or was resumed."""
    max_attempts: int = 1
    """Attempts that its policy allows."""
    reused_from_run_id: str | None = None
    """The run that executed and paid for the reused result; times and tokens are from there."""
    pinned: bool = False
    """Whether a pinned output was used instead of executing the step."""


class AttemptOut(BaseModel):
    """One attempt at a step."""

    step_id: str
    attempt_no: int
    status: Literal["started", "completed", "failed", "retried", "suspended", "cancelled"]
    worker_id: str | None
    error: Ending | None
    started_at: datetime
    finished_at: datetime | None
    record: dict[str, Any] | None = None
    """For a failed attempt whose step was executed again: its prompt, tokens, tool calls and log."""


class OutsideOut(BaseModel):
    """A source of untrusted content."""

    kind: str
    """web, file, server (answers of an MCP server), description, visitor, chat, workspace, pinned, run, component,
    event, or more."""
    name: str
    """The host, file, server or step; untrusted text. Empty for a visitor and for a chat."""


class StepOut(StepSummary):
    """A step of a run with all its data."""

    input: dict[str, Any] | None
    """Input from its policy: source, bindings, a fetched text. Input over edges is the output of other steps."""
    output: dict[str, Any] | None
    """`text` (the main output as text), `outputs` by name, `file_ids`; `not_taken` for branches."""
    effective_prompt: str | None
    model_parameters: dict[str, Any] | None
    tool_calls: list[Any]
    log: list[Any]
    execution_hash: str | None
    classification: ClassOut | None
    """Classification of its output; None when classifications are disabled."""
    outside_content: list[OutsideOut] = []
    """Sources of the untrusted content that reached the step."""
    tries: list[AttemptOut]
    delivery: DeliveryOut | None = None
    """Delivery of its `output_mode` `http_post`; a failed delivery leaves the step completed."""


class RunSummary(BaseModel):
    """A run in a list."""

    id: str
    flow_id: str
    version: int
    status: RunState
    session_id: str | None
    user_id: str | None
    text: str | None
    """Its result; truncated in a list, and for a result that is an artifact."""
    truncated: bool = False
    """Whether `text` is truncated."""
    error: Ending | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    deadline_at: datetime | None = None
    """When it fails if it has not ended; later by each pause."""
    ms: float | None
    resumes: int
    """How often it failed and was resumed."""
    source_run_id: str | None
    """The past run whose results it reused."""
    source_step_id: str | None
    """The first step that was executed again."""
    parent_run_id: str | None = None
    """The run whose step started this one; null for a run that a user started."""
    parent_step_id: str | None = None
    parent_iteration: int | None = None
    """Number of this run among those of the step, from 0."""
    part: PartOut | None = None
    """Null when the complete flow was executed."""
    deliveries_failed: int = 0
    """Failed deliveries that are not retried automatically."""
    details: RunDetails | None = None
    """Only in a list that asks for them."""


class RunOut(RunSummary):
    """A run with its steps and its result."""

    input: RunInputOut
    size_bytes: int | None = None
    """Size of the artifact with the complete result, when `text` is truncated."""
    download: str | None = None
    """Path of the complete text, when `text` is truncated."""
    output: dict[str, Any] | None
    """`text`: the result; `outputs`: the output of each last step, by step id; `file_ids`; `truncated` and `size_bytes`
    when the text is truncated. An output that is an artifact has `truncated`, `file_id`, `size_bytes`,
    `preview` and `download` instead of `value`."""
    steps: list[StepSummary]
    outside_content: list[OutsideOut] = []
    """Sources of untrusted content in the input and the result."""
    waits_for: WaitsForOut | None = None
    """The approval, event or breakpoint that ended the `wait` of a request; null in other responses."""
    trigger: RunTriggerOut | None = None
    """Null for a run that no trigger started."""


class RunParentOut(BaseModel):
    """The step of another run that started a run."""

    run_id: str
    flow_id: str
    step_id: str
    iteration: int
    """Number of the run among those of the step, from 0."""


class StartedRunsOut(BaseModel):
    """How many runs a step started, by how they stand."""

    step_id: str
    total: int | None = None
    """How many it starts in all; null where that is not known before the last one."""
    started: int
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    active: int = 0
    """Queued, running, waiting or paused."""


class RunRelationsOut(BaseModel):
    """The runs above and below a run."""

    parent: RunParentOut | None
    """Null for a run that no step started, and where the caller may not see the run above."""
    steps: list[StartedRunsOut]
    """The steps that started runs. `GET /flow-runs?parent_run_id=` lists them."""


class CancelOut(BaseModel):
    """Outcome of a cancel request."""

    id: str
    status: RunState
    changed: bool
    """False when the run was already over."""


class PauseOut(BaseModel):
    """Outcome of a request to pause or continue a run."""

    id: str
    status: RunState
    """Of a run that continues: `running`, `queued` where it has not started, or `waiting`."""
    changed: bool
    """False when the run was already paused, or is not paused."""
    runs: int
    """Number of runs that changed: this one, and those that its steps started."""


class GraphNode(BaseModel):
    """A node in the graph of a flow; `run` only when a run was requested."""

    id: str
    type: str
    label: str
    position: dict[str, float]
    kind: Literal["step", "configuration", "note"]
    role: Literal["input", "model", "output", "step"] | None = None
    """Role of a step in the flow: its entry, a model call, its result, or other."""
    badges: list[Literal["http_in", "http_out", "model", "tools", "own_code"]] = Field(default_factory=list)
    """`http_in`: fetches its input; `http_out`: sends its output; others: the resources that it uses."""
    input_type: str | None = None
    output_type: str | None = None
    order: int | None
    classification: ClassOut | None = None
    """Classification of the step's output, now or in the run; only when classifications are enabled."""
    run: StepSummary | None = None


class GraphEdge(BaseModel):
    """An edge in the graph."""

    id: str
    source: str
    output: str
    target: str
    input: str
    kind: Literal["data", "model", "tool", "all_previous_steps"]
    line: Literal["solid", "dashed"] = "solid"
    """Dashed when a step reads all previous ones without an edge between them."""
    taken: bool | None = None
    """In a run: whether the edge carried a value."""


class GraphOut(BaseModel):
    """A flow as a graph: the draft, or the version of a run with its results."""

    flow_id: str
    version: int | None
    """None for the draft."""
    run_id: str | None
    nodes: list[GraphNode]
    edges: list[GraphEdge]


class EvidenceOut(BaseModel):
    """All evidence of one run: its definition, inputs and results. docs/concepts/evidence.md explains every member."""

    format: str
    run: dict[str, Any]
    """The run, its input and its result."""
    definition_snapshot: dict[str, Any]
    step_results: list[dict[str, Any]]
    """The steps in completion order, each with its attempts and deliveries."""
    seal: dict[str, Any]
    """The signature of the chain's last hash."""
