"""Logs, metrics and traces."""

from typing import Literal

from pydantic import BaseModel, Field


class LogSettings(BaseModel, defer_build=True):
    """Structured logs on standard error."""

    level: Literal["debug", "info", "warning", "error", "critical"] = Field(
        default="info", description="Minimum log level."
    )
    format: Literal["console", "json"] = Field(default="console", description="Log format: for humans or for machines.")


class TelemetrySettings(BaseModel, defer_build=True):
    """Figures and traces."""

    metrics: bool = Field(default=True, description="Serve metrics for Prometheus at `/metrics`.")
    worker_metrics_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="Port on which a worker serves its metrics, on the address of the server; 0: none.",
    )
    otlp_endpoint: str = Field(
        default="",
        description=(
            "URL of an OpenTelemetry collector that accepts OTLP over HTTP, such as "
            "`http://127.0.0.1:4318`. Empty: no tracing. Requires the extra `otel`."
        ),
    )
    service_name: str = Field(default="headgate", description="Name of this installation in traces.")
    sample_ratio: float = Field(default=1.0, ge=0, le=1, description="Share of traces that are sent.")
