"""The processes that `headgate up` started, on disk, so that what a killed `up` left can be ended and nothing else.

A process is named by its id and its start time: an id that the system gave to another program since does not match.
The lock beside the file is held by the `up` that lives; the kernel releases it however that one ends.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from headgate.foundation.errors import Conflict

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

END_SECONDS = 5.0
"""How long processes may take to end before they are killed."""
LOCK_SECONDS = 3 * END_SECONDS
ENDING_SECONDS = 1.0
"""How long a killed owner may still look alive."""
POLL_SECONDS = 0.05
OWNER = "up"


@dataclass(frozen=True, slots=True)
class Process:
    """A process of this installation.

    Args:
        pid: Its id; of a `group`, also the id of its process group.
        started: When it was started, as the system says it: only compared.
        group: Whether its whole process group is its own.
        asked_by: The signal that asks it to end.
    """

    pid: int
    started: str
    group: bool = False
    asked_by: int = signal.SIGTERM

    @classmethod
    def of(cls, pid: int, *, group: bool = False, number: int = signal.SIGTERM) -> "Process":
        """A process that lives now."""
        return cls(pid, started_at(pid), group, number)

    @property
    def alive(self) -> bool:
        """Whether the very process lives."""
        return bool(self.started) and started_at(self.pid) == self.started

    def ask(self) -> None:
        """Ask it to end."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, self.asked_by)

    def kill(self) -> None:
        """End it, and its group, at once."""
        with suppress(ProcessLookupError):
            if self.group:
                os.killpg(self.pid, signal.SIGKILL)
            else:
                os.kill(self.pid, signal.SIGKILL)


class ProcessRecord:
    """The file of one data folder.

    Args:
        folder: Where it is; made when it is first used.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "processes.json"
        self._lock_path = folder / "up.lock"
        folder.mkdir(parents=True, exist_ok=True)
        self._processes: dict[str, Process] = {}

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._path.parent

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Own the data folder: end what a killed `up` left, then record this process. Raises `Conflict`."""
        with self._lock_path.open("a+b") as lock:
            self._wait_for(lock.fileno())
            self.end_left()
            self.add(OWNER, Process.of(os.getpid()))
            yield
            self._path.unlink(missing_ok=True)

    def end_after(self, owner: Process) -> None:
        """End what a killed owner left, unless another `up` owns the folder: it did so before it started.

        The kernel may release the lock of a killed process some time after it closed its pipes: this waits for it.
        """
        with self._lock_path.open("a+b") as lock:
            while not _locked(lock.fileno()):
                if self._read().get(OWNER, owner) != owner:
                    return
                time.sleep(POLL_SECONDS)
            self.end_left()

    def add(self, name: str, process: Process) -> None:
        """Record a process, in place of an earlier one of the name."""
        self._processes[name] = process
        self._write()

    def remove(self, name: str) -> None:
        """A process was stopped."""
        if self._processes.pop(name, None) is not None:
            self._write()

    def end_left(self) -> None:
        """End every recorded process that is still the same one; with its group, after a moment to end by itself."""
        left = [one for name, one in self._read().items() if name != OWNER and one.alive]
        for one in left:
            one.ask()
        until = time.monotonic() + END_SECONDS
        while time.monotonic() < until and any(one.alive for one in left):
            time.sleep(POLL_SECONDS)
        for one in left:
            # Its group may outlive it: nobody else can have the id of a group that has members.
            if one.alive or one.group:
                one.kill()
        until = time.monotonic() + END_SECONDS
        while time.monotonic() < until and any(one.alive for one in left):
            time.sleep(POLL_SECONDS)
        self._path.unlink(missing_ok=True)

    def _wait_for(self, lock: int) -> None:
        began = time.monotonic()
        while not _locked(lock):
            owner = self._read().get(OWNER)
            most = ENDING_SECONDS if owner is not None and owner.alive else LOCK_SECONDS
            if time.monotonic() - began > most:
                who = "" if owner is None else f" as process {owner.pid}"
                raise Conflict(
                    f"`headgate up` runs on this data folder already{who}.",
                    remedy="Stop it first, or choose another folder with HEADGATE_DATA_DIR.",
                )
            time.sleep(POLL_SECONDS)

    def _read(self) -> dict[str, Process]:
        try:
            return {name: Process(**members) for name, members in json.loads(self._path.read_bytes()).items()}
        except (FileNotFoundError, ValueError, TypeError):
            return {}

    def _write(self) -> None:
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps({name: asdict(one) for name, one in self._processes.items()}))
        part.replace(self._path)


def started_at(pid: int) -> str:
    """When a process was started, in the system's own terms; empty when it is gone."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return "" if Path("/proc/self/stat").exists() else _started_by_ps(pid)
    except ProcessLookupError:
        return ""
    state, ticks = after_name[0], after_name[19]
    return "" if state in {"Z", "X"} else f"{_boot()}:{ticks}"


def _boot() -> str:
    """Which boot of the machine this is: ticks begin anew with each."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


def _started_by_ps(pid: int) -> str:
    """The same on systems without /proc."""
    command = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603 - a number
    return "" if not found or found.startswith("Z") else found.partition(" ")[2].strip()


def _locked(number: int) -> bool:
    """Take the lock if it is free."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
