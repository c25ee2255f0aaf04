"""What a turn counts and logs."""

import inspect
from collections.abc import Callable
from typing import Any, get_args

from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.agents.assistant.page_metrics import PageEvent, PageFigures, PageMetrics
from headgate.foundation.telemetry.assistant_metrics import ASSISTANT_METRICS
from headgate.foundation.telemetry.prometheus import PrometheusInstruments
from tests.support.logs import captured_logs

EVENTS = sorted(name for name in vars(AssistantMetrics) if not name.startswith("_") and name != "instruments")
GIVEN: dict[str, Any] = {"str": "x", "int": 1, "float": 1.0, "bool": True, "str | None": "x", "list[str]": ["x"]}


def told(event: Callable[..., None]) -> None:
    """Call it with something of each type that it takes."""
    parameters = inspect.signature(event).parameters.values()
    given = {one.name: GIVEN[inspect.formatannotation(one.annotation)] for one in parameters}
    event(**given)


class TestAssistantMetrics:
    def test_counts_every_metric_there_is(self) -> None:
        instruments = PrometheusInstruments()
        metrics = AssistantMetrics(instruments)
        for name in EVENTS:
            if name == "request_started":
                metrics.request_started(user_id="u", flow_id="f", provider="p", model_name="m", intent="build_flow")
            else:
                told(getattr(metrics, name))
        batch = PageMetrics(counts=dict.fromkeys(get_args(PageEvent), 1), apply_ms=[1.0], skip_all=True)
        PageFigures(instruments).add("u", batch)
        page = instruments.page().decode()
        missing = []
        for metric in ASSISTANT_METRICS:
            name = f"{metric.shown_name}_count" if metric.kind == "histogram" else metric.shown_name
            samples = [line for line in page.splitlines() if line.startswith((f"{name} ", f"{name}{{"))]
            if not any(float(line.rsplit(" ", 1)[1]) for line in samples):
                missing.append(name)
        assert missing == []

    def test_logs_a_run_that_was_refused_for_its_code(self) -> None:
        with captured_logs() as logs:
            AssistantMetrics().unsafe_code_blocked(["spy"])
        assert [(entry["event"], entry["node_ids"]) for entry in logs] == [
            ("assistant.run_flow.blocked_unsafe_code", ["spy"])
        ]

    def test_logs_neither_names_nor_texts_in_full(self) -> None:
        with captured_logs() as logs:
            AssistantMetrics().validation_exhausted("e" * 5000, 3, "c" * 5000)
            AssistantMetrics().request_failed("code", "m" * 5000, where="none")
        assert max(len(str(entry)) for entry in logs) < 800

    def test_gives_the_share_of_components_that_passed_at_once(self) -> None:
        instruments = PrometheusInstruments()
        metrics = AssistantMetrics(instruments)
        metrics.validation_succeeded("A", 1)
        metrics.validation_succeeded("B", 2)
        metrics.validation_exhausted("no", 3)
        metrics.validation_succeeded("C", 1)
        assert "headgate_assistant_validation_success_rate 50.0" in instruments.page().decode()
