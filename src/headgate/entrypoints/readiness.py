"""Readiness of an installation: database and engine. For `/health/ready` and doctor."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import Literal

from pydantic import BaseModel

from headgate import __version__
from headgate.features.runs.engine.backend import BackendHealth
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import redact_text

LONGEST_CHECK_SECONDS = 3.0
"""Timeout of each check; a part that exceeds it has failed."""
State = Literal["ok", "failed"]
Status = Literal["ok", "draining", "failed"]
"""`draining`: it works, and takes no new work: load balancers send requests to other servers."""


class PartState(BaseModel):
    """The state of one part."""

    name: str
    state: State
    latency_ms: float
    detail: str = ""
    """State or error. Never contains a URL with a password."""


class Readiness(BaseModel):
    """The state of everything the server needs."""

    status: Status
    version: str = __version__
    parts: list[PartState]
    queue_depth: int
    """Runs or messages that wait for a worker; -1 when unknown."""
    workers: int


async def check_readiness(
    ping: Callable[[], Awaitable[None]],
    health: Callable[[], Awaitable[BackendHealth]],
    *,
    writes: Callable[[], Awaitable[None]] | None = None,
    lag: Callable[[], float] | None = None,
    most_lag_seconds: float = math.inf,
    draining: bool = False,
) -> Readiness:
    """Check every part concurrently. Takes at most `LONGEST_CHECK_SECONDS` and raises nothing.

    Args:
        ping: Raises unless the database can be written.
        health: Returns the state of the execution backend.
        writes: Raises unless the writer of runs can write.
        lag: Maximum lag of the event loop in the last ten seconds, in seconds.
        most_lag_seconds: Lag above which the event loop has failed.
        draining: Whether the server is drained.
    """
    checks = [_answers("database", ping), *([] if writes is None else [_answers("run writer", writes)])]
    answers, (engine, engine_health) = await asyncio.gather(asyncio.gather(*checks), _engine(health))
    parts = [*answers, *([] if lag is None else [_loop(lag(), most_lag_seconds)]), *_parts_of(engine, engine_health)]
    status: Status = "draining" if draining else "ok"
    return Readiness(
        status=status if all(part.state == "ok" for part in parts) else "failed",
        parts=parts,
        queue_depth=engine_health.queue_depth if engine_health else -1,
        workers=engine_health.workers if engine_health else 0,
    )


def _loop(lag: float, most: float) -> PartState:
    good = lag <= most
    why = (
        f"It was blocked for {lag:.1f} seconds recently: the disk is slow, or processor time is short."
        if not good
        else ""
    )
    return PartState(name="event loop", state="ok" if good else "failed", latency_ms=round(lag * 1000, 2), detail=why)


async def _answers(name: str, ping: Callable[[], Awaitable[None]]) -> PartState:
    started = time.perf_counter()
    try:
        async with asyncio.timeout(LONGEST_CHECK_SECONDS):
            await ping()
    except Exception as error:  # noqa: BLE001 - whatever the driver raises, the part has failed
        return _failed(name, started, error)
    return PartState(name=name, state="ok", latency_ms=_since(started))


async def _engine(health: Callable[[], Awaitable[BackendHealth]]) -> tuple[PartState, BackendHealth | None]:
    started = time.perf_counter()
    try:
        async with asyncio.timeout(LONGEST_CHECK_SECONDS):
            engine_health = await health()
    except Exception as error:  # noqa: BLE001 - see above
        return _failed("engine", started, error), None
    why = redact_text(" ".join(engine_health.problems))
    state: State = "ok" if engine_health.ready else "failed"
    return PartState(
        name="engine", state=state, latency_ms=_since(started), detail=why or engine_health.kind
    ), engine_health


def _parts_of(engine: PartState, health: BackendHealth | None) -> list[PartState]:
    """The engine, and with Celery its broker, result backend and workers."""
    parts = [engine]
    if health is None:
        return parts
    dependencies = {"broker": health.broker, "result backend": health.results}
    for name, answers in dependencies.items():
        if answers is not None:
            detail = "" if answers else engine.detail
            parts.append(_part(name, good=answers, detail=detail, latency_ms=engine.latency_ms))
    if health.broker is not None:
        alive = f"{health.workers} alive"
        parts.append(_part("workers", good=health.workers > 0, detail=alive, latency_ms=engine.latency_ms))
    return parts


def _part(name: str, *, good: bool, detail: str, latency_ms: float) -> PartState:
    return PartState(name=name, state="ok" if good else "failed", latency_ms=latency_ms, detail=detail)


def _failed(name: str, started: float, error: Exception) -> PartState:
    if isinstance(error, TimeoutError):
        why = f"No answer within {LONGEST_CHECK_SECONDS:g} seconds."
    elif isinstance(error, HeadgateError):
        why = str(error)
    else:
        why = type(error).__name__  # a driver's message may hold its address
    return PartState(name=name, state="failed", latency_ms=_since(started), detail=redact_text(why))


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)
