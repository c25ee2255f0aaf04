"""Creates a process's telemetry from the settings. Heavy libraries are imported here, and only when used."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import Settings
from headgate.foundation.telemetry import Telemetry
from headgate.foundation.telemetry.instruments import Instruments
from headgate.foundation.telemetry.tracing import Tracing

if TYPE_CHECKING:  # named without importing it
    from wsgiref.simple_server import WSGIServer


@asynccontextmanager
async def telemetry_of(settings: Settings, role: str, *, counts: bool) -> AsyncIterator[Telemetry]:
    """Telemetry of this process; pending traces are sent at the end. See `open_telemetry`."""
    telemetry = open_telemetry(settings, role, counts=counts)
    try:
        yield telemetry
    finally:
        if telemetry.traces.active:
            await asyncio.to_thread(telemetry.traces.close)


def open_telemetry(settings: Settings, role: str, *, counts: bool) -> Telemetry:
    """Create the telemetry of this process; close its traces at the end. Raises `Unavailable` without the extra `otel`.

    Args:
        settings: The effective settings.
        role: The kind of process, such as `api` or `worker`.
        counts: Whether the metrics of this process can be scraped. Those of a command cannot.
    """
    metrics = _prometheus().PrometheusInstruments() if counts and settings.telemetry.metrics else Instruments()
    traces = _otel(settings, role) if settings.telemetry.otlp_endpoint else Tracing()
    return Telemetry(metrics, traces)


def _prometheus() -> ModuleType:
    from headgate.foundation.telemetry import prometheus  # noqa: PLC0415 - see LATE_MODULES

    return prometheus


def _otel(settings: Settings, role: str) -> Tracing:
    try:
        from headgate.foundation.telemetry.otel import OtelTracing  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Unavailable(
            "HEADGATE_TELEMETRY__OTLP_ENDPOINT is set, but OpenTelemetry is not installed.",
            remedy="Install it with: pip install 'headgate[otel]', or leave the setting empty.",
        ) from error
    return OtelTracing(settings.telemetry, role, settings.outgoing)


def serve_metrics(host: str, port: int) -> "WSGIServer":
    """Serve the metrics of the processes that share a folder, from a thread; port 0 selects a free one.

    Raises `Unavailable` when the port is in use.
    """
    try:
        served: WSGIServer = _prometheus().serve_shared(host, port)
    except OSError as error:
        raise Unavailable(
            f"Port {port} on {host} cannot be used for metrics: {error.strerror}.",
            remedy="Choose another with HEADGATE_TELEMETRY__WORKER_METRICS_PORT.",
        ) from error
    return served
