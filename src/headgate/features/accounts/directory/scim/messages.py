"""SCIM messages: request bodies, responses and errors."""

import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

from headgate.features.accounts.directory.errors import ScimInvalid, VersionOutdated
from headgate.features.accounts.directory.scim.filters import attribute_name
from headgate.foundation.errors import HeadgateError

MEDIA_TYPE = "application/scim+json"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
MOST_RESULTS = 200
MOST_START = 2**31
_FIRST_DIGITS = 10


class ScimResponse(Response):
    """A response of SCIM's media type."""

    media_type = MEDIA_TYPE

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - Starlette's own signature
        """Return the document as bytes."""
        return b"" if content is None else orjson.dumps(content)


class ScimRoute(APIRoute):
    """A route that returns SCIM errors."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, which sets the error format; errors are re-raised, so that the transaction is rolled back."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            request.state.render_error = refused
            return await handle(request)

        return handled


def refused(error: HeadgateError) -> Response:
    """Return the response for an error."""
    invalid = error.status == 422
    status = 400 if invalid else error.status
    scim_type = getattr(error, "scim_type", "invalidValue" if invalid else None)
    body = {"schemas": [ERROR], "status": str(status), "detail": str(error)}
    headers: dict[str, str] = {}
    if (retry := error.extra.get("retry_after_seconds")) is not None:
        headers["Retry-After"] = str(retry)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return ScimResponse(body | ({"scimType": scim_type} if scim_type else {}), status_code=status, headers=headers)


async def read_body(request: Request) -> dict[str, Any]:
    """Return the JSON object of the request with attribute names in lower case: SCIM names are case-insensitive.

    Raises `ScimInvalid` (`invalidSyntax`), also for duplicate attributes.
    """
    try:
        body = json.loads(await request.body(), object_pairs_hook=_object, parse_constant=_constant)
    except (ValueError, RecursionError):
        raise ScimInvalid("invalidSyntax", "The body is not a JSON object.") from None
    if not isinstance(body, dict):
        raise ScimInvalid("invalidSyntax", "The body is not a JSON object.")
    return body


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        key = attribute_name(name)
        if key in members:
            raise ScimInvalid("invalidSyntax", f"The attribute '{name[:60]}' appears twice.")
        members[key] = value
    return members


def _constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


@dataclass(frozen=True, slots=True)
class Listing:
    """Parameters of a list."""

    filter: str | None
    start: int
    """Starts at 1."""
    count: int
    sort_by: str | None
    descending: bool


def listing_of(request: Request) -> Listing:
    """Return the parameters of a list; too large ones are reduced. Raises `ScimInvalid`."""
    query = request.query_params
    return Listing(
        filter=query.get("filter") or None,
        start=max(1, min(_number(query.get("startIndex"), 1), MOST_START)),
        count=max(0, min(_number(query.get("count"), MOST_RESULTS), MOST_RESULTS)),
        sort_by=attribute_name(query.get("sortBy") or "") or None,
        descending=(query.get("sortOrder") or "").lower() == "descending",
    )


def _number(text: str | None, default: int) -> int:
    if not text:
        return default
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise ScimInvalid("invalidValue", f"'{text[:30]}' is not a number.")
    size = MOST_START if len(digits) > _FIRST_DIGITS else int(digits)
    return -size if text.startswith("-") else size


@dataclass(frozen=True, slots=True)
class Selection:
    """The returned attributes of a resource."""

    only: frozenset[str]
    """Empty: all except the excluded ones."""
    without: frozenset[str]

    def has(self, name: str) -> bool:
        """Return whether an attribute, or a part of it, is returned."""
        if self.only:
            return any(requested == name or requested.startswith(f"{name}.") for requested in self.only)
        return name not in self.without

    def of(self, resource: Mapping[str, Any]) -> dict[str, Any]:
        """Return the resource with those attributes; always with `id` and `schemas`."""
        return {
            name: self._part(name.lower(), value)
            for name, value in resource.items()
            if name in {"id", "schemas"} or self.has(name.lower())
        }

    def _part(self, name: str, value: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, list):
            return [self._part(name, item) for item in value]
        if not isinstance(value, dict):
            return value
        if self.only and name not in self.only:
            return {key: member for key, member in value.items() if f"{name}.{key.lower()}" in self.only}
        return {key: member for key, member in value.items() if f"{name}.{key.lower()}" not in self.without}


def selection_of(request: Request) -> Selection:
    """Return the requested attributes. Raises `ScimInvalid` when some are named and others excluded."""
    only, without = (_names(request.query_params.getlist(name)) for name in ("attributes", "excludedAttributes"))
    if only and without:
        raise ScimInvalid("invalidValue", "A request takes either attributes or excludedAttributes, not both.")
    return Selection(only, without)


def _names(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(attribute_name(name.strip()) for text in texts for name in text.split(",") if name.strip())


def list_response(resources: list[dict[str, Any]], *, total: int, start: int) -> ScimResponse:
    """Return the response of a list."""
    return ScimResponse(
        {
            "schemas": [LIST],
            "totalResults": total,
            "startIndex": start,
            "itemsPerPage": len(resources),
            "Resources": resources,
        }
    )


def require_version(request: Request, version: str, resource: str) -> None:
    """Raise `VersionOutdated` when If-Match does not name the current version."""
    versions = request.headers.get("if-match")
    if versions is not None and not _names_version(versions, version):
        raise VersionOutdated(resource)


def is_unchanged(request: Request, version: str) -> bool:
    """Return whether If-None-Match names the current version."""
    versions = request.headers.get("if-none-match")
    return versions is not None and _names_version(versions, version)


def _names_version(header: str, version: str) -> bool:
    """Use weak comparison (RFC 9110, 8.8.3.2)."""
    names = {part.strip().removeprefix("W/") for part in header.split(",")}
    return "*" in names or version.removeprefix("W/") in names


def root_of(request: Request) -> str:
    """Return the base URL of the directory."""
    server = request.app.state.settings.server.public_url or str(request.base_url)
    return f"{server.rstrip('/')}/scim/v2"
