"""Interface of the metrics. The class here counts nothing; `PrometheusInstruments` does."""

from collections.abc import Mapping
from typing import Literal, Protocol, runtime_checkable

Failing = Literal["run", "step"]


class Instruments:
    """Records metrics. Durations are in seconds; no argument ever names a tenant, flow or run."""

    def run_started(self, *, resumed: bool) -> None:
        """A run started or was recovered."""

    def run_ended(self, status: str, seconds: float | None) -> None:
        """A run ended. The duration is missing when this process did not see it start."""

    def attempt_began(self, attempt: int) -> None:
        """A step was claimed; from the second attempt on it is a retry."""

    def step_ended(self, component: str, status: str, seconds: float) -> None:
        """A step ended."""

    def failed(self, what: Failing, code: str) -> None:
        """A run or a step failed."""

    def model_called(self, provider: str, input_tokens: int | None, output_tokens: int | None) -> None:
        """A model call returned."""

    def delivered(self, status: str) -> None:
        """An attempt to deliver a step's output ended."""

    def reconciled(self, action: str, count: int = 1) -> None:
        """The reconciler changed runs that no worker executed."""

    def request_answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """The API responded to a request; the route is its pattern, such as `/api/v1/flows/{flow_id}`."""

    def count(self, key: str, *labels: str, amount: float = 1) -> None:
        """Increment a counter, named without `headgate_`, with its labels."""

    def observe(self, key: str, value: float, *labels: str) -> None:
        """Add a value to a histogram."""

    def gauge(self, key: str, value: float, *labels: str) -> None:
        """Set a gauge."""


@runtime_checkable
class FigurePage(Protocol):
    """Instruments that can render their metrics."""

    def gauge(self, key: str, value: float, *labels: str) -> None:
        """Set a gauge."""

    def gauges(self, key: str, values: Mapping[tuple[str, ...], float]) -> None:
        """Replace all values of a gauge, by its labels."""

    def page(self) -> bytes:
        """Return all metrics in the format of Prometheus."""
