"""Telemetry: metrics for Prometheus and traces for OpenTelemetry.

Both are passed in, and both do nothing unless enabled: `SILENT` costs a call of an empty method.
"""

from dataclasses import dataclass, field

from headgate.foundation.telemetry.instruments import FigurePage, Instruments
from headgate.foundation.telemetry.tracing import Attributes, Span, Tracing


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Metrics and traces of a process."""

    metrics: Instruments = field(default_factory=Instruments)
    traces: Tracing = field(default_factory=Tracing)


SILENT = Telemetry()
"""Records nothing: used by commands and tests."""

__all__ = ["SILENT", "Attributes", "FigurePage", "Instruments", "Span", "Telemetry", "Tracing"]
