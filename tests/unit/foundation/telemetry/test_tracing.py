"""Traces: nothing where nobody listens, and the W3C forms where somebody does."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from headgate.foundation.ids import made_at, new_id
from headgate.foundation.settings import TelemetrySettings
from headgate.foundation.telemetry import SILENT
from headgate.foundation.telemetry.otel import RUN_SPAN, OtelTracing
from tests.support.direct import DIRECT
from tests.support.otlp_receiver import OtlpReceiver


@pytest.fixture
def collector() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as found:
        yield found


@pytest.fixture
def traces(collector: OtlpReceiver) -> OtelTracing:
    return OtelTracing(TelemetrySettings(otlp_endpoint=f"{collector.endpoint}/"), "test", DIRECT)


class TestSilence:
    def test_imports_neither_library(self) -> None:
        code = (
            "import sys; from headgate.foundation.settings import Settings;"
            "from headgate.foundation.telemetry.opening import open_telemetry;"
            "import headgate.entrypoints.compose;"
            "open_telemetry(Settings(), 'command', counts=False);"
            "heavy = {'opentelemetry.sdk', 'opentelemetry.exporter', 'prometheus_client'} & set(sys.modules);"
            "assert not heavy, heavy"
        )
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_stores_nothing_with_a_run(self) -> None:
        assert SILENT.traces.run_began(new_id()) is None
        with SILENT.traces.span("x") as span:
            span.set({"a": 1})
            span.fail("y")


class TestOtelTracing:
    def test_tells_a_run_that_began_in_no_request_as_a_root(self, traces: OtelTracing, collector: OtlpReceiver) -> None:
        run_id = new_id()
        stored = traces.run_began(run_id)
        assert stored is not None
        assert len(stored) == 55
        parent = traces.run_parent(run_id, stored)
        assert parent == stored
        with traces.span("step", parent=parent):
            pass
        traces.run_ended(run_id, stored, {"headgate.run.status": "completed"})
        traces.close()
        (run,), (step,) = collector.named(RUN_SPAN), collector.named("step")
        assert (run.parent_id, run.start // 1_000_000) == ("", made_at(run_id))
        assert (step.trace_id, step.parent_id) == (run.trace_id, run.span_id)

    @pytest.mark.parametrize("stored", ["", "nonsense", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"])
    def test_takes_no_harm_from_a_row_that_is_wrong(
        self, traces: OtelTracing, collector: OtlpReceiver, stored: str
    ) -> None:
        assert traces.run_parent(new_id(), stored) is None
        traces.run_ended(new_id(), stored, {})
        traces.close()
        assert collector.spans == []

    def test_names_the_kind_of_an_error_only(self, traces: OtelTracing, collector: OtlpReceiver) -> None:
        with pytest.raises(ValueError, match="hush"), traces.span("work"):
            raise ValueError("hush")
        traces.close()
        (span,) = collector.spans
        assert (span.failed, span.attributes["error.type"]) == (True, "ValueError")
        assert b"hush" not in collector.raw

    def test_sends_the_share_that_is_asked_for(self, collector: OtlpReceiver) -> None:
        traces = OtelTracing(TelemetrySettings(otlp_endpoint=collector.endpoint, sample_ratio=0), "test", DIRECT)
        run_id = new_id()
        stored = traces.run_began(run_id)
        assert stored is not None
        assert int(stored[-2:], 16) & 1 == 0, "not sampled"
        with traces.span("step", parent=traces.run_parent(run_id, stored)):
            pass
        traces.run_ended(run_id, stored, {})
        traces.close()
        assert collector.spans == []
