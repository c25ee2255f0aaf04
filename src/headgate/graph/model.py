"""The flow as a value: nodes, edges, form and settings. Frozen; edits return a new one."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from headgate.foundation.names import Name
from headgate.graph.json_values import PlainJson, PlainObject, PlainText
from headgate.graph.secret_reference import SavedSecret

NODE_ID_PATTERN = r"^[a-z][a-z0-9_]{0,63}$"
TYPE_PATTERN = r"^[A-Z][A-Za-z0-9]{0,63}$"
PORT_PATTERN = r"^[a-z_][a-z0-9_]{0,63}$"

NodeId = Annotated[str, StringConstraints(pattern=NODE_ID_PATTERN)]
TypeName = Annotated[str, StringConstraints(pattern=TYPE_PATTERN)]
PortName = Annotated[str, StringConstraints(pattern=PORT_PATTERN)]


class Value(BaseModel):
    """A frozen value that refuses unknown members."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Position(Value):
    """Upper left corner of a node on the canvas, in canvas units."""

    x: float = Field(default=0.0, allow_inf_nan=False)
    y: float = Field(default=0.0, allow_inf_nan=False)


class InputSource(StrEnum):
    """Source of a step's main input (seed 002, flow_steps.input_source)."""

    FLOW_INPUT = "flow_input"
    PREVIOUS_STEP = "previous_step"
    ALL_PREVIOUS_STEPS = "all_previous_steps"
    HTTP_GET = "http_get"
    HTTP_POST = "http_post"


class InputType(StrEnum):
    """Type of a step's main input."""

    TEXT = "text"
    JSON = "json"
    IMAGE = "image"
    AUDIO = "audio"
    DOCUMENT = "document"
    FILE = "file"
    ANY = "any"


class OutputType(StrEnum):
    """Type that a step's main output is converted to."""

    TEXT = "text"
    JSON = "json"
    PDF = "pdf"
    DOCX = "docx"


class HttpCall(Value):
    """A web request that fetches a step's input or delivers its output.

    `url`, `body` and the text of headers may contain `{{...}}`; a header's value may be a secret reference instead.
    """

    url: PlainText
    headers: dict[PlainText, PlainText | SavedSecret] = Field(default_factory=dict)
    body: PlainText = "{}"
    timeout_seconds: float = Field(default=30.0, gt=0, le=300)


ErrorCode = Annotated[str, StringConstraints(pattern=r"^(\*|[a-z][a-z0-9_]{0,63})$")]


class RetryPolicy(Value):
    """New attempts at a step that failed. The step waits for them in the database, without a worker."""

    max_attempts: int = Field(ge=1, le=50)
    """The first attempt included; 1: no retries."""
    backoff: Literal["exponential", "fixed"] = "exponential"
    """Exponential: the delay doubles with each failure."""
    delay_seconds: float = Field(default=2.0, ge=0, le=86_400, allow_inf_nan=False)
    """Delay before the second attempt."""
    max_delay_seconds: float = Field(default=300.0, ge=0, le=604_800, allow_inf_nan=False)
    jitter: float = Field(default=0.2, ge=0, le=1)
    """Share of the delay by which it varies, so that many runs do not come back at once."""
    codes: tuple[ErrorCode, ...] = Field(default=(), max_length=50)
    """Codes of errors that are retried, `*` for all; empty: those that may pass, such as timeouts and rate limits."""


class Concurrency(Value):
    """A limit shared by the steps of a space that name the same key, such as a connection."""

    key: Name = Field(min_length=1, max_length=64)
    max: int = Field(ge=1, le=100_000)
    """Steps at the same time; others wait."""


class Budget(Value):
    """Limits of what model calls and steps may use. Unset members are unlimited."""

    usd: float | None = Field(default=None, gt=0, le=1_000_000, allow_inf_nan=False)
    """US dollars, at the prices in Settings, Models."""
    tokens: int | None = Field(default=None, ge=1, le=1_000_000_000_000)
    """Tokens of prompts and answers."""
    seconds: float | None = Field(default=None, gt=0, le=315_360_000, allow_inf_nan=False)
    """Execution time of steps, added up; without waiting."""


