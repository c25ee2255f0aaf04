"""A file of the processes that `headgate up` started, so that exactly the remaining ones of a killed `up` can be ended.

A process is identified by its id and start time, so that a reused id does not match. The running `up` holds the lock
next to the file; the kernel releases it however that process ends.
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
from typing import Literal

from headgate.foundation.errors import Conflict
from headgate.foundation.private_files import private_folder

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

END_SECONDS = 5.0
"""How long processes may take to end before they are killed."""
LOCK_SECONDS = 3 * END_SECONDS
ENDING_SECONDS = 1.0
"""How long a killed owner may still appear alive."""
POLL_SECONDS = 0.05
OWNER = "up"
RestartState = Literal["running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Process:
    """A process of this installation.

    Args:
        pid: Its id; of a `group`, also the id of its process group.
        started: When it was started, as the system says it: only compared.
        group: Whether it leads its own process group.
        end_signal: The signal that requests its end.
    """

    pid: int
    started: str
    group: bool = False
    end_signal: int = signal.SIGTERM

    @classmethod
    def of(cls, pid: int, *, group: bool = False, number: int = signal.SIGTERM) -> "Process":
        """A process that lives now."""
        return cls(pid, started_at(pid), group, number)

    @property
    def alive(self) -> bool:
        """Whether the very process lives."""
        return bool(self.started) and started_at(self.pid) == self.started

    def request_end(self) -> None:
        """Send the signal that requests its end."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, self.end_signal)

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
        self._restart_path = folder / "restart.json"
        private_folder(folder)
        self._processes: dict[str, Process] = {}

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._path.parent

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Own the data folder: end the processes of a killed `up`, then record this one. Raises `Conflict`."""
        with self._lock_path.open("a+b") as lock:
            self._wait_for(lock.fileno())
            self.end_remaining()
            self.add(OWNER, Process.of(os.getpid()))
            yield
            self._path.unlink(missing_ok=True)

    def end_after(self, owner: Process) -> None:
        """End leftovers of a killed owner, unless another `up` owns the folder.

        The kernel may release the lock of a killed process some time after it closed its pipes: this waits for it.
        """
        with self._lock_path.open("a+b") as lock:
            while not _locked(lock.fileno()):
                if self._read().get(OWNER, owner) != owner:
                    return
                time.sleep(POLL_SECONDS)
            self.end_remaining()

    def add(self, name: str, process: Process) -> None:
        """Record a process, replacing an earlier one of the same name."""
        self._processes[name] = process
        self._write()

    def remove(self, name: str) -> None:
        """A process was stopped."""
        if self._processes.pop(name, None) is not None:
            self._write()

    def owner(self) -> Process | None:
        """Return the running `up`; None when there is none."""
        owner = self._read().get(OWNER)
        return owner if owner is not None and owner.alive else None

    def write_restart(self, state: RestartState, problem: str = "") -> None:
        """Record how a restart is going."""
        _replace(self._restart_path, {"state": state, "problem": problem})

    def read_restart(self) -> tuple[RestartState | None, str]:
        """Return how the last restart is going, and its problem; None before it has begun."""
        try:
            restart = json.loads(self._restart_path.read_bytes())
        except FileNotFoundError:
            return None, ""
        return restart["state"], restart["problem"]

    def forget_restart(self) -> None:
        """Delete the record of the last restart."""
        self._restart_path.unlink(missing_ok=True)

    def end_remaining(self) -> None:
        """End every recorded process that is still the same one, with its group; it is killed after `END_SECONDS`."""
        running = [process for name, process in self._read().items() if name != OWNER and process.alive]
        for process in running:
            process.request_end()
        until = time.monotonic() + END_SECONDS
        while time.monotonic() < until and any(process.alive for process in running):
            time.sleep(POLL_SECONDS)
        for process in running:
            # Its group may outlive it; the id of a group with members is not reused.
            if process.alive or process.group:
                process.kill()
        until = time.monotonic() + END_SECONDS
        while time.monotonic() < until and any(process.alive for process in running):
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
                    f"`headgate up` is already running on this data folder{who}.",
                    remedy="Stop it first, or choose another folder with HEADGATE_DATA_DIR.",
                )
            time.sleep(POLL_SECONDS)

    def _read(self) -> dict[str, Process]:
        try:
            return {name: Process(**members) for name, members in json.loads(self._path.read_bytes()).items()}
        except (FileNotFoundError, ValueError, TypeError):
            return {}

    def _write(self) -> None:
        _replace(self._path, {name: asdict(process) for name, process in self._processes.items()})


def _replace(path: Path, content: object) -> None:
    """Write a file of JSON at once."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(content))
    part.replace(path)


def started_at(pid: int) -> str:
    """Start time of a process in the system's units; empty when it has ended."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return "" if Path("/proc/self/stat").exists() else _started_by_ps(pid)
    except ProcessLookupError:
        return ""
    state, ticks = after_name[0], after_name[19]
    return "" if state in {"Z", "X"} else f"{_boot()}:{ticks}"


def _boot() -> str:
    """Id of the current boot: ticks restart with each boot."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


def _started_by_ps(pid: int) -> str:
    """The same on systems without /proc."""
    command = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    fields = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603 - a number
    return "" if not fields or fields.startswith("Z") else fields.partition(" ")[2].strip()


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
