"""What goes into a `RunStore` and comes out: commands and rows as plain values. Times are microseconds in UTC."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from headgate.features.audit.chain import Entry
from headgate.features.idempotency.keys import StartKey
from headgate.features.jobs import leases
from headgate.features.runs.quotas.bounds import Bound
from headgate.features.runs.states import RunStatus, StepStatus

Json = str
"""A JSON document as text: what both databases take without another conversion."""


Lease = leases.Lease
clock = leases.clock


@dataclass(frozen=True, slots=True)
class RunKey:
    """What every row of a run carries."""

    run_id: str
    tenant_id: str
    flow_id: str
    version: int


@dataclass(frozen=True, slots=True)
class Seed:
    """A step before it ran."""

    step_id: str
    order: int
    waiting: int
    """Parents that are not settled."""


@dataclass(frozen=True, slots=True)
class Reuse:
    """Results that a new run takes over from a past one of the same flow, instead of doing those steps again."""

    run_id: str
    """The past run, over."""
    steps: tuple[str, ...]
    """Steps taken over: completed or skipped there. What they wait for is taken over too."""
    step_id: str | None
    """The first step done again, for people."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """An output that stands in for doing a step."""

    step_id: str
    output_payload: Json
    classification: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """What of a flow a run carries out, where that is not all of it."""

    only_step: str | None
    """Only this step and what stands before it; its output is the run's result."""
    from_step: str | None
    """Only this step and what follows from it, with what those need."""
    pinned: tuple[Pinned, ...]
    left_out: tuple[str, ...]
    """Steps that nothing in the run needs: born skipped."""

    @property
    def settled(self) -> frozenset[str]:
        """Steps that are never done in the run."""
        return frozenset([one.step_id for one in self.pinned]) | {*self.left_out}

    def stored(self) -> Json:
        """As the run's row keeps it."""
        pinned = [one.step_id for one in self.pinned]
        return orjson.dumps({"only_step": self.only_step, "from_step": self.from_step, "pinned": pinned}).decode()


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to be made, with all its steps."""

    key: RunKey
    input_payload: Json
    steps: tuple[Seed, ...]
    user_id: str | None = None
    session_id: str | None = None
    claim: tuple[str, ...] = ()
    """Roots to claim at once; without any the run is queued."""
    trace_parent: str | None = None
    """The `traceparent` in which whoever works on the run goes on."""
    dispatched: bool = False
    """Whether work on it is handed to a queue as soon as it is stored. PostgreSQL only."""
    reuse: Reuse | None = None
    """Results of another run that its steps are created with."""
    part: Part | None = None
    """What of the flow is executed; None: all of it. Not together with `reuse`."""
    entry: Entry | None = None
    """What the audit log says of its start, written in the same transaction; None: nothing is said."""
    once: StartKey | None = None
    """The idempotency key of the request that starts it, inserted in the same transaction."""
    visitor: str | None = None
    """Digest of the network address of a visitor who starts it."""
    bounds: tuple[Bound, ...] = ()
    """Quotas that are checked in the same transaction."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A step that is this worker's to do."""

    step_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Held:
    """A step that a worker is busy with."""

    run_id: str
    step_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What a step leaves behind, as columns."""

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
    """Class of the output, where security classes are switched on."""

    @property
    def bare(self) -> bool:
        """Whether it holds nothing but an output: what most steps without a model leave."""
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
    """What is to be sent once a step is done: written down with it, sent afterwards."""

    id: str
    target: bytes
    """Address, headers and body as sealed JSON; see `deliveries.target`."""
    url_shown: str
    idempotency_key: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A step that did its work."""

    claim: Claim
    record: StepRecord
    delivery: Delivery | None = None
    preview: str = ""
    """The beginning of its output, for the event log."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A step that could not."""

    claim: Claim
    code: str
    message: str
    record: StepRecord = StepRecord()


@dataclass(frozen=True, slots=True)
class Onward:
    """What follows for the other steps of the run, worked out from the plan."""

    settles: Mapping[str, int] = field(default_factory=dict)
    """Step to the number of its parents that this transition settles."""
    skip: tuple[str, ...] = ()
    claim: tuple[str, ...] = ()
    """Steps to claim if nothing is left for them to wait for."""
    output_payload: Json | None = None
    """The run's result, for when this was the last step."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a transition came to."""

    status: RunStatus | None
    """The run's status after it; None when there is no such run."""
    recorded: bool = True
    """False when the step was not this worker's any more, and nothing was written."""
    claims: tuple[Claim, ...] = ()
    ready: tuple[str, ...] = ()
    """Steps that wait for nothing and were not claimed."""
    ended: bool = False
    """Whether this transition is what ended the run."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What a run came to, for the log."""

    run_id: str
    flow_id: str
    version: int
    status: str
    duration_ms: int | None
    """None of a run that never started."""
    steps: int
    tokens: int
    """Without those of results that were reused."""
    error_code: str | None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """What a request to cancel came to."""

    status: RunStatus
    changed: bool
    """False when the run was over already."""


@dataclass(frozen=True, slots=True)
class StoredStep:
    """A step's row, as recovery needs it."""

    step_id: str
    status: StepStatus
    waiting: int
    attempts: int
    worker_id: str | None
    lease_until: int | None
    output_payload: Json | None

    @property
    def holder(self) -> "Holder":
        """Who holds it, where it is running."""
        return Holder(self.step_id, self.attempts, self.worker_id or "", self.lease_until or 0)


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
    """The step whose output is the run's result, where the run stops there."""


@dataclass(frozen=True, slots=True)
class ReadStep:
    """A step's row in short, as it is shown; the output only of the plan's last steps."""

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
    output_payload: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run's row with its steps, as it is shown."""

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
    deliveries_failed: int
    part: dict[str, Any] | None
    input_payload: dict[str, Any]
    output_payload: dict[str, Any] | None
    steps: tuple[ReadStep, ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """A running step and who holds it."""

    step_id: str
    attempt: int
    worker_id: str
    lease_until: int


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run that is not over, and what is being worked on in it."""

    key: RunKey
    status: RunStatus
    flow_deleted: bool
    holders: tuple[Holder, ...]
    created_at: int
    started_at: int | None
    """Since when it runs; of a resumed run, since it was resumed."""
    dispatched_at: int | None
    """When work on it was last handed to a queue; None in the embedded engine, and when that was never done."""
    user_id: str | None = None
    """The user or the visitor who started it."""
    worked: int | None = None
    """Microseconds in which a worker was at a step of it since `started_at`; None where that was not asked."""


@dataclass(frozen=True, slots=True)
class Straggler:
    """A step that is still `running` though its run has failed."""

    key: RunKey
    holder: Holder


@dataclass(frozen=True, slots=True)
class Resumed:
    """What a request to resume came to."""

    status: RunStatus
    changed: bool
    """False when the run had not failed, or its flow is deleted."""


@dataclass(frozen=True, slots=True)
class PastTurn:
    """An earlier run of a chat session."""

    input_payload: Json
    output_payload: Json | None