class ToolApproval(Value):
    """Tools of which users approve each call before it is made."""

    tools: tuple[PlainText, ...] = Field(default=(), max_length=100)
    """Names as in `tool_allowlist`; `server.*` is every tool of a server, `*` every tool."""
    assignees: tuple[PlainText, ...] = Field(default=(), max_length=20)
    """Email addresses of users and `role:NAME`; empty: every user who may run the flow."""
    needed: int = Field(default=1, ge=1, le=20)
    """How many users must approve a call. One rejection is enough."""
    not_starter: bool = False
    """Whether the user who started the run may not decide."""
    editable: bool = False
    """Whether arguments may be changed before approval."""
    timeout_hours: float | None = Field(default=None, gt=0, le=87_600, allow_inf_nan=False)
    """Then the call is refused; None: without limit."""

    @model_validator(mode="after")
    def _edited_by_one(self) -> Self:
        if self.editable and self.needed > 1:
            raise ValueError("arguments that several users must approve cannot be editable")
        return self

    def covers(self, name: str) -> bool:
        """Return whether calls of the tool with that name need approval."""
        return any(
            pattern in {name, "*"} or (pattern.endswith(".*") and name.startswith(pattern[:-1]))
            for pattern in self.tools
        )


class StepPolicy(Value):
    """The policy of one step (seed 002, flow_steps)."""

    input_source: InputSource = InputSource.PREVIOUS_STEP
    input_type: InputType = InputType.ANY
    input_config: HttpCall | None = None
    input_contract: PlainObject | None = None
    input_bindings: dict[PortName, PlainText] = Field(default_factory=dict)
    """Input field to `{{...}}` expression, resolved before the step runs."""
    output_mode: Literal["pass_through", "http_post"] = "pass_through"
    output_type: OutputType = OutputType.TEXT
    output_config: HttpCall | None = None
    output_contract: PlainObject | None = None
    output_classification_override: int | None = Field(default=None, ge=0, le=4)
    tool_policy: Literal["inherit", "restricted"] = "inherit"
    tool_allowlist: tuple[PlainText, ...] = ()
    tool_approval: ToolApproval | None = None
    """Tools of an agent that users approve, call by call."""
    outside_content: Literal["refuse", "allow"] = "refuse"
    """Whether external content may decide on calls that leave the installation."""
    outside_allowlist: tuple[PlainText, ...] = ()
    """Tools, and hosts such as `example.org` or `*.example.org`, which are allowed when others are refused."""
    retry: RetryPolicy | None = None
    """None: the retries that the flow's settings give to steps without external effects."""
    timeout_seconds: float | None = Field(default=None, gt=0, le=604_800, allow_inf_nan=False)
    """Limit of one attempt; None: that of the installation, which also has a maximum."""
    total_timeout_seconds: float | None = Field(default=None, gt=0, le=31_536_000, allow_inf_nan=False)
    """Limit of all attempts together, with the delays between them."""
    on_error: Literal["fail", "default_value", "error_data", "error_edge"] = "fail"
    """What follows when no attempt is left: the run fails; the main output is the default value, or the error as data;
    or only the additional output `error` is taken."""
    default_value: PlainJson = None
    disabled: Literal["no", "pass_through", "skip"] = "no"
    """A disabled step is not executed: its main input becomes its outputs (of branches the main one), or it is
    skipped."""
    concurrency: Concurrency | None = None
    """Limit of steps that run at the same time."""

    @property
    def has_error_output(self) -> bool:
        """Return whether the step has the additional output `error`."""
        return self.on_error == "error_edge"

    @property
    def makes_document(self) -> bool:
        """Return whether the main output also becomes a file."""
        return self.output_type in {OutputType.PDF, OutputType.DOCX}


class Node(Value):
    """One component on the canvas: the values that were set, never a copy of its template."""

    id: NodeId
    type: TypeName
    label: PlainText = Field(default="", max_length=200)
    position: Position = Position.model_construct()
    params: dict[PortName, PlainJson] = Field(default_factory=dict)
    code: PlainText | None = Field(default=None, max_length=1_000_000)
    policy: StepPolicy = StepPolicy.model_construct()
    linked: dict[PortName, PlainJson] = Field(default_factory=dict)
    """In a version: values of a shared assistant and of the default model (`links`). Always empty in a draft."""


class Edge(Value):
    """A connection from an output of one node to an input of another."""

    source: NodeId
    output: PortName
    target: NodeId
    input: PortName

    @property
    def id(self) -> str:
        """Return the edge in the notation of the text spec."""
        return f"{self.source}.{self.output} -> {self.target}.{self.input}"


