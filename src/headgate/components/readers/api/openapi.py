"""Reads OpenAPI 3.0 and 3.1. One operation that cannot be used does not make the others unusable."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import JsonValue

from headgate.components.readers.api.authentication import find_authentication
from headgate.components.readers.api.description import (
    ALL_BYTES,
    LONGEST_DESCRIPTION,
    LONGEST_KEY,
    LONGEST_SUMMARY,
    METHODS,
    MOST_NOTES,
    MOST_OPERATIONS,
    SCHEMA_BYTES,
    ApiDescription,
    Operation,
    Unusable,
    plain,
    unreadable,
)
from headgate.components.readers.api.paging import find_paging
from headgate.components.readers.api.parts import Arguments, response_schema, successes
from headgate.components.readers.api.references import References
from headgate.graph.names import clipped

MOST_TAGS = 10


def read_openapi(document: Mapping[str, Any], *, format_name: str = "") -> ApiDescription:
    """Return the description in a document. Raises `Unreadable` when it has no operation."""
    references = References(document)
    info = document.get("info")
    info = info if isinstance(info, Mapping) else {}
    paths = document.get("paths")
    if not isinstance(paths, Mapping):
        raise unreadable("at 'paths': it has none, so there is nothing to call")
    raw = list(_operations(references, paths))
    reader = _Reader(references, min(SCHEMA_BYTES, ALL_BYTES // (2 * min(max(len(raw), 1), MOST_OPERATIONS))))
    operations: dict[str, Operation] = {}
    skipped: list[str] = []
    for place, item, method, declared in raw:
        key = f"{method.upper()} {place.partition('#')[0]}"
        try:
            operation = reader.operation(key, item, declared)
        except Unusable as unusable:
            problem = str(unusable)
        else:
            problem = _excess(operations, key)
            operations |= {} if problem else {key: operation}
        if problem:
            skipped.append(f"{clipped(plain(key, LONGEST_KEY), 120)}: {plain(problem, 200)}")
    if not operations:
        reason = f": {skipped[0]}" if skipped else ""
        raise unreadable(f"at 'paths': it has no operation that can be used{reason}")
    return ApiDescription(
        format=format_name or f"OpenAPI {plain(document.get('openapi'), 10)}",
        title=plain(info.get("title"), 200).replace("\n", " "),
        version=plain(info.get("version"), 40),
        server=server_of(document),
        authentication=find_authentication(references, document),
        operations=tuple(operations.values()),
        skipped=tuple(skipped[:MOST_NOTES]),
        skipped_count=len(skipped),
    )


def _excess(operations: Mapping[str, Operation], key: str) -> str:
    """Return why an operation is one too many; empty when it is not."""
    if key in operations:
        return "it is there twice"
    return f"there are more than {MOST_OPERATIONS}" if len(operations) >= MOST_OPERATIONS else ""


def server_of(holder: Mapping[str, Any]) -> str:
    """Return the first server of a document, a path or an operation, with the defaults of its variables."""
    servers = holder.get("servers")
    server = servers[0] if isinstance(servers, list) and servers else None
    if not isinstance(server, Mapping) or not isinstance(server.get("url"), str):
        return ""
    url = str(server["url"])
    variables = server.get("variables")
    for name, variable in (variables if isinstance(variables, Mapping) else {}).items():
        default = variable.get("default") if isinstance(variable, Mapping) else None
        url = url.replace(f"{{{name}}}", str(default)) if isinstance(default, str | int) else url
    return url.strip() if is_address(url) else ""


def is_address(url: str) -> bool:
    """Return whether a text is the complete address of a web server, without credentials and placeholders."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc
    return (
        usable
        and len(url) <= 1_000
        and not any(char in "{}" or char.isspace() or ord(char) < 33 for char in url.strip())
    )


def _operations(
    references: References, paths: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any], str, Mapping[str, Any]]]:
    """Yield path, what the path declares, method and operation."""
    for place, declared in paths.items():
        try:
            item = references.resolved(declared)
        except Unusable:
            continue
        if not isinstance(item, Mapping) or not isinstance(place, str):
            continue
        for method in METHODS:
            if isinstance(item.get(method), Mapping):
                yield place, item, method, item[method]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads operations.

    Args:
        references: Follows references.
        limit: Bytes of one schema.
    """

    references: References
    limit: int

    def operation(self, key: str, item: Mapping[str, Any], operation: Mapping[str, Any]) -> Operation:
        """Return an operation. Raises `Unusable` with the reason."""
        path = key.partition(" ")[2]
        if not path.startswith("/") or len(key) > LONGEST_KEY or plain(path, LONGEST_KEY) != path or " " in path:
            raise Unusable("its path is not a path")
        arguments = Arguments(self.references, self.limit)
        arguments.add_parameters(path, [*_list(operation.get("parameters")), *_list(item.get("parameters"))])
        if operation.get("requestBody") is not None:
            arguments.add_body(operation["requestBody"])
        responses = operation.get("responses")
        output = response_schema(self.references, responses, self.limit)
        parameters = tuple(arguments.parameters)
        has_link = any(_has_link(response) for _, response in successes(self.references, responses))
        return Operation(
            key=key,
            id=plain(operation.get("operationId"), 200),
            summary=plain(operation.get("summary"), LONGEST_SUMMARY).replace("\n", " "),
            description=plain(operation.get("description"), LONGEST_DESCRIPTION),
            tags=tuple(plain(tag, 60) for tag in _list(operation.get("tags"))[:MOST_TAGS]),
            deprecated=operation.get("deprecated") is True,
            server=server_of(operation) or server_of(item),
            parameters=parameters,
            body=arguments.body,
            input=arguments.schema,
            output=output,
            paging=find_paging(parameters, output, has_link=has_link) if key.startswith("GET ") else None,
        )


def _has_link(response: Mapping[str, Any]) -> bool:
    headers = response.get("headers")
    return isinstance(headers, Mapping) and any(str(name).lower() == "link" for name in headers)


def _list(value: Any) -> list[Any]:  # noqa: ANN401
    return value if isinstance(value, list) else []


def empty_document(title: str, server: str) -> dict[str, Any]:
    """Return an OpenAPI document without paths, for formats that are converted into one."""
    servers: list[JsonValue] = [{"url": server}] if server else []
    return {"openapi": "3.1.0", "info": {"title": title}, "servers": servers, "paths": {}}
