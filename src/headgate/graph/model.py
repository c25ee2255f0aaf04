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
    """Where a step's main input comes from (seed 002, flow_steps.input_source)."""

    FLOW_INPUT = "flow_input"
    PREVIOUS_STEP = "previous_step"
    ALL_PREVIOUS_STEPS = "all_previous_steps"
    HTTP_GET = "http_get"
    HTTP_POST = "http_post"


class InputType(StrEnum):
    """What kind of main input a step takes."""

    TEXT = "text"
    JSON = "json"
    IMAGE = "image"
    AUDIO = "audio"
    DOCUMENT = "document"
    FILE = "file"
    ANY = "any"


class OutputType(StrEnum):
    """What a step's main output is turned into."""

    TEXT = "text"
    JSON = "json"
    PDF = "pdf"
    DOCX = "docx"


class HttpCall(Value):
    """A web request that fetches a step's input or delivers its output.

    `url`, `body` and the text of headers may hold `{{...}}`; a header's value may be a secret reference instead.
    """

    url: PlainText
    headers: dict[PlainText, PlainText | SavedSecret] = Field(default_factory=dict)
    body: PlainText = "{}"
    timeout_seconds: float = Field(default=30.0, gt=0, le=300)


class StepPolicy(Value):
    """The rules of one step (seed 002, flow_steps)."""

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
    outside_content: Literal["refuse", "allow"] = "refuse"
    """Whether content from outside may decide on calls that leave the installation."""
    outside_allowlist: tuple[PlainText, ...] = ()
    """Tools, and hosts such as `example.org` or `*.example.org`, for which it may where the rest is refused."""

    @property
    def makes_document(self) -> bool:
        """Whether the main output becomes a file too."""
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
    """In a version: what a shared assistant and the default model gave the node (`links`). A draft never holds any."""


class Edge(Value):
    """A connection from an output of one node to an input of another."""

    source: NodeId
    output: PortName
    target: NodeId
    input: PortName

    @property
    def id(self) -> str:
        """The edge in the words of the text spec."""
        return f"{self.source}.{self.output} -> {self.target}.{self.input}"


FormFieldType = Literal["text", "number", "select", "image", "audio", "document", "file"]


class FormField(Value):
    """One question of the form that starts a run (seed 002, form_schema)."""

    id: Annotated[str, StringConstraints(pattern=r"^[^\W\d]\w{0,63}$")]
    """A word in any script, as in `{{flow_input.handläggare}}`."""
    label: PlainText = ""
    type: FormFieldType = "text"
    required: bool = False
    private: bool = False
    """Whether evidence holds only a commitment to the answer."""
    options: tuple[PlainText, ...] = ()

    @model_validator(mode="after")
    def _select_has_options(self) -> Self:
        if (self.type == "select") != bool(self.options):
            raise ValueError(f"form field '{self.id}': options belong to type 'select' and are required there")
        return self


class FlowSettings(Value):
    """Settings that travel with the flow."""

    widget: PlainObject = Field(default_factory=dict)
    icon: PlainText = ""
    data_retention_days: int | None = Field(default=None, ge=1)
    input_classification: int | None = Field(default=None, ge=0, le=4)
    """Class of what runs are started with; None: what the installation takes for granted."""
    require_tests: bool = False
    """Publish only what passed the flow's tests."""
    required_trials: int = Field(default=1, ge=1, le=10)
    """How often each of them has to have passed."""


class Flow(Value):
    """A whole flow: what a draft holds, what a version freezes, what the text spec prints."""

    name: Name = Field(default="Untitled flow", max_length=200)
    description: PlainText = Field(default="", max_length=10_000)
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    form: tuple[FormField, ...] = ()
    settings: FlowSettings = FlowSettings.model_construct()

    def node(self, node_id: str) -> Node | None:
        """The node of that id."""
        return next((node for node in self.nodes if node.id == node_id), None)

    def incoming(self, node_id: str) -> tuple[Edge, ...]:
        """Edges that lead to a node, in the flow's order."""
        return tuple(edge for edge in self.edges if edge.target == node_id)

    def outgoing(self, node_id: str) -> tuple[Edge, ...]:
        """Edges that leave a node, in the flow's order."""
        return tuple(edge for edge in self.edges if edge.source == node_id)
