"""Derives a field's template from its annotation."""

import types
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from headgate.graph.connection_reference import ConnectionReference
from headgate.graph.ports import PortType
from headgate.graph.secret_reference import SecretReference
from headgate.graph.template import FieldKind, FieldTemplate
from headgate.sdk.fields import meta_of
from headgate.sdk.values import File, Message, Model, Table, Tool

_PORTS: dict[object, PortType] = {
    str: PortType.TEXT,
    Message: PortType.MESSAGE,
    Table: PortType.TABLE,
    File: PortType.FILE,
    Model: PortType.MODEL,
    Tool: PortType.TOOL,
    dict: PortType.DATA,
    JsonValue: PortType.DATA,
}
_KINDS: dict[object, FieldKind] = {
    str: FieldKind.TEXT,
    bool: FieldKind.BOOLEAN,
    int: FieldKind.INTEGER,
    float: FieldKind.NUMBER,
    SecretStr: FieldKind.SECRET,
    SecretReference: FieldKind.SECRET,
    ConnectionReference: FieldKind.CONNECTION,
    dict: FieldKind.JSON,
    JsonValue: FieldKind.JSON,
    Table: FieldKind.TABLE,
    Message: FieldKind.MESSAGE,
    File: FieldKind.FILE,
    Model: FieldKind.MODEL,
    Tool: FieldKind.TOOLS,
}
"""In order of preference: a union gets the simplest of its editors, regardless of Python's order of the union."""
_CONNECTED_BY_DEFAULT = {str, Message, Table, File, Model, Tool, dict, JsonValue}


def _branches(hint: object) -> list[object]:
    """Return the alternatives of an annotation without None: `str | Table | None` becomes `[str, Table]`."""
    if get_origin(hint) is Annotated:
        return _branches(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        return [branch for part in get_args(hint) if part is not type(None) for branch in _branches(part)]
    return [hint]


def _element(hint: object) -> object:
    """Return the type of one value: a list's element, else the annotation itself."""
    if get_origin(hint) is list:
        return get_args(hint)[0]
    return dict if get_origin(hint) is dict else hint


def _has_secret_values(branch: object) -> bool:
    return get_origin(branch) is dict and SecretReference in _branches(get_args(branch)[1])


def port_type_of(hint: object) -> PortType | None:
    """Return the port type of an output's return annotation; None when it has none."""
    for branch in _branches(hint):
        if get_origin(branch) is list:
            return PortType.TOOL if get_args(branch) == (Tool,) else PortType.DATA
        port = _PORTS.get(dict if get_origin(branch) is dict else branch)
        if port is not None:
            return port
    return None


_LIST_OF_TEXTS = {"type": "array", "items": {"type": "string"}}
"""What a list that is written in place holds: the page shows one line for each entry."""


def field_template(name: str, info: FieldInfo) -> FieldTemplate:
    """Return the template of one pydantic field."""
    name = info.alias or name
    meta = meta_of(info)
    branches = [_element(branch) if meta.get("many") else branch for branch in _branches(info.annotation)]
    branches = [inner for branch in branches for inner in _branches(branch)]
    types_ = [dict if get_origin(branch) is dict else branch for branch in branches]
    options = tuple(meta.get("options", ())) or _literal_options(types_)
    port = meta.get("port")
    if port is None:
        port = not options and any(branch in _CONNECTED_BY_DEFAULT for branch in types_ if _hashable(branch))
    ports = {_PORTS[branch] for branch in types_ if _hashable(branch) and branch in _PORTS} if port else set()
    default = None if info.default is PydanticUndefined else info.default
    if info.default_factory is not None:
        default = info.get_default(call_default_factory=True, validated_data={})
    return FieldTemplate(
        name=name,
        kind=meta.get("kind") or _kind(types_, options=options),
        label=meta.get("label") or name.replace("_", " ").capitalize(),
        help=info.description or "",
        default=_as_json(default),
        required=info.is_required() or bool(meta.get("unless")),
        unless=meta.get("unless", ""),
        types=_ordered(name, ports, meta.get("types", ())),
        many=bool(meta.get("many")),
        options=options,
        advanced=bool(meta.get("advanced")),
        tool_mode=bool(meta.get("tool_mode")),
        interpolate=bool(meta.get("interpolate", True)) and ConnectionReference not in types_,
        main=bool(meta.get("main")),
        syntax=meta.get("syntax", ""),
        default_model=bool(meta.get("default_model")),
        connection_kinds=tuple(meta.get("connection_kinds", ())),
        secret_values=any(_has_secret_values(branch) for branch in branches),
        schema_=meta.get("schema") or (_LIST_OF_TEXTS if list[str] in types_ and not (options or ports) else None),
    )


@lru_cache(maxsize=1024)
def text_fields(component: type[BaseModel]) -> dict[str, PortType]:
    """Return names of the fields whose inline value is text, with Message when they also accept messages."""
    fields: dict[str, PortType] = {}
    for name, info in component.model_fields.items():
        branches = _branches(info.annotation)
        if all(branch in (str, Message) for branch in branches) and str in branches:
            fields[info.alias or name] = PortType.MESSAGE if Message in branches else PortType.TEXT
    return fields


@lru_cache(maxsize=1024)
def json_fields(component: type[BaseModel]) -> frozenset[str]:
    """Return names of the fields that are edited as JSON and cannot be connected: their text may be JSON."""
    templates = [field_template(name, info) for name, info in component.model_fields.items()]
    edited = {FieldKind.JSON, FieldKind.MULTISELECT}
    return frozenset(template.name for template in templates if template.kind in edited and not template.types)


def _ordered(name: str, ports: set[PortType], declared: tuple[PortType, ...]) -> tuple[PortType, ...]:
    """Return the port types as declared, else in the order of `PortType`: text before data.

    Never in the order of the annotation: `typing` returns the union that was built first, in that one's order.
    """
    if declared and set(declared) != ports:
        raise TypeError(f"{name}: types says {sorted(declared)}, the annotation {sorted(ports)}")
    return declared or tuple(kind for kind in PortType if kind in ports)


def _kind(plain: list[object], *, options: tuple[str, ...]) -> FieldKind:
    first = plain[0]
    if get_origin(first) is list:
        inner = get_args(first)[0]
        if inner is Tool:
            return FieldKind.TOOLS
        return FieldKind.MULTISELECT if options else FieldKind.JSON
    if options:
        return FieldKind.SELECT
    return next((kind for hint, kind in _KINDS.items() if any(hint is branch for branch in plain)), FieldKind.JSON)


def _literal_options(plain: list[object]) -> tuple[str, ...]:
    return tuple(str(value) for branch in plain if get_origin(branch) is Literal for value in get_args(branch))


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _as_json(value: Any) -> Any:  # noqa: ANN401 - any default
    if isinstance(value, SecretStr):
        return None
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return list(value) if isinstance(value, tuple) else value
