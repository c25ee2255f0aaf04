"""The request of an operation with its arguments: URL, headers and body. Pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

from pydantic import JsonValue

from headgate.components.readers.api.description import Body, Operation, Parameter
from headgate.components.readers.api.parts import FORM, MULTIPART, PLACEHOLDER, is_xml
from headgate.foundation.lazy import lazy_module
from headgate.sdk import ComponentError

if TYPE_CHECKING:
    from urllib3 import filepost
else:
    filepost = lazy_module("urllib3.filepost")

_SEPARATORS = {"form": ",", "simple": ",", "space": " ", "pipe": "|"}


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request that can be sent."""

    method: str
    path: str
    """Path and query."""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None


FileContents = Mapping[str, tuple[str, bytes, str]]
"""Name, content and media type of stored files, by id."""


def file_values(operation: Operation, arguments: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Return the stored files that the body of a request contains."""
    body = operation.body
    if body is None or not body.files:
        return []
    value = arguments.get(body.argument)
    members = [value] if body.files == ("",) else [value.get(name) for name in body.files if isinstance(value, dict)]
    listed = [item for member in members for item in (member if isinstance(member, list) else [member])]
    return [item for item in listed if isinstance(item, dict)]


def request_of(
    operation: Operation, arguments: Mapping[str, JsonValue], files: FileContents = MappingProxyType({})
) -> ApiRequest:
    """Return the request without arguments that are null. Raises `ComponentError` for an empty part of the path."""
    cookies: list[str] = []
    path, query, headers = operation.path, list[tuple[str, str]](), dict[str, str]()
    values: dict[str, str] = {}
    for parameter in operation.parameters:
        value = arguments.get(parameter.argument)
        if value is None:
            continue
        if parameter.location == "path":
            values[parameter.name] = _part(parameter, value)
        elif parameter.location == "header":
            headers[parameter.name.lower()] = _text(parameter, value)
        elif parameter.location == "cookie":
            cookies.append(f"{parameter.name}={quote(_text(parameter, value), safe='')}")
        else:
            query += _pairs(parameter, value)
    path = PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), path)
    if query:
        path += ("&" if urlsplit(path).query else "?") + urlencode(query)
    if cookies:
        headers["cookie"] = "; ".join(cookies)
    body, media_type = _body(operation, arguments, files)
    if body is not None:
        headers["content-type"] = media_type
    headers.setdefault("accept", "application/json, */*;q=0.5")
    return ApiRequest(operation.method, path, headers, body)


def _part(parameter: Parameter, value: JsonValue) -> str:
    """Return a part of the path, which cannot lead out of it."""
    text = _text(parameter, value)
    if text in {"", ".", ".."}:
        raise ComponentError(
            f"ApiCall: '{parameter.argument}' is part of the path and cannot be {text!r}.", field="arguments"
        )
    return quote(text, safe="")


def _text(parameter: Parameter, value: JsonValue) -> str:
    if parameter.style == "json":
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return _SEPARATORS.get(parameter.style, ",").join(_scalar(item) for item in value)
    if isinstance(value, dict):
        sign = "=" if parameter.explode else ","
        return ",".join(f"{name}{sign}{_scalar(item)}" for name, item in value.items())
    return _scalar(value)


def _pairs(parameter: Parameter, value: JsonValue) -> list[tuple[str, str]]:
    """Return the query parameters of an argument."""
    if parameter.style == "deep":
        return list(_deep(parameter.name, value))
    if parameter.style == "json" or not parameter.explode or not isinstance(value, list | dict):
        return [(parameter.name, _text(parameter, value))]
    if isinstance(value, list):
        return [(parameter.name, _scalar(item)) for item in value]
    return [(name, _scalar(item)) for name, item in value.items()]


def _deep(name: str, value: JsonValue) -> Iterator[tuple[str, str]]:
    """Yield `name[key]` and the value of each member, and of each item of a list."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _deep(f"{name}[{key}]", inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _deep(f"{name}[{number}]", inner)
    elif value is not None:
        yield name, _scalar(value)


def _body(operation: Operation, arguments: Mapping[str, JsonValue], files: FileContents) -> tuple[bytes | None, str]:
    """Return the body and its media type."""
    body = operation.body
    value = None if body is None else arguments.get(body.argument)
    if body is None or value is None:
        return None, ""
    if body.media_type.startswith(MULTIPART):
        parts = [part for name, member in _members(value) for part in _parts(name, member, files)]
        return filepost.encode_multipart_formdata(parts)
    return _content(body, value, files), body.media_type


def _content(body: Body, value: JsonValue, files: FileContents) -> bytes:
    if body.files:
        return _file(value, files)[1]
    if body.media_type.startswith(FORM):
        pairs = [pair for name, member in _members(value) for pair in _form(name, member, deep=name in body.deep)]
        return urlencode(pairs).encode()
    if isinstance(value, str) and (body.media_type.startswith("text/") or is_xml(body.media_type)):
        return value.encode(errors="replace")
    return json.dumps(value, ensure_ascii=False).encode(errors="replace")


def _members(value: JsonValue) -> list[tuple[str, JsonValue]]:
    return list(value.items()) if isinstance(value, dict) else []


def _parts(
    name: str, value: JsonValue, files: FileContents
) -> Iterator[tuple[str, str | tuple[str, bytes] | tuple[str, bytes, str]]]:
    """Yield the parts of a member: a file each, a value each, an object as JSON."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and str(item.get("id")) in files:
            yield name, _file(item, files)
        elif item is not None:
            yield name, _scalar(item)


def _file(value: JsonValue, files: FileContents) -> tuple[str, bytes, str]:
    """Return name, content and media type of a stored file or of text."""
    if isinstance(value, dict) and str(value.get("id")) in files:
        return files[str(value.get("id"))]
    return "text.txt", _scalar(value).encode(errors="replace"), "text/plain"


def _form(name: str, value: JsonValue, *, deep: bool) -> list[tuple[str, str]]:
    if deep:
        return list(_deep(name, value))
    if isinstance(value, list):
        return [(name, _scalar(item)) for item in value]
    return [] if value is None else [(name, _scalar(value))]


def _scalar(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return (
        json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else "" if value is None else str(value)
    )
