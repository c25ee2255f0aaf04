"""Declares a component's inputs: `field(...)` with a type annotation."""

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field, JsonValue
from pydantic.fields import FieldInfo

from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, Syntax
from headgate.sdk.values import Tool

T = TypeVar("T")

META = "headgate"
Tools = Annotated[list[Tool], "tools"]


def field(
    *,
    default: Any = ...,  # noqa: ANN401 - any JSON value, checked by the annotation
    default_factory: Any = None,  # noqa: ANN401
    name: str = "",
    label: str = "",
    help: str = "",  # noqa: A002 - the word the canvas uses
    kind: FieldKind | None = None,
    port: bool | None = None,
    types: Sequence[PortType] = (),
    main: bool = False,
    many: bool = False,
    options: Sequence[str] = (),
    advanced: bool = False,
    tool_mode: bool = False,
    interpolate: bool = True,
    syntax: Syntax = "",
    default_model: bool = False,
    connection_kinds: Sequence[str] = (),
    unless: str = "",
    schema: dict[str, JsonValue] | None = None,
    ge: float | None = None,
    le: float | None = None,
    max_length: int | None = None,
) -> Any:  # noqa: ANN401 - pydantic's Field does the same
    """Declare an input of a component.

    Args:
        default: Value when nothing is set; without one the field is required.
        default_factory: Creates the default when it is mutable.
        name: The field's name when pydantic already uses it as an attribute (`schema`).
        label: Shown on the canvas; derived from the name when empty.
        help: One sentence that describes the value. Agents read it too.
        kind: Editor type; derived from the annotation when None.
        port: Whether an edge may be connected; by default yes for port types except plain options, numbers and secrets.
        types: The port types in order of preference, when a value that must be converted should not become text first:
            Python does not keep the order in which a union was written.
        main: The port that receives a step policy's input source.
        many: Whether several edges may be connected; annotate with a list.
        options: Choices of a select; by default those of a `Literal` annotation.
        advanced: Hidden by default.
        tool_mode: An agent fills this field when the component is its tool.
        interpolate: Whether `{{...}}` is resolved before the step runs.
        syntax: The language of the text, if any; it is checked before a run.
        default_model: Whether the installation's default model for steps is used when a model field is empty.
        connection_kinds: Kinds of connections that the field may name, where its annotation is `ConnectionReference`;
            empty for any.
        unless: Another field that may be given in its place: one of the two is required.
        schema: JSON Schema of the value, for JSON and table editors.
        ge: Smallest number allowed.
        le: Largest number allowed.
        max_length: Maximum length of a text, in characters.
    """
    meta = {
        "kind": kind,
        "label": label,
        "port": port,
        "types": tuple(types),
        "main": main,
        "many": many,
        "options": tuple(options),
        "advanced": advanced,
        "tool_mode": tool_mode,
        "interpolate": interpolate,
        "unless": unless,
        "syntax": syntax,
        "default_model": default_model,
        "connection_kinds": tuple(connection_kinds),
        "schema": schema,
    }
    arguments: dict[str, Any] = {"description": help, "json_schema_extra": {META: meta}}
    if default_factory is not None:
        arguments["default_factory"] = default_factory
    else:
        arguments["default"] = default
    if name:
        arguments["alias"] = name
    bounds = {"ge": ge, "le": le, "max_length": max_length}
    arguments |= {name: value for name, value in bounds.items() if value is not None}
    return Field(**arguments)


def meta_of(info: FieldInfo) -> dict[str, Any]:
    """Return Headgate's metadata of a pydantic field; empty for a field declared without `field(...)`."""
    extra = info.json_schema_extra
    return dict(extra.get(META, {})) if isinstance(extra, dict) else {}  # type: ignore[arg-type]
