"""Derives a field's template from its annotation: written once, in the class."""

import types
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

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
    dict: FieldKind.JSON,
    JsonValue: FieldKind.JSON,
    Table: FieldKind.TABLE,
    Message: FieldKind.MESSAGE,
    File: FieldKind.FILE,
    Model: FieldKind.MODEL,
    Tool: FieldKind.TOOLS,
}
"""In order of preference: of a union's editors the simplest is chosen, whatever order Python keeps the union in."""
_CONNECTED_BY_DEFAULT = {str, Message, Table, File, Model, Tool, dict, JsonValue}


def _branches(hint: object) -> list[object]:
    """The alternatives of an annotation without None: `str | Table | None` gives `[str, Table]`."""
    if get_origin(hint) is Annotated:
        return _branches(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        return [branch for part in get_args(hint) if part is not type(None) for branch in _branches(part)]
    return [hint]


def _element(hint: object) -> object:
    """The type of one value: a list's element, else the annotation itself."""
    if get_origin(hint) is list:
        return get_args(hint)[0]
    return dict if get_origin(hint) is dict else hint


def _has_secret_values(branch: object) -> bool:
    return get_origin(branch) is dict and SecretReference in _branches(get_args(branch)[1])


def port_type_of(hint: object) -> PortType | None:
    """The port type of an output's return annotation; None when it has none."""
    for branch in _branches(hint):
        if get_origin(branch) is list:
            return PortType.TOOL if get_args(branch) == (Tool,) else PortType.DATA
        found = _PORTS.get(dict if get_origin(branch) is dict else branch)
        if found is not None:
            return found
    return None


def field_template(name: str, info: FieldInfo) -> FieldTemplate:
    """The template of one pydantic field."""
    name = info.alias or name
    meta = meta_of(info)
    branches = [_element(branch) if meta.get("many") else branch for branch in _branches(info.annotation)]
    branches = [inner for branch in branches for inner in _branches(branch)]
    plain = [dict if get_origin(branch) is dict else branch for branch in branches]
    options = tuple(meta.get("options", ())) or _literal_options(plain)
    port = meta.get("port")
    if port is None:
        port = not options and any(branch in _CONNECTED_BY_DEFAULT for branch in plain if _hashable(branch))
    ports = {_PORTS[branch] for branch in plain if _hashable(branch) and branch in _PORTS} if port else set()
    default = None if info.default is PydanticUndefined else info.default
    if info.default_factory is not None:
        default = info.get_default(call_default_factory=True, validated_data={})
    return FieldTemplate(
        name=name,
        kind=meta.get("kind") or _kind(plain, options=options),
        label=meta.get("label") or name.replace("_", " ").capitalize(),
        help=info.description or "",
        default=_as_json(default),
        required=info.is_required(),
        types=_ordered(name, ports, meta.get("types", ())),
        many=bool(meta.get("many")),
        options=options,
        advanced=bool(meta.get("advanced")),
        tool_mode=bool(meta.get("tool_mode")),
        interpolate=bool(meta.get("interpolate", True)),
        main=bool(meta.get("main")),
        syntax=meta.get("syntax", ""),
        default_model=bool(meta.get("default_model")),
        secret_values=any(_has_secret_values(branch) for branch in branches),
        schema_=meta.get("schema"),
    )


@lru_cache(maxsize=1024)
def text_fields(component: type[BaseModel]) -> dict[str, PortType]:
    """Public names of the fields whose inline value is text, with Message where they take messages too."""
    found: dict[str, PortType] = {}
    for name, info in component.model_fields.items():
        branches = _branches(info.annotation)
        if all(branch in (str, Message) for branch in branches) and str in branches:
            found[info.alias or name] = PortType.MESSAGE if Message in branches else PortType.TEXT
    return found


@lru_cache(maxsize=1024)
def json_fields(component: type[BaseModel]) -> frozenset[str]:
    """Public names of the fields that are edited as JSON and cannot be connected: text in them may be JSON."""
    templates = [field_template(name, info) for name, info in component.model_fields.items()]
    edited = {FieldKind.JSON, FieldKind.MULTISELECT}
    return frozenset(one.name for one in templates if one.kind in edited and not one.types)


def _ordered(name: str, ports: set[PortType], wanted: tuple[PortType, ...]) -> tuple[PortType, ...]:
    """The port types as declared, else as `PortType` lists them: text before data.

    Never as the annotation lists them: `typing` hands out the union that was built first, in that one's order.
    """
    if wanted and set(wanted) != ports:
        raise TypeError(f"{name}: types says {sorted(wanted)}, the annotation {sorted(ports)}")
    return wanted or tuple(kind for kind in PortType if kind in ports)


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
