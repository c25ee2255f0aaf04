"""How long a measurement of disk and memory is cached."""

import math
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import MEBIBYTE, EngineSettings

CACHE_SECONDS = 0.5
"""How long a measurement of disk and memory is reused."""
RETRY_SECONDS = 5
DEFAULT_FREE_DISK_BYTES, DEFAULT_FREE_DISK_SHARE = 64 * MEBIBYTE, 0.02
"""Default limit: the smaller of the two, so that small volumes remain usable."""
_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")


class CapacityShort(Unavailable):
    """A run was not started because disk, memory or the database is short. Carries `retry_after_seconds`."""

    code = "capacity_short"
    title = "Starts are paused"

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(
            f"New runs are not started: {reason} Active runs continue.",
            remedy=remedy,
            retry_after_seconds=RETRY_SECONDS,
        )


class Capacity:
    """Refuses starts while disk, memory or the database is short.

    Args:
        settings: The limits.
        folder: The data folder.
        memory: Returns the available memory in bytes; None when unknown.
        clock: Monotonic clock, in seconds.
        connection_wait: Returns how long a session has waited for a database connection, in seconds.
    """

    def __init__(
        self,
        settings: EngineSettings,
        folder: Path,
        memory: Callable[[], int | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        connection_wait: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._memory = memory or available_memory
        self._clock = clock
        self._connection_wait = connection_wait
        self._checked_at = -math.inf
        self._short: tuple[str, str] | None = None

    def require(self, write_wait_seconds: float) -> None:
        """Raise `CapacityShort` unless a run may start. `write_wait_seconds`: age of the oldest pending write."""
        most = self._settings.max_write_wait_seconds
        if most is not None and write_wait_seconds > most:
            raise CapacityShort(
                f"the oldest write has waited {write_wait_seconds:.1f} seconds for the database.",
                "Check what locks the database or slows down its disk, and try again.",
            )
        waited = self._connection_wait()
        if most is not None and waited > most:
            raise CapacityShort(
                f"all database connections are in use, and a request has waited {waited:.1f} seconds for one.",
                "Try again in a moment; HEADGATE_DATABASE__POOL_SIZE sets their number.",
            )
        now = self._clock()
        if now - self._checked_at >= CACHE_SECONDS:
            self._checked_at, self._short = now, self._shortage()
        if self._short is not None:
            raise CapacityShort(*self._short)

    def _shortage(self) -> tuple[str, str] | None:
        with suppress(OSError):  # a missing folder is reported by the next write
            disk = shutil.disk_usage(self._folder)
            needed = self._settings.min_free_disk_bytes
            if needed is None:
                needed = min(DEFAULT_FREE_DISK_BYTES, int(disk.total * DEFAULT_FREE_DISK_SHARE))
            if disk.free < needed:
                return _short("disk", disk.free, needed, "Free space on the disk of the data folder")
        needed = self._settings.min_free_memory_bytes
        available = self._memory() if needed else None
        if available is not None and available < needed:
            return _short("memory", available, needed, "Free memory, or give the server more")
        return None


def _short(resource: str, free: int, needed: int, remedy: str) -> tuple[str, str]:
    text = f"{_size(free)} of {resource} are free; {_size(needed)} are required."
    return text, f"{remedy}; HEADGATE_ENGINE__MIN_FREE_{resource.upper()}_BYTES sets the limit."


def _size(size: int) -> str:
    """Format bytes as MiB, or as GiB from one GiB on."""
    mebibytes = size / MEBIBYTE
    return f"{mebibytes:,.1f} MiB" if mebibytes < 1024 else f"{mebibytes / 1024:,.1f} GiB"


def available_memory(groups: Sequence[Path] = (_CGROUP,), meminfo: Path = _MEMINFO) -> int | None:
    """Memory available to this process in bytes: of the machine, or of its control group when that is less."""
    candidates = [free for group in groups if (free := _free_in_group(group)) is not None]
    with suppress(OSError, ValueError, IndexError):
        fields = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        candidates.append(int(fields["MemAvailable"].split()[0]) * 1024)
    return min(candidates, default=None)


def _free_in_group(group: Path) -> int | None:
    """Free memory of a control group (version 2) in bytes. Its file cache counts as free: it can be reclaimed."""
    try:
        limit = int((group / "memory.max").read_text())
        used = int((group / "memory.current").read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return limit - used + int(stat.get("inactive_file", 0))
    except (OSError, ValueError):
        return None
