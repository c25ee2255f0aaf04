"""Runs one local model at a time in a separate process, started at the first call, ended with Headgate."""

import atexit
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from headgate.features.models.errors import LocalModelFailed
from headgate.features.models.local.weights import Use

DEFAULT_CONTEXT = 8192
"""Tokens a local model keeps in view; each thousand costs about 30 MB with the 1.5B model."""
_CONTEXTS = {"embedding": 512, "rerank": 2048}
"""Tokens of one text that a local model embeds, or of query and text that it reranks: more than a passage has. A model
that takes fewer has that many."""
SLEEP_AFTER_SECONDS = 600
"""Idle time after which the weights leave memory; the next call loads them again (about 4 s)."""
_LOAD_SECONDS = 180.0
_CLOSE_SECONDS = 5.0
_CHILD = (sys.executable, "-m", "headgate.features.models.local.serve")
_PASSED_ON = {"PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH", "PYTHONPATH"}
"""Environment the process gets: no keys are among it."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address of the running model, on this machine only, and its access token."""

    url: str
    token: str


def default_threads() -> int:
    """Return all cores but one: with every core busy, generation collapses (measured)."""
    return max(1, (os.cpu_count() or 2) - 1)


class LocalModelServer:
    """At most one model process. Calls hold it while they run; another model waits until no call is under way.

    Args:
        threads: Threads that compute; by default all cores but one.
        context: Tokens kept in view.
        sleep_after: Idle seconds after which the weights leave memory.
        use: What its models are for.
        command: What to start; replaced in tests.
    """

    def __init__(
        self,
        *,
        threads: int | None = None,
        context: int = DEFAULT_CONTEXT,
        sleep_after: int = SLEEP_AFTER_SECONDS,
        use: Use = "chat",
        command: tuple[str, ...] = _CHILD,
    ) -> None:
        self._settings = {
            "threads": threads or default_threads(),
            "context": _CONTEXTS.get(use, context),
            "sleep_after": sleep_after,
            "use": use,
        }
        self._command = command
        self._lock = threading.Lock()
        self._starting = False
        self._users = 0
        self._path: Path | None = None
        self._process: subprocess.Popen[str] | None = None
        self._endpoint: Endpoint | None = None

    def try_acquire(self, path: Path) -> Endpoint | None:
        """Hold the model in that file, starting it when needed (seconds); None while another one is busy.

        Each success needs one `release`. Raises `LocalModelFailed` when it does not load.
        """
        with self._lock:
            if self._starting:
                return None
            if self._path == path and self._endpoint is not None and self._alive():
                self._users += 1
                return self._endpoint
            if self._users and self._alive():
                return None
            self._starting = True
            self._users = 0
        try:
            self._stop()
            self._start(path)
        finally:
            with self._lock:
                self._starting = False
                self._users = 1 if self._endpoint else 0
        return self._endpoint

    def release(self, endpoint: Endpoint) -> None:
        """End a call. No effect on a process that was started after the acquired one."""
        with self._lock:
            if endpoint is self._endpoint and self._users:
                self._users -= 1

    def close(self) -> None:
        """End the process. The next call starts it again."""
        with self._lock:
            self._stop()

    @property
    def running(self) -> Path | None:
        """The file of the model that is loaded or asleep; None when nothing runs."""
        return self._path if self._alive() else None

    @property
    def busy(self) -> int:
        """Calls under way."""
        return self._users

    @property
    def pid(self) -> int | None:
        """Id of the model's process."""
        return self._process.pid if self._process is not None and self._alive() else None

    def _alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _start(self, path: Path) -> None:
        token = secrets.token_urlsafe(24)
        environment = {name: value for name, value in os.environ.items() if name in _PASSED_ON}
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
            process = subprocess.Popen(  # noqa: S603 - our own module
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=environment,
                encoding="utf-8",
            )
            self._process, self._path = process, path
            atexit.register(self.close)
            answer = _converse(process, {**self._settings, "path": str(path), "token": token})
            if "url" not in answer:
                self._stop()
                complaints.seek(0)
                reason = _reason(complaints.read()) or str(answer.get("error", ""))
                raise LocalModelFailed(
                    f"The model {path.name} could not be loaded: {reason or 'its process ended'}.",
                    remedy=(
                        "Pull it again, or check the memory: it needs about "
                        f"{path.stat().st_size * 2 / 1000000000.0:.1f} GB."
                    ),
                )
        self._endpoint = Endpoint(str(answer["url"]), token)

    def _stop(self) -> None:
        process, self._process, self._endpoint, self._path = self._process, None, None, None
        atexit.unregister(self.close)
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()  # closing its input makes it exit
                except OSError:
                    continue
        try:
            process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _converse(process: "subprocess.Popen[str]", settings: dict[str, object]) -> dict[str, object]:
    """Send the settings and return the one-line response; empty when the process ended or timed out."""
    if process.stdin is None or process.stdout is None:
        return {}
    impatience = threading.Timer(_LOAD_SECONDS, process.kill)
    impatience.daemon = True
    impatience.start()
    started = time.monotonic()
    try:
        process.stdin.write(json.dumps(settings) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline() or "{}")
    except (OSError, ValueError):
        answer = {}
    finally:
        impatience.cancel()
    if not answer and time.monotonic() - started >= _LOAD_SECONDS:
        return {"error": f"it took more than {_LOAD_SECONDS:g} seconds"}
    return answer if isinstance(answer, dict) else {}


def _reason(complaints: str) -> str:
    """Return the first error llama.cpp or Python wrote, without the time and place in front."""
    if "No module named 'xllamacpp'" in complaints:
        return "the extra is missing, install it with pip install 'headgate[local]'"
    errors = [line.partition(" E ")[2].partition(": ")[2] for line in complaints.splitlines() if " E " in line]
    return next((error.strip() for error in errors if error.strip()), "")
