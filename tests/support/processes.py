"""The end of processes that are no children of the tests' own."""

import time
from collections.abc import Iterable

import psutil

from tests.support.patience import PATIENCE_SECONDS


def await_ends(processes: Iterable[psutil.Process], seconds: float = PATIENCE_SECONDS) -> list[psutil.Process]:
    """Wait until none of these does anything any more; those that still do.

    What is dead and still listed has ended: the first process of a machine may take seconds to clear it away.
    """
    until = time.monotonic() + seconds
    left = [one for one in processes if lives(one)]
    while left and time.monotonic() < until:
        time.sleep(0.01)
        left = [one for one in left if lives(one)]
    return left


def lives(process: psutil.Process) -> bool:
    """Whether it can still do something."""
    try:
        return process.is_running() and process.status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.NoSuchProcess:
        return False
