"""Interface of tracing. The classes here do nothing; `OtelTracing` does, and only then is OpenTelemetry imported."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

SpanKind = Literal["internal", "server", "client", "producer", "consumer"]
Attributes = Mapping[str, str | int | float | bool]
"""Never a prompt, a model output, a form's contents or a secret."""


class Span:
    """A timed operation. This one records nothing."""

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""

    def fail(self, code: str) -> None:
        """Record a failure with this error code."""

    def end(self) -> None:
        """End the span. Only for a span that was opened and not entered."""


_NOTHING = nullcontext(Span())


class Tracing:
    """Records no traces."""

    active = False
    """Whether traces are recorded."""

    def span(
        self, name: str, attributes: Attributes | None = None, *, parent: str | None = None, kind: SpanKind = "internal"
    ) -> AbstractContextManager[Span]:
        """Time an operation, as a child of the current span or of `parent` (a W3C `traceparent`).

        An exception that leaves the block marks the span as failed; its message is not recorded.
        """
        del name, attributes, parent, kind
        return _NOTHING

    def open_span(self, name: str, attributes: Attributes, *, kind: SpanKind = "internal") -> Span:
        """Time an operation that ends in another call; the caller ends the span."""
        del name, attributes, kind
        return Span()

    def run_began(self, run_id: str) -> str | None:
        """Return what to store with a new run, so that other processes continue the same trace."""
        del run_id
        return None

    def run_parent(self, run_id: str, trace_parent: str | None) -> str | None:
        """Return the `traceparent` of a run's own span, the parent of its steps."""
        del run_id
        return trace_parent

    def run_ended(self, run_id: str, trace_parent: str | None, attributes: Attributes) -> None:
        """Emit the span of an ended run, in any process, starting at the run's creation."""

    def close(self) -> None:
        """Send pending traces."""
