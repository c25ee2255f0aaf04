"""Redis and workers for tests: one of each for a whole session, shared by the tests of one process."""

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import redis

from headgate.entrypoints.own_services import OwnRedis
from headgate.foundation.settings import CelerySettings
from tests.support.celery_worker import write_order
from tests.support.forked import fork
from tests.support.patience import PATIENCE_SECONDS
from tests.support.processes import await_ends

START_SECONDS = 60.0


def celery_settings(server: OwnRedis, queue: str, **more: Any) -> CelerySettings:
    """Settings of the distributed engine on a test's Redis: quick to find what was lost."""
    urls = {name: server.url(number) for number, name in enumerate(("broker_url", "result_url", "events_url"))}
    quick = {"sweep_seconds": 0.5, "redispatch_seconds": 1.0, "shutdown_seconds": 3.0}
    return CelerySettings(**{**urls, **quick, "queue": queue, **more})


class WorkerGroup:
    """A worker with its children, as one thing that can be killed.

    Args:
        folder: Where its order file and its log are.
        celery: Its settings; `concurrency` children.
    """

    def __init__(self, folder: Path, celery: CelerySettings) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.order = folder / f"{celery.queue}.order"
        self.celery = celery
        self._log = folder / f"{celery.queue}.log"
        told = {"folder": str(folder), "celery": celery.model_dump(mode="json")}
        with self._log.open("ab") as log:
            arguments, file = (json.dumps(told), str(self.order)), log.fileno()
            self.process = fork(
                "tests.support.celery_worker", *arguments, environment=os.environ, stdout=file, stderr=file
            )

    def wait_until_up(self) -> None:
        """Return when it takes messages."""
        client = redis.Redis.from_url(self.celery.broker_url)
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise AssertionError(f"the worker ended: {self.log()}")
            if any(int(one.get("cmd", "") == "brpop") for one in client.client_list()) and self._listens(client):
                client.close()
                return
            time.sleep(0.05)
        raise AssertionError(f"the worker did not start: {self.log()}")

    def _listens(self, client: Any) -> bool:
        return len(self.children()) >= self.celery.concurrency

    def children(self) -> list[psutil.Process]:
        """Its child processes."""
        found: list[psutil.Process] = psutil.Process(self.process.pid).children()
        return found

    def log(self) -> str:
        """The end of what it wrote."""
        return self._log.read_text()[-4000:]

    def send_signal(self, number: int) -> None:
        """Send a signal to the worker and its children, as a machine that loses power does."""
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """Kill all of it, and wait until it is gone."""
        family = self._family()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        await_ends(family)

    def wait(self) -> None:
        """Wait until all of it is gone."""
        self.kill()

    def stop(self) -> None:
        """Stop it as `headgate worker` is stopped."""
        family = self._family()
        self.process.terminate()
        self.process.wait(PATIENCE_SECONDS)
        await_ends(family)

    def _family(self) -> list[psutil.Process]:
        """It and its children; none when it is gone already."""
        try:
            return [psutil.Process(self.process.pid), *self.children()]
        except psutil.NoSuchProcess:
            return []


__all__ = ["OwnRedis", "WorkerGroup", "celery_settings", "write_order"]