FormFieldType = Literal[
    "text", "long_text", "number", "select", "multiselect", "checkbox", "date", "json",
    "image", "audio", "document", "file",
]  # fmt: skip
FILE_FIELD_TYPES = frozenset({"image", "audio", "document", "file"})
CHOICE_FIELD_TYPES = frozenset({"select", "multiselect"})
COUNTED_FIELD_TYPES = frozenset({"text", "long_text", "multiselect"})
"""Their bounds count characters or choices."""


class FormField(Value):
    """One question of a form: that which starts a run (seed 002, form_schema), or that of an approval."""

    id: Annotated[str, StringConstraints(pattern=r"^[^\W\d]\w{0,63}$")]
    """A word in any script, as in `{{flow_input.handläggare}}`."""
    label: PlainText = ""
    type: FormFieldType = "text"
    required: bool = False
    private: bool = False
    """Whether evidence contains only a commitment to the answer."""
    options: tuple[PlainText, ...] = ()
    min: float | None = Field(default=None, allow_inf_nan=False)
    """Least number; for texts the fewest characters, for several choices the fewest choices."""
    max: float | None = Field(default=None, allow_inf_nan=False)
    """Greatest number, most characters or most choices."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.type in CHOICE_FIELD_TYPES) != bool(self.options):
            raise ValueError(
                f"form field '{self.id}': options belong to types 'select' and 'multiselect' and are required there"
            )
        bounds = [bound for bound in (self.min, self.max) if bound is not None]
        if bounds and self.type not in {"number", *COUNTED_FIELD_TYPES}:
            raise ValueError(f"form field '{self.id}': min and max belong to numbers, texts and type 'multiselect'")
        if self.type in COUNTED_FIELD_TYPES and any(bound < 0 or bound % 1 for bound in bounds):
            raise ValueError(f"form field '{self.id}': min and max of type '{self.type}' are whole numbers from 0")
        if bounds != sorted(bounds):
            raise ValueError(f"form field '{self.id}': min is greater than max")
        return self


class FlowSettings(Value):
    """Settings that are part of the flow."""

    widget: PlainObject = Field(default_factory=dict)
    icon: PlainText = ""
    data_retention_days: int | None = Field(default=None, ge=1)
    input_classification: int | None = Field(default=None, ge=0, le=4)
    """Class of what runs are started with; None: what the installation takes for granted."""
    require_tests: bool = False
    """Publish only versions that passed the flow's tests."""
    required_trials: int = Field(default=1, ge=1, le=10)
    """Required number of passed trials of each test."""
    retry: RetryPolicy | None = None
    """Retries of steps that have no external effect and no retries of their own."""
    step_timeout_seconds: float | None = Field(default=None, gt=0, le=604_800, allow_inf_nan=False)
    """Limit of one attempt at a step that sets none."""
    run_deadline_seconds: float | None = Field(default=None, gt=0, le=315_360_000, allow_inf_nan=False)
    """Time after its start at which a run fails, whether it runs or waits; without pauses."""
    run_budget: Budget | None = None
    """What each run may use, with the runs of its steps."""
    daily_budget: Budget | None = None
    """What all runs of the flow may use on one day (UTC), with the runs of their steps."""
    max_concurrent_runs: int | None = Field(default=None, ge=1, le=100_000)
    """Runs at the same time; others wait. Those that wait for a time, an approval or an event do not count."""
    error_flow: PlainText = Field(default="", max_length=200)
    """Name or id of a published flow that is started when a run fails, with the facts of the failure."""
    priority: int = Field(default=0, ge=-100, le=100)
    """Place of the runs among those that wait for a slot: the highest first."""


class Flow(Value):
    """A complete flow: a draft, the content of a version, the value of a text spec."""

    name: Name = Field(default="Untitled flow", max_length=200)
    description: PlainText = Field(default="", max_length=10_000)
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    form: tuple[FormField, ...] = ()
    settings: FlowSettings = FlowSettings.model_construct()

    def node(self, node_id: str) -> Node | None:
        """Return the node with that id."""
        return next((node for node in self.nodes if node.id == node_id), None)

    def incoming(self, node_id: str) -> tuple[Edge, ...]:
        """Return edges into a node, in the flow's order."""
        return tuple(edge for edge in self.edges if edge.target == node_id)

    def outgoing(self, node_id: str) -> tuple[Edge, ...]:
        """Edges that leave a node, in the flow's order."""
        return tuple(edge for edge in self.edges if edge.source == node_id)
