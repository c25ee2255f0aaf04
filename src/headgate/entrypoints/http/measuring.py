"""ASGI middleware: measures and traces each request."""

import re
import time
from collections.abc import MutableMapping
from typing import Any

from headgate.entrypoints.http.wire import App, Receive, Scope, Send
from headgate.foundation.telemetry import SILENT, Attributes, Span, Telemetry

WATCHERS = frozenset({"/health", "/health/ready", "/metrics"})
"""Paths that are polled and not traced."""
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_TRACE_PARENT = re.compile(rb"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
NO_ROUTE = "none"
_API = "/api/v1"


class Measuring:
    """Counts and traces requests by the pattern of their route: an address of a caller's making is never a label."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Measure and pass on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        telemetry: Telemetry = getattr(scope["app"].state, "telemetry", SILENT)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        if not telemetry.traces.active or scope["path"] in WATCHERS:
            await self._measured(scope, receive, send, telemetry, method, Span())
            return
        about: Attributes = {"http.request.method": method}
        with telemetry.traces.span(method, about, parent=_trace_parent(scope), kind="server") as span:
            await self._measured(scope, receive, send, telemetry, method, span)

    async def _measured(  # noqa: PLR0917 - what every middleware is given, and what it measures with
        self, scope: Scope, receive: Receive, send: Send, telemetry: Telemetry, method: str, span: Span
    ) -> None:
        started = time.perf_counter()
        status = 500

        async def note(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            route = route_of(scope)
            telemetry.metrics.request_answered(method, route, status, time.perf_counter() - started)
            span.set({"http.route": route, "http.response.status_code": status})
            if status >= 500:
                span.fail(str(status))


def route_of(scope: Scope) -> str:
    """Return the pattern of the matched route; FastAPI omits the prefix of its router."""
    path: str | None = getattr(scope.get("route"), "path", None)
    if path is None:
        return NO_ROUTE
    return _API + path if scope["path"].startswith(_API) else path


def _trace_parent(scope: Scope) -> str | None:
    """The caller's trace, if it sent one that is well formed."""
    trace_parent = next((value for name, value in scope["headers"] if name == b"traceparent"), b"")
    return trace_parent.decode() if _TRACE_PARENT.fullmatch(trace_parent) else None
