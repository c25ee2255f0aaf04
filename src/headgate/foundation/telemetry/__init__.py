"""What Headgate tells of itself while it works: figures for Prometheus, traces for OpenTelemetry.

Both are passed in, and both are silent unless somebody listens: `SILENT` costs a call of an empty method.
"""

from dataclasses import dataclass, field

from headgate.foundation.telemetry.instruments import FigurePage, Instruments
from headgate.foundation.telemetry.tracing import Attributes, Span, Tracing


@dataclass(frozen=True, slots=True)
class Telemetry:
    """The two of them, for whoever measures."""

    metrics: Instruments = field(default_factory=Instruments)
    traces: Tracing = field(default_factory=Tracing)


SILENT = Telemetry()
"""Counts nothing and tells nothing: what commands and tests use."""

__all__ = ["SILENT", "Attributes", "FigurePage", "Instruments", "Span", "Telemetry", "Tracing"]
