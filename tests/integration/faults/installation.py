"""An installation of real processes on loopback: servers that are started, killed and started again."""

import asyncio
import json
import os
import random
import resource
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import psutil

from tests.integration.faults.deaths import Death
from tests.support.fault_steps import BEGIN
from tests.support.forked import Forked, fork
from tests.support.headgate_process import CLOCK_FILE
from tests.support.patience import PATIENCE_SECONDS

SCALE = int(os.environ.get("HEADGATE_FAULTS", "1"))
"""How many times as much as in `make test`; `make test-faults` sets it."""
RUNS = 120 * SCALE
DEATHS = 4 * SCALE
START_SECONDS = 60.0
BUSY_SECONDS = 5.0
QUIET_SECONDS = 60.0 + 30.0 * SCALE
STEPS = ("a", "b", "c", "d")
"""Steps of the flow that count; `b` and `c` stand side by side."""


def counting_flow(counter: Path, seconds: float = 0.03, longest: float = 0.0) -> dict[str, Any]:
    """A flow that counts, forks, joins and counts again; each step takes `seconds`, or from that to `longest`."""
    params = {"path": str(counter), "seconds": seconds, "longest": longest}
    return {
        "name": "Counting",
        "nodes": [
            {"id": "heard", "type": "ChatInput"},
            *({"id": step, "type": "Count", "params": params} for step in STEPS),
        ],
        "edges": [
            {"source": "heard", "output": "text", "target": "a", "input": "input"},
            {"source": "a", "output": "text", "target": "b", "input": "input"},
            {"source": "a", "output": "text", "target": "c", "input": "input"},
            {"source": "b", "output": "text", "target": "d", "input": "parts"},
            {"source": "c", "output": "text", "target": "d", "input": "parts"},
        ],
    }


def one_step_flow(type_: str, **params: Any) -> dict[str, Any]:
    """A flow of an input and one step named `it`."""
    return {
        "name": type_,
        "nodes": [{"id": "heard", "type": "ChatInput"}, {"id": "it", "type": type_, "params": params}],
        "edges": [{"source": "heard", "output": "text", "target": "it", "input": "input"}],
    }


