"""A Flowise of its own: a free port, a folder with its home, database and keys, and an end to it all."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx2
import psutil

from tests.support.lifeline import VARIABLE, lifeline
from tests.support.ports import free_port
from tests.support.processes import await_ends

ROOT = Path(__file__).parents[3]
_SLOWEST_START = 300.0


@dataclass(frozen=True)
class Installed:
    """Where Flowise is, and the Node.js that runs it."""

    home: Path
    node: Path

    @classmethod
    def found(cls) -> Self:
        """As `scripts/ensure-flowise` put it, which says what it does on standard error."""
        said = subprocess.run([ROOT / "scripts/ensure-flowise"], check=True, stdout=subprocess.PIPE, text=True)
        home, node = said.stdout.split("\n")[:2]
        return cls(Path(home), Path(node))


class FlowiseProcess:
    """`with FlowiseProcess(installed, folder) as server:`; `server.origin` answers then."""

    def __init__(self, installed: Installed, folder: Path, port: int = 0) -> None:
        self._installed = installed
        self._folder = folder
        self._port = port or free_port()
        self.origin = f"http://127.0.0.1:{self._port}"
        self.log = folder / "output.log"
        self.seconds_to_start = 0.0

    def __enter__(self) -> Self:
        began = time.monotonic()
        for name in ("home", "logs", "files"):
            (self._folder / name).mkdir(parents=True)
        node, preload = str(self._installed.node), str(Path(__file__).with_name("ranks.cjs"))
        command = [node, "--require", preload, "node_modules/flowise/bin/run", "start"]
        with self.log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.flowise.server.tied", *command],
                cwd=self._installed.home,
                env=self._environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[lifeline()],
            )
        try:
            self._wait()
        except BaseException:
            self._end()
            raise
        self.seconds_to_start = time.monotonic() - began
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    @property
    def megabytes(self) -> float:
        """Resident memory of Node.js."""
        family = psutil.Process(self._process.pid).children(recursive=True)
        return sum(float(one.memory_info().rss) for one in family) / 1e6

    def _environment(self) -> dict[str, str]:
        """Nothing of ours but what Flowise needs: it sees no setting and no key of who runs the tests."""
        secrets = ("JWT_AUTH_TOKEN_SECRET", "JWT_REFRESH_TOKEN_SECRET", "EXPRESS_SESSION_SECRET", "TOKEN_HASH_SECRET")
        return {
            "PATH": f"{self._installed.node.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            VARIABLE: str(lifeline()),
            "HOME": str(self._folder / "home"),
            "HOST": "127.0.0.1",
            "PORT": str(self._port),
            "APP_URL": self.origin,
            "DATABASE_TYPE": "sqlite",
            "DATABASE_PATH": str(self._folder),
            "SECRETKEY_PATH": str(self._folder),
            "APIKEY_PATH": str(self._folder),
            "LOG_PATH": str(self._folder / "logs"),
            "BLOB_STORAGE_PATH": str(self._folder / "files"),
            "DISABLE_FLOWISE_TELEMETRY": "true",
            "OFFLINE": "true",
            "SECURE_COOKIES": "false",
            **{name: f"{name.lower()}-of-a-test" for name in secrets},
        }

    def _wait(self) -> None:
        until = time.monotonic() + _SLOWEST_START
        while time.monotonic() < until:
            if self._process.poll() is not None:
                raise RuntimeError(f"Flowise ended with {self._process.returncode}:\n{self._tail()}")
            try:
                if httpx2.get(f"{self.origin}/api/v1/ping", timeout=5, trust_env=False).text == "pong":
                    return
            except httpx2.TransportError:
                time.sleep(0.5)
        raise RuntimeError(f"Flowise did not answer within {_SLOWEST_START:.0f} s:\n{self._tail()}")

    def _tail(self) -> str:
        return self.log.read_text(errors="replace")[-3000:]

    def _end(self) -> None:
        """All that was started here: politely, then not."""
        leader = psutil.Process(self._process.pid)
        family = [*leader.children(recursive=True), leader]
        for one in family:
            with suppress(psutil.NoSuchProcess):
                one.terminate()
        for one in await_ends(family, 15):
            with suppress(psutil.NoSuchProcess):
                one.kill()
        self._process.wait(15)
