"""A small disk of its own that a test fills and empties."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class SmallDisk:
    """A file system in memory, mounted for one test.

    Args:
        path: Where it is mounted.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self) -> None:
        """Use up every byte."""
        with self._filler.open("ab", buffering=0) as file:
            for size in (65_536, 4_096, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    continue

    def empty(self) -> None:
        """Free what `fill` took."""
        self._filler.unlink()

    @property
    def free_bytes(self) -> int:
        """What is left."""
        stats = os.statvfs(self.path)
        return stats.f_bavail * stats.f_frsize


@contextmanager
def mounted(path: Path, size: str) -> Iterator[SmallDisk]:
    """A disk of this size, for example `4m`. Skips the test where nothing may be mounted."""
    path.mkdir(parents=True, exist_ok=True)
    options = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "headgate-test", str(path)]
    done = subprocess.run(options, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a test with a full disk mounts one: {done.stderr.strip()}")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
