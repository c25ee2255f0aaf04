"""A pool with the scan off, so that the operating system's layers are what is proved, and targets for attacks."""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from headgate.sandbox.limits import MIB, Limits, PoolSize
from headgate.sandbox.pool import SandboxPool
from headgate.sandbox.report import Layer, SandboxReport, probe
from tests.integration.sandbox.numbers import NUMBERS

LIMITS = Limits(memory_bytes=256 * MIB, processor_seconds=1.0, scratch_bytes=64 * MIB)
INCOMPLETE = SandboxReport((Layer("landlock", present=False, detail="simulated", remedy="Use another kernel"),))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where the system cannot isolate, the product refuses and there is nothing to attack."""
    missing = probe().missing
    for item in items:
        if missing and item.get_closest_marker("isolated"):
            item.add_marker(pytest.mark.skip(reason=f"this system lacks {missing[0].name}: {missing[0].detail}"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "isolated: needs a system on which code can be isolated")


@dataclass(slots=True)
class Targets:
    """What attacks try to reach; everything here is open to every user of this machine."""

    folder: Path
    secret: Path
    canary: Path
    outside: Path
    server: socket.socket
    path_server: socket.socket
    abstract_server: socket.socket
    abstract_name: str
    victim: subprocess.Popen[bytes]

    def inputs(self) -> dict[str, Any]:
        """What an attack's `run(inputs)` gets."""
        return {
            "secret": str(self.secret),
            "source": __file__,
            "outside": str(self.outside),
            "canary": str(self.canary),
            "server": os.getpid(),
            "victim": self.victim.pid,
            "port": self.server.getsockname()[1],
            "socket": str(self.folder / "socket"),
            "abstract": self.abstract_name,
            "numbers": NUMBERS,
            "most_threads": most_threads(),
        }

    def assert_untouched(self) -> None:
        """Nothing reached a target."""
        assert self.canary.read_text() == "alive"
        assert self.canary.stat().st_mode & 0o777 == 0o666
        assert list(self.outside.iterdir()) == [self.canary]
        assert self.victim.poll() is None
        for listener in (self.server, self.path_server, self.abstract_server):
            with pytest.raises(BlockingIOError):
                listener.accept()


def most_threads() -> int:
    """As root a worker's user has its own count; else the machine's tasks are the only bound that is known."""
    tasks = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    return LIMITS.threads + 2 if os.geteuid() == 0 else LIMITS.threads + 2 * tasks


def listener(family: socket.AddressFamily, address: Any) -> socket.socket:
    """A server nobody should reach."""
    server = socket.socket(family)
    server.bind(address)
    server.listen()
    server.setblocking(False)
    return server


@pytest.fixture
def targets() -> Iterator[Targets]:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="headgate-targets-")))
        folder.chmod(0o755)
        secret, outside = folder / "secret", folder / "outside"
        secret.write_text("the secret")
        outside.mkdir()
        outside.chmod(0o777)
        canary = outside / "canary"
        canary.write_text("alive")
        canary.chmod(0o666)
        name = f"\0headgate-{secrets.token_hex(8)}"
        victim = stack.enter_context(subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"]))
        stack.callback(victim.kill)
        path_server = stack.enter_context(listener(socket.AF_UNIX, str(folder / "socket")))
        (folder / "socket").chmod(0o777)
        yield Targets(
            folder=folder,
            secret=secret,
            canary=canary,
            outside=outside,
            server=stack.enter_context(listener(socket.AF_INET, ("127.0.0.1", 0))),
            path_server=path_server,
            abstract_server=stack.enter_context(listener(socket.AF_UNIX, name)),
            abstract_name=name,
            victim=victim,
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_pool() -> AsyncIterator[SandboxPool]:
    """One pool for all attacks of a module: it has to survive them."""
    pool = SandboxPool(scan=False, limits=LIMITS, size=PoolSize(running=2, spare=1, idle=2))
    yield pool
    await pool.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def insecure_pool() -> AsyncIterator[SandboxPool]:
    """What an operator gets who opts out on a system that lacks a layer."""
    pool = SandboxPool(
        scan=False, limits=LIMITS, size=PoolSize(running=1, spare=1), insecure=True, probe=lambda: INCOMPLETE
    )
    yield pool
    await pool.aclose()


@pytest.fixture
async def pool() -> AsyncIterator[SandboxPool]:
    """A pool of a test's own."""
    pool = SandboxPool(scan=False, limits=LIMITS, size=PoolSize(running=2, spare=1, idle=2))
    yield pool
    await pool.aclose()
