"""Watches long calls: processor time, scratch files and traffic, which no system limit covers per call."""

import asyncio
from types import TracebackType
from typing import Self

from headgate.sandbox.broker.session import Session
from headgate.sandbox.errors import CodeTimedOut, CodeTooBig
from headgate.sandbox.limits import Limits
from headgate.sandbox.workers.worker import Worker, folder_excess

INTERVAL_SECONDS = 0.05


class Watchdog:
    """Kills the worker when a limit is exceeded; `verdict` then contains the reason. Costs nothing for short calls.

    Use as `with Watchdog(worker, limits) as watchdog:` around the call.
    """

    def __init__(self, worker: Worker, limits: Limits, session: Session | None = None) -> None:
        self.worker = worker
        self.limits = limits
        self.session = session
        self.verdict: CodeTimedOut | CodeTooBig | None = None
        self._used_before = worker.processor_seconds()
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        self._timer = asyncio.get_running_loop().call_later(INTERVAL_SECONDS, self._start)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer:
            self._timer.cancel()
        if self._task:
            self._task.cancel()

    def _start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        while not self.verdict:
            self.verdict = await self._judge()
            if self.verdict:
                self.worker.kill()
            await asyncio.sleep(INTERVAL_SECONDS)

    async def _judge(self) -> CodeTimedOut | CodeTooBig | None:
        used = self.worker.processor_seconds() - self._used_before
        if used > self.limits.processor_seconds:
            return CodeTimedOut(
                f"the code used more than {self.limits.processor_seconds:g} s of processor time and was stopped.",
                remedy="Check for an endless loop, or give the step less input.",
            )
        excess = await asyncio.to_thread(folder_excess, self.worker.scratch, self.limits)
        if excess:
            return CodeTooBig(
                f"the code was stopped: {excess}.",
                remedy="Keep data in memory and return it; the scratch folder is for small temporary files.",
            )
        if self.session and self.session.bytes_transferred() > self.limits.network_bytes:
            return CodeTooBig(
                f"the code was stopped: its connections transferred more than {self.limits.network_bytes} bytes.",
                remedy="Request less data from the servers.",
            )
        return None
