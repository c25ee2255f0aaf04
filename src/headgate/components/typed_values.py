"""Named values with a port type: outputs of a form, inputs and outputs of a step that runs a flow."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import JsonValue, ValidationError

from headgate.graph.names import did_you_mean
from headgate.graph.ports import CONFIGURATION_TYPES, PortType
from headgate.graph.template import FieldKind, FieldTemplate, OutputTemplate
from headgate.graph.value_names import is_value_name
from headgate.sdk import ComponentError, File, Message, Table, field
from headgate.sdk.coerce import ValueMismatch, decode, describe, encode, table_of, text_of

DATA_TYPES = tuple(type_.value for type_ in PortType if type_ not in CONFIGURATION_TYPES)
SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "additionalProperties": {"enum": list[JsonValue](DATA_TYPES)},
    "maxProperties": 50,
}
"""JSON Schema of declared values: name to port type."""
_KINDS = {
    PortType.TEXT: FieldKind.MULTILINE,
    PortType.MESSAGE: FieldKind.MESSAGE,
    PortType.TABLE: FieldKind.TABLE,
    PortType.FILE: FieldKind.FILE,
}


def declared_types(*, label: str, help: str) -> Any:  # noqa: A002, ANN401 - as `field`
    """Declare a field of values by name, each with its port type."""
    return field(
        default_factory=dict,
        label=label,
        help=help,
        kind=FieldKind.JSON,
        port=False,
        interpolate=False,
        advanced=True,
        schema=SCHEMA,
    )


def declared(value: JsonValue, reserved: Collection[str]) -> dict[str, PortType]:
    """Return the values that a node declares; names that cannot be ports, and unknown types, are skipped."""
    if not isinstance(value, dict):
        return {}
    return {
        name: PortType(type_)
        for name, type_ in value.items()
        if type_ in DATA_TYPES and isinstance(type_, str) and is_value_name(name) and name not in reserved
    }


def typed_fields(values: Mapping[str, PortType]) -> tuple[FieldTemplate, ...]:
    """Return one input per declared value."""
    return tuple(
        FieldTemplate(name=name, kind=_KINDS.get(type_, FieldKind.JSON), label=label_of(name), types=(type_,))
        for name, type_ in values.items()
    )


def typed_outputs(values: Mapping[str, PortType]) -> tuple[OutputTemplate, ...]:
    """Return one output per declared value."""
    return tuple(OutputTemplate(name=name, type=type_, label=label_of(name)) for name, type_ in values.items())


def label_of(name: str) -> str:
    """Return a name in words."""
    return name.replace("_", " ").capitalize()


def as_answer(value: Any) -> tuple[JsonValue, tuple[File, ...]]:  # noqa: ANN401 - any port value
    """Return a port value as the answer to a question of a form, with the files that belong to it."""
    if isinstance(value, File):
        return value.id, (value,)
    if isinstance(value, Message):
        return encode(value, PortType.MESSAGE), value.files
    return encode(value, PortType.TABLE) if isinstance(value, Table) else value, ()


def of_answer(value: JsonValue, type_: PortType, files: Sequence[File], *, subject: str) -> Any:  # noqa: ANN401 - any port value
    """Return an answer as a port value; one that is missing is empty. Only files of the run are given.

    Raises `ComponentError` for an answer of another type.
    """
    given = {file.id: file for file in files}
    try:
        match type_:
            case PortType.TEXT:
                return "" if value is None else text_of(value)
            case PortType.MESSAGE:
                return _message(value, given)
            case PortType.TABLE:
                return _table(value)
            case PortType.FILE:
                return _file(value, given, subject)
            case _:
                return value
    except (ValueMismatch, ValidationError) as error:
        raise ComponentError(f"{subject}: {describe(value)} is not of type {type_}.") from error


def of_result(value: JsonValue, name: str, type_: PortType, *, subject: str) -> Any:  # noqa: ANN401 - any port value
    """Return a member of a flow's result as a port value. Raises `ComponentError`."""
    if not isinstance(value, dict) or name not in value:
        names = list(value) if isinstance(value, dict) else []
        raise ComponentError(
            f"{subject}: the result of the flow has no '{name}'{did_you_mean(name, names) or '.'}",
            remedy="End the flow in a step whose result is an object with that member, or remove the output.",
            field="outputs",
        )
    member = value[name]
    try:
        if type_ is PortType.TABLE and isinstance(member, list):
            return table_of(member)
        return text_of(member) if type_ is PortType.TEXT else decode(member, type_)
    except ValueMismatch as error:
        raise ComponentError(
            f"{subject}: '{name}' of the flow's result is {describe(member)}, not of type {type_}.", field="outputs"
        ) from error


def _message(value: JsonValue, given: Mapping[str, File]) -> Message:
    if not isinstance(value, dict):
        return Message(role="user", text="" if value is None else text_of(value))
    message = Message.model_validate(value)
    return message.model_copy(update={"files": tuple(given[file.id] for file in message.files if file.id in given)})


def _table(value: JsonValue) -> Table:
    if isinstance(value, dict):
        return Table.model_validate(value)
    return Table(columns=[]) if value is None else table_of(value)


def _file(value: JsonValue, given: Mapping[str, File], subject: str) -> File:
    items = value if isinstance(value, list) else [value]
    ids = [item.get("id") if isinstance(item, dict) else item for item in items]
    for file_id in ids:
        if isinstance(file_id, str) and file_id in given:
            return given[file_id]
    raise ComponentError(f"{subject}: there is no file in this field.", remedy="Start the run with a file.")
