"""What it costs to say who is asking: one request by auto-login, an API key and a session, on SQLite and PostgreSQL.

Two real servers stand on one database: one with auto-login, one where everybody signs in, with rate limits counted. The
same page of flows is asked for by the same person, in turns of one request each, so that a disturbance meets all alike.
Processor time is that of the server, over as many requests of one kind.

    python -m benchmarks.identity [--quick | --smoke] [--json FILE]
"""

import asyncio
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.databases import Postgres, make_settings
from tests.support.people import Person, add_key, add_session, add_space_row, add_user, bearer, cookie

from benchmarks.measure import Report, arguments, cpu_seconds, percentile
from benchmarks.serving import serving
from benchmarks.startup import free_port
from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_TENANT_ID, DEFAULT_USER_ID
from headgate.foundation.database import Database

HEADGATE = str(Path(sys.executable).with_name("headgate"))
AIM_MS = 1.0
"""The most that saying who is asking may add to a request, at the median."""
SPACES = 20
PATH = "/api/v1/flows"
AUTO_LOGIN = "auto-login"
_SETTINGS = {
    "HEADGATE_RATE_LIMITS__API_PER_MINUTE": "1000000000",
    "HEADGATE_ENGINE__RECOVER_ON_START": "false",
}


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    rounds = options.choose(10_000, 300, 2)
    report = Report(
        f"Who is asking (GET {PATH}); load of the machine {os.getloadavg()[0]:.1f}",
        ("database", "by", "p50 ms", "p95 ms", "adds ms", "ratio", "CPU-ms", "adds CPU-ms"),
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        _measure(report, "SQLite", place / "sqlite", "", rounds)
        if not options.smoke:
            _on_postgres(report, place, rounds)
    report.finish(options, picture="identity.png", axis=f"share of {AIM_MS:g} ms (1.0 or less is good)")


def _on_postgres(report: Report, place: Path, rounds: int) -> None:
    server = Postgres(place / "postgres", "bench")
    try:
        with server.fresh() as url:
            _measure(report, "PostgreSQL", place / "data", url, rounds)
    finally:
        server.close()


def _measure(report: Report, database: str, folder: Path, url: str, rounds: int) -> None:
    place = {"HEADGATE_DATA_DIR": str(folder), "HEADGATE_DATABASE__URL": url, **_SETTINGS}
    with ExitStack() as servers:
        port, pid = servers.enter_context(_server(place))
        shut_port, shut_pid = servers.enter_context(_server({**place, "HEADGATE_SERVER__AUTO_LOGIN": "false"}))
        people = asyncio.run(_people(folder, url))
        lines = {AUTO_LOGIN: servers.enter_context(_line(port, {}))}
        lines |= {name: servers.enter_context(_line(shut_port, headers)) for name, headers in people.items()}
        took = _in_turns(lines, rounds, warm=min(100, rounds))
        used = {name: _cpu_ms(line, pid if name == AUTO_LOGIN else shut_pid, rounds) for name, line in lines.items()}
    floor = percentile(took[AUTO_LOGIN], 0.5)
    for name, values in took.items():
        middle, high = percentile(values, 0.5), percentile(values, 0.95)
        added = middle - floor
        report.add(
            database,
            name,
            f"{middle:.2f}",
            f"{high:.2f}",
            "" if name == AUTO_LOGIN else f"{added:.2f}",
            "" if name == AUTO_LOGIN else f"{middle / floor:.2f}x",
            f"{used[name]:.2f}",
            "" if name == AUTO_LOGIN else f"{used[name] - used[AUTO_LOGIN]:.2f}",
            values={
                "by": name,
                "p50": middle,
                "p95": high,
                "added": added,
                "ratio": middle / floor,
                "cpu_ms": used[name],
                "added_cpu_ms": used[name] - used[AUTO_LOGIN],
            },
            bar=None if name == AUTO_LOGIN else (f"{database}, {name}", added / AIM_MS),
        )


async def _people(folder: Path, url: str) -> dict[str, dict[str, str]]:
    """The local user with a key and a session, and an editor of many spaces with a narrow key: what each sends."""
    database = Database(make_settings(folder, url))
    try:
        local = Person(DEFAULT_USER_ID, DEFAULT_TENANT_ID, "")
        spaces = [await add_space_row(database, f"Space {number}") for number in range(SPACES)]
        editor = await add_user(database, "ed@example.org", roles=dict.fromkeys(spaces, Role.EDITOR))
        narrow = {"scopes": ["flows.view", "runs.start"], "space_ids": spaces[: SPACES // 2]}
        return {
            "API key": bearer(await add_key(database, local)),
            "session": cookie(await add_session(database, local)),
            f"narrow key, editor of {SPACES} spaces": bearer(await add_key(database, editor, **narrow)),
        }
    finally:
        await database.close()


class _Line:
    """A connection that is kept open, and one request over and over."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self._port = port
        lines = [f"GET {PATH} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items())]
        self._request = "\r\n".join([*lines, "", ""]).encode()
        self._connect()

    def ask(self) -> float:
        """One request; returns its milliseconds."""
        began = time.perf_counter()
        try:
            self._socket.sendall(self._request)
            status = self._answer.readline()
        except ConnectionError:
            status = b""
        if not status:  # the server hung up: other lines kept it waiting for seconds
            self._connect()
            return self.ask()
        length = 0
        while (line := self._answer.readline()) not in {b"\r\n", b""}:
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = self._answer.read(length)
        took = (time.perf_counter() - began) * 1000
        if b" 200 " not in status:
            raise RuntimeError(f"{status!r} {body[:300]!r}")
        return took

    def _connect(self) -> None:
        self._socket = socket.create_connection(("127.0.0.1", self._port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answer = self._socket.makefile("rb")

    def close(self) -> None:
        """Hang up."""
        self._answer.close()
        self._socket.close()


@contextmanager
def _line(port: int, headers: dict[str, str]) -> Iterator[_Line]:
    found = _Line(port, headers)
    try:
        yield found
    finally:
        found.close()


def _in_turns(lines: dict[str, _Line], rounds: int, *, warm: int) -> dict[str, list[float]]:
    for line in lines.values():
        for _ in range(warm):
            line.ask()
    took: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(rounds):
        for name, line in lines.items():
            took[name].append(line.ask())
    return took


def _cpu_ms(line: _Line, pid: int, rounds: int) -> float:
    """Processor time of the server for one request: a busy machine slows the clock, and hardly the work."""
    before = cpu_seconds(pid)
    for _ in range(rounds):
        line.ask()
    return (cpu_seconds(pid) - before) / rounds * 1000


@contextmanager
def _server(environment: dict[str, str]) -> Iterator[tuple[int, int]]:
    """A `headgate serve` on a free port, with its process id."""
    port = free_port()
    with serving([HEADGATE, "serve", "--port", str(port)], environment, port, "/health") as found:
        yield found


if __name__ == "__main__":
    main()
