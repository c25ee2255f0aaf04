"""What happens in a run, on the bus (topic `run:<id>`), and what of it is counted and traced.

| kind | data |
|---|---|
| `run_queued` | `flow_id`, `version`, `steps` |
| `run_started` | `flow_id`, `version`, `steps`, `resumed` |
| `step_started` | `step_id`, `order`, `type`, `label`, `attempt` |
| `token` | `step_id`, `text` |
| `tool_call` | `step_id`, `name`, `server`, `ms`, `error` |
| `step_log` | `step_id`, `message`, `details`, `at` |
| `step_completed` | `step_id`, `order`, `type`, `label`, `ms`, `tokens_input`, `tokens_output`, `preview` |
| `step_failed` | `step_id`, `order`, `type`, `label`, `ms`, `code`, `message` |
| `step_skipped` | `step_id`, `order`, `type`, `label` |
| `delivery_started` | `step_id`, `delivery_id`, `attempt` |
| `delivery_completed` | `step_id`, `delivery_id`, `attempt`, `status`, `ms` |
| `delivery_failed` | `step_id`, `delivery_id`, `attempt`, `code`, `message`, `again` |
| `run_completed` | `ms`, `text`, `truncated` |
| `run_failed` | `code`, `message`, `step_id` |
| `run_cancelled` | |
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from pydantic import JsonValue

from headgate.features.runs.steps.planned import PlannedStep
from headgate.foundation.events import EventSink
from headgate.foundation.log import redact_text
from headgate.foundation.telemetry import SILENT, Attributes, Span, Telemetry

MICROSECONDS = 1_000_000
ENDINGS = frozenset({"run_completed", "run_failed", "run_cancelled"})
"""The last event of a run is one of these."""


def topic_of(run_id: str) -> str:
    """The bus topic of a run."""
    return f"run:{run_id}"


def result_told(output: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The text of a stored result as an event carries it; `truncated` where it is only the beginning."""
    return {"text": output.get("text"), "truncated": bool(output.get("truncated"))}


class StepEvents:
    """The events of one attempt at a step."""

    def __init__(self, bus: EventSink, run_id: str, step_id: str) -> None:
        self._bus = bus
        self._topic = topic_of(run_id)
        self._step_id = step_id

    def token(self, text: str) -> None:
        """A piece of a model's answer."""
        self._bus.publish(self._topic, "token", {"step_id": self._step_id, "text": text})

    def tool_call(self, name: str, *, server: str, error: str, ms: float | None) -> None:
        """A tool was called; what it answered stands in the step's evidence."""
        told: dict[str, JsonValue] = {"name": name, "server": server, "ms": ms, "error": redact_text(error)}
        self._bus.publish(self._topic, "tool_call", {"step_id": self._step_id, **told})

    def log(self, line: dict[str, JsonValue]) -> None:
        """A line of the step's log."""
        self._bus.publish(self._topic, "step_log", {"step_id": self._step_id, **line})


class DeliveryEvents:
    """The events of one delivery. Only a process that carries the run out has its topic; elsewhere nobody listens."""

    def __init__(self, bus: EventSink, run_id: str, step_id: str, delivery_id: str) -> None:
        self._bus = bus
        self._topic = topic_of(run_id)
        self._about: dict[str, JsonValue] = {"step_id": step_id, "delivery_id": delivery_id}

    def started(self, attempt: int) -> None:
        """A request is about to go out."""
        self._publish("delivery_started", {"attempt": attempt})

    def completed(self, attempt: int, status: int | None, milliseconds: float) -> None:
        """The receiver took it."""
        self._publish("delivery_completed", {"attempt": attempt, "status": status, "ms": milliseconds})

    def failed(self, attempt: int, code: str | None, message: str | None, *, again: bool) -> None:
        """The receiver did not take it; `again` when it will be tried again by itself."""
        told: dict[str, JsonValue] = {"attempt": attempt, "code": code, "message": message, "again": again}
        self._publish("delivery_failed", told)

    def _publish(self, kind: str, data: dict[str, JsonValue]) -> None:
        if self._bus.knows(self._topic):
            self._bus.publish(self._topic, kind, self._about | data)


