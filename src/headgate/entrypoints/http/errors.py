"""Renders the error tree as RFC 9457 problem documents. No stack trace ever leaves the server."""

from collections.abc import Callable
from typing import Any, cast

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import JsonValue
from starlette.exceptions import HTTPException
from starlette.routing import Match

from headgate.entrypoints.http.headers import DATA_PATHS
from headgate.entrypoints.http.studio.page import is_built, page_response
from headgate.foundation.errors import HeadgateError, Invalid, NotFound, Unauthenticated
from headgate.foundation.log import get_logger

log = get_logger(__name__)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class ProblemResponse(Response):
    """A response of type `application/problem+json`."""

    media_type = "application/problem+json"

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - Starlette's own signature
        """The document as bytes."""
        return orjson.dumps(content)


class BadRequest(Invalid):
    """The request does not have the shape that the API documents."""

    code = "bad_request"


class RouteNotFound(NotFound):
    """No such address."""

    code = "route_not_found"
    title = "Not found"


class MethodRefused(HeadgateError):
    """The address exists but does not take this method."""

    code = "method_not_allowed"
    status = 405


class InternalError(HeadgateError):
    """An internal error of Headgate."""


def install(app: FastAPI) -> None:
    """Render every error of the application."""
    app.add_exception_handler(HeadgateError, _headgate)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _starlette)
    app.add_exception_handler(Exception, _unexpected)


def problem(error: HeadgateError, headers: dict[str, str] | None = None) -> Response:
    """Return the response for an error."""
    return ProblemResponse(error.problem(), status_code=error.status, headers=headers)


def _answer(request: Request, error: HeadgateError) -> Response:
    """Return the response in the format of the route's protocol (`request.state.render_error`), else a problem.

    A route that caught its errors to render them would have its transaction committed.
    """
    render: Callable[[HeadgateError], Response] | None = getattr(request.state, "render_error", None)
    return problem(error) if render is None else render(error)


async def _headgate(request: Request, error: Exception) -> Response:
    failure = cast("HeadgateError", error)
    if hasattr(request.state, "render_error"):
        return _answer(request, failure)
    headers: dict[str, str] = {}
    if (retry := failure.extra.get("retry_after_seconds")) is not None:
        headers["Retry-After"] = str(retry)
    if (window := failure.extra.get("window_seconds")) is not None:
        # draft-ietf-httpapi-ratelimit-headers: what is allowed in so many seconds, and that nothing of it is left
        headers["RateLimit-Policy"] = f'"{failure.code}";q={failure.extra["limit"]};w={window}'
        headers["RateLimit"] = f'"{failure.code}";r=0;t={retry}'
    if isinstance(failure, Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    return problem(failure, headers)


async def _validation(request: Request, error: Exception) -> Response:
    errors = cast("RequestValidationError", error).errors()
    if errors[0]["loc"] == ("body",) and "json" not in request.headers.get("content-type", ""):
        refused = BadRequest(
            "The request body has the wrong content type.", remedy="Send it with Content-Type: application/json."
        )
        return _answer(request, refused)
    if errors[0]["type"] == "json_invalid":
        reason, place = errors[0]["ctx"]["error"], errors[0]["loc"][-1]
        broken = f"The request body is not valid JSON: {reason}, at character {place}."
        return _answer(request, BadRequest(broken, remedy="Correct the body."))
    faults: list[JsonValue] = [
        {"where": ".".join(map(str, item["loc"])), "message": str(item["msg"]).removeprefix("Value error, ")}
        for item in errors
    ]
    first = cast("dict[str, Any]", faults[0])
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return _answer(
        request,
        BadRequest(
            f"{first['where']}: {first['message']}{more}.",
            remedy="Correct the values that `faults` lists; /docs describes the request.",
            faults=faults,
        ),
    )


async def _starlette(request: Request, error: Exception) -> Response:
    failure = cast("HTTPException", error)
    if failure.status_code == RouteNotFound.status:
        if _wants_page(request):
            return page_response(status=RouteNotFound.status)
        return problem(
            RouteNotFound(f"There is no resource at {request.url.path}.", remedy=("See /docs for the list of URLs."))
        )
    if failure.status_code == MethodRefused.status:
        headers = {"Allow": ", ".join(_methods_of(request))}
        return problem(MethodRefused(f"{request.url.path} does not support {request.method}."), headers)
    refused = BadRequest(str(failure.detail))
    if failure.status_code == 400:  # no text, or a broken form: like every other body that is not as documented
        return _answer(request, refused)
    return ProblemResponse(refused.problem() | {"status": failure.status_code}, status_code=failure.status_code)


def _methods_of(request: Request) -> list[str]:
    """Return the methods that any route supports at the path of a request."""
    routes = cast("FastAPI", request.app).router.routes
    return [
        method
        for method in _METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]


def _wants_page(request: Request) -> bool:
    """Whether a browser requests a page: then the 404 is a page with links."""
    html = "text/html" in request.headers.get("accept", "")
    return html and request.method == "GET" and not request.url.path.startswith(DATA_PATHS) and is_built()


async def _unexpected(request: Request, error: Exception) -> Response:
    log.error("request failed", path=request.url.path, method=request.method, exc_info=error)
    refused = InternalError("Internal error; see the server log.", remedy="Try again, or report the problem.")
    return _answer(request, refused)
