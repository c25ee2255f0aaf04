"""Definition of a metric."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its kind, description and labels."""

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    text: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def shown_name(self) -> str:
        """Return the name in the metrics output, without a histogram's suffixes."""
        return f"{self.name}_total" if self.kind == "counter" else self.name
