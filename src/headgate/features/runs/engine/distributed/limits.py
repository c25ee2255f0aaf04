"""Time limits of tasks: derived from their steps, and always below the visibility timeout. Pure."""

from dataclasses import dataclass

MARGIN_SECONDS = 30.0
"""Margin over the sum of the steps' time limits, for reading and writing."""
GRACE_SECONDS = 20.0
"""Between the soft limit, which ends the step, and the hard one, which ends the process."""
_OF_VISIBILITY = 0.8
"""Share of the visibility timeout that a task may take, so that redelivery of a message never happens by surprise."""


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """Time limits of one installation's tasks.

    Args:
        step_seconds: Longest time a step may run.
        visibility_seconds: When Redis redelivers an unacknowledged message.
        margin_seconds: See `MARGIN_SECONDS`.
        grace_seconds: See `GRACE_SECONDS`.
    """

    step_seconds: float
    visibility_seconds: float
    margin_seconds: float = MARGIN_SECONDS
    grace_seconds: float = GRACE_SECONDS

    @property
    def longest(self) -> int:
        """Most steps in a task that may all use their full time limit; at least one."""
        room = self.visibility_seconds * _OF_VISIBILITY - self.margin_seconds - self.grace_seconds
        return max(1, int(room // self.step_seconds))

    def soft(self, steps: int) -> float:
        """Seconds after which the running step is ended."""
        limit = self.visibility_seconds * _OF_VISIBILITY - self.grace_seconds
        return max(1.0, min(steps * self.step_seconds + self.margin_seconds, limit))

    def hard(self, steps: int) -> float:
        """Seconds after which the process is ended."""
        return self.soft(steps) + self.grace_seconds
