"""Slots as values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SlotUse:
    """A slot that a run or a step of it holds or waits for."""

    name: str
    step_id: str | None
    most: int
    priority: int
    granted: bool
    ahead: int
    """How many are before it in the queue."""
