"""Processes that end when the tests that started them end, however those end.

The test process keeps one end of a pipe and gives the other to whatever it starts. The kernel closes its end with it,
and who reads from the other end learns of it.
"""

import functools
import os
import signal
import threading

VARIABLE = "HEADGATE_TEST_LIFELINE"


@functools.cache
def lifeline() -> int:
    """The end of the pipe to give to a new process, in `pass_fds` and in the variable; the other end stays here."""
    read, _kept = os.pipe()
    return read


def tie() -> None:
    """End this process and its group when the tests end. The process leads a group of its own."""
    number = os.environ.get(VARIABLE)
    if number is not None and os.getpgrp() == os.getpid():
        threading.Thread(target=_wait, args=(int(number),), name="lifeline", daemon=True).start()


def _wait(read: int) -> None:
    os.read(read, 1)
    os.killpg(os.getpgrp(), signal.SIGKILL)
