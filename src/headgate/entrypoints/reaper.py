"""Ends what `headgate up` started when that process ends without doing so itself, as by SIGKILL.

`python -m headgate.entrypoints.reaper FOLDER PID STARTED` runs next to it and waits for its standard input, whose other
end only `up` holds: a byte means that `up` has ended its processes, an end without one that `up` was killed.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from headgate.entrypoints.process_record import Process, ProcessRecord

STOP_SECONDS = 10.0
_DONE = b"."


@contextmanager
def reaped(record: ProcessRecord) -> Iterator[None]:
    """Have the recorded processes end with this one."""
    owner = Process.of(os.getpid())
    command = [sys.executable, "-m", __name__, str(record.folder), str(owner.pid), owner.started]
    # Of a session of its own: what ends this process's group must not end it too.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)  # noqa: S603
    try:
        yield
    finally:
        with suppress(subprocess.TimeoutExpired):
            process.communicate(_DONE, STOP_SECONDS)


def main(folder: Path, owner: Process) -> None:
    """Wait for the end of `up`; if it was killed, end what it left."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if os.read(0, 1) != _DONE:
        ProcessRecord(folder).end_after(owner)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Process(int(sys.argv[2]), sys.argv[3]))
