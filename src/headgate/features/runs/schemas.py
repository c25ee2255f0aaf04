"""What the runs API takes and answers. Times are moments in UTC, durations milliseconds."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from headgate.features.flows.summaries import Wanted
from headgate.features.runs.deliveries.schemas import DeliveryOut
from headgate.graph.json_values import PlainObject, PlainText

RunState = Literal["queued", "running", "completed", "failed", "cancelled"]
StepState = Literal["pending", "running", "completed", "failed", "cancelled", "skipped"]
Identifier = Annotated[str, Field(max_length=36)]
StepId = Annotated[str, Field(max_length=64)]
ASSISTANT_SESSION_PREFIX = "agentic_"
"""What ids of conversations with the assistant begin with. They are kept apart from the chats of flows (seed 001,
ADR-011): no run may bear one."""


class RunStart(BaseModel):
    """What to start a run with."""

    model_config = ConfigDict(extra="forbid")

    text: PlainText = Field(default="", max_length=4_000_000)
    form_data: PlainObject = Field(default_factory=dict)
    file_ids: list[Identifier] = Field(default_factory=list, max_length=100)
    session_id: PlainText | None = Field(
        default=None, min_length=1, max_length=128, description="Runs of one chat share it."
    )
    version: Wanted = Field(default="draft", description="`draft`, `published`, or the number of a version.")
    only_step: StepId | None = Field(
        default=None, description="Carry out only this step and what stands before it; its output is the result."
    )
    from_step: StepId | None = Field(
        default=None, description="Carry out only this step and what follows from it, with what those need."
    )
    pins: dict[StepId, PlainObject] = Field(
        default_factory=dict,
        max_length=200,
        description="Outputs by name that stand in for doing steps, by step id. For runs of the draft only.",
    )
    wait: bool = Field(default=False, description="Answer when the run is over, not when it has begun.")

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
    """Why something failed."""

    code: str
    message: str


class RunInputOut(BaseModel):
    """What a run was started with."""

    text: str
    form_data: dict[str, JsonValue]
    file_ids: list[str]


class ClassOut(BaseModel):
    """A security class."""

    level: int
    name: str


class PartOut(BaseModel):
    """What of its flow a run carried out, where that was not all of it."""

    only_step: str | None
    """Where it stopped."""
    from_step: str | None
    """Where it began."""
    pinned: list[str]
    """Steps for which an output of somebody's choice stood in: nobody did them, and nobody paid for them."""


class StepSummary(BaseModel):
    """A step of a run in short."""

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
    started_at: datetime | None
    finished_at: datetime | None
    reused_from_run_id: str | None = None
    """The run that did the work and paid for it, where the result was taken over; times and tokens are its."""
    pinned: bool = False
    """Whether an output of somebody's choice stood in for doing the step."""


class AttemptOut(BaseModel):
    """One try at a step."""

    step_id: str
    attempt_no: int
    status: Literal["started", "completed", "failed", "retried", "cancelled"]
    worker_id: str | None
    error: Ending | None
    started_at: datetime
    finished_at: datetime | None
    record: dict[str, Any] | None = None
    """Of a failed try whose step was done again: the prompt, tokens, tool calls and log it had left."""


class OutsideOut(BaseModel):
    """A source of content from outside."""

    kind: str
    """web, file, server (answers of an MCP server), description, visitor, chat, workspace, pinned, run, component,
    or more."""
    name: str
    """The host, file, server or step; a stranger's text. Empty for a visitor and for a chat."""


