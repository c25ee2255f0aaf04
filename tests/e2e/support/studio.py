"""A Headgate server for the browser, in a process of its own, and its API for setting a scene."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port

START_SECONDS = 2 * PATIENCE_SECONDS


class Studio:
    """A running server."""

    def __init__(self, url: str, process: "subprocess.Popen[bytes] | None" = None) -> None:
        self.url = url
        self.process = process
        self.api = httpx2.Client(base_url=f"{url}/api/v1", timeout=PATIENCE_SECONDS)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Post to the API and give its answer."""
        answer = self.api.post(path, json=dict(body))
        answer.raise_for_status()
        return answer.json()

    def get(self, path: str) -> Any:
        """Read from the API."""
        answer = self.api.get(path)
        answer.raise_for_status()
        return answer.json()

    def flow(self, spec: str) -> str:
        """A new flow from spec text; its id."""
        found: str = self.post("/flows/import", {"content": spec})["id"]
        return found


@contextmanager
def start_studio(
    folder: Path, *, program: Sequence[str | Path] = (sys.executable, "-m", "headgate"), **environment: str
) -> Iterator[Studio]:
    """Start a server with its data in `folder`; more of its settings as environment variables."""
    port = free_port()
    own = {
        "HEADGATE_DATA_DIR": str(folder),
        "HEADGATE_SERVER__PORT": str(port),
        "HEADGATE_LOG__FORMAT": "json",
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HEADGATE_")}
    command = [*program, "serve"]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env={**clean, **own, **environment}, stdout=log, stderr=log)
    studio = Studio(f"http://127.0.0.1:{port}", process)
    try:
        _wait(studio, folder / "server.log")
        yield studio
    finally:
        studio.api.close()
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def _wait(studio: Studio, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if studio.process is not None and studio.process.poll() is not None:
            break
        try:
            if httpx2.get(f"{studio.url}/health/ready", timeout=2).status_code == 200:
                return
        except httpx2.HTTPError:
            time.sleep(0.1)
    raise RuntimeError(f"The server did not start:\n{log.read_text()[-2000:]}")
