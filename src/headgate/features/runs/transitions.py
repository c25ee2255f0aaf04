"""Input and output of a `RunStore`: commands and rows as plain values. Times are microseconds in UTC."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from headgate.features.audit.chain import Entry
from headgate.features.idempotency.keys import StartKey
from headgate.features.jobs import leases
from headgate.features.runs.companions import Companion
from headgate.features.runs.quotas.bounds import Bound
from headgate.features.runs.states import RunStatus, StepStatus

Json = str
"""A JSON document as text, which both databases accept without conversion."""


Lease = leases.Lease
clock = leases.clock


@dataclass(frozen=True, slots=True)
class RunKey:
    """The key of every row of a run."""

    run_id: str
    tenant_id: str
    flow_id: str
    version: int


@dataclass(frozen=True, slots=True)
class Seed:
    """A step before its execution."""

    step_id: str
    order: int
    waiting: int
    """Parents that are not settled."""


@dataclass(frozen=True, slots=True)
class Reuse:
    """Results that a new run reuses from a past one of the same flow, instead of executing those steps again."""

    run_id: str
    """The past run, which is over."""
    steps: tuple[str, ...]
    """Reused steps: completed or skipped there. Their predecessors are reused too."""
    step_id: str | None
    """The first step executed again, for display."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """An output used instead of executing the step."""

    step_id: str
    output_payload: Json
    classification: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a flow that a run executes, if not all of it."""

    only_step: str | None
    """Only this step and its predecessors; its output is the run's result."""
    from_step: str | None
    """Only this step and its successors, with what those need."""
    pinned: tuple[Pinned, ...]
    left_out: tuple[str, ...]
    """Steps that nothing in the run needs: created as skipped."""

    @property
    def settled(self) -> frozenset[str]:
        """Steps that are never executed in the run."""
        return frozenset([pin.step_id for pin in self.pinned]) | {*self.left_out}

    def stored(self) -> Json:
        """The stored form in the run's row."""
        pinned = [pin.step_id for pin in self.pinned]
        return orjson.dumps({"only_step": self.only_step, "from_step": self.from_step, "pinned": pinned}).decode()


@dataclass(frozen=True, slots=True)
class Parent:
    """The step that starts a run."""

    run_id: str
    step_id: str
    iteration: int
    """Number of the run among those of the step, from 0."""
    attempt: int
    """The attempt at the step: a later one has taken its place if it is no longer the current one."""


@dataclass(frozen=True, slots=True)
class ChildRun:
    """A run that a step started, with its result."""

    key: RunKey
    iteration: int
    status: RunStatus
    error_code: str | None
    error_message: str | None
    result: Json | None
    """Result of the run: its text and files."""
    output: Json | None
    """Stored output of the step whose text is the result."""
    classification: int | None
    """Highest classification among the outputs of its steps."""
    flow_name: str | None = None
    failed_step: str | None = None
    """The step with which it failed."""


@dataclass(frozen=True, slots=True)
class ChildStates:
    """The runs that a step started, without the data of those that completed."""

    started: int
    """How many it started: their numbers are 0 to this."""
    open: Mapping[int, tuple[str, RunStatus]]
    """Number to id and status of those that have not completed."""


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to create, with all its steps."""

    key: RunKey
    input_payload: Json
    steps: tuple[Seed, ...]
    user_id: str | None = None
    session_id: str | None = None
    claim: tuple[str, ...] = ()
    """First steps to claim at once; without any the run is queued."""
    trace_parent: str | None = None
    """The `traceparent` of the run's trace."""
    dispatched: bool = False
    """Whether it is dispatched to a queue as soon as it is stored. PostgreSQL only."""
    reuse: Reuse | None = None
    """Results of another run that its steps are created with."""
    part: Part | None = None
    """What of the flow is executed; None: all of it. Not together with `reuse`."""
    entry: Entry | None = None
    """Audit entry of its start, written in the same transaction; None: no entry."""
    once: StartKey | None = None
    """The idempotency key of the request that starts it, inserted in the same transaction."""
    visitor: str | None = None
    """Digest of the network address of a visitor who starts it."""
    bounds: tuple[Bound, ...] = ()
    """Quotas that are checked in the same transaction."""
    parent: Parent | None = None
    """The step that starts it, whose attempt must still be the current one."""
    deadline_after: int | None = None
    """Microseconds after its creation at which it fails, if it has not ended."""
    terms: Json | None = None
    """What limits it; see `terms.Terms`."""
    companions: tuple[Companion, ...] = ()
    """Rows of other features that are written in the same transaction."""
    error_flow: str | None = None
    """Name or id of the flow that handles its failure."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A step claimed by a worker."""

    step_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Held:
    """A step that a worker executes."""

    run_id: str
    step_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class StepRecord:
    """The data of an executed step, as columns."""

    output_payload: Json | None = None
    input_payload: Json | None = None
    effective_prompt: str | None = None
    model_parameters: Json | None = None
    tool_calls: Json | None = None
    log: Json | None = None
    tokens_input: int | None = None
    tokens_output: int | None = None
    execution_hash: str | None = None
    classification: int | None = None
    """Classification of the output, when classifications are enabled."""

    @property
    def bare(self) -> bool:
        """Whether it contains nothing but an output, as for most steps without a model."""
        return (
            self.log is None
            and self.effective_prompt is None
            and self.input_payload is None
            and self.model_parameters is None
            and self.tool_calls is None
            and self.tokens_input is None
            and self.tokens_output is None
            and self.classification is None
        )


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery to send once a step is done: stored with it, sent afterwards."""

    id: str
    target: bytes
    """URL, headers and body as encrypted JSON; see `deliveries.target`."""
    url_shown: str
    idempotency_key: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A completed step."""

    claim: Claim
    record: StepRecord
    delivery: Delivery | None = None
    preview: str = ""
    """The beginning of its output, for the event log."""
    error: tuple[str, str] | None = None
    """Code and message where its last attempt failed and its policy lets the run continue."""
    items: Mapping[str, int] = field(default_factory=dict)
    """Number of items of each output that is a list, for the event log."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed step."""

    claim: Claim
    code: str
    message: str
    record: StepRecord = StepRecord()
    inner: Mapping[str, str] = field(default_factory=dict)
    """Of a run that the step started: where it failed, as `SubflowFailed` has it."""


