"""A real Azure Blob Storage on loopback: Azurite, which `scripts/ensure-azurite` installs where it can."""

import base64
import hashlib
import hmac
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.utils import formatdate
from pathlib import Path
from socket import socket

import httpx
import pytest

from tests.support.ports import free_port

ACCOUNT = "files"
KEY = "Zm9yIHRlc3RzIG9ubHksIG5vIHNlY3JldCBvZiBhbnlvbmU="
START_SECONDS = 60.0
_FOLDER = Path(__file__).parents[2] / ".tools" / "azurite"


@contextmanager
def azure_server(container: str) -> Iterator[str]:
    """The URL of a server with one container, up. Skips the test where it is not installed."""
    program = _FOLDER / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    node = shutil.which("node")
    if not program.exists() or node is None:
        pytest.skip("Azurite is not installed: run scripts/ensure-azurite")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [node, str(program), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence",
             "--silent", "--disableTelemetry", "--skipApiVersionCheck"],
            env={"AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}", "HOME": folder}, cwd=folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _await_listener(port, process)
            url = f"http://127.0.0.1:{port}/{ACCOUNT}"
            _create(url, container)
            yield url
        finally:
            process.kill()
            process.wait()


def _create(url: str, container: str) -> None:
    """Create a container, with a request that is signed as Azure asks (Shared Key)."""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    named = [f"{name}:{value}" for name, value in headers.items()]
    signed = "\n".join(["PUT", *[""] * 11, *named, f"/{ACCOUNT}/{ACCOUNT}/{container}", "restype:container"])
    signature = base64.b64encode(hmac.digest(base64.b64decode(KEY), signed.encode(), hashlib.sha256)).decode()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{signature}"
    httpx.put(f"{url}/{container}", params={"restype": "container"}, headers=headers).raise_for_status()


def _await_listener(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        with closing(socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError("Azurite did not start")
        time.sleep(0.05)
