"""Converts collections of Postman (format 2.0 and 2.1) into OpenAPI."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from headgate.components.readers.api.examples import Example, openapi_of_examples

MOST_LEVELS = 20


def openapi_of(collection: Mapping[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI document of a collection. Scripts, variables and stored credentials are not read."""
    info = collection.get("info")
    title = str(info.get("name") or "") if isinstance(info, Mapping) else ""
    return openapi_of_examples(title, _requests(collection.get("item"), "", 0))


def is_collection(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a collection of Postman."""
    info = document.get("info")
    return isinstance(info, Mapping) and isinstance(document.get("item"), list) and "openapi" not in document


def _requests(items: Any, folder: str, level: int) -> Iterator[Example]:  # noqa: ANN401 - any JSON value
    for item in items if isinstance(items, list) and level < MOST_LEVELS else ():
        if not isinstance(item, Mapping):
            continue
        name = str(item.get("name") or "")
        if isinstance(item.get("item"), list):
            yield from _requests(item["item"], name, level + 1)
        elif isinstance(item.get("request"), Mapping | str):
            yield _example(item["request"], name, folder)


def _example(request: Mapping[str, Any] | str, name: str, folder: str) -> Example:
    if isinstance(request, str):
        return Example("GET", request, name, tag=folder)
    body, media_type = _body(request.get("body"))
    return Example(
        str(request.get("method") or "GET"),
        _url(request.get("url")),
        name,
        str(request.get("description") or ""),
        folder,
        headers=[str(header.get("key")) for header in _mappings(request.get("header")) if header.get("key")],
        body=body,
        media_type=media_type,
    )


def _url(url: Any) -> str:  # noqa: ANN401
    return str(url.get("raw") or "") if isinstance(url, Mapping) else str(url or "")


def _body(body: Any) -> tuple[str, str]:  # noqa: ANN401
    """Return a body and its media type."""
    if not isinstance(body, Mapping):
        return "", ""
    mode = body.get("mode")
    if mode == "urlencoded":
        pairs = [(str(pair.get("key")), "") for pair in _mappings(body.get(mode))]
        return urlencode(pairs), "application/x-www-form-urlencoded"
    if mode == "raw":
        return str(body.get("raw") or ""), ""
    return ("file", "multipart/form-data") if mode in {"formdata", "file"} else ("", "")


def _mappings(values: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401
    return [value for value in values if isinstance(value, Mapping)] if isinstance(values, list) else []
