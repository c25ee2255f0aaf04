"""Converts port values to one another, and to and from JSON (see the table in `graph/ports.py`)."""

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

from pydantic import BaseModel, JsonValue, ValidationError

from headgate.foundation.errors import Invalid
from headgate.graph.ports import PortType, converter, landing_type
from headgate.sdk.values import File, Message, Model, Table

MAX_DEPTH = 200
"""Maximum nesting of a JSON value; common JSON writers stop at 254."""
_INT_RANGE = (-(2**63), 2**64 - 1)
_MODELS: dict[PortType, type[BaseModel]] = {
    PortType.MESSAGE: Message,
    PortType.TABLE: Table,
    PortType.FILE: File,
    PortType.MODEL: Model,
}


class ValueMismatch(Invalid):
    """A value does not have its port's type, or cannot be converted to the target's type."""

    code = "value_mismatch"
    title = "Value does not match its port type"


def encode(value: object, port_type: PortType) -> JsonValue:
    """Return the validated JSON form of a port value, as it is stored and sent.

    Characters that neither UTF-8 nor a database supports (lone surrogates, NUL) become U+FFFD.
    Raises `ValueMismatch` with the location when the value does not have that type or is not JSON.
    """
    if port_type is PortType.TOOL:
        raise ValueMismatch("A tool is configuration and has no JSON form.")
    if port_type is PortType.DATA:
        return _checked(value, "value", 0)
    if port_type is PortType.TEXT:
        if not isinstance(value, str):
            raise _not_of_type(value, port_type)
        return clean_text(value)
    expected = _MODELS[port_type]
    if not isinstance(value, expected):
        raise _not_of_type(value, port_type)
    given = {name: getattr(value, name) for name in expected.model_fields}
    members = {name: _plain(member) for name, member in given.items() if member is not None}
    return _checked(members, "value", 0)


def decode(value: JsonValue, port_type: PortType) -> Any:  # noqa: ANN401 - the port type says which
    """Return the port value of its JSON form. Raises `ValueMismatch` when the JSON has another shape."""
    if port_type is PortType.TOOL:
        raise ValueMismatch("A tool is configuration and cannot be read from JSON.")
    if port_type is PortType.DATA:
        return value
    if port_type is PortType.TEXT:
        if not isinstance(value, str):
            raise _not_of_type(value, port_type)
        return value
    try:
        return _MODELS[port_type].model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        location = ".".join(str(part) for part in first["loc"]) or "value"
        raise ValueMismatch(f"This is not a valid {port_type}: {location}: {first['msg']}.") from error


def coerce(value: Any, source: PortType, targets: Collection[PortType]) -> Any:  # noqa: ANN401 - any port value
    """Return a value of type `source` as an input of type `targets` receives it.

    Raises `ValueMismatch` when the types or this value cannot be converted (data that is not a list of objects).
    """
    landing = landing_type(source, targets)
    if landing is None:
        between = converter(source, targets)
        raise ValueMismatch(
            f"A {source} cannot become {' or '.join(targets) or 'anything here'}.",
            remedy=f"Put a {between} node between them." if between else "",
        )
    return value if landing is source else _CONVERSIONS[source, landing](value)


def text_of(value: object) -> str:
    """Return any port value as the text that an input of type Text receives."""
    if isinstance(value, str):
        return value
    if isinstance(value, Message):
        return value.text
    if isinstance(value, Table):
        return markdown_table(value)
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    return json.dumps(value, ensure_ascii=False, indent=2)


def data_of(value: object) -> JsonValue:
    """Return any port value as Data: a table as a list of objects, a message or a file as an object."""
    if isinstance(value, Table):
        return cast("JsonValue", value.records())
    return cast("JsonValue", _plain(value))