class RunEvents:
    """The events of a run and its steps.

    Args:
        bus: Where they are published.
        run_id: The run.
        telemetry: What they are counted and traced with.
        trace_parent: The `traceparent` stored with the run.
    """

    def __init__(
        self, bus: EventSink, run_id: str, telemetry: Telemetry = SILENT, trace_parent: str | None = None
    ) -> None:
        self._bus = bus
        self._run_id = run_id
        self._topic = topic_of(run_id)
        self._metrics = telemetry.metrics
        self._traces = telemetry.traces
        self._trace_parent = trace_parent

    def step_span(self, step: PlannedStep, attempt: int) -> AbstractContextManager[Span]:
        """Time an attempt at a step, in the trace of its run."""
        if not self._traces.active:
            return self._traces.span("")
        about: Attributes = {
            "headgate.run.id": self._run_id,
            "headgate.step.id": step.id,
            "headgate.step.type": step.step.node.type,
            "headgate.step.attempt": attempt,
        }
        parent = self._traces.run_parent(self._run_id, self._trace_parent)
        return self._traces.span(f"step {step.step.node.type}", about, parent=parent)

    def run_started(self, flow_id: str, version: int, steps: int, *, resumed: bool = False) -> None:
        """The run began, or was taken up again by another process than the one that began it."""
        told: dict[str, JsonValue] = {"flow_id": flow_id, "version": version, "steps": steps, "resumed": resumed}
        self._bus.publish(self._topic, "run_started", told)
        self._metrics.run_started(resumed=resumed)

    def run_queued(self, flow_id: str, version: int, steps: int) -> None:
        """The run is written down and waits for a place."""
        self._bus.publish(self._topic, "run_queued", {"flow_id": flow_id, "version": version, "steps": steps})

    def step_started(self, step: PlannedStep, attempt: int) -> None:
        """A step was claimed and works."""
        self._bus.publish(self._topic, "step_started", {**step.told, "attempt": attempt})
        self._metrics.attempt_began(attempt)

    def step_completed(
        self, step: PlannedStep, microseconds: int, *, tokens: tuple[int | None, int | None], preview: str
    ) -> None:
        """A step has its outputs, and they are stored."""
        told: dict[str, JsonValue] = {
            **step.told,
            "ms": microseconds / 1000,
            "tokens_input": tokens[0],
            "tokens_output": tokens[1],
            "preview": preview,
        }
        self._bus.publish(self._topic, "step_completed", told)
        self._metrics.step_ended(step.step.node.type, "completed", microseconds / MICROSECONDS)

    def step_log(self, step: PlannedStep, line: dict[str, JsonValue]) -> None:
        """A line of a step's log, from the engine."""
        self._bus.publish(self._topic, "step_log", {"step_id": step.id, **line})

    def step_failed(self, step: PlannedStep, microseconds: int, *, code: str, message: str) -> None:
        """A step failed, and with it the run."""
        told: dict[str, JsonValue] = {"ms": microseconds / 1000, "code": code, "message": message}
        self._bus.publish(self._topic, "step_failed", {**step.told, **told})
        self._metrics.step_ended(step.step.node.type, "failed", microseconds / MICROSECONDS)
        self._metrics.failed("step", code)

    def step_skipped(self, step: PlannedStep) -> None:
        """The run's branches led past a step."""
        self._bus.publish(self._topic, "step_skipped", dict(step.told))

    def run_completed(self, microseconds: int, output: Mapping[str, JsonValue]) -> None:
        """Every step is done; `output` is the run's stored result."""
        self._bus.publish(self._topic, "run_completed", {"ms": microseconds / 1000, **result_told(output)})
        self._ended("completed", microseconds / MICROSECONDS)

    def run_failed(self, code: str, message: str, step_id: str | None) -> None:
        """The run ended without a result."""
        self._bus.publish(self._topic, "run_failed", {"code": code, "message": message, "step_id": step_id})
        self._metrics.failed("run", code)
        self._ended("failed")

    def run_cancelled(self) -> None:
        """Somebody ended the run."""
        self._bus.publish(self._topic, "run_cancelled", {})
        self._ended("cancelled")

    def reopen(self) -> None:
        """The run had ended and goes on: who begins to watch is told what is so now, not how it ended before."""
        self._bus.reopen(self._topic)

    def close(self) -> None:
        """Nothing more will happen in this run."""
        self._bus.close(self._topic)

    def _ended(self, status: str, seconds: float | None = None) -> None:
        self._metrics.run_ended(status, seconds)
        if self._traces.active:
            about = {"headgate.run.id": self._run_id, "headgate.run.status": status}
            self._traces.run_ended(self._run_id, self._trace_parent, about)
