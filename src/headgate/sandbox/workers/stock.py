"""The workers of a pool: unassigned spares, idle ones between two calls of a scope, and their zygote."""

import asyncio
import logging
import os
import secrets
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path

from headgate.sandbox import libraries
from headgate.sandbox.errors import SandboxUnavailable
from headgate.sandbox.guest.policy import Policy
from headgate.sandbox.libraries import Kit
from headgate.sandbox.limits import Limits, PoolSize
from headgate.sandbox.report import SandboxReport
from headgate.sandbox.workers.launcher import Launcher
from headgate.sandbox.workers.request import Owner, Scope
from headgate.sandbox.workers.worker import Worker

log = logging.getLogger(__name__)

FIRST_USER, USERS = 60578, 500
"""User ids without other users (systemd's UIDS-GIDS lists 60578 to 61183 as free); each pool starts at a random one."""
WORKER_PROCESSOR_SECONDS = 600
"""Hard limit of a worker's processor time; after half of it, a worker is replaced between calls."""
ENVELOPE_BYTES, LONGEST_ESCAPE = 4096, 6
"""Maximum request: its arguments, its code as a JSON string (six bytes for the worst character), twice that for the
names of imported modules, and a margin.
"""
REFILL_SECONDS = 0.005
"""Delay before the next spare is forked, so as not to compete with the call that took the last one."""
TEND_SECONDS = 1.0


