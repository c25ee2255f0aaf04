"""Errors of the queue."""

from headgate.foundation.errors import Conflict


class RunOfStep(Conflict):
    """The run has the priority of the run whose step started it."""

    code = "run_of_step"
    title = "Run of a step"

    def __init__(self, run_id: str, parent_id: str) -> None:
        super().__init__(
            f"A step of the run '{parent_id}' started the run '{run_id}', which has the priority of that run.",
            remedy="Change the priority of the first run.",
        )
