"""The sandbox as the rest of Headgate uses it: `SandboxPool().runner(tenant_id)` is a `CodeRunner`."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import JsonValue

from headgate.foundation.errors import Invalid
from headgate.sandbox import answers, libraries
from headgate.sandbox.errors import CodeTimedOut, CodeTooBig, SandboxBusy
from headgate.sandbox.guest.wire import FrameTooLong
from headgate.sandbox.limits import Limits, PoolSize
from headgate.sandbox.report import SandboxReport, probe
from headgate.sandbox.scan import check_code
from headgate.sandbox.stock import WorkerStock
from headgate.sandbox.watchdog import Watchdog
from headgate.sandbox.worker_process import Worker

DEFAULT_SIZE = PoolSize()
DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class TenantRunner:
    """The `CodeRunner` of one tenant."""

    pool: "SandboxPool"
    tenant_id: str

    async def call(
        self, code: str, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float = 10.0
    ) -> JsonValue:
        """Call a function of `code`; see `SandboxPool.call`."""
        return await self.pool.call(self.tenant_id, code, function, arguments, timeout_seconds=timeout_seconds)


class SandboxPool:
    """Workers for foreign code. Starts on first use; belongs to one event loop; close it with `aclose`.

    Args:
        limits: Bounds of each call.
        size: How many workers to keep.
        insecure: Where a layer of isolation is missing, run with resource limits in a separate process rather than
            refuse. Where none is missing it changes nothing.
        scan: Whether code is read and refused with a good message before it runs.
        import_paths: Folders own code imports from beside the standard library; by default the installed packages.
        temporary: Folder for the workers' scratch folders, which other users must be able to pass; by default the
            system's.
        probe: What tells which layers this system has.
    """

    def __init__(
        self,
        *,
        limits: Limits = DEFAULT_LIMITS,
        size: PoolSize = DEFAULT_SIZE,
        insecure: bool = False,
        scan: bool = True,
        import_paths: tuple[str, ...] | None = None,
        temporary: Path | None = None,
        probe: Callable[[], SandboxReport] = probe,
    ) -> None:
        self.limits = limits
        self.size = size
        self.scan = scan
        self._turns = asyncio.Semaphore(size.running)
        self._stock = WorkerStock(
            limits=limits,
            size=size,
            insecure=insecure,
            probe=probe,
            import_paths=libraries.installed_packages() if import_paths is None else import_paths,
            temporary=temporary,
        )

    def runner(self, tenant_id: str) -> TenantRunner:
        """The runner that components of one tenant get."""
        return TenantRunner(self, tenant_id)

    async def call(
        self,
        tenant_id: str,
        code: str,
        function: str,
        arguments: Mapping[str, JsonValue],
        *,
        timeout_seconds: float = 10.0,
    ) -> JsonValue:
        """Call a function of `code` with keyword arguments in a worker that serves no other tenant and no other code.

        Raises:
            CodeRefused: The scan found something; nothing ran.
            CodeFailed: The code raised or crashed; with exception, line and frames.
            CodeTimedOut: It used more than `timeout_seconds`, or more processor time than the limit.
            CodeTooBig: Code, arguments, result or files are over a limit.
            SandboxUnavailable: This system cannot isolate it.
            SandboxBusy: No worker became free.
        """
        self._check_code(code, function)
        encoded = self._encode(function, arguments)
        request = _Request(code, function, encoded, min(timeout_seconds, self.limits.wall_seconds))
        async with self._turn():
            worker = await self._stock.take(tenant_id, code)
            return await self._serve(worker, request)

    async def start(self) -> None:
        """Start now rather than on first use. Raises `SandboxUnavailable`."""
        await self._stock.start()

    async def aclose(self) -> None:
        """End every process and remove every file of the pool."""
        await self._stock.aclose()

    def _check_code(self, code: str, function: str) -> None:
        try:
            size = len(code.encode())
        except UnicodeEncodeError as error:
            raise Invalid("the code is not valid Unicode.", remedy="Save it as UTF-8.") from error
        if size > self.limits.code_bytes:
            raise CodeTooBig(
                f"the code is {size} bytes long; the limit is {self.limits.code_bytes}.",
                remedy="Split the node in two, or install what is long as a package.",
            )
        if self.scan:
            check_code(code, function)

    def _encode(self, function: str, arguments: Mapping[str, JsonValue]) -> bytes:
        try:
            encoded = orjson.dumps(dict(arguments))
        except TypeError as error:
            raise Invalid(
                f"the arguments of {function}() are not JSON: {error}.",
                remedy="Numbers must fit 64 bits, and text must be valid Unicode.",
            ) from error
        if len(encoded) > self.limits.input_bytes:
            raise CodeTooBig(
                f"{function}() got {len(encoded)} bytes of arguments; the limit is {self.limits.input_bytes}.",
                remedy="Pass less, for example a selection of the data.",
            )
        return encoded

    @contextlib.asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait for one of the pool's running places."""
        try:
            async with asyncio.timeout(self.size.queue_seconds):
                await self._turns.acquire()
        except TimeoutError:
            raise SandboxBusy(
                f"all {self.size.running} sandbox workers stayed busy for {self.size.queue_seconds:g} s.",
                remedy="Try again later.",
            ) from None
        try:
            yield
        finally:
            self._turns.release()

    async def _serve(self, worker: Worker, request: "_Request") -> JsonValue:
        answered = False
        try:
            value = await self._exchange(worker, request)
            answered = True
            return value
        finally:
            self._stock.put_back(worker, fit=answered)

    async def _exchange(self, worker: Worker, request: "_Request") -> JsonValue:
        worker.calls += 1
        limits = self.limits
        with Watchdog(worker, limits) as watchdog:
            try:
                async with asyncio.timeout(request.timeout_seconds):
                    await worker.send(request.payload(worker.calls))
                    frame = await worker.read_frame(limits.output_bytes)
            except TimeoutError:
                raise CodeTimedOut(
                    f"{request.function}() took longer than {request.timeout_seconds:g} s and was stopped.",
                    remedy="Look for a loop that does not end, or raise the node's time limit.",
                ) from None
            except FrameTooLong as error:
                raise CodeTooBig(f"the result of {request.function}(): {error}.", remedy="Return less.") from None
            except (EOFError, ConnectionError):
                if watchdog.verdict:
                    raise watchdog.verdict from None
                raise answers.ended(request.function, await worker.exit_status()) from None
        return answers.read_answer(frame, worker.calls, request.code, request.function, limits)


@dataclass(frozen=True, slots=True)
class _Request:
    """One call, ready to be sent."""

    code: str
    function: str
    arguments: bytes
    """JSON object."""
    timeout_seconds: float

    def payload(self, call: int) -> bytes:
        """The request's JSON; a worker's first call brings the code along."""
        members = {"id": call, "function": self.function, "arguments": orjson.Fragment(self.arguments)}
        return orjson.dumps(members | {"code": self.code} if call == 1 else members)
