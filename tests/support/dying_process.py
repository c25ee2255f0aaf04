"""The real command line, killed (SIGKILL) at a point of the start of a trigger's run, as often as files ask for it.

    DIES_IN=/tmp/deaths python -m tests.support.dying_process serve

A file `POINT-KIND` in that folder kills the process that removes it: `before` the run of a trigger of this kind is
stored, `during` (its occurrence and cursor are written, nothing is committed) or `after`, before the answer.
"""

import os
import signal
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from headgate.entrypoints import cli
from headgate.features.runs import companions
from headgate.features.runs import service as runs
from headgate.features.runs.companions import Companion
from headgate.features.runs.service import PreparedRun
from headgate.features.runs.store import postgres
from tests.support.lifeline import tie

DIES_IN = "HEADGATE_TEST_DIES_IN"
POINTS = ("before", "during", "after")
_KIND: ContextVar[str] = ContextVar("kind", default="")
_begin_run, _write_in = runs.begin_run, companions.write_in


def maybe_die(point: str) -> None:
    """End this process where a file asks for it; of several processes one removes it."""
    try:
        (Path(os.environ[DIES_IN]) / f"{point}-{_KIND.get()}").unlink()
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


async def begin_run(engine: Any, principal: Any, prepared: PreparedRun, **more: Any) -> None:
    """Begin a run, or die."""
    _KIND.set((prepared.request.trigger or {}).get("kind") or "")
    maybe_die("before")
    await _begin_run(engine, principal, prepared, **more)
    maybe_die("after")


async def write_in(connection: Any, rows: Sequence[Companion], run_id: str) -> None:
    """Write what is stored with a run, or die with the transaction open."""
    await _write_in(connection, rows, run_id)
    maybe_die("during")


if __name__ == "__main__":
    tie()
    runs.begin_run = begin_run
    vars(postgres)["write_in"] = write_in
    sys.argv[0] = "headgate"
    cli.main()
