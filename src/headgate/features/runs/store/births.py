"""The state in which each step of a new run is stored."""

from dataclasses import dataclass

from headgate.features.runs.states import BORN_SETTLED, StepStatus
from headgate.features.runs.transitions import Json, NewRun

COPIED = "copied"
"""Stored instead of a status: the step's row is copied from the run whose results are reused."""


@dataclass(frozen=True, slots=True)
class Birth:
    """A step as it is inserted with its run."""

    step_id: str
    order: int
    waiting: int
    status: str
    """A `StepStatus`, or `COPIED`."""
    output_payload: Json | None = None
    classification: int | None = None

    @property
    def is_copy(self) -> bool:
        """Whether its row is copied from another run."""
        return self.status == COPIED

    @property
    def settled(self) -> bool:
        """Whether it is never executed in this run."""
        return self.is_copy or self.status in BORN_SETTLED


def births_of(run: NewRun) -> list[Birth]:
    """Return the steps of a new run, in the order of its seeds."""
    claimed = set(run.claim)
    copied = set(run.reuse.steps) if run.reuse is not None else set()
    pinned = {pin.step_id: pin for pin in run.part.pinned} if run.part is not None else {}
    settled = run.part.settled if run.part is not None else frozenset()
    births: list[Birth] = []
    for seed in run.steps:
        key = (seed.step_id, seed.order)
        if seed.step_id in copied:
            births.append(Birth(*key, 0, COPIED))
        elif seed.step_id in pinned:
            pin = pinned[seed.step_id]
            births.append(Birth(*key, 0, StepStatus.COMPLETED, pin.output_payload, pin.classification))
        elif seed.step_id in settled:
            births.append(Birth(*key, 0, StepStatus.SKIPPED))
        else:
            status = StepStatus.RUNNING if seed.step_id in claimed else StepStatus.PENDING
            births.append(Birth(*key, seed.waiting, status))
    return births
