"""Processes of the tests' own programs that start in no time: forked from one that has imported everything.

A server spends two seconds of a processor on imports, and the tests start and kill more than a hundred of them. What is
forked is a process of its own in all else: its own environment, process group, files and death. The start of the true
command line, from the interpreter on, is what `tests/integration/cli` and the tests in a browser have.

`python -m tests.support.forked` is the process that they are forked from; it ends with the tests.
"""

import atexit
import functools
import gc
import json
import os
import random
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from tests.support.lifeline import VARIABLE, lifeline

TOP = Path(__file__).parents[2]
IMPORTED = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.concurrency.prefork",
    "kombu.transport.redis",
    "psycopg_pool",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "headgate.agents.codev.workflow.build",
    "headgate.__main__",
    "headgate.entrypoints.cli.app",
    "headgate.entrypoints.cli.backup",
    "headgate.entrypoints.cli.beat",
    "headgate.entrypoints.cli.evidence",
    "headgate.entrypoints.cli.runs",
    "headgate.entrypoints.cli.serve",
    "headgate.entrypoints.cli.worker",
    "headgate.entrypoints.worker.processes",
    "headgate.features.runs.store.postgres",
    "tests.support.celery_worker",
    "tests.support.codev_process",
    "tests.support.engine_process",
    "tests.support.headgate_process",
    "tests.support.mcp_process",
)
IMPORTS = "FORKED_IMPORTS"
"""An environment variable that names the modules to import first instead, separated by commas."""
MOST_BYTES = 150_000
"""Of an order: an environment may be long."""
_STATUS = struct.Struct("i")


class Forked:
    """A process that was forked, with what tests need of `subprocess.Popen`."""

    def __init__(self, pid: int, status: int, stdin: BinaryIO | None, stdout: BinaryIO | None) -> None:
        self.pid = pid
        self.stdin, self.stdout = stdin, stdout
        self.returncode: int | None = None
        self._status = status

    def poll(self) -> int | None:
        """Its exit code, or minus the signal that ended it; None while it lives."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises `subprocess.TimeoutExpired`."""
        found = self._look(timeout)
        if found is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return found

    def send_signal(self, number: int) -> None:
        """Send a signal to it, if it lives."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, given: bytes = b"") -> bytes:
        """Give it its last input, wait for its end and return what it wrote meanwhile."""
        if self.stdin is not None and not self.stdin.closed:
            with suppress(BrokenPipeError), self.stdin as stdin:
                stdin.write(given)
        written = b""
        if self.stdout is not None and not self.stdout.closed:
            with self.stdout as stdout:
                written = stdout.read()
        self.wait()
        return written

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._status, selectors.EVENT_READ)
                if not selector.select(timeout):
                    return None
            told = os.read(self._status, _STATUS.size)
            os.close(self._status)
            self.returncode = _STATUS.unpack(told)[0] if told else -signal.SIGKILL
        return self.returncode


def fork(
    module: str,
    *arguments: str,
    environment: Mapping[str, str],
    stdin: bool = False,
    stdout: int | None = None,
    stderr: int | None = None,
) -> Forked:
    """Start `python -m module` with these arguments, in a process group of its own, at the top of the repository.

    It ends with the tests if it ties itself to the lifeline. Without `stdout`, what it writes is read from the result's
    `stdout`; `stdin` gives it a pipe too; `stdout` and `stderr` are descriptors, which stay the caller's.
    """
    return _nursery().fork(
        {"module": module, "arguments": arguments, "environment": dict(environment)}, stdin, stdout, stderr
    )


class _Nursery:
    """Our side of the process that they are forked from."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self._orders, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * MOST_BYTES)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.forked", str(theirs.fileno())],
                cwd=TOP,
                env={**os.environ, VARIABLE: str(lifeline())},
                start_new_session=True,
                pass_fds=[theirs.fileno(), lifeline()],
            )
        atexit.register(self.close)

    def fork(self, order: Mapping[str, Any], stdin: bool, stdout: int | None, stderr: int | None) -> Forked:
        given, taken, status = _pipe(stdin), _pipe(stdout is None), os.pipe()
        files = [
            given[0] if given else os.open(os.devnull, os.O_RDONLY),
            taken[1] if taken else os.dup(_known(stdout)),
            os.dup(2 if stderr is None else stderr),
            status[1],
        ]
        with self._lock:
            socket.send_fds(self._orders, [json.dumps(order).encode()], files)
            told = self._orders.recv(_STATUS.size)
            assert told, "the process that others are forked from is gone; its trace is in what the tests wrote"
            pid = _STATUS.unpack(told)[0]
        for number in files:
            os.close(number)
        return Forked(
            pid,
            status[0],
            os.fdopen(given[1], "wb", buffering=0) if given else None,
            os.fdopen(taken[0], "rb") if taken else None,
        )

    def close(self) -> None:
        self._orders.close()
        self._process.wait(10)


@functools.cache
def _nursery() -> _Nursery:
    return _Nursery()


def _pipe(wanted: bool) -> tuple[int, int] | None:
    return os.pipe() if wanted else None


def _known(number: int | None) -> int:
    assert number is not None
    return number


@dataclass(frozen=True)
class _Order:
    module: str
    arguments: list[str]
    environment: dict[str, str]
    files: list[int]


def _serve(orders: socket.socket) -> _Order | None:
    """Fork what is ordered and tell how each ends, until there are no more orders: None. In a child, its order."""
    living: dict[int, tuple[int, int]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(orders, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not orders:
                    selector.unregister(key.fileobj)
                    _bury(*living.pop(key.fd), key.fd)
                    continue
                told, files, *_ = socket.recv_fds(orders, MOST_BYTES, 4)
                if not told:
                    return None
                *files, status = files
                pid = os.fork()
                if pid == 0:
                    orders.close()
                    for number in (status, *living, *(one for _, one in living.values())):
                        os.close(number)
                    return _Order(**json.loads(told), files=files)
                with suppress(OSError):
                    os.setpgid(pid, pid)
                for number in files:
                    os.close(number)
                end = os.pidfd_open(pid)
                living[end] = (pid, status)
                selector.register(end, selectors.EVENT_READ)
                orders.send(_STATUS.pack(pid))


def _bury(pid: int, status: int, end: int) -> None:
    _, code = os.waitpid(pid, 0)
    with suppress(BrokenPipeError):
        os.write(status, _STATUS.pack(os.waitstatus_to_exitcode(code)))
    os.close(status)
    os.close(end)


def _become(order: _Order) -> None:
    """Be the process that was ordered, to its end."""
    with suppress(OSError):
        os.setpgid(0, 0)
    for number, file in enumerate(order.files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(order.environment, **{VARIABLE: _LIFELINE})
    os.set_inheritable(int(_LIFELINE), True)
    random.seed()
    sys.argv = [order.module, *order.arguments]
    sys.orig_argv = [sys.executable, "-m", order.module, *order.arguments]
    is_package = hasattr(sys.modules.get(order.module), "__path__")
    sys.modules.pop(f"{order.module}.__main__" if is_package else order.module, None)
    runpy.run_module(order.module, run_name="__main__", alter_sys=True)


_LIFELINE = os.environ.get(VARIABLE, "")

if __name__ == "__main__":
    for name in os.environ[IMPORTS].split(",") if IMPORTS in os.environ else IMPORTED:
        import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as line:
        ordered = _serve(line)
    if ordered is not None:
        _become(ordered)
