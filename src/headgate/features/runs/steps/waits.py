"""Waiting without a worker: the attempt ends, and the next one begins when the step is woken."""

from headgate.features.runs.transitions import Claim
from headgate.features.runs.waiting import Suspension, WaitReason
from headgate.sdk.waiting import StepWaits

SHORTEST_SECONDS = 2.0
"""Waits up to this long keep their worker: a row would take as long to be woken."""


class Suspended(StepWaits):
    """Raised through a component that waits: its attempt ends here.

    Args:
        reason: What it waits for.
        until: When the next attempt is to begin at the latest: microseconds in UTC. None: when the step is answered.
        expected_runs: How many runs the step starts in all, if that is known.
    """

    def __init__(self, reason: WaitReason, until: int | None, *, expected_runs: int | None = None) -> None:
        super().__init__(until)
        self.reason = reason
        self.expected_runs = expected_runs

    def suspension(self, claim: Claim) -> Suspension:
        """Return the end of an attempt as it is stored."""
        return Suspension(claim, self.reason, self.until, expected_runs=self.expected_runs)
