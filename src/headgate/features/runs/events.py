"""Events of a run: their kinds and data, and the metrics and traces that they update.

Durable events are rows of the run's event log, written in the transaction of the change they report (`store`). Readers
receive them from there (`views.stream`, which adds the type and label of a step). The bus (topic `run:<id>`) only wakes
the readers.

| kind | data |
|---|---|
| `run_queued` | `flow_id`, `version`, `steps` |
| `run_started` | `flow_id`, `version`, `steps`, `resumed` |
| `step_started` | `step_id`, `order`, `type`, `label`, `attempt` |
| `step_completed` | `step_id`, `order`, `type`, `label`, `ms`, `tokens_input`, `tokens_output`, `preview`, `error` |
| `step_failed` | `step_id`, `order`, `type`, `label`, `ms`, `code`, `message` |
| `step_waiting` | `step_id`, `order`, `type`, `label`, `attempt`, `reason`, `until`, ... |
| `step_skipped` | `step_id`, `order`, `type`, `label` |
| `delivery_started` | `step_id`, `delivery_id`, `attempt` |
| `delivery_completed` | `step_id`, `delivery_id`, `attempt`, `status`, `ms` |
| `delivery_failed` | `step_id`, `delivery_id`, `attempt`, `code`, `message`, `again` |
| `run_waiting` | `flow_id`, `version`, `steps` |
| `run_paused` | `flow_id`, `version`, `steps` |
| `run_continued` | `flow_id`, `version`, `steps`, `status`: `running` or `queued` |
| `run_completed` | `ms`, `text`, `truncated` |
| `run_failed` | `code`, `message`, `step_id` |
| `run_cancelled` | |

`error` (`code`, `message`) is set where a step failed and the run continues. Before a retry `step_waiting` has `code`,
`message`, `failures` and `max_attempts` too.

Ephemeral events are not stored. They are buffered in memory while their attempt runs, numbered from 1 (`number`).

| kind | data, in addition to `step_id`, `attempt`, `number` |
|---|---|
| `token` | `text` |
| `tool_call` | `name`, `server`, `ms`, `error` |
| `step_log` | `message`, `details`, `at` |
| `model_changed` | `failed`, `model`, `code`, `restarted`: whether the text so far is void |

`gap` (`step_id`, `attempt`, `next`) is sent to a reader that missed some of them: `next` is the number of the next
event. With `next` 1 the step's text starts again from its beginning; otherwise it is incomplete until the step ends.
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
"""The kinds of a run's last event."""


def topic_of(run_id: str) -> str:
    """Return the bus topic of a run."""
    return f"run:{run_id}"


def result_data(output: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the event data of a stored result: `text`, and `truncated` when it is incomplete."""
    return {"text": output.get("text"), "truncated": bool(output.get("truncated"))}


class StepEvents:
    """Publishes the ephemeral events of one attempt at a step, numbered and buffered until `close`."""

    def __init__(self, bus: EventSink, run_id: str, step_id: str, attempt: int) -> None:
        self._bus = bus
        self._topic = topic_of(run_id)
        self._step_id = step_id
        self._attempt = attempt
        self._number = 0

    def token(self, text: str) -> None:
        """Publish a token of a model's answer."""
        self._publish("token", {"text": text})

    def tool_call(self, name: str, *, server: str, error: str, ms: float | None) -> None:
        """Publish a tool call; its result is in the step's evidence. `ms`: duration in milliseconds."""
        self._publish("tool_call", {"name": name, "server": server, "ms": ms, "error": redact_text(error)})

    def log(self, line: dict[str, JsonValue]) -> None:
        """Publish a line of the step's log."""
        self._publish("step_log", line)

    def model_changed(self, failed: str, model: str, *, code: str, restarted: bool) -> None:
        """Publish that a model did not answer and the next one of its fallback chain is asked."""
        self._publish("model_changed", {"failed": failed, "model": model, "code": code, "restarted": restarted})

    def close(self) -> None:
        """End the attempt in this process and drop its buffer."""
        self._bus.drop(self._topic, self._step_id)

    def _publish(self, kind: str, data: dict[str, JsonValue]) -> None:
        self._number += 1
        event_data: dict[str, JsonValue] = {"step_id": self._step_id, "attempt": self._attempt, "number": self._number}
        self._bus.publish(self._topic, kind, event_data | data, group=self._step_id)


class RunEvents:
    """Reports changes of a run and its steps: wakes readers, updates metrics and traces.

    Args:
        bus: Wakes the readers.
        run_id: The run.
        telemetry: Metrics and traces.
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
        """Trace an attempt at a step, within the trace of its run."""
        if not self._traces.active:
            return self._traces.span("")
        attributes: Attributes = {
            "headgate.run.id": self._run_id,
            "headgate.step.id": step.id,
            "headgate.step.type": step.step.node.type,
            "headgate.step.attempt": attempt,
        }
        parent = self._traces.run_parent(self._run_id, self._trace_parent)
        return self._traces.span(f"step {step.step.node.type}", attributes, parent=parent)

    def step(self, step_id: str, attempt: int) -> StepEvents:
        """Return the publisher of an attempt's ephemeral events."""
        return StepEvents(self._bus, self._run_id, step_id, attempt)

    def run_queued(self) -> None:
        """Report that the run is stored and waits for a slot."""
        self._wake()

    def run_started(self, *, resumed: bool = False) -> None:
        """Report that the run started, or that another process continues it."""
        self._wake()
        self._metrics.run_started(resumed=resumed)

    def step_started(self, attempt: int) -> None:
        """Report that a step was claimed and runs."""
        self._wake()
        self._metrics.attempt_began(attempt)

    def step_completed(self, step: PlannedStep, microseconds: int) -> None:
        """Report that a step's outputs are stored."""
        self._wake()
        self._metrics.step_ended(step.step.node.type, "completed", microseconds / MICROSECONDS)

    def step_failed(self, step: PlannedStep, microseconds: int, code: str) -> None:
        """Report that a step and its run failed."""
        self._wake()
        self._metrics.step_ended(step.step.node.type, "failed", microseconds / MICROSECONDS)
        self._metrics.failed("step", code)

    def run_completed(self, microseconds: int) -> None:
        """Report that every step is done."""
        self._ended("completed", microseconds / MICROSECONDS)

    def run_failed(self, code: str) -> None:
        """Report that the run ended without a result."""
        self._metrics.failed("run", code)
        self._ended("failed")

    def run_cancelled(self) -> None:
        """Report that a user or client cancelled the run."""
        self._ended("cancelled")

    def changed(self) -> None:
        """Report that another row of the run has changed."""
        self._wake()

    def _wake(self) -> None:
        self._bus.wake(self._topic)

    def _ended(self, status: str, seconds: float | None = None) -> None:
        self._wake()
        self._metrics.run_ended(status, seconds)
        if self._traces.active:
            attributes = {"headgate.run.id": self._run_id, "headgate.run.status": status}
            self._traces.run_ended(self._run_id, self._trace_parent, attributes)
