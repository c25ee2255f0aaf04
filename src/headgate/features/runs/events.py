"""What happens in a run, on the bus: topic `run:<id>`.

| kind | data |
|---|---|
| `run_queued` | `flow_id`, `version`, `steps` |
| `run_started` | `flow_id`, `version`, `steps`, `resumed` |
| `step_started` | `step_id`, `order`, `type`, `label`, `attempt` |
| `token` | `step_id`, `text` |
| `step_log` | `step_id`, `message`, `details`, `at` |
| `step_completed` | `step_id`, `order`, `type`, `label`, `ms`, `tokens_input`, `tokens_output`, `preview` |
| `step_failed` | `step_id`, `order`, `type`, `label`, `ms`, `code`, `message` |
| `step_skipped` | `step_id`, `order`, `type`, `label` |
| `run_completed` | `ms`, `text` |
| `run_failed` | `code`, `message`, `step_id` |
| `run_cancelled` | |
"""

from pydantic import JsonValue

from headgate.features.runs.steps.planned import PlannedStep
from headgate.foundation.events import EventBus

ENDINGS = frozenset({"run_completed", "run_failed", "run_cancelled"})
"""The last event of a run is one of these."""


def topic_of(run_id: str) -> str:
    """The bus topic of a run."""
    return f"run:{run_id}"


def step_data(step: PlannedStep) -> dict[str, JsonValue]:
    """What every event of a step says about it."""
    return {
        "step_id": step.id,
        "order": step.step.order,
        "type": step.step.node.type,
        "label": step.label,
    }


class StepEvents:
    """The events of one attempt at a step."""

    def __init__(self, bus: EventBus, run_id: str, step_id: str) -> None:
        self._bus = bus
        self._topic = topic_of(run_id)
        self._step_id = step_id

    def token(self, text: str) -> None:
        """A piece of a model's answer."""
        self._bus.publish(self._topic, "token", {"step_id": self._step_id, "text": text})

    def log(self, line: dict[str, JsonValue]) -> None:
        """A line of the step's log."""
        self._bus.publish(self._topic, "step_log", {"step_id": self._step_id, **line})


class RunEvents:
    """The events of a run and its steps."""

    def __init__(self, bus: EventBus, run_id: str) -> None:
        self._bus = bus
        self._topic = topic_of(run_id)

    def run_started(self, flow_id: str, version: int, steps: int, *, resumed: bool = False) -> None:
        """The run began, or was taken up again by another process than the one that began it."""
        told: dict[str, JsonValue] = {"flow_id": flow_id, "version": version, "steps": steps, "resumed": resumed}
        self._bus.publish(self._topic, "run_started", told)

    def run_queued(self, flow_id: str, version: int, steps: int) -> None:
        """The run is written down and waits for a place."""
        self._bus.publish(self._topic, "run_queued", {"flow_id": flow_id, "version": version, "steps": steps})

    def step_started(self, step: PlannedStep, attempt: int) -> None:
        """A step was claimed and works."""
        self._bus.publish(self._topic, "step_started", {**step_data(step), "attempt": attempt})

    def step_completed(
        self, step: PlannedStep, microseconds: int, *, tokens: tuple[int | None, int | None], preview: str
    ) -> None:
        """A step has its outputs, and they are stored."""
        told: dict[str, JsonValue] = {
            **step_data(step),
            "ms": microseconds / 1000,
            "tokens_input": tokens[0],
            "tokens_output": tokens[1],
            "preview": preview,
        }
        self._bus.publish(self._topic, "step_completed", told)

    def step_log(self, step: PlannedStep, line: dict[str, JsonValue]) -> None:
        """A line of a step's log, from the engine."""
        self._bus.publish(self._topic, "step_log", {"step_id": step.id, **line})

    def step_failed(self, step: PlannedStep, microseconds: int, *, code: str, message: str) -> None:
        """A step failed, and with it the run."""
        told: dict[str, JsonValue] = {"ms": microseconds / 1000, "code": code, "message": message}
        self._bus.publish(self._topic, "step_failed", {**step_data(step), **told})

    def step_skipped(self, step: PlannedStep) -> None:
        """The run's branches led past a step."""
        self._bus.publish(self._topic, "step_skipped", step_data(step))

    def run_completed(self, microseconds: int, text: JsonValue) -> None:
        """Every step is done."""
        self._bus.publish(self._topic, "run_completed", {"ms": microseconds / 1000, "text": text})

    def run_failed(self, code: str, message: str, step_id: str | None) -> None:
        """The run ended without a result."""
        self._bus.publish(self._topic, "run_failed", {"code": code, "message": message, "step_id": step_id})

    def run_cancelled(self) -> None:
        """Somebody ended the run."""
        self._bus.publish(self._topic, "run_cancelled", {})

    def close(self) -> None:
        """Nothing more will happen in this run."""
        self._bus.close(self._topic)
