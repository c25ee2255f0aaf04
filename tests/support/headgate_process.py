"""The real command line with the components of fault tests and benchmarks beside the built-in ones.

    python -m tests.support.headgate_process serve --port 7411

`CLOCK_FILE` names a file with seconds by which this process's clock is wrong; it is read again whenever the time is.
With `SEND_TWICE` every message to a queue is sent twice, as a broker may deliver it.
"""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from headgate import components
from headgate.entrypoints import cli
from tests.support.engine import Echo, Gate, Speak, Start
from tests.support.fault_steps import FAULT_STEPS
from tests.support.lifeline import tie

CLOCK_FILE = "HEADGATE_TEST_CLOCK_FILE"
SEND_TWICE = "HEADGATE_TEST_SEND_TWICE"
_true_time = time.time_ns


def wrong_time() -> int:
    """Nanoseconds, as far off as the file says."""
    with suppress(OSError, ValueError):
        return _true_time() + int(float(Path(os.environ[CLOCK_FILE]).read_text()) * 1e9)
    return _true_time()


def add_components() -> None:
    """Add the components where every registry is made; workers are forked with them."""
    added: tuple[type, ...] = (*FAULT_STEPS, Start, Echo, Speak, Gate)
    components.MODULES.update({component.__name__: component.__module__ for component in added})


def send_twice() -> None:
    """Double every message, the same id on both."""
    from celery import Celery

    send = Celery.send_task

    def doubled(self: Celery, *args: Any, **kwargs: Any) -> Any:
        send(self, *args, **kwargs)
        return send(self, *args, **kwargs)

    Celery.send_task = doubled


if __name__ == "__main__":
    tie()
    add_components()
    if CLOCK_FILE in os.environ:
        time.time_ns = wrong_time
    if SEND_TWICE in os.environ:
        send_twice()
    sys.argv[0] = "headgate"
    cli.main()
