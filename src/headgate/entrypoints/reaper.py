"""Ends what `headgate up` started when that process ends without doing so itself, as by SIGKILL.

`python -m headgate.entrypoints.reaper FOLDER` runs next to it and waits for the end of its standard input, whose other
end only `up` holds.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from headgate.entrypoints.process_record import ProcessRecord

STOP_SECONDS = 10.0


@contextmanager
def reaped(record: ProcessRecord) -> Iterator[None]:
    """Have the recorded processes end with this one."""
    command = [sys.executable, "-m", __name__, str(record.folder)]
    # Of a session of its own: what ends this process's group must not end it too.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)  # noqa: S603
    try:
        yield
    finally:
        if process.stdin is not None:
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)


def main(folder: Path) -> None:
    """Wait for the end of standard input, then end what is left."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 1024):
        pass
    ProcessRecord(folder).end_when_free()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
