"""Logs, figures and traces."""

from typing import Literal

from pydantic import BaseModel, Field


class LogSettings(BaseModel, defer_build=True):
    """Structured logs on standard error."""

    level: Literal["debug", "info", "warning", "error", "critical"] = Field(
        default="info", description="Least level written."
    )
    format: Literal["console", "json"] = Field(default="console", description="For people or for machines.")


class TelemetrySettings(BaseModel, defer_build=True):
    """Figures and traces."""

    metrics: bool = Field(default=True, description="Serve figures for Prometheus at `/metrics`.")
    worker_metrics_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="Port on which a worker serves its own figures, on the address of the server; 0: none.",
    )
    otlp_endpoint: str = Field(
        default="",
        description="Address of an OpenTelemetry collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318`. "
        "Empty: nothing is traced. Needs the extra `otel`.",
    )
    service_name: str = Field(default="headgate", description="Name of this installation in traces.")
    sample_ratio: float = Field(default=1.0, ge=0, le=1, description="Share of traces that are sent.")