@dataclass(frozen=True, slots=True)
class Onward:
    """Effects on other steps of the run, derived from the plan."""

    settles: Mapping[str, int] = field(default_factory=dict)
    """Step to the number of its parents that this transition settles."""
    skip: tuple[str, ...] = ()
    claim: tuple[str, ...] = ()
    """Steps to claim if they wait for nothing else."""
    output_payload: Json | None = None
    """The run's result, in case this was the last step."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Outcome of a transition."""

    status: RunStatus | None
    """The run's status after it; None when there is no such run."""
    recorded: bool = True
    """False when the claim was lost, and nothing was written."""
    claims: tuple[Claim, ...] = ()
    ready: tuple[str, ...] = ()
    """Steps that wait for nothing and were not claimed."""
    ended: bool = False
    """Whether this transition ended the run."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Outcome of a run, for the log."""

    run_id: str
    flow_id: str
    version: int
    status: str
    duration_ms: int | None
    """None for a run that never started."""
    steps: int
    tokens: int
    """Without those of reused results."""
    error_code: str | None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Outcome of a cancel request."""

    status: RunStatus
    changed: bool
    """False when the run was already over."""
    children: tuple[str, ...] = ()
    """Runs of its steps that were cancelled with it, and theirs."""


@dataclass(frozen=True, slots=True)
class StoredStep:
    """A step's row, for recovery."""

    step_id: str
    status: StepStatus
    waiting: int
    attempts: int
    worker_id: str | None
    lease_until: int | None
    output_payload: Json | None
    waits_for: str | None = None
    """What it waits for, or waited for before its last attempt; see `waiting.WaitReason`."""
    interruptions: int = 0
    failures: int = 0
    """Failed attempts since its run started or was resumed."""
    failing_since: int | None = None
    tokens_input: int | None = None
    tokens_output: int | None = None
    classification: int | None = None

    @property
    def holder(self) -> "Holder":
        """The holder of a running step."""
        return Holder(self.step_id, self.attempts, self.worker_id or "", self.lease_until or 0, self.interruptions)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run's row with its steps."""

    key: RunKey
    status: RunStatus
    user_id: str | None
    session_id: str | None
    input_payload: Json
    steps: Mapping[str, StoredStep]
    trace_parent: str | None = None
    started_at: int | None = None
    """When its first step was claimed; None before."""
    result_step: str | None = None
    """The step whose output is the run's result, if the run stops there."""
    visitor: str | None = None
    """Digest of the network address of the visitor who started it."""
    parent_run_id: str | None = None
    """The run whose step started it."""
    terms: Json | None = None
    """What limits it; see `terms.Terms`."""


@dataclass(frozen=True, slots=True)
class ReadStep:
    """Summary of a step's row for display; with output only for the plan's last steps."""

    step_id: str
    step_order: int
    type: str
    status: str
    attempts: int
    num_tokens_input: int | None
    num_tokens_output: int | None
    error_code: str | None
    error_message: str | None
    started_at: int | None
    finished_at: int | None
    reused_from_run_id: str | None
    waits_for: str | None
    due_at: int | None
    answered_at: int | None
    failures: int
    output_payload: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run's row with its steps, for display."""

    id: str
    tenant_id: str
    flow_id: str
    version: int
    user_id: str | None
    session_id: str | None
    status: str
    error_code: str | None
    error_message: str | None
    created_at: int
    started_at: int | None
    finished_at: int | None
    resumes: int
    source_run_id: str | None
    source_step_id: str | None
    parent_run_id: str | None
    parent_step_id: str | None
    parent_iteration: int | None
    deadline_at: int | None
    deliveries_failed: int
    terms: dict[str, Any] | None
    part: dict[str, Any] | None
    input_payload: dict[str, Any]
    output_payload: dict[str, Any] | None
    steps: tuple[ReadStep, ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """A running step and its holder."""

    step_id: str
    attempt: int
    worker_id: str
    lease_until: int
    interruptions: int = 0
    """How often its worker died since it last waited or was resumed."""


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run that is not over, with its running steps."""

    key: RunKey
    status: RunStatus
    flow_deleted: bool
    holders: tuple[Holder, ...]
    created_at: int
    started_at: int | None
    """Start of the run; of a resumed run, time of the resume."""
    dispatched_at: int | None
    """When it was last dispatched to a queue; None in the embedded engine, and before the first dispatch."""
    user_id: str | None = None
    """The user or the visitor who started it."""
    waits: bool = False
    """Whether a step of it waits."""
    priority: int = 0
    worked: int | None = None
    """Execution time since `started_at` in microseconds; None when not requested."""


@dataclass(frozen=True, slots=True)
class Straggler:
    """A step that is still `running` though its run has failed."""

    key: RunKey
    holder: Holder


@dataclass(frozen=True, slots=True)
class Resumed:
    """Outcome of a resume request."""

    status: RunStatus
    changed: bool
    """False when the run had not failed, or its flow is deleted."""


@dataclass(frozen=True, slots=True)
class PastTurn:
    """An earlier run of a chat session."""

    input_payload: Json
    output_payload: Json | None
