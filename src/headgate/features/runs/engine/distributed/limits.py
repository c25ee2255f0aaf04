"""How long a task may take: from the steps it carries out, and always below the visibility timeout. Pure."""

from dataclasses import dataclass

MARGIN_SECONDS = 30.0
"""Over the sum of its steps' time limits, for reading and writing."""
GRACE_SECONDS = 20.0
"""Between the soft limit, which ends the step, and the hard one, which ends the process."""
LONGEST_SLEEP_SECONDS = 30.0
"""A step that waits longer waits without a worker."""
_OF_VISIBILITY = 0.8
"""Share of the visibility timeout that a task may take: a message that is given out again is no surprise."""


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """Time limits of one installation's tasks.

    Args:
        step_seconds: Longest time a step may work.
        visibility_seconds: After how long Redis gives an unfinished message out again.
        margin_seconds: See `MARGIN_SECONDS`.
        grace_seconds: See `GRACE_SECONDS`.
    """

    step_seconds: float
    visibility_seconds: float
    margin_seconds: float = MARGIN_SECONDS
    grace_seconds: float = GRACE_SECONDS

    @property
    def longest_sleep(self) -> float:
        """Seconds that a step may wait in its task: never so long that the task's own limit ends it."""
        return min(self.step_seconds, LONGEST_SLEEP_SECONDS)

    @property
    def longest(self) -> int:
        """Most steps in a task that may all take as long as they are allowed; at least one."""
        room = self.visibility_seconds * _OF_VISIBILITY - self.margin_seconds - self.grace_seconds
        return max(1, int(room // self.step_seconds))

    def soft(self, steps: int) -> float:
        """Seconds after which the step at work is ended."""
        most = self.visibility_seconds * _OF_VISIBILITY - self.grace_seconds
        return max(1.0, min(steps * self.step_seconds + self.margin_seconds, most))

    def hard(self, steps: int) -> float:
        """Seconds after which the process is ended."""
        return self.soft(steps) + self.grace_seconds
