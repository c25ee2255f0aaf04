"""The command line, killed (SIGKILL) before its n-th change of a file system.

    KILL_AT=7 KILL_COUNT=/tmp/count python -m tests.support.killed_process restore FILE

With `KILL_STATEMENTS`, statements of the database count instead. Without `KILL_AT` nothing is killed, and the number
of changes is written to `KILL_COUNT`.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from headgate.entrypoints import cli
from headgate.entrypoints.backups import sealing

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate", "sqlite3.connect"}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_count = 0


def count(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: every attempt to change a file is an event."""
    written = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES
    if event not in CHANGES and not written:
        return
    change()


def change() -> None:
    """One more change."""
    global _count  # noqa: PLW0603 - the hook is one for the process
    _count += 1
    if _count == int(os.environ.get("KILL_AT", "0")):
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sealing.SealedWriter.__init__.__kwdefaults__ = {"cost": 4}
    sys.argv[0] = "headgate"
    if "KILL_STATEMENTS" in os.environ:
        event.listen(Engine, "before_cursor_execute", lambda *_: change())
    else:
        sys.addaudithook(count)
    try:
        cli.main()
    finally:
        Path(os.environ["KILL_COUNT"]).write_text(str(_count))