class StepOut(StepSummary):
    """A step of a run with everything it left."""

    input: dict[str, Any] | None
    """What its policy brought: where from, bindings, a fetched text. What edges brought is the output of others."""
    output: dict[str, Any] | None
    """`text` (the main output as text), `outputs` by name, `file_ids`; `not_taken` where it branched."""
    effective_prompt: str | None
    model_parameters: dict[str, Any] | None
    tool_calls: list[Any]
    log: list[Any]
    execution_hash: str | None
    classification: ClassOut | None
    """Class of what it gave; None where security classes were switched off."""
    outside_content: list[OutsideOut] = []
    """Where the content from outside comes from that reached the step."""
    tries: list[AttemptOut]
    delivery: DeliveryOut | None = None
    """What became of its output_mode http_post; a failed delivery leaves the step completed."""


class RunSummary(BaseModel):
    """A run in a list."""

    id: str
    flow_id: str
    version: int
    status: RunState
    session_id: str | None
    user_id: str | None
    text: str | None
    """Its result; in a list, and of a result that is an artifact, only the beginning."""
    truncated: bool = False
    """Whether `text` is only the beginning of the result."""
    error: Ending | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    ms: float | None
    resumes: int
    """How often it failed and went on."""
    source_run_id: str | None
    """The past run whose results it took over."""
    source_step_id: str | None
    """The first step it did again."""
    part: PartOut | None = None
    """Null where the whole flow was carried out."""
    deliveries_failed: int = 0
    """Outputs that did not reach their receiver and are not tried again by themselves."""


class RunOut(RunSummary):
    """A run with its steps and what came out of it."""

    input: RunInputOut
    size_bytes: int | None = None
    """Size of the artifact that holds the complete result, where `text` is only its beginning."""
    download: str | None = None
    """Path of the complete text, where `text` is only its beginning."""
    output: dict[str, Any] | None
    """`text`: the result; `outputs`: the output of each last step, by step id; `file_ids`; `truncated` and `size_bytes`
    where the text is only the beginning. An output that is an artifact has `truncated`, `file_id`, `size_bytes`,
    `preview` and `download` in place of `value`."""
    steps: list[StepSummary]
    outside_content: list[OutsideOut] = []
    """Where content from outside comes from: of the input, and of the result."""


class CancelOut(BaseModel):
    """What a request to cancel came to."""

    id: str
    status: RunState
    changed: bool
    """False when the run was over already."""


class GraphNode(BaseModel):
    """A node of a flow as drawn; `run` only where a run was asked for."""

    id: str
    type: str
    label: str
    position: dict[str, float]
    kind: Literal["step", "configuration", "note"]
    role: Literal["input", "model", "output", "step"] | None = None
    """What a step is in the flow: where it begins, a model's work, where it ends, or anything else."""
    badges: list[Literal["http_in", "http_out", "model", "tools", "own_code"]] = Field(default_factory=list)
    """`http_in`: fetches its input; `http_out`: sends something out; the others: what it works with."""
    input_type: str | None = None
    output_type: str | None = None
    order: int | None
    classification: ClassOut | None = None
    """Class of what the step gives, or gave in the run; only where security classes are switched on."""
    run: StepSummary | None = None


class GraphEdge(BaseModel):
    """An edge as drawn."""

    id: str
    source: str
    output: str
    target: str
    input: str
    kind: Literal["data", "model", "tool", "all_previous_steps"]
    line: Literal["solid", "dashed"] = "solid"
    """Dashed where a step reads all those before it and no edge joins the two."""
    taken: bool | None = None
    """In a run: whether a value went over it."""


class GraphOut(BaseModel):
    """A flow as a graph: its draft, or the version of a run with that run's results."""

    flow_id: str
    version: int | None
    """None for the draft."""
    run_id: str | None
    nodes: list[GraphNode]
    edges: list[GraphEdge]


class EvidenceOut(BaseModel):
    """Everything about one run: its definition, inputs and results. docs/concepts/evidence.md explains every member."""

    format: str
    run: dict[str, Any]
    """The run, its input and its result."""
    definition_snapshot: dict[str, Any]
    step_results: list[dict[str, Any]]
    """The steps in the order in which they finished, each with its attempts and deliveries."""
    seal: dict[str, Any]
    """The signature of the chain's last hash."""
