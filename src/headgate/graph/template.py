"""What a component looks like from outside: its fields and outputs, as plain values.

Templates are derived from component classes by the SDK and never stored in a flow; the canvas, the validator, the text
spec and the agent's tools all read them from here.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, JsonValue

from headgate.graph.ports import CONFIGURATION_TYPES, PortType

TOOL_OUTPUT = "tool"
"""Reserved output name: the component itself as a tool for an agent."""
DOCUMENT_OUTPUT = "document"
"""Output that a step has besides its own when its policy makes a document of its main output."""

Syntax = Literal["", "url", "sql", "jmespath", "re2"]


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


class FieldTemplate(BaseModel):
    """One input of a component: an inline value, a port, or both."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    kind: FieldKind
    label: str = ""
    help: str = ""
    default: JsonValue = None
    required: bool = False
    types: tuple[PortType, ...] = ()
    """Port types an edge into this field may bring; empty when the field cannot be connected."""
    many: bool = False
    """Whether several edges may lead here; the values arrive as a list in edge order."""
    options: tuple[str, ...] = ()
    advanced: bool = False
    tool_mode: bool = False
    """Whether an agent fills this field when the component is its tool."""
    interpolate: bool = True
    """Whether `{{...}}` in this field is resolved before the step runs."""
    main: bool = False
    """The port that a step policy's input source fills."""
    secret_values: bool = False
    """Whether each value of the object in this field is text or a secret reference, as headers are."""
    syntax: Syntax = ""
    """The language that text in this field is written in: it is checked before a run."""
    default_model: bool = False
    """Whether the installation's default model for steps is used when this field is empty."""
    schema_: dict[str, JsonValue] | None = None
    """JSON Schema of one value, for kinds `json` and `table`."""

    @property
    def is_secret(self) -> bool:
        """Whether it holds a secret reference and nothing else."""
        return self.kind is FieldKind.SECRET

    @property
    def carries_secret(self) -> bool:
        """Whether a secret reference may be in it."""
        return self.is_secret or self.secret_values or self.kind is FieldKind.MODEL

    @property
    def takes_configuration(self) -> bool:
        """Whether it takes a model or tools."""
        return self.kind in {FieldKind.MODEL, FieldKind.TOOLS} or bool(set(self.types) & CONFIGURATION_TYPES)


class OutputTemplate(BaseModel):
    """One output of a component."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    type: PortType
    label: str = ""
    help: str = ""
    branch: bool = False
    """Whether the run may leave this output untaken; what hangs only on it is then skipped."""


class Template(BaseModel):
    """A component type as seen from outside."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    type: str
    label: str
    description: str
    category: str
    icon: str = ""
    keywords: tuple[str, ...] = ()
    """Words people use for this component that its name does not contain."""
    fields: tuple[FieldTemplate, ...] = ()
    outputs: tuple[OutputTemplate, ...] = ()
    annotation: bool = False
    """A note: no ports, never a step, may stand alone."""
    effect: bool = False
    """Whether running it changes something outside (posts, writes); such a step is never repeated silently."""
    model_using: bool = False
    """Whether a step of this type calls a model."""
    outside: bool = False
    """Whether it sends what it is given out of this installation: a request, a delivery. Models have classes."""
    reads_input: bool = False
    """Whether it reads what the run was started with by itself, without a reference or a policy."""

    def field(self, name: str) -> FieldTemplate | None:
        """The field of that name."""
        return next((field for field in self.fields if field.name == name), None)

    def output(self, name: str) -> OutputTemplate | None:
        """The output of that name."""
        return next((output for output in self.outputs if output.name == name), None)

    def with_document(self, format_: str) -> "Template":
        """The template of a step whose policy makes a PDF or Word document of its main output."""
        if self.main_output is None or self.output(DOCUMENT_OUTPUT) is not None:
            return self
        made = OutputTemplate(
            name=DOCUMENT_OUTPUT, type=PortType.FILE, label="Document", help=f"The main output as a {format_} file."
        )
        return self.model_copy(update={"outputs": (*self.outputs, made)})

    @property
    def ports(self) -> tuple[FieldTemplate, ...]:
        """The fields that an edge may lead to."""
        return tuple(field for field in self.fields if field.types)

    @property
    def main_field(self) -> FieldTemplate | None:
        """The port that takes a step's main input: the one marked `main`, else the first data port."""
        data = [field for field in self.ports if not set(field.types) <= {PortType.MODEL, PortType.TOOL}]
        return next((field for field in data if field.main), data[0] if data else None)

    @property
    def main_output(self) -> OutputTemplate | None:
        """The output that `{{step.output}}` stands for: the first that carries data."""
        return next((out for out in self.outputs if out.type not in {PortType.MODEL, PortType.TOOL}), None)


class Catalog(Protocol):
    """Where templates come from. Some depend on a node's values: a Switch has one output a case."""

    def types(self) -> Sequence[str]:
        """Every known component type, sorted."""
        ...

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        """The template of a type, with the ports that these params give it; None when unknown."""
        ...

    def code(self, type_: str) -> str | None:
        """The source that a node of an own component carries; None for components that came with Headgate."""
        ...