@dataclass
class Server:
    """A server process."""

    process: Forked
    url: str
    log: Path

    def kill(self) -> Death:
        """Kill -9."""
        return Death.of(self._kill)

    def stop_for_a_while(self) -> None:
        """Stop it, until it continues."""
        self.process.send_signal(signal.SIGSTOP)

    def continue_(self) -> None:
        """Continue."""
        self.process.send_signal(signal.SIGCONT)

    def _kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """End it as an operator does; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(timeout=30)

    @property
    def alive(self) -> bool:
        """Whether the process lives."""
        return self.process.poll() is None


@dataclass
class Installation:
    """One data folder and database, any number of servers on it one after the other or at once."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    servers: list[Server] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    """Ids of runs that a server said it had taken."""
    deaths: list[Death] = field(default_factory=list)
    """When processes were killed, in microseconds."""
    labels: int = 0
    module: str = "tests.support.headgate_process"
    """What its servers are."""

    @property
    def counter(self) -> Path:
        """The file in which steps leave their lines."""
        return self.folder / "counter.txt"

    def surroundings(self) -> dict[str, str]:
        """The environment of its processes."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HEADGATE_")}
        return kept | {"HEADGATE_DATA_DIR": str(self.folder)} | dict(self.environment)

    def in_flight(self) -> int:
        """How many counted steps have begun and not ended, of processes that live."""
        return len(self.at_work())

    def at_work(self) -> list[int]:
        """The process of each counted step that has begun and not ended, as far as they live."""
        begun: dict[tuple[str, str, str], int] = {}
        for line in self.counter.read_text().splitlines() if self.counter.exists() else ():
            label, step, what, _at, process = line.split(" ")
            if what == BEGIN:
                begun[label, step, process] = int(process)
            else:
                begun.pop((label, step, process), None)
        return [process for process in begun.values() if psutil.pid_exists(process)]

    async def busy(self, steps: int) -> None:
        """Wait until so many counted steps are in flight at once, or a while has passed in which there never were."""
        with suppress(TimeoutError):
            async with asyncio.timeout(BUSY_SECONDS):
                while self.in_flight() < steps:  # noqa: ASYNC110 - other processes write it
                    await asyncio.sleep(0.005)

    def start(self, *, clock: Path | None = None, file_limit: int = 0, **settings: str) -> Server:
        """Start a server; it is not awaited. `file_limit` is the largest file it may write, in bytes."""
        log = self.folder / f"server-{len(self.servers)}.log"
        extra = {CLOCK_FILE: str(clock)} if clock is not None else {}
        with log.open("w") as errors:
            environment = self.surroundings() | settings | extra
            wanted = ("serve", "--port", "0", "--json")
            process = fork(self.module, *wanted, environment=environment, stderr=errors.fileno())
        if file_limit:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (file_limit, file_limit))
        server = Server(process, "", log)
        self.servers.append(server)
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said, f"the server did not start: {log.read_text()[-2000:]}"
        server.url = json.loads(said)["url"]
        return server

    async def up(self, **more: Any) -> Server:
        """Start a server and wait until it answers."""
        server = await asyncio.to_thread(lambda: self.start(**more))
        async with (
            asyncio.timeout(START_SECONDS),
            httpx2.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS) as client,
        ):
            while True:
                try:
                    if (await client.get("/health")).is_success:
                        return server
                except httpx2.TransportError:
                    assert server.alive, server.log.read_text()[-2000:]
                await asyncio.sleep(0.02)

    def kill(self, server: Server) -> None:
        """Kill -9, and note when."""
        self.deaths.append(server.kill())

    def close(self) -> None:
        """End all servers that still live."""
        for server in self.servers:
            if server.alive:
                server.kill()
            server.process.wait()
            if server.process.stdout is not None:
                server.process.stdout.close()

    async def make_flow(self, server: Server, definition: Mapping[str, Any]) -> str:
        """Store a flow; its id."""
        async with httpx2.AsyncClient(base_url=server.url, timeout=30) as client:
            answer = await client.post("/api/v1/flows", json={"definition": definition})
        assert answer.status_code == 201, answer.text
        found: str = answer.json()["id"]
        return found

    async def submit(self, server: Server, flow_id: str, count: int, *, at_once: int = 8) -> int:
        """Start so many runs while the server lives. How many it took; what it left unanswered may exist or not."""
        taken = 0
        todo = iter(range(count))

        async def one_after_the_other(client: httpx2.AsyncClient) -> None:
            nonlocal taken
            for _ in todo:
                self.labels += 1
                try:
                    answer = await client.post(f"/api/v1/flows/{flow_id}/runs", json={"text": f"run-{self.labels}"})
                except httpx2.TransportError:
                    return
                if answer.status_code == 201:
                    taken += 1
                    self.acknowledged.append(answer.json()["id"])

        async with httpx2.AsyncClient(base_url=server.url, timeout=30) as client:
            await asyncio.gather(*(one_after_the_other(client) for _ in range(at_once)))
        return taken

    async def taken(self, count: float) -> None:
        """Wait until servers have taken so many runs more."""
        enough = len(self.acknowledged) + int(count)
        async with asyncio.timeout(START_SECONDS):
            while len(self.acknowledged) < enough:  # noqa: ASYNC110 - the answers come from another process
                await asyncio.sleep(0.005)

    async def run(self, server: Server, flow_id: str, text: str = "hello") -> dict[str, Any]:
        """Start a run and wait for its end."""
        async with httpx2.AsyncClient(base_url=server.url, timeout=60) as client:
            answer = await client.post(f"/api/v1/flows/{flow_id}/runs", json={"text": text, "wait": True})
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found


def moment(shortest: float, longest: float) -> float:
    """A random length."""
    return random.uniform(shortest, longest)
