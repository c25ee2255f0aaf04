"""What a metric is."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its kind, what it says and how it is told apart."""

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    text: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def shown_name(self) -> str:
        """The name on the page of figures, without a histogram's endings."""
        return f"{self.name}_total" if self.kind == "counter" else self.name
