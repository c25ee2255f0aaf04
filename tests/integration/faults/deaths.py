"""When processes died."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Death:
    """From the signal until the process was seen to be gone, in microseconds.

    What is killed works on for some milliseconds on a busy machine: it may still have begun something by then.
    """

    sent: int
    over: int
    returned: bool = False
    """Whether it was only stopped, until others had its work: a zombie, which does on what it was about to do."""

    @classmethod
    def of(cls, kill: Callable[[], object]) -> Self:
        """The death that `kill` brings about and waits for."""
        sent = moment_now()
        kill()
        return cls(sent, moment_now())


def moment_now() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000
