"""Whether the machine can take another run: free disk, free memory, and a database that keeps up."""

import math
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import MEBIBYTE, EngineSettings

KEPT_SECONDS = 0.5
"""How long a look at disk and memory counts."""
RETRY_SECONDS = 5
USUAL_FREE_DISK_BYTES, USUAL_FREE_DISK_SHARE = 64 * MEBIBYTE, 0.02
"""Kept free where the settings do not say: the smaller of the two, so that a small volume is of use too."""
_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")


class CapacityShort(Unavailable):
    """A run is not started: the machine is short of what it would need. Carries `retry_after_seconds`."""

    code = "capacity_short"
    title = "Starts are paused"

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(
            f"No run is started now: {what} Running ones continue.", remedy=remedy, retry_after_seconds=RETRY_SECONDS
        )


class Capacity:
    """Refuses starts while disk, memory or the database is short.

    Args:
        settings: How much must be left.
        folder: The data folder.
        memory: Bytes that are available; None where that is unknown.
        clock: Seconds.
    """

    def __init__(
        self,
        settings: EngineSettings,
        folder: Path,
        memory: Callable[[], int | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._memory = memory or available_memory
        self._clock = clock
        self._looked_at = -math.inf
        self._short: tuple[str, str] | None = None

    def require(self, write_wait_seconds: float) -> None:
        """Raise `CapacityShort` unless a run may be started. `write_wait_seconds`: age of the oldest waiting write."""
        most = self._settings.max_write_wait_seconds
        if most is not None and write_wait_seconds > most:
            raise CapacityShort(
                f"the oldest write has waited {write_wait_seconds:.1f} seconds for the database.",
                "Find out what holds the database or slows its disk, and try again.",
            )
        now = self._clock()
        if now - self._looked_at >= KEPT_SECONDS:
            self._looked_at, self._short = now, self._shortage()
        if self._short is not None:
            raise CapacityShort(*self._short)

    def _shortage(self) -> tuple[str, str] | None:
        with suppress(OSError):  # a folder that is away is reported by whoever writes to it
            disk = shutil.disk_usage(self._folder)
            needed = self._settings.min_free_disk_bytes
            if needed is None:
                needed = min(USUAL_FREE_DISK_BYTES, int(disk.total * USUAL_FREE_DISK_SHARE))
            if disk.free < needed:
                return _short("disk", disk.free, needed, "Free space under the data folder")
        needed = self._settings.min_free_memory_bytes
        available = self._memory() if needed else None
        if available is not None and available < needed:
            return _short("memory", available, needed, "Free memory, or give the server more")
        return None


def _short(what: str, left: int, needed: int, remedy: str) -> tuple[str, str]:
    text = f"{left / MEBIBYTE:.1f} MiB of {what} are free, {needed / MEBIBYTE:.1f} MiB must be."
    return text, f"{remedy}; HEADGATE_ENGINE__MIN_FREE_{what.upper()}_BYTES sets the limit."


def available_memory(groups: Sequence[Path] = (_CGROUP,), meminfo: Path = _MEMINFO) -> int | None:
    """Bytes that this process may still use: of the machine, and of its control group where that has a limit."""
    found = [left for group in groups if (left := _left_in_group(group)) is not None]
    with suppress(OSError, ValueError, IndexError):
        fields = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        found.append(int(fields["MemAvailable"].split()[0]) * 1024)
    return min(found, default=None)


def _left_in_group(group: Path) -> int | None:
    """Of a control group (version 2); its file cache can be reclaimed, so it counts as free."""
    try:
        limit = int((group / "memory.max").read_text())
        used = int((group / "memory.current").read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return limit - used + int(stat.get("inactive_file", 0))
    except (OSError, ValueError):
        return None
