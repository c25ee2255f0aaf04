"""Templates of components: fields and outputs, as plain values.

Templates are derived from component classes by the SDK and never stored in a flow; the canvas, the validator, the text
spec and the agent's tools use them.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, JsonValue

from headgate.graph.ports import CONFIGURATION_TYPES, PortType

TOOL_OUTPUT = "tool"
"""Reserved output name: the component itself as a tool for an agent."""
DOCUMENT_OUTPUT = "document"
"""Additional output of a step whose policy makes a document of its main output."""
ERROR_OUTPUT = "error"
"""Additional output of a step whose policy takes the error edge: code, message, step, attempt and input."""

Syntax = Literal["", "url", "sql", "jmespath", "re2", "cron"]


class FieldKind(StrEnum):
    """How a field is edited."""

    TEXT = "text"
    MULTILINE = "multiline"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    SELECT = "select"
    MULTISELECT = "multiselect"
    SECRET = "secret"  # noqa: S105 - a kind, not a password
    CODE = "code"
    JSON = "json"
    TABLE = "table"
    FILE = "file"
    MODEL = "model"
    TOOLS = "tools"
    MESSAGE = "message"
    FLOW = "flow"
    CONNECTION = "connection"


class FieldTemplate(BaseModel):
    """One input of a component: an inline value, a port, or both."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    kind: FieldKind
    label: str = ""
    help: str = ""
    default: JsonValue = None
    required: bool = False
    unless: str = ""
    """Another field that may be given in its place: one of the two is required."""
    types: tuple[PortType, ...] = ()
    """Port types of edges into this field; empty when it cannot be connected."""
    many: bool = False
    """Whether several edges may be connected; the values arrive as a list in edge order."""
    options: tuple[str, ...] = ()
    advanced: bool = False
    tool_mode: bool = False
    """Whether an agent fills this field when the component is its tool."""
    interpolate: bool = True
    """Whether `{{...}}` in this field is resolved before the step runs."""
    main: bool = False
    """The port that receives a step policy's input source."""
    secret_values: bool = False
    """Whether each value of the object in this field is text or a secret reference, as headers are."""
    syntax: Syntax = ""
    """The language of the text in this field: it is checked before a run."""
    connection_kinds: tuple[str, ...] = ()
    """Kinds of connections that this field may name; empty: any."""
    default_model: bool = False
    """Whether the installation's default model for steps is used when this field is empty."""
    schema_: dict[str, JsonValue] | None = None
    """JSON Schema of one value, for kinds `json` and `table`."""

    @property
    def is_secret(self) -> bool:
        """Whether it holds a secret reference and nothing else."""
        return self.kind is FieldKind.SECRET

    @property
    def is_connection(self) -> bool:
        """Whether it holds the name of a connection and nothing else."""
        return self.kind is FieldKind.CONNECTION

    @property
    def carries_secret(self) -> bool:
        """Return whether it may contain a secret reference."""
        return self.is_secret or self.secret_values or self.kind is FieldKind.MODEL

    @property
    def takes_configuration(self) -> bool:
        """Return whether it accepts a model or tools."""
        return self.kind in {FieldKind.MODEL, FieldKind.TOOLS} or bool(set(self.types) & CONFIGURATION_TYPES)


class OutputTemplate(BaseModel):
    """One output of a component."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    type: PortType
    label: str = ""
    help: str = ""
    branch: bool = False
    """Whether the run may skip this output; steps that depend only on it are then skipped."""


class Template(BaseModel):
    """A component type."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    type: str
    label: str
    description: str
    category: str
    icon: str = ""
    keywords: tuple[str, ...] = ()
    """Search terms for this component that its name does not contain."""
    fields: tuple[FieldTemplate, ...] = ()
    outputs: tuple[OutputTemplate, ...] = ()
    annotation: bool = False
    """A note: no ports, never a step, may be unconnected."""
    effect: bool = False
    """Whether running it has an external effect (posts, writes); such a step is never repeated silently."""
    model_using: bool = False
    """Whether a step of this type calls a model."""
    outside: bool = False
    """Whether it sends its input out of this installation: a request, a delivery. Models have classifications."""
    reads_input: bool = False
    """Whether it reads the run's input itself, without a reference or a policy."""
    extra: str = ""
    """The extra of the distribution that it needs: `pip install 'headgate[extra]'`."""

    def field(self, name: str) -> FieldTemplate | None:
        """Return the field of that name."""
        return next((field for field in self.fields if field.name == name), None)

    def output(self, name: str) -> OutputTemplate | None:
        """Return the output of that name."""
        return next((output for output in self.outputs if output.name == name), None)

    def with_document(self, format_: str) -> "Template":
        """Return the template of a step whose policy makes a PDF or Word document of its main output."""
        if self.main_output is None or self.output(DOCUMENT_OUTPUT) is not None:
            return self
        document_output = OutputTemplate(
            name=DOCUMENT_OUTPUT, type=PortType.FILE, label="Document", help=f"The main output as a {format_} file."
        )
        return self.model_copy(update={"outputs": (*self.outputs, document_output)})

    def with_error(self) -> "Template":
        """Return the template of a step whose policy takes the error edge when it fails."""
        if self.output(ERROR_OUTPUT) is not None:
            return self
        help_ = "When the step fails: code, message, step, attempt and input."
        error = OutputTemplate(name=ERROR_OUTPUT, type=PortType.DATA, label="Error", help=help_, branch=True)
        return self.model_copy(update={"outputs": (*self.outputs, error)})

    @property
    def ports(self) -> tuple[FieldTemplate, ...]:
        """Return the fields that can be connected."""
        return tuple(field for field in self.fields if field.types)

    @property
    def main_field(self) -> FieldTemplate | None:
        """Return the port of a step's main input: the one marked `main`, else the first data port."""
        data = [field for field in self.ports if not set(field.types) <= {PortType.MODEL, PortType.TOOL}]
        return next((field for field in data if field.main), data[0] if data else None)

    @property
    def main_output(self) -> OutputTemplate | None:
        """Return the output of `{{step.output}}`: the first that carries data."""
        return next((out for out in self.outputs if out.type not in {PortType.MODEL, PortType.TOOL}), None)


class Catalog(Protocol):
    """Source of templates. Some depend on a node's values: a Switch has one output per case."""

    def types(self) -> Sequence[str]:
        """Return every known component type, sorted."""

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        """Return the template of a type, with the ports for these params; None when unknown."""

    def code(self, type_: str) -> str | None:
        """Return the source of a custom component; None for built-in components."""
