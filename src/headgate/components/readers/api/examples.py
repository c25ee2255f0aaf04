"""Converts recorded or written requests into OpenAPI: what Postman, HAR and curl have in common.

Values of headers are never kept: they contain keys. Values of the query and of bodies become types only.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson

from headgate.components.readers.api.openapi import empty_document, is_address
from headgate.components.readers.api.parts import FORM

_NUMBER = re.compile(r"\d+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}")
_VARIABLE = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}|(?<=/):([A-Za-z_]\w*)")
_SENT_BY_CLIENTS = re.compile(
    r"(?i)accept.*|user-agent|origin|referer|cookie|host|connection|content-.*|sec-.*|x-.*(key|token|auth).*|"
    r"authorization|proxy-.*|cache-control|pragma|:.*|upgrade-.*|dnt|te|if-.*|priority|api-?key|.*(secret|token).*"
)
_SECRET = re.compile(r"(?i).*(key|token|secret|password|signature|credential|auth).*")
MOST_LEVELS = 6


@dataclass(frozen=True, slots=True)
class Example:
    """One request."""

    method: str
    url: str
    name: str = ""
    description: str = ""
    tag: str = ""
    headers: Sequence[str] = ()
    """Names."""
    query: Sequence[str] = ()
    """Names in addition to those in the URL."""
    body: str = ""
    media_type: str = ""


def openapi_of_examples(title: str, examples: Iterable[Example]) -> dict[str, Any]:
    """Return an OpenAPI document with an operation for each method and path, on the server of the first request."""
    document = empty_document(title, "")
    for example in examples:
        url = _VARIABLE.sub(lambda match: f"{{{match[1] or match[2]}}}", example.url.strip())
        parts = urlsplit(url if "://" in url or url.startswith("/") else f"https://{url}")
        origin = f"{parts.scheme}://{parts.netloc}"
        if not document["servers"] and is_address(origin):
            document["servers"] = [{"url": origin}]
        path = "/" + "/".join(_segment(segment) for segment in parts.path.lstrip("/").split("/"))
        operation = _operation(example, parts.query, path)
        if is_address(origin) and document["servers"] and document["servers"][0]["url"] != origin:
            operation["servers"] = [{"url": origin}]
        item = document["paths"].setdefault(path, {})
        known = item.setdefault(example.method.lower(), operation)
        names = {(parameter["name"], parameter["in"]) for parameter in known["parameters"]}
        known["parameters"] += [new for new in operation["parameters"] if (new["name"], new["in"]) not in names]
    return document


def _operation(example: Example, query: str, path: str) -> dict[str, Any]:
    names = dict.fromkeys([*(name for name, _ in parse_qsl(query, keep_blank_values=True)), *example.query])
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "string"}}
        for name in names
        if name and not _SECRET.fullmatch(name)
    ]
    parameters += [
        {"name": name, "in": "header", "schema": {"type": "string"}}
        for name in dict.fromkeys(header.lower() for header in example.headers)
        if not _SENT_BY_CLIENTS.fullmatch(name)
    ]
    operation: dict[str, Any] = {
        "summary": example.name or f"{example.method.upper()} {path}",
        "description": example.description,
        "tags": [example.tag] if example.tag else [],
        "parameters": parameters,
        "responses": {},
    }
    content = _content(example)
    return {**operation, "requestBody": {"required": True, "content": content}} if content else operation


def _content(example: Example) -> dict[str, Any]:
    """Return the media type and the schema of a body, without its values."""
    if not example.body or example.method.upper() in {"GET", "HEAD"}:
        return {}
    kind = example.media_type.partition(";")[0].strip().lower()
    if not kind:
        kind = "application/json" if example.body.lstrip()[:1] in {"{", "["} else FORM
    if kind == FORM:
        names = [name for name, _ in parse_qsl(example.body, keep_blank_values=True)]
        return {kind: {"schema": {"type": "object", "properties": {name: {"type": "string"} for name in names}}}}
    if kind.endswith("json"):
        try:
            return {"application/json": {"schema": _typed(orjson.loads(example.body), 0)}}
        except orjson.JSONDecodeError:
            return {"application/json": {"schema": {}}}
    return {kind: {"schema": {"type": "string"}}}


def _typed(value: Any, level: int) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return the types of a value."""
    if level == MOST_LEVELS:
        return {}
    if isinstance(value, Mapping):
        return {"type": "object", "properties": {name: _typed(inner, level + 1) for name, inner in value.items()}}
    if isinstance(value, list):
        return {"type": "array", "items": _typed(value[0], level + 1) if value else {}}
    kinds = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"))
    kind = next((name for type_, name in kinds if isinstance(value, type_)), "")
    return {"type": kind} if kind else {}


def _segment(segment: str) -> str:
    """Return a part of a path; a number or a UUID becomes a parameter."""
    return "{id}" if _NUMBER.fullmatch(segment) else segment
