"""Routes for those who watch the server: whether it answers, whether it can work, and its figures."""

import asyncio
import math

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel

from headgate import __version__
from headgate.entrypoints.http.errors import RouteNotFound
from headgate.entrypoints.readiness import LONGEST_CHECK_SECONDS, Readiness, check_readiness
from headgate.features.runs.figures import count_live_runs, count_waiting_deliveries
from headgate.foundation.errors import HeadgateError
from headgate.foundation.telemetry import FigurePage

router = APIRouter(tags=["health"])
_UNKNOWN = math.nan


class Health(BaseModel):
    """The server's own state."""

    status: str
    version: str = __version__


@router.get("/health", summary="Whether the server answers")
async def alive() -> Health:
    """Answers without touching anything else."""
    return Health(status="ok")


@router.get("/health/ready", summary="Whether the server can do its work", responses={503: {"model": Readiness}})
async def ready(request: Request, response: Response) -> Readiness:
    """Asks the database and the engine, and with Celery the broker, the result backend and the workers, all at once.

    Answers 503 when one of them fails, with the reason. One that hangs is given three seconds.
    """
    found = await _readiness(request)
    if found.status != "ok":
        response.status_code = 503
    return found


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response)
async def metrics(request: Request) -> Response:
    """The figures of this process, in Prometheus's text format. A worker serves its own."""
    instruments = request.app.state.telemetry.metrics
    if not isinstance(instruments, FigurePage):
        raise RouteNotFound("This server keeps no figures.", remedy="Set HEADGATE_TELEMETRY__METRICS=true.")
    await _refresh(request, instruments)
    return Response(await asyncio.to_thread(instruments.page), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/", include_in_schema=False)
async def front_door() -> RedirectResponse:
    """The API's documentation, until the studio's page is served here."""
    return RedirectResponse("/docs")


async def _readiness(request: Request) -> Readiness:
    state = request.app.state
    return await check_readiness(state.database.ping, state.engine.health)


async def _refresh(request: Request, page: FigurePage) -> None:
    """Set the gauges to how things are now; what cannot be found out is not a number."""
    found = await _readiness(request)
    page.gauge("queue_depth", found.queue_depth)
    page.gauge("workers", found.workers)
    for part in found.parts:
        page.gauge("ready", float(part.state == "ok"), part.name)
    runs, deliveries = await _counts(request)
    for status, count in runs.items():
        page.gauge("runs", count, status)
    page.gauge("deliveries_waiting", deliveries)


async def _counts(request: Request) -> tuple[dict[str, float], float]:
    try:
        async with asyncio.timeout(LONGEST_CHECK_SECONDS), request.app.state.database.reading() as session:
            runs = await count_live_runs(session)
            return {status: float(count) for status, count in runs.items()}, await count_waiting_deliveries(session)
    except (HeadgateError, TimeoutError):
        return {"queued": _UNKNOWN, "running": _UNKNOWN}, _UNKNOWN
