"""The distributed form on loopback: a server, workers and beats as processes, with a Redis of their own."""

import asyncio
import os
import random
import resource
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from headgate.entrypoints.own_services import OwnRedis
from tests.integration.faults.deaths import Death
from tests.integration.faults.installation import Installation, Server
from tests.support.forked import Forked, fork
from tests.support.headgate_process import CLOCK_FILE
from tests.support.patience import PATIENCE_SECONDS

READY_SECONDS = 60.0
CHILDREN = 3


@dataclass
class Worker:
    """A worker or beat process with its children, in a process group of its own."""

    process: Forked
    log: Path

    def kill(self) -> Death:
        """Kill -9 all of it."""
        return Death.of(self._kill)

    def kill_a_child(self) -> Death:
        """Kill -9 one of its children; the worker makes another."""
        children = psutil.Process(self.process.pid).children()  # looks at every process there is, and takes its time
        return Death.of(lambda: _kill(random.choice(children)) if children else None)

    def kill_main(self) -> Death:
        """Kill -9 its main process alone: the children finish what they are at, and go."""
        return Death.of(self._kill_main)

    def stop_for_a_while(self) -> None:
        """Stop all of it, until it continues."""
        os.killpg(self.process.pid, signal.SIGSTOP)

    def continue_(self) -> None:
        """Continue all of it."""
        os.killpg(self.process.pid, signal.SIGCONT)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _kill_main(self) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def alive(self) -> bool:
        """Whether the main process lives."""
        return self.process.poll() is None


@dataclass
class Cluster(Installation):
    """An installation whose runs are carried out by workers."""

    redis: OwnRedis = field(default_factory=lambda: OwnRedis(Path()))
    workers: list[Worker] = field(default_factory=list)

    def join(self, redis: OwnRedis, *, hasty: bool = True) -> None:
        """Use a Redis server that answers; in haste what is lost is looked for sooner than by default."""
        self.redis = redis
        names = ("BROKER", "RESULT", "EVENTS")
        urls = {f"HEADGATE_CELERY__{name}_URL": redis.url(number) for number, name in enumerate(names)}
        haste = {
            "HEADGATE_ENGINE__LEASE_SECONDS": "3",
            "HEADGATE_CELERY__SWEEP_SECONDS": "1",
            "HEADGATE_CELERY__REDISPATCH_SECONDS": "3",
        }
        celery = {"HEADGATE_ENGINE__BACKEND": "celery"}
        self.environment = {**self.environment, **urls, **celery, **(haste if hasty else {})}

    def command(self, *arguments: str, clock: Path | None = None, file_limit: int = 0) -> Worker:
        """Start `headgate worker` or `headgate beat`; see `Installation.start` for the rest."""
        extra = {CLOCK_FILE: str(clock)} if clock is not None else {}
        log = self.folder / f"{arguments[0]}-{len(self.workers)}.log"
        with log.open("wb") as output:
            environment, log_file = self.surroundings() | extra, output.fileno()
            process = fork(self.module, *arguments, environment=environment, stdout=log_file, stderr=log_file)
        if file_limit:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (file_limit, file_limit))
        self.workers.append(Worker(process, log))
        return self.workers[-1]

    async def staffed(self, workers: Sequence[Worker]) -> None:
        """Wait until these workers have their children."""
        async with asyncio.timeout(READY_SECONDS):
            while any(len(psutil.Process(one.process.pid).children()) < CHILDREN for one in workers):  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def has_a_child(self, worker: Worker) -> None:
        """Wait for a worker's first child: it is there long before it can work."""
        async with asyncio.timeout(READY_SECONDS):
            while not psutil.Process(worker.process.pid).children():  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    async def work(self, server: Server, flow_id: str) -> Worker:
        """Start a worker, and wait until a run went through."""
        worker = self.command("worker", "--concurrency", str(CHILDREN))
        async with asyncio.timeout(READY_SECONDS):
            found = await self.run(server, flow_id, text=f"ready-{len(self.workers)}")
        assert found["status"] == "completed", found
        return worker

    def close(self) -> None:
        """End everything that still lives."""
        for worker in self.workers:
            worker.kill()
        super().close()
        self.redis.stop()


def _kill(child: psutil.Process) -> None:
    child.kill()
    with suppress(psutil.NoSuchProcess):
        child.wait(PATIENCE_SECONDS)