class WorkerStock:
    """Assigns workers and takes them back. Starts the zygote on first use, and again after it was lost."""

    def __init__(
        self,
        *,
        limits: Limits,
        size: PoolSize,
        insecure: bool,
        probe: Callable[[], SandboxReport],
        import_paths: tuple[str, ...],
        temporary: Path | None,
        kit: Kit,
    ) -> None:
        self.limits = limits
        self.size = size
        self.insecure = insecure
        self.probe = probe
        self.kit = kit
        self.import_paths = tuple(str(Path(path).resolve()) for path in import_paths)
        self.temporary = (temporary or Path(tempfile.gettempdir())).resolve()
        self._launcher: Launcher | None = None
        self._starting = asyncio.Lock()
        self._spares: deque[asyncio.Task[Worker]] = deque()
        self._idle: list[Worker] = []
        self._slots: set[int] = set()
        self._numbers = 0
        self._tending: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self) -> None:
        """Start the zygote and the spare workers, unless they run. Raises `SandboxUnavailable`."""
        async with self._starting:
            if self._closed:
                raise SandboxUnavailable("The sandbox is closed.", remedy="Restart Headgate.")
            if self._launcher and self._launcher.alive:
                return
            await self._discard()
            report = self.probe()
            if not self.insecure:
                report.require()
            if not hasattr(os, "fork"):
                raise SandboxUnavailable(
                    "Custom code in a node requires a system with forked processes.",
                    remedy="Run Headgate on Linux, for example in a container.",
                )
            if not report.complete:
                missing = ", ".join(layer.name for layer in report.missing)
                log.warning(
                    "Custom code in nodes is NOT isolated, it runs with resource limits only; missing: %s", missing
                )
            self._launcher = await Launcher.start(self._policy(isolated=report.complete))
        self._order_spares(self._launcher)

    async def aclose(self) -> None:
        """End every process and remove every file."""
        self._closed = True
        async with self._starting:
            await self._discard()

    async def take(self, owner: Owner) -> Worker:
        """Return a worker of this owner, or assign a spare. Raises `SandboxUnavailable`."""
        while not self._launcher or not self._launcher.alive:
            await self.start()
        for worker in reversed(self._idle):
            if worker.owner == owner and not worker.gone:
                self._idle.remove(worker)
                return worker
        worker = await self._next_spare(self._launcher)
        worker.owner = owner
        return worker

    def put_back(self, worker: Worker, *, fit: bool) -> None:
        """Keep a worker for its scope, unless it failed, is worn out or left something behind."""
        worn = worker.calls >= self.size.calls or worker.processor_seconds() > WORKER_PROCESSOR_SECONDS / 2
        is_closed = self._closed or worker.owner is None or worker.owner.scope.closed
        if not fit or worn or is_closed or worker.gone or worker.left_traces():
            worker.kill()
            return
        worker.idle_since = asyncio.get_running_loop().time()
        self._idle.append(worker)
        while len(self._idle) > self.size.idle:
            self._idle.pop(0).kill()
        if not self._tending or self._tending.done():
            self._tending = asyncio.create_task(self._tend())

    def close(self, scope: Scope) -> None:
        """End the idle workers of a scope; a busy one ends with its call."""
        for worker in [idle for idle in self._idle if idle.owner is not None and idle.owner.scope is scope]:
            self._idle.remove(worker)
            worker.kill()

    async def _next_spare(self, launcher: Launcher) -> Worker:
        while self._spares and self._spares[0].done() and _useless(self._spares[0]):
            self._spares.popleft()
        if not self._spares:
            self._order_spare(launcher)
        spare = self._spares.popleft()
        try:
            worker = await asyncio.shield(spare)
        except asyncio.CancelledError:
            self._spares.appendleft(spare)
            raise
        asyncio.get_running_loop().call_later(REFILL_SECONDS, self._order_spares, launcher)
        return worker

    def _order_spares(self, launcher: Launcher) -> None:
        while launcher.alive and len(self._spares) < self.size.spare:
            self._order_spare(launcher)

    def _order_spare(self, launcher: Launcher) -> None:
        slot = next(slot for slot in range(len(self._slots) + 1) if slot not in self._slots)
        self._slots.add(slot)
        self._numbers += 1
        starting = Worker.start(launcher, f"w{self._numbers}", slot, lambda: self._slots.discard(slot))
        self._spares.append(asyncio.create_task(starting))

    async def _tend(self) -> None:
        """End idle workers after their time, until none is left."""
        while True:
            await asyncio.sleep(min(TEND_SECONDS, self.size.idle_seconds))
            if not self._idle:
                return
            oldest = asyncio.get_running_loop().time() - self.size.idle_seconds
            for worker in list(self._idle):
                if worker.gone or worker.left_traces() or worker.idle_since <= oldest:
                    self._idle.remove(worker)
                    worker.kill()

    async def _discard(self) -> None:
        if self._tending:
            self._tending.cancel()
            await asyncio.gather(self._tending, return_exceptions=True)
            self._tending = None
        if self._launcher:
            await self._launcher.aclose()
            self._launcher = None
        for worker in self._idle:
            worker.kill()
        self._idle.clear()
        for spare in await asyncio.gather(*self._spares, return_exceptions=True):
            if isinstance(spare, Worker):
                spare.kill()
        self._spares.clear()

    def _policy(self, *, isolated: bool) -> Policy:
        limits, kit = self.limits, self.kit
        trusted = libraries.certificate_variables() if kit.network else {}
        certificates = (*libraries.CERTIFICATES, *trusted.values()) if kit.network else ()
        return Policy(
            isolated=isolated,
            memory_bytes=limits.memory_bytes,
            file_bytes=limits.file_bytes,
            open_files=limits.open_files,
            threads=limits.threads,
            processor_seconds=WORKER_PROCESSOR_SECONDS,
            input_bytes=limits.input_bytes + ENVELOPE_BYTES + 2 * LONGEST_ESCAPE * limits.code_bytes,
            output_bytes=limits.output_bytes,
            network=kit.network,
            environment=tuple(f"{name}={value}" for name, value in trusted.items()),
            first_user=FIRST_USER + secrets.randbelow(USERS),
            import_paths=self.import_paths,
            readable=(*libraries.readable_paths(self.import_paths), *certificates),
            devices=libraries.DEVICES,
            preload=(*kit.preload, *libraries.WEB) if kit.network else kit.preload,
            platform=libraries.platform_folder(),
            hosts=kit.hosts,
            rehearsal=kit.rehearsal,
            scratch_parent=str(self.temporary),
        )


def _useless(spare: asyncio.Task[Worker]) -> bool:
    """Return whether a spare that has started, or failed to start, is unusable."""
    return spare.cancelled() or spare.exception() is not None or spare.result().gone
