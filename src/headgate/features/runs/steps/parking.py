"""Long waits that hold no worker: the attempt ends, and the next one begins when the time is up."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from headgate.features.runs.transitions import Claim

PARKED = "parked"
"""Error code of an attempt that ended to wait."""
PARKED_MESSAGE = "The step waits without a worker. The next attempt begins when the time is up."


class Parked(Exception):
    """Raised through a component that waits: its attempt is to end here.

    Args:
        until: When the next attempt is to begin: microseconds in UTC.
    """

    def __init__(self, until: int) -> None:
        super().__init__(PARKED_MESSAGE)
        self.until = until


@dataclass(frozen=True, slots=True)
class Parking:
    """How an engine parks steps.

    Args:
        longest_sleep: Seconds that a step may wait in its worker.
        park: Ends the attempt of a claim until a moment. Returns False when the claim was lost.
    """

    longest_sleep: float
    park: Callable[[Claim, int], Awaitable[bool]]
