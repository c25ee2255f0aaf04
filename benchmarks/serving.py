"""A real server process for the length of a measurement."""

import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from benchmarks.measure import cpu_seconds

REST_SECONDS = 0.5
"""Of a server that did nothing in them, everything that it starts with is there."""
START_SECONDS = 120.0
"""How long a server may take to start, on a machine that does much else."""


@contextmanager
def serving(command: Sequence[str], environment: Mapping[str, str], port: int, path: str) -> Iterator[tuple[int, int]]:
    """The port and process id of a server that answers at `path`; it is ended with the block."""
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, env=inherited | dict(environment), stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("the server did not start") from None
                time.sleep(0.05)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(timeout=START_SECONDS)


def come_to_rest(pid: int) -> None:
    """Wait until a server that has just started is idle: it still imports modules after its first answer."""
    deadline, used = time.monotonic() + START_SECONDS, -1.0
    while (now := cpu_seconds(pid)) - used > 0.05 * REST_SECONDS and time.monotonic() < deadline:
        used = now
        time.sleep(REST_SECONDS)
