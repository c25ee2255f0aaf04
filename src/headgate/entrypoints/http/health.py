"""Monitoring routes: liveness, readiness and metrics."""

import asyncio
import math
import time
from contextlib import suppress
from hmac import compare_digest
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from headgate import __version__
from headgate.entrypoints.http.errors import RouteNotFound
from headgate.entrypoints.readiness import LONGEST_CHECK_SECONDS, Readiness, Status, check_readiness
from headgate.features.access.caller import public
from headgate.foundation.api import problems
from headgate.foundation.errors import Forbidden, HeadgateError, Unauthenticated
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import ServerSettings
from headgate.foundation.telemetry import FigurePage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headgate.features.processes import service as processes
    from headgate.features.runs import figures
    from headgate.features.slos import service as slo_service
    from headgate.features.slos.schemas import SloOut
else:
    processes = lazy_module("headgate.features.processes.service")
    slo_service = lazy_module("headgate.features.slos.service")
    figures = lazy_module("headgate.features.runs.figures")

router = APIRouter(tags=["health"])
_UNKNOWN = math.nan
CACHE_SECONDS = 1.0
"""How long the result of a readiness check is reused."""


class FiguresClosed(Forbidden):
    """Metrics require a token, and none is configured."""

    code = "figures_closed"
    title = "Not allowed"


class MetricsTokenWrong(Unauthenticated):
    """The figures need the operator's token."""

    code = "metrics_token_wrong"
    title = "Token needed"


class Health(BaseModel):
    """The server's own state."""

    status: str
    version: str = __version__


class Alive(BaseModel):
    """Public readiness information."""

    status: Status


@router.get("/health", summary="Liveness check", dependencies=[public("says that the server responds")])
async def alive() -> Health:
    """Respond without using any other part."""
    return Health(status="ok")


@router.get(
    "/health/ready",
    summary="Readiness check",
    responses={503: {"model": Readiness | Alive}},
    dependencies=[public("for load balancers; the details require the token")],
)
async def ready(request: Request, response: Response) -> Readiness | Alive:
    """Checks in parallel: a write to the database, the engine, and with Celery the broker, result backend and workers.

    It writes both as the API and as runs do. The event loop's lag of the last ten seconds is checked too. Responds 503
    when a check fails or takes more than three seconds, and with `draining` while the server is drained. With
    auto-login, or with the token of `/metrics` as a bearer token, the response lists each part; otherwise only the
    status.
    """
    readiness = await _readiness(request)
    if readiness.status != "ok":
        response.status_code = 503
    server: ServerSettings = request.app.state.settings.server
    return readiness if server.auto_login or _has_token(request, server) else Alive(status=readiness.status)


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **problems(401, 403, 404),
    },
    response_class=Response,
    dependencies=[public("requires the operator's token")],
)
async def metrics(request: Request) -> Response:
    """The figures of this process, in Prometheus's text format. A worker serves its own.

    They need `HEADGATE_SERVER__METRICS_TOKEN` as a bearer token. Where no token is set, they are shown with auto-login
    only.
    """
    _check_token(request)
    instruments = request.app.state.telemetry.metrics
    if not isinstance(instruments, FigurePage):
        raise RouteNotFound("Metrics are disabled on this server.", remedy="Set HEADGATE_TELEMETRY__METRICS=true.")
    await _refresh(request, instruments)
    return Response(await asyncio.to_thread(instruments.page), media_type="text/plain; version=0.0.4; charset=utf-8")


def _check_token(request: Request) -> None:
    server: ServerSettings = request.app.state.settings.server
    if server.metrics_token is None and not server.auto_login:
        raise FiguresClosed(
            "Metrics are not public.",
            remedy="Set HEADGATE_SERVER__METRICS_TOKEN, and configure Prometheus to send it as a bearer token.",
        )
    if server.metrics_token is not None and not _has_token(request, server):
        raise MetricsTokenWrong(
            "Metrics require the token HEADGATE_SERVER__METRICS_TOKEN.", remedy="Send it as a bearer token."
        )


def _has_token(request: Request, server: ServerSettings) -> bool:
    if server.metrics_token is None:
        return False
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    expected = server.metrics_token.get_secret_value()
    return scheme.lower() == "bearer" and compare_digest(given.strip().encode(), expected.encode())


async def _readiness(request: Request) -> Readiness:
    """At most one check per second, shared by all requests: the route is public, and a check writes."""
    state = request.app.state
    checking: asyncio.Task[Readiness] | None = getattr(state, "readiness_check", None)
    if checking is None or (checking.done() and time.monotonic() - state.readiness_checked_at >= CACHE_SECONDS):
        state.readiness_checked_at = time.monotonic()
        checking = asyncio.create_task(
            check_readiness(
                state.database.prove_write,
                state.engine.health,
                writes=state.engine.store.prove_write,
                lag=state.loop_lag.worst,
                most_lag_seconds=state.settings.server.max_loop_lag_seconds,
                draining=state.services.jobs.leases.draining,
            )
        )
        state.readiness_check = checking
    return await asyncio.shield(checking)


async def _refresh(request: Request, page: FigurePage) -> None:
    """Update the gauges; unknown values become NaN."""
    readiness = await _readiness(request)
    page.gauge("queue_depth", readiness.queue_depth)
    page.gauge("workers", readiness.workers)
    for part in readiness.parts:
        page.gauge("ready", float(part.state == "ok"), part.name)
    runs, deliveries = await _counts(request)
    for status, count in runs.items():
        page.gauge("runs", count, status)
    page.gauge("deliveries_waiting", deliveries)
    with suppress(HeadgateError, TimeoutError):
        async with asyncio.timeout(LONGEST_CHECK_SECONDS), request.app.state.database.reading() as session:
            states, (slos, more) = await processes.count_states(session), await slo_service.list_exported(session)
            for state, count in states.items():
                page.gauge("processes", count, state)
            _show_slos(page, slos, more)


def _show_slos(page: FigurePage, slos: "Sequence[SloOut]", more: int) -> None:
    """Show objectives by their ids; burn rates of windows without runs are omitted."""
    page.gauges("slo_target", {(slo.id,): slo.target for slo in slos})
    page.gauges("slo_budget_left", {(slo.id,): slo.budget_left for slo in slos})
    rates = {(slo.id, window): rate for slo in slos for window, rate in slo.burn.model_dump().items()}
    page.gauges("slo_burn_rate", {labels: rate for labels, rate in rates.items() if rate is not None})
    page.gauge("slo_not_shown", more)


async def _counts(request: Request) -> tuple[dict[str, float], float]:
    try:
        async with asyncio.timeout(LONGEST_CHECK_SECONDS), request.app.state.database.reading() as session:
            runs = await figures.count_live_runs(session)
            waiting = await figures.count_waiting_deliveries(session)
            return {status: float(count) for status, count in runs.items()}, waiting
    except (HeadgateError, TimeoutError):
        return {"queued": _UNKNOWN, "running": _UNKNOWN}, _UNKNOWN
