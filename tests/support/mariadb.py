"""A real MariaDB server for tests, of the machine's own package: `scripts/ensure-mariadb` installs it where it can."""

import getpass
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pymysql  # type: ignore[import-untyped]
import pytest

from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port

PASSWORD = "only of these tests"


def _program(*names: str) -> str | None:
    """The path of a program; servers are not always on the path of a user."""
    path = ":".join(("/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"))
    found = (shutil.which(name) or shutil.which(name, path=path) for name in names)
    return next((one for one in found if one), None)


class MariaDb:
    """A server on loopback with the user `shop`, who may do everything in the databases that it makes."""

    def __init__(self, place: Path, port: int) -> None:
        self.port = port
        self._place = place

    def sql(self, *statements: str, database: str | None = None) -> list[tuple[Any, ...]]:
        """Run statements as the server's owner; the rows of the last."""
        owner = {"unix_socket": str(self._place), "user": "root", "database": database, "autocommit": True}
        with closing(pymysql.connect(**owner)) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())


@contextmanager
def mariadb_server() -> Iterator[MariaDb]:
    """A server that stops at the end. Skips the test where MariaDB is not installed."""
    server, install = _program("mariadbd", "mysqld"), _program("mariadb-install-db")
    if server is None or install is None:
        pytest.skip("MariaDB is not installed: run scripts/ensure-mariadb, or install the package mariadb-server")
    folder = Path(tempfile.mkdtemp(prefix="headgate-mariadb-"))
    # A server that starts deletes the temporary tables of all others in its temporary folder.
    temporary = folder / "temporary"
    temporary.mkdir()
    base = ["--no-defaults", f"--datadir={folder / 'data'}", f"--tmpdir={temporary}", f"--user={getpass.getuser()}"]
    options = ["--auth-root-authentication-method=normal", "--skip-test-db", "--force"]
    subprocess.run([install, *base, *options], check=True, capture_output=True)
    port = free_port()
    listens = [f"--socket={folder / 's'}", f"--pid-file={folder / 'pid'}", "--bind-address=127.0.0.1"]
    quick = [
        "--innodb-flush-log-at-trx-commit=0",
        "--skip-log-bin",
        "--innodb-buffer-pool-size=16M",
        "--character-set-server=utf8mb4",
    ]
    with subprocess.Popen(
        [server, *base, *listens, f"--port={port}", *quick], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield _ready(MariaDb(folder / "s", port))
        finally:
            process.kill()
            process.wait()
            shutil.rmtree(folder, ignore_errors=True)


def _ready(server: MariaDb) -> MariaDb:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", server.port)).close()
        except ConnectionRefusedError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.1)
        else:
            server.sql(f"CREATE USER shop@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
            return server
