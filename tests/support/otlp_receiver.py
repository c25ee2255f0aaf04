"""An OpenTelemetry collector: takes OTLP over HTTP in protobuf and keeps the spans."""

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, slots=True)
class Told:
    """A span as it came over the wire."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    failed: bool
    attributes: dict[str, Any]
    resource: dict[str, Any]
    start: int
    end: int


class OtlpReceiver:
    """Listens on a free port of this machine. Use as a context manager."""

    def __init__(self) -> None:
        self.spans: list[Told] = []
        self.raw = b""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def named(self, name: str) -> list[Told]:
        """The spans of a name, as they ended."""
        return [span for span in self.spans if span.name == name]

    def take(self, body: bytes) -> None:
        """Keep what one request told."""
        self.raw += body
        request = ExportTraceServiceRequest.FromString(body)
        for group in request.resource_spans:
            resource = {one.key: _value(one.value) for one in group.resource.attributes}
            for scope in group.scope_spans:
                for span in scope.spans:
                    self.spans.append(_told(span, resource))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    owner: ClassVar[OtlpReceiver]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        good = self.path == "/v1/traces" and self.headers["Content-Type"] == "application/x-protobuf"
        if good:
            self.owner.take(body)
        self.send_response(200 if good else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


def _told(span: Any, resource: dict[str, Any]) -> Told:
    return Told(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        kind=span.kind,
        failed=span.status.code == 2,
        attributes={one.key: _value(one.value) for one in span.attributes},
        resource=resource,
        start=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
    )


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))
