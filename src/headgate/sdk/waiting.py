"""Ends an attempt at a step that waits; the next attempt begins when the step is woken."""

from collections.abc import Sequence


class StepWaits(Exception):
    """Raised through a component that waits.

    Args:
        until: When the next attempt begins at the latest: microseconds in UTC. None: when the step is answered.
    """

    def __init__(self, until: int | None) -> None:
        super().__init__("The step waits. Its next attempt begins when it is woken.")
        self.until = until


def first_of(waits: Sequence[StepWaits]) -> StepWaits:
    """Return the wait that ends first; those without an end come last."""
    return min(waits, key=lambda wait: float("inf") if wait.until is None else wait.until)
