"""Outermost ASGI middleware: adds headers and a request id to responses, and converts every error to a response."""

import re
from uuid import uuid4

from starlette.requests import ClientDisconnect

from headgate.entrypoints.http.errors import InternalError, problem
from headgate.entrypoints.http.headers import SecurityHeaders
from headgate.entrypoints.http.measuring import NO_ROUTE, route_of
from headgate.entrypoints.http.wire import App, Message, Receive, Scope, Send
from headgate.foundation.log import get_logger, log_context
from headgate.foundation.settings import ServerSettings

log = get_logger(__name__)
REQUEST_ID = b"x-request-id"
_WELL_FORMED = re.compile(rb"[A-Za-z0-9._-]{8,64}")


class Answering:
    """Adds headers to every response, and responds to every error.

    The id is in every line that the log has of the request. A caller's own is used when it is well formed.
    """

    def __init__(self, app: App, settings: ServerSettings) -> None:
        self._app = app
        self._headers = SecurityHeaders(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        started = ended = False

        async def write(message: Message) -> None:
            nonlocal started, ended
            ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            if message["type"] == "http.response.start":
                started = True
                headers = [*message.get("headers", ()), (REQUEST_ID, request_id.encode())]
                message["headers"] = self._headers.added_to(scope["path"], headers)
            await send(message)

        with log_context(request_id=request_id):
            try:
                await self._app(scope, receive, write)
            except ClientDisconnect:
                return  # the client is gone
            except Exception:
                log.exception("request failed", path=_path(scope), method=scope["method"])
                if not started:
                    await _failed(request_id)(scope, receive, write)
                elif not ended:  # the connection is closed, so that nobody takes half an answer for a whole one
                    raise Interrupted from None


class Interrupted(Exception):
    """A response was interrupted; the log contains the reason."""


def _path(scope: Scope) -> str:
    """Return the pattern of the route, else the first part of the path: the others may be the token of a link."""
    route = route_of(scope)
    return f"/{scope['path'].split('/')[1]}" if route == NO_ROUTE else route


def _failed(request_id: str) -> App:
    error = InternalError(
        "Internal error; see the server log.",
        remedy="Try again, or report the problem with the request id.",
        request_id=request_id,
    )
    return problem(error)


def _request_id(scope: Scope) -> str:
    given = next((value for name, value in scope["headers"] if name == REQUEST_ID), b"")
    return given.decode() if _WELL_FORMED.fullmatch(given) else uuid4().hex
