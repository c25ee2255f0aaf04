"""How the pages of an operation are found, guessed from its parameters and its response. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import JsonValue

from headgate.components.readers.api.description import Parameter

_CURSORS: Final = (
    *("cursor", "page_token", "pagetoken", "page_cursor", "start_cursor", "next_token", "nexttoken", "continue"),
    *("after", "page[cursor]", "page[after]", "next_cursor", "nextcursor", "marker", "continuation_token"),
    "offset",  # of Asana it is a cursor
)
_NEXT_CURSORS: Final = (
    *("next_cursor", "nextcursor", "next_page_token", "nextpagetoken", "next_token", "nexttoken", "continue", "after"),
    *("end_cursor", "next_marker", "continuation_token", "cursor", "offset"),
)
_PAGES: Final = ("page", "page_number", "pagenumber", "page[number]", "page_no")
_OFFSETS: Final = ("offset", "startat", "start_at", "skip", "start_index", "startindex", "page[offset]")
_INNER: Final = (
    *("response_metadata", "meta", "metadata", "paging", "pagination", "page_info", "pageinfo", "_meta"),
    *("next", "links", "_links", "cursors", "pages", "next_page"),
)
"""Members with the position of the next page."""
_ITEMS: Final = ("items", "data", "results", "values", "records", "entries", "objects")


def find_paging(
    parameters: tuple[Parameter, ...], output: Mapping[str, JsonValue] | None, *, has_link: bool
) -> dict[str, JsonValue] | None:
    """Return the values of the paging fields of `ApiCall`; None when the operation has no pages that can be seen.

    `has_link`: whether the response is described with a Link header.
    """
    schema = output or {}
    items = _items(schema)
    if items is None:
        return None
    names = {parameter.name.lower(): parameter.name for parameter in parameters if parameter.location == "query"}
    if has_link:
        return {"paging": "link", "items": items}
    if "starting_after" in names and "has_more" in _properties(schema, schema):  # as Stripe
        return {
            "paging": "cursor",
            "parameter": names["starting_after"],
            "next": f"has_more && {items}[-1].id",
            "items": items,
        }
    for name in _CURSORS:
        cursor = next((path for path, last in _texts(schema) if last in _NEXT_CURSORS), "") if name in names else ""
        if cursor:
            return {"paging": "cursor", "parameter": names[name], "next": cursor, "items": items}
    link = next(
        (
            path
            for path, last in _texts(schema)
            if last in {"next", "next_url", "next_page_url", "next_page_uri", "href"}
        ),
        "",
    )
    if link:
        return {"paging": "link", "next": link, "items": items}
    for kind, known in (("page", _PAGES), ("offset", _OFFSETS)):
        parameter = next((names[name] for name in known if name in names), "")
        if parameter:
            return {"paging": kind, "parameter": parameter, "items": items}
    return None


def _items(schema: Mapping[str, JsonValue]) -> str | None:
    """Return the JMESPath of the list in a response; empty when the response is the list, None without one."""
    target = _target(schema, schema)
    if target.get("type") == "array":
        return ""
    lists = {name: path for name, path, inner in _members(schema) if inner.get("type") == "array"}
    for name in _ITEMS:
        if name in lists:
            return lists[name]
    return next(iter(lists.values())) if len(lists) == 1 else None


def _texts(schema: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yield the JMESPath of each text in a response, and its last name in lower case."""
    for name, path, inner in _members(schema):
        if "string" in _types(inner) or not inner:
            yield path, name
        if name in _INNER:
            for deeper, deeper_path, member in _within(schema, inner, path):
                if "string" in _types(member) or not member:
                    yield deeper_path, deeper
                for last, last_path, leaf in _within(schema, member, deeper_path) if deeper in _INNER else ():
                    if "string" in _types(leaf):
                        yield last_path, last


def _members(schema: Mapping[str, JsonValue]) -> Iterator[tuple[str, str, Mapping[str, JsonValue]]]:
    yield from _within(schema, schema, "")


def _within(
    root: Mapping[str, JsonValue], schema: Mapping[str, JsonValue], path: str
) -> Iterator[tuple[str, str, Mapping[str, JsonValue]]]:
    """Yield name in lower case, JMESPath and schema of each member."""
    for name, inner in _properties(root, schema).items():
        quoted = name if name.isidentifier() and name.isascii() else '"' + name.replace('"', '\\"') + '"'
        if isinstance(inner, dict):
            yield name.lower(), f"{path}.{quoted}" if path else quoted, _target(root, inner)


def _properties(root: Mapping[str, JsonValue], schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the properties of a schema, those of its `allOf` included."""
    target = _target(root, schema)
    properties = target.get("properties")
    merged = dict(properties) if isinstance(properties, dict) else {}
    parts = target.get("allOf")
    for part in parts if isinstance(parts, list) else ():
        inner = _target(root, part).get("properties") if isinstance(part, dict) else None
        merged |= inner if isinstance(inner, dict) else {}
    return merged


def _target(root: Mapping[str, JsonValue], schema: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Follow references to `$defs`."""
    definitions = root.get("$defs")
    for _ in range(5):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not isinstance(definitions, dict):
            break
        target = definitions.get(reference.rpartition("/")[2])
        if not isinstance(target, dict):
            return {}
        schema = target
    return schema


def _types(schema: Mapping[str, JsonValue]) -> list[str]:
    types = schema.get("type")
    return [str(kind) for kind in types] if isinstance(types, list) else [str(types)]
