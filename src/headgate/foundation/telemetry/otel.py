"""Traces for OpenTelemetry, sent over OTLP/HTTP. Needs the extra `otel`, and is imported only when enabled.

The database stores one `traceparent` for each run: that of the request which started it. The run's own span id is
derived from the run's id, so every process can name it as the parent of its steps, and the process that sees the run
end emits it.
"""

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from headgate import __version__
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.foundation.guarded_http.requests_session import guarded_session
from headgate.foundation.ids import made_at
from headgate.foundation.settings import OutgoingSettings, TelemetrySettings
from headgate.foundation.telemetry.tracing import Attributes, Span, SpanKind, Tracing

RUN_SPAN = "flow run"
_TRACES_PATH = "/v1/traces"
_MILLISECOND = 1_000_000
_ERROR = trace.Status(trace.StatusCode.ERROR)
_KINDS: dict[SpanKind, trace.SpanKind] = {
    "internal": trace.SpanKind.INTERNAL,
    "server": trace.SpanKind.SERVER,
    "client": trace.SpanKind.CLIENT,
    "producer": trace.SpanKind.PRODUCER,
    "consumer": trace.SpanKind.CONSUMER,
}
_TEXT = TraceContextTextMapPropagator()


class OtelSpan(Span):
    """A timed operation."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""
        self._span.set_attributes(dict(attributes))

    def fail(self, code: str) -> None:
        """Record a failure with this error code."""
        self._span.set_status(_ERROR)
        self._span.set_attribute("error.type", code)

    def end(self) -> None:
        """End the span."""
        self._span.end()


class OtelTracing(Tracing):
    """Traces of one process.

    Args:
        settings: The trace endpoint.
        role: The kind of process, such as `api` or `worker`.
        outgoing: The operator's proxy.
    """

    active = True

    def __init__(self, settings: TelemetrySettings, role: str, outgoing: OutgoingSettings) -> None:
        self._ids = _Ids()
        attributes = {"service.name": settings.service_name, "service.version": __version__, "headgate.role": role}
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(settings.sample_ratio)),
            resource=Resource.create(attributes),
            shutdown_on_exit=False,
            id_generator=self._ids,
        )
        endpoint = settings.otlp_endpoint.rstrip("/").removesuffix(_TRACES_PATH) + _TRACES_PATH
        session = guarded_session(OPERATOR_NETWORKS, outgoing)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, session=session)))
        self._tracer = self._provider.get_tracer("headgate", __version__)

    def span(
        self, name: str, attributes: Attributes | None = None, *, parent: str | None = None, kind: SpanKind = "internal"
    ) -> AbstractContextManager[Span]:
        """Time an operation, as a child of the current span or of `parent`."""
        return self._span(name, attributes, None if parent is None else _context_of(parent), kind)

    @contextmanager
    def _span(
        self, name: str, attributes: Attributes | None, context: Context | None, kind: SpanKind
    ) -> Iterator[Span]:
        with self._tracer.start_as_current_span(
            name,
            context,
            kind=_KINDS[kind],
            attributes=dict(attributes or {}),
            record_exception=False,
            set_status_on_exception=False,
        ) as inner:
            span = OtelSpan(inner)
            try:
                yield span
            except Exception as error:
                span.fail(error.code if isinstance(error, HeadgateError) else type(error).__name__)
                raise

    def open_span(self, name: str, attributes: Attributes, *, kind: SpanKind = "internal") -> Span:
        """Time an operation that ends in another call."""
        return OtelSpan(self._tracer.start_span(name, kind=_KINDS[kind], attributes=dict(attributes)))

    def run_began(self, run_id: str) -> str | None:
        """Return the `traceparent` to store: that of the current request, or the run's own when there is none."""
        current = trace.get_current_span().get_span_context()
        if not current.is_valid:
            current = self._run_span(run_id, None, {}).get_span_context()
        return _text_of(current)

    def run_parent(self, run_id: str, trace_parent: str | None) -> str | None:
        """Return the `traceparent` of the run's own span."""
        context = None if trace_parent is None else _parsed(trace_parent)
        if context is None:
            return None
        return f"00-{context.trace_id:032x}-{_span_id(run_id):016x}-{context.trace_flags:02x}"

    def run_ended(self, run_id: str, trace_parent: str | None, attributes: Attributes) -> None:
        """Emit the run's span, starting at the run's creation."""
        stored = None if trace_parent is None else _parsed(trace_parent)
        if stored is None:
            return
        span = self._run_span(run_id, stored, attributes)
        if attributes.get("headgate.run.status") == "failed":
            span.set_status(_ERROR)
        span.end()

    def close(self) -> None:
        """Send pending traces."""
        self._provider.shutdown()

    def _run_span(self, run_id: str, stored: trace.SpanContext | None, attributes: Attributes) -> trace.Span:
        span_id = _span_id(run_id)
        is_child = stored is not None and stored.span_id != span_id
        context = _context_of(_text_of(stored)) if stored is not None and is_child else Context()
        trace_id = stored.trace_id if stored is not None and not is_child else None
        with self._ids.fixed(span_id, trace_id):
            started = made_at(run_id) * _MILLISECOND
            return self._tracer.start_span(RUN_SPAN, context, attributes=dict(attributes), start_time=started)


class _Ids(RandomIdGenerator):
    """Random ids, except for a run's span. Used on the event loop only, and never across an await."""

    def __init__(self) -> None:
        self._span_id: int | None = None
        self._trace_id: int | None = None

    def generate_span_id(self) -> int:
        """Return the fixed id, or a random one."""
        return super().generate_span_id() if self._span_id is None else self._span_id

    def generate_trace_id(self) -> int:
        """Return the fixed id, or a random one."""
        return super().generate_trace_id() if self._trace_id is None else self._trace_id

    @contextmanager
    def fixed(self, span_id: int, trace_id: int | None) -> Iterator[None]:
        """Use these ids inside the block."""
        self._span_id, self._trace_id = span_id, trace_id
        try:
            yield
        finally:
            self._span_id = self._trace_id = None


def _context_of(traceparent: str) -> Context:
    return _TEXT.extract({"traceparent": traceparent}, Context())


def _parsed(traceparent: str) -> trace.SpanContext | None:
    context = trace.get_current_span(_context_of(traceparent)).get_span_context()
    return context if context.is_valid else None


def _text_of(context: trace.SpanContext) -> str:
    """Return the W3C Trace Context form, version 00."""
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"


def _span_id(run_id: str) -> int:
    """Return the id of a run's span: eight bytes of a hash of the run's id, never zero."""
    return int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:8]) or 1
