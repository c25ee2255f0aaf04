"""The process that workers are forked from: libraries loaded, no environment, no secrets, one thread.

Only the zygote knows process ids, creates and removes scratch folders, kills and reaps. Orders are lines of JSON on the
control socket: `{"spawn": id, "slot": n}` with the worker's end of a socket pair attached (of two pairs for workers
with network), and `{"kill": id}`. It responds with `{"started": root}` once and with `{"ended": id, "status": n}` for
each worker. When the control socket closes, because the server closed it or died, it kills every worker, removes their
folders and exits.
"""

import array
import contextlib
import gc
import importlib
import itertools
import json
import os
import select
import signal
import socket
import sys
import tempfile
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.sandbox.guest import import_path, landlock
from headgate.sandbox.guest.calls import HostFunction
from headgate.sandbox.guest.lockdown import Place
from headgate.sandbox.guest.policy import Policy
from headgate.sandbox.guest.scratch import make_scratch, remove_scratch
from headgate.sandbox.guest.worker import run_worker

ORDER_BYTES = 65536
PLATFORM_PACKAGE = "headgate"


class Control:
    """The zygote's end of the control socket: reads lines with attached descriptors, writes lines."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._received = b""
        self.descriptors: deque[int] = deque()

    def lines(self) -> list[bytes]:
        """The complete lines that have arrived; waits for at least one. Raises `EOFError` when the server closed."""
        size = socket.CMSG_LEN(2 * array.array("i").itemsize)
        data, attached, _, _ = self.connection.recvmsg(ORDER_BYTES, size)
        if not data:
            raise EOFError
        for level, kind, content in attached:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                self.descriptors.extend(array.array("i", content))
        *lines, self._received = (self._received + data).split(b"\n")
        return lines

    def send(self, message: dict[str, Any]) -> None:
        """Send one line."""
        self.connection.sendall(json.dumps(message).encode() + b"\n")


@dataclass(frozen=True, slots=True)
class Child:
    """A running worker."""

    worker: str
    scratch: Path


class Zygote:
    """Forks, kills and reaps workers."""

    def __init__(self, control: Control, policy: Policy) -> None:
        self.control = control
        self.policy = policy
        self.children: dict[int, Child] = {}
        self.changes_user = policy.isolated and os.geteuid() == 0
        self.root = Path(tempfile.mkdtemp(prefix="headgate-sandbox-", dir=policy.scratch_parent))
        if self.changes_user:
            self.root.chmod(0o711)  # workers can traverse but not list it
        self.library_descriptors: tuple[int, ...] = ()
        self.hosts: dict[str, HostFunction] = {}
        self.reading_layer: int | None = None

    def prepare(self) -> None:
        """Import modules that workers share, and prepare for fast forks."""
        sys.path += [path for path in self.policy.import_paths if path not in sys.path]
        for name in self.policy.preload:
            importlib.import_module(name)
        self._load_hosts()
        if self.policy.isolated and self.policy.platform in self.policy.import_paths:
            self.reading_layer = self._layer_without_platform()
        if self.changes_user:
            self.library_descriptors = import_path.reroute([*sys.path])
        gc.collect()
        gc.freeze()

    def _load_hosts(self) -> None:
        """Load trusted functions while Headgate is importable; workers only have the loaded modules."""
        sys.path.insert(0, self.policy.platform)
        for name in self.policy.hosts:
            module, _, function = name.partition(":")
            self.hosts[name] = getattr(importlib.import_module(module), function)
        del sys.path[0]
        sys.path_importer_cache.clear()

    def _layer_without_platform(self) -> int:
        """Return a ruleset of installed packages without Headgate's own, where Headgate is one of them."""
        platform = self.policy.platform
        packages = [entry.path for entry in os.scandir(platform) if not entry.name.startswith(PLATFORM_PACKAGE)]
        other_paths = [path for path in self.policy.readable if path != platform]
        return landlock.build_reading_layer(
            [*other_paths, *packages, *self.policy.devices, str(self.root)], listable=[platform]
        )

    def run(self) -> None:
        """Serve until the server closes."""
        wake, waker = os.pipe()
        for end in (wake, waker):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                control = self.control.connection.fileno()
                ready, _, _ = select.select([control, wake], [], [])
                if wake in ready:
                    os.read(wake, 4096)
                self._reap()
                if control in ready:
                    for line in self.control.lines():
                        self._obey(json.loads(line))
        self._end()

    def _obey(self, order: dict[str, Any]) -> None:
        if "spawn" in order:
            count = 2 if self.policy.network else 1
            descriptors = [self.control.descriptors.popleft() for _ in range(count)]
            self._spawn(order["spawn"], order["slot"], descriptors)
        elif "kill" in order:
            for process, child in self.children.items():
                if child.worker == order["kill"]:
                    _kill(process)

    def _spawn(self, worker: str, slot: int, descriptors: list[int]) -> None:
        user = self.policy.first_user + slot if self.changes_user else None
        parent = os.getpid()
        try:
            scratch = make_scratch(self.root, worker, user)
            process = os.fork()
        except OSError as error:  # no space, memory or process left: report it to the server, other workers continue
            _close(descriptors)
            self.control.send({"ended": worker, "status": error.errno})
            return
        if process == 0:
            try:
                self._become_worker(descriptors, scratch, user, parent)
            finally:
                os._exit(0)
        _close(descriptors)
        self.children[process] = Child(worker, scratch)

    def _become_worker(self, descriptors: list[int], scratch: Path, user: int | None, parent: int) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        silence = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(silence, standard)
        layer = () if self.reading_layer is None else (self.reading_layer,)
        close_all_but({0, 1, 2, *descriptors, *self.library_descriptors, *layer})
        connection, *brokers = [socket.socket(fileno=descriptor) for descriptor in descriptors]
        run_worker(
            connection,
            self.policy,
            Place(str(scratch), user, parent, self.reading_layer),
            hosts=self.hosts,
            broker=brokers[0] if brokers else None,
        )

    def _reap(self) -> None:
        while self.children:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                return
            child = self.children.pop(process)
            with contextlib.suppress(OSError):  # failed removals are retried at the end
                remove_scratch(child.scratch)
            self.control.send({"ended": child.worker, "status": os.waitstatus_to_exitcode(status)})

    def _end(self) -> None:
        for process in self.children:
            _kill(process)
        for process in self.children:
            os.waitpid(process, 0)
        with contextlib.suppress(OSError):
            remove_scratch(self.root)


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _kill(process: int) -> None:
    """Kill a worker and, when it could start processes, those of its session."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(process, signal.SIGKILL)


def close_all_but(keep: set[int]) -> None:
    """Close every descriptor outside `kept`."""
    edges = sorted(keep)
    for low, high in itertools.pairwise(edges):
        os.closerange(low + 1, high)
    os.closerange(edges[-1] + 1, os.sysconf("SC_OPEN_MAX"))


def main(descriptor: int) -> None:
    """Read the policy from the control socket, prepare, report readiness and serve."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the server decides when workers end
        signal.signal(ignored, signal.SIG_IGN)
    control = Control(socket.socket(fileno=descriptor))
    lines: list[bytes] = []
    while not lines:
        lines = control.lines()
    zygote = Zygote(control, Policy.from_json(lines[0]))
    zygote.prepare()
    control.send({"started": str(zygote.root)})
    zygote.run()
