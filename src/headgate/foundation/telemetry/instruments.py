"""What is counted. The class here counts nothing; `PrometheusInstruments` does."""

from typing import Literal, Protocol, runtime_checkable

Failing = Literal["run", "step"]


class Instruments:
    """What happened, told to whoever counts. Durations are seconds; no argument ever names a tenant, flow or run."""

    def run_started(self, *, resumed: bool) -> None:
        """A run began here, or was taken up again."""

    def run_ended(self, status: str, seconds: float | None) -> None:
        """A run is over. The duration is missing where this process did not see it begin."""

    def attempt_began(self, attempt: int) -> None:
        """A step was claimed; from the second attempt on it is a retry."""

    def step_ended(self, component: str, status: str, seconds: float) -> None:
        """A step is over."""

    def failed(self, what: Failing, code: str) -> None:
        """A run or a step failed."""

    def model_called(self, provider: str, input_tokens: int | None, output_tokens: int | None) -> None:
        """A model answered."""

    def delivered(self, status: str) -> None:
        """An attempt to deliver a step's output ended."""

    def reconciled(self, action: str, count: int = 1) -> None:
        """The reconciler did something about runs that nobody worked on."""

    def request_answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """The API answered a request; the route is its pattern, such as `/api/v1/flows/{flow_id}`."""

    def count(self, key: str, *labels: str, amount: float = 1) -> None:
        """Something happened: the key of a counter (its name without `headgate_`), its labels, and how often."""

    def observe(self, key: str, value: float, *labels: str) -> None:
        """A value for a histogram."""

    def gauge(self, key: str, value: float, *labels: str) -> None:
        """How much there is of something now."""


@runtime_checkable
class FigurePage(Protocol):
    """Instruments that can show what they counted."""

    def gauge(self, key: str, value: float, *labels: str) -> None:
        """Set a gauge to what was found out just now."""
        ...

    def page(self) -> bytes:
        """Every figure, as Prometheus reads it."""
        ...
