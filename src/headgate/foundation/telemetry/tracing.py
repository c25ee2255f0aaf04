"""What is traced. The classes here trace nothing; `OtelTracing` does, and only then is OpenTelemetry imported."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

SpanKind = Literal["internal", "server", "client", "producer", "consumer"]
Attributes = Mapping[str, str | int | float | bool]
"""Never a prompt, an answer, a form's contents or a secret."""


class Span:
    """A piece of work being timed. This one is not."""

    def set(self, attributes: Attributes) -> None:
        """Say more about the work."""

    def fail(self, code: str) -> None:
        """The work failed, with this error code."""

    def end(self) -> None:
        """The work is done. Only for a span that was opened and not entered."""


_NOTHING = nullcontext(Span())


class Tracing:
    """Traces nothing."""

    active = False
    """Whether anybody listens."""

    def span(
        self, name: str, attributes: Attributes | None = None, *, parent: str | None = None, kind: SpanKind = "internal"
    ) -> AbstractContextManager[Span]:
        """Time a piece of work, inside the one under way or inside `parent` (a W3C `traceparent`).

        An exception that leaves the block marks the span as failed; its message is not told.
        """
        del name, attributes, parent, kind
        return _NOTHING

    def open_span(self, name: str, attributes: Attributes, *, kind: SpanKind = "internal") -> Span:
        """Time a piece of work that ends in another call: to be ended by hand."""
        del name, attributes, kind
        return Span()

    def run_began(self, run_id: str) -> str | None:
        """What to store with a new run, so that whoever works on it goes on in the same trace."""
        del run_id
        return None

    def run_parent(self, run_id: str, trace_parent: str | None) -> str | None:
        """The `traceparent` of a run's own span, under which its steps stand."""
        del run_id
        return trace_parent

    def run_ended(self, run_id: str, trace_parent: str | None, attributes: Attributes) -> None:
        """A run is over, in whatever process: its span is told now, from its creation on."""

    def close(self) -> None:
        """Send what was not sent yet."""
