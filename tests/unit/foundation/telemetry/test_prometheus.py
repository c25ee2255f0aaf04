"""What is counted comes out as Prometheus reads it, with labels that cannot fill the memory."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from headgate.foundation.telemetry import SILENT, FigurePage
from headgate.foundation.telemetry.prometheus import METRICS, MOST_VALUES, PrometheusInstruments

ROOT = Path(__file__).parents[4]


def samples(page: bytes) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Name and labels of each sample to its value."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


def tell(instruments: PrometheusInstruments) -> None:
    """One of everything."""
    instruments.run_started(resumed=True)
    instruments.run_ended("failed", 2.0)
    instruments.attempt_began(1)
    instruments.attempt_began(2)
    instruments.step_ended("AIStep", "completed", 0.02)
    instruments.failed("step", "step_timeout")
    instruments.model_called("openai", 3, None)
    instruments.delivered("delivered")
    instruments.reconciled("redispatched", 4)
    instruments.request_answered("GET", "/api/v1/flows", 200, 0.001)


class TestPrometheusInstruments:
    def test_show_what_they_were_told(self) -> None:
        instruments = PrometheusInstruments()
        tell(instruments)
        found = samples(instruments.page())
        assert found["headgate_runs_started_total", (("resumed", "yes"),)] == 1
        assert found["headgate_runs_ended_total", (("status", "failed"),)] == 1
        assert found["headgate_step_attempts_total", ()] == 2
        assert found["headgate_step_retries_total", ()] == 1
        assert found["headgate_step_seconds_sum", (("component", "AIStep"), ("status", "completed"))] == 0.02
        assert found["headgate_failures_total", (("code", "step_timeout"), ("what", "step"))] == 1
        assert found["headgate_model_tokens_total", (("direction", "input"), ("provider", "openai"))] == 3
        assert found["headgate_reconciler_actions_total", (("action", "redispatched"),)] == 4
        assert found["headgate_delivery_attempts_total", (("status", "delivered"),)] == 1

    def test_set_gauges(self) -> None:
        instruments = PrometheusInstruments()
        instruments.gauge("queue_depth", 7)
        instruments.gauge("runs", 3, "queued")
        found = samples(instruments.page())
        assert (found["headgate_queue_depth", ()], found["headgate_runs", (("status", "queued"),)]) == (7, 3)

    def test_replace_gauges_of_things_that_are_gone(self) -> None:
        instruments = PrometheusInstruments()
        for number in range(3 * MOST_VALUES):
            instruments.gauges("slo_target", {(f"slo{number}",): 99.0, ("kept",): number})
        found = {key: value for key, value in samples(instruments.page()).items() if key[0] == "headgate_slo_target"}
        last = 3 * MOST_VALUES - 1
        assert found == {
            ("headgate_slo_target", (("slo", f"slo{last}"),)): 99,
            ("headgate_slo_target", (("slo", "kept"),)): last,
        }

    def test_have_a_bound_on_labels_that_others_make_up(self) -> None:
        instruments = PrometheusInstruments()
        for number in range(3 * MOST_VALUES):
            instruments.failed("step", f"code_{number}")
        found = [key for key in samples(instruments.page()) if key[0] == "headgate_failures_total"]
        assert len(found) == MOST_VALUES + 1
        assert samples(instruments.page())["headgate_failures_total", (("code", "other"), ("what", "other"))] == (
            2 * MOST_VALUES
        )

    def test_of_two_servers_in_one_process_are_apart(self) -> None:
        one, other = PrometheusInstruments(), PrometheusInstruments()
        one.attempt_began(1)
        assert samples(other.page())["headgate_step_attempts_total", ()] == 0

    def test_are_the_only_ones_with_a_page(self) -> None:
        assert isinstance(PrometheusInstruments(), FigurePage)
        assert not isinstance(SILENT.metrics, FigurePage)


class TestShareBetweenProcesses:
    def test_serves_what_children_counted_and_keeps_that_of_the_dead(self, tmp_path: Path) -> None:
        code = """
import os, sys
from pathlib import Path
from headgate.foundation.telemetry.sharing import share_between_processes
share_between_processes(Path(sys.argv[1]))
from headgate.foundation.telemetry.opening import open_telemetry
from headgate.foundation.settings import Settings
metrics = open_telemetry(Settings(), "worker", counts=True).metrics
for _ in range(3):
    child = os.fork()
    if child == 0:
        metrics.attempt_began(1)
        metrics.step_ended("Echo", "completed", 0.5)
        os._exit(0)
    os.waitpid(child, 0)
metrics.attempt_began(2)
import urllib.request
from headgate.foundation.telemetry.opening import serve_metrics
server = serve_metrics("127.0.0.1", 0)
with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics") as answer:
    sys.stdout.buffer.write(answer.read())
server.shutdown()
server.server_close()
"""
        (tmp_path / "counter_1.db").write_bytes(b"of a worker before")
        command = [sys.executable, "-c", code, str(tmp_path)]
        environment = {key: value for key, value in os.environ.items() if key != "PROMETHEUS_MULTIPROC_DIR"}
        done = subprocess.run(command, check=True, capture_output=True, env=environment)
        found = samples(done.stdout)
        assert found["headgate_step_attempts_total", ()] == 4
        assert found["headgate_step_seconds_count", (("component", "Echo"), ("status", "completed"))] == 3


class TestPage:
    def test_lists_every_metric_with_its_labels(self) -> None:
        page = (ROOT / "docs/operate/monitoring.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| `(headgate_\w+)` \| \w+ \| ([^|]*) \|", page, re.MULTILINE))
        expected = {metric.shown_name: " ".join(f"`{label}`" for label in metric.labels) for metric in METRICS.values()}
        assert {name: labels.strip() for name, labels in rows.items()} == expected

    @pytest.mark.parametrize("label", ["tenant", "flow", "run", "user", "id"])
    def test_tells_nobody_apart_by(self, label: str) -> None:
        names = {name for metric in METRICS.values() for name in metric.labels}
        assert not any(label in name.split("_") for name in names)