def table_of(value: JsonValue) -> Table:
    """Return data as a table. Raises `ValueMismatch` with the first item that is not an object."""
    if not isinstance(value, list):
        raise ValueMismatch(
            f"A table requires a list of objects; this is {describe(value)}.",
            remedy="Use SelectData to select the list from the data.",
        )
    for number, item in enumerate(value):
        if not isinstance(item, dict):
            raise ValueMismatch(
                f"A table requires a list of objects; item {number} is {describe(item)}.",
                remedy="Use SelectData to turn each item into an object, for example [*].{name: @}.",
            )
    return Table.from_records(cast("list[dict[str, JsonValue]]", value))


def markdown_table(table: Table) -> str:
    """Return a GitHub-flavoured Markdown table; pipes are escaped, line breaks become `<br>`. Empty without columns."""
    if not table.columns:
        return ""
    lines = [_markdown_row(table.columns), "|" + " --- |" * len(table.columns)]
    lines += [_markdown_row([_cell(value) for value in row]) for row in table.rows]
    return "\n".join(lines)


def describe(value: object) -> str:
    """Return a short description of a JSON value, for errors: `text`, `a number`, `a list of 3`, `an object`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return "an object" if isinstance(value, Mapping) else type(value).__name__


def clean_text(text: str) -> str:
    """Return the text with lone surrogates and NUL replaced by U+FFFD, so that every store and protocol supports it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\x00", "\ufffd") if "\x00" in text else text


def _not_of_type(value: object, port_type: PortType) -> ValueMismatch:
    return ValueMismatch(f"A {port_type} was expected; got {describe(value)}.")


def _plain(value: object) -> object:
    """Return Pydantic values as plain members; everything else unchanged, to be checked."""
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in type(value).model_fields}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _checked(value: object, place: str, depth: int) -> JsonValue:
    """Return a copy that is valid JSON; `place` is the current location, for the error."""
    if depth > MAX_DEPTH:
        raise ValueMismatch(f"The value is nested more than {MAX_DEPTH} levels deep.")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int | float):
        return _checked_number(value, place)
    if isinstance(value, list | tuple):
        return [_checked(item, f"{place}[{number}]", depth + 1) for number, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {_key(key, place): _checked(item, f"{place}.{key}", depth + 1) for key, item in value.items()}
    raise ValueMismatch(
        f"{place} is {describe(value)}, which is not valid JSON.",
        remedy="Use text, numbers, true, false, null, lists and objects.",
    )


def _checked_number(value: float, place: str) -> int | float:
    if isinstance(value, int):
        if not _INT_RANGE[0] <= value <= _INT_RANGE[1]:
            raise ValueMismatch(f"{place} is a whole number of more than 64 bits.", remedy="Pass it as text.")
        return int(value)
    if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124 - NaN is not itself
        raise ValueMismatch(f"{place} is {value}, which is not valid JSON.", remedy="Replace it with null or a text.")
    return float(value)


def _key(key: object, place: str) -> str:
    if not isinstance(key, str):
        raise ValueMismatch(f"{place} has the key {key!r}; keys must be text.")
    return clean_text(key)


def _cell(value: JsonValue) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _markdown_row(cells: list[str]) -> str:
    escaped = [cell.replace("|", "\\|").replace("\r\n", "\n").replace("\r", "\n") for cell in cells]
    return "| " + " | ".join(cell.strip().replace("\n", "<br>") for cell in escaped) + " |"


def _message(text: str) -> Message:
    return Message(role="user", text=text)


_CONVERSIONS: dict[tuple[PortType, PortType], Callable[[Any], Any]] = {
    (PortType.TEXT, PortType.MESSAGE): _message,
    (PortType.MESSAGE, PortType.TEXT): text_of,
    (PortType.DATA, PortType.TEXT): text_of,
    (PortType.DATA, PortType.TABLE): table_of,
    (PortType.TABLE, PortType.DATA): data_of,
    (PortType.TABLE, PortType.TEXT): text_of,
    (PortType.TABLE, PortType.MESSAGE): lambda table: _message(markdown_table(table)),
    (PortType.MESSAGE, PortType.DATA): data_of,
    (PortType.DATA, PortType.MESSAGE): lambda data: _message(text_of(data)),
}
