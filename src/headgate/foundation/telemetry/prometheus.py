"""Figures in Prometheus's own form. `METRICS` is every metric there is; `docs/operate/monitoring.md` lists them.

Imported only by processes that are asked for figures.
"""

import os
from collections.abc import Mapping
from typing import Any
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector

from headgate.foundation.telemetry.assistant_metrics import ASSISTANT_METRICS
from headgate.foundation.telemetry.instruments import Failing, Instruments
from headgate.foundation.telemetry.metric import Metric
from headgate.foundation.telemetry.sharing import SHARED_FOLDER
from headgate.foundation.telemetry.workspace_metrics import WORKSPACE_METRICS

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_VALUES = 200
"""Different values of one label that are told apart; what comes later is counted as `other`."""
OTHER = "other"
_STEP_BUCKETS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600)
_REQUEST_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60)


METRICS: Mapping[str, Metric] = {
    metric.name.removeprefix("headgate_"): metric
    for metric in (
        Metric("counter", "headgate_runs_started", "Runs begun by this process, or taken up again.", ("resumed",)),
        Metric("counter", "headgate_runs_ended", "Runs that are over, by how they ended.", ("status",)),
        Metric("histogram", "headgate_run_seconds", "Time from a run's start to its end.", ("status",), _STEP_BUCKETS),
        Metric(
            "histogram",
            "headgate_step_seconds",
            "Time a step worked, by component and how it ended.",
            ("component", "status"),
            _STEP_BUCKETS,
        ),
        Metric("counter", "headgate_step_attempts", "Attempts at steps."),
        Metric("counter", "headgate_step_retries", "Attempts at steps after the first."),
        Metric("counter", "headgate_failures", "Runs and steps that failed, by error code.", ("what", "code")),
        Metric("counter", "headgate_model_calls", "Answers of models.", ("provider",)),
        Metric(
            "counter", "headgate_model_tokens", "Tokens sent to models and made by them.", ("provider", "direction")
        ),
        Metric("counter", "headgate_delivery_attempts", "Attempts to deliver outputs, by how they ended.", ("status",)),
        Metric("counter", "headgate_reconciler_actions", "What the reconciler did about lost work.", ("action",)),
        Metric(
            "histogram",
            "headgate_http_request_seconds",
            "Time to answer a request of the API, by route.",
            ("method", "route", "status"),
            _REQUEST_BUCKETS,
        ),
        Metric("gauge", "headgate_runs", "Runs that are not over, by state.", ("status",)),
        Metric("gauge", "headgate_queue_depth", "Runs or messages that wait for a worker; -1 when unknown."),
        Metric("gauge", "headgate_workers", "Workers that answer."),
        Metric("gauge", "headgate_ready", "Whether a part works: 1 or 0.", ("part",)),
        Metric("gauge", "headgate_deliveries_waiting", "Deliveries that are still to be made."),
        *ASSISTANT_METRICS,
        *WORKSPACE_METRICS,
    )
}


class PrometheusInstruments(Instruments):
    """Counts in memory, or in files of a folder that worker children share with their parent.

    A child of a metric is looked up once a set of labels and kept: an event costs about a microsecond.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._families = {key: self._made(metric) for key, metric in METRICS.items()}
        self._children: dict[tuple[str, ...], Any] = {}
        self._seen: dict[str, int] = {}

    def run_started(self, *, resumed: bool) -> None:
        """A run began here, or was taken up again."""
        self._child("runs_started", "yes" if resumed else "no").inc()

    def run_ended(self, status: str, seconds: float | None) -> None:
        """A run is over."""
        self._child("runs_ended", status).inc()
        if seconds is not None:
            self._child("run_seconds", status).observe(seconds)

    def attempt_began(self, attempt: int) -> None:
        """A step was claimed."""
        self._child("step_attempts").inc()
        if attempt > 1:
            self._child("step_retries").inc()

    def step_ended(self, component: str, status: str, seconds: float) -> None:
        """A step is over."""
        self._child("step_seconds", component, status).observe(seconds)

    def failed(self, what: Failing, code: str) -> None:
        """A run or a step failed."""
        self._child("failures", what, code).inc()

    def model_called(self, provider: str, input_tokens: int | None, output_tokens: int | None) -> None:
        """A model answered."""
        self._child("model_calls", provider).inc()
        self._child("model_tokens", provider, "input").inc(input_tokens or 0)
        self._child("model_tokens", provider, "output").inc(output_tokens or 0)

    def delivered(self, status: str) -> None:
        """An attempt to deliver a step's output ended."""
        self._child("delivery_attempts", status).inc()

    def reconciled(self, action: str, count: int = 1) -> None:
        """The reconciler did something about lost work."""
        self._child("reconciler_actions", action).inc(count)

    def request_answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """The API answered a request."""
        self._child("http_request_seconds", method, route, str(status)).observe(seconds)

    def count(self, key: str, *labels: str, amount: float = 1) -> None:
        """Count something that happened."""
        self._child(key, *labels).inc(amount)

    def observe(self, key: str, value: float, *labels: str) -> None:
        """Add a value to a histogram."""
        self._child(key, *labels).observe(value)

    def gauge(self, key: str, value: float, *labels: str) -> None:
        """Set a gauge to what was found out just now."""
        self._child(key, *labels).set(value)

    def page(self) -> bytes:
        """Every figure, as Prometheus reads it. In a shared folder: those of every process that writes there."""
        return generate_latest(self.collected())

    def collected(self) -> CollectorRegistry:
        """The registry to show: this process's own, or one that reads the shared folder."""
        if SHARED_FOLDER not in os.environ:
            return self._registry
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return registry

    def _made(self, metric: Metric) -> Any:  # noqa: ANN401 - any of three classes that share no base
        registry = self._registry
        match metric.kind:
            case "counter":
                return Counter(metric.name, metric.text, metric.labels, registry=registry)
            case "gauge":
                return Gauge(metric.name, metric.text, metric.labels, registry=registry, multiprocess_mode="mostrecent")
            case "histogram":
                return Histogram(metric.name, metric.text, metric.labels, registry=registry, buckets=metric.buckets)

    def _child(self, *key: str) -> Any:  # noqa: ANN401
        found = self._children.get(key)
        return self._new_child(key) if found is None else found

    def _new_child(self, key: tuple[str, ...]) -> Any:  # noqa: ANN401
        """A child of a metric. Labels of flows' own making cannot fill the memory."""
        name, *labels = key
        count = self._seen.get(name, 0)
        if count >= MOST_VALUES:
            # Not kept under the key that came: keys that are made up would fill the memory just the same.
            return self._families[name].labels(*[OTHER for _ in labels])
        self._seen[name] = count + 1
        family = self._families[name]
        found = self._children[key] = family.labels(*labels) if labels else family
        return found


def serve_shared(host: str, port: int) -> WSGIServer:
    """Answer with the figures of the shared folder on a port of their own, from a thread: a worker has no API."""
    server, _thread = start_http_server(port, host, registry=PrometheusInstruments().collected())
    return server
