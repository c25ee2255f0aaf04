"""Public interface of the sandbox: `SandboxPool().runner(tenant_id)` runs the code of one execution."""

import asyncio
import contextlib
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import orjson
from pydantic import JsonValue

from headgate.foundation.errors import Invalid
from headgate.foundation.fair_places import FairPlaces, Place, Share, share_of
from headgate.graph.manifest import Manifest
from headgate.sandbox import libraries
from headgate.sandbox.broker.rules import NO_NETWORK, Grant, NetworkRules
from headgate.sandbox.broker.session import Session
from headgate.sandbox.errors import CodeTimedOut, CodeTooBig, SandboxBusy
from headgate.sandbox.guest.wire import FrameTooLong
from headgate.sandbox.libraries import Kit
from headgate.sandbox.limits import Limits, PoolSize
from headgate.sandbox.reading.scan import check_code, check_component
from headgate.sandbox.report import SandboxReport, probe
from headgate.sandbox.workers import answers
from headgate.sandbox.workers.request import Owner, Request, Scope
from headgate.sandbox.workers.stock import WorkerStock
from headgate.sandbox.workers.watchdog import Watchdog
from headgate.sandbox.workers.worker import Worker

DEFAULT_SIZE = PoolSize()
DEFAULT_LIMITS = Limits()


class ScopedRunner:
    """The `CodeRunner` of one execution, for example of a step; `close` it at the end.

    Calls of the same code and manifest may share a worker when the previous call left nothing behind. Workers are never
    shared between runners: the effects of custom code on its process end with the execution.

    Args:
        pool: The pool of its workers.
        tenant_id: The tenant.
    """

    def __init__(self, pool: "SandboxPool", tenant_id: str) -> None:
        self._pool = pool
        self._scope = Scope(tenant_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End its workers."""
        self._pool.close_scope(self._scope)

    def opens(self, manifest: Manifest) -> bool:
        """Return whether the operator allows every host of a manifest."""
        return self._pool.network.opens(manifest)

    async def call(
        self, code: str, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float = 10.0
    ) -> JsonValue:
        """Call a function of `code` with keyword arguments.

        Raises:
            CodeRefused: The scan rejected it; nothing ran.
            CodeFailed: The code raised or crashed; with exception, line and frames.
            CodeTimedOut: It exceeded `timeout_seconds` or the processor time.
            CodeTooBig: Code, arguments, result or files exceed a limit.
            SandboxUnavailable: This system cannot isolate it.
            SandboxBusy: No worker became free.
        """
        return await self._pool.call_in(self._scope, code, function, arguments, timeout_seconds=timeout_seconds)

    async def call_host(
        self,
        code: str,
        host: str,
        arguments: Mapping[str, JsonValue],
        *,
        manifest: Manifest,
        timeout_seconds: float = 10.0,
    ) -> JsonValue:
        """Load `code` and call the trusted function `host` on it: `host(module, arguments)` returns JSON.

        The code may only import modules that the manifest declares.

        Raises:
            CodeFailed: The code or the function raised; with its message, remedy and the line of the code.
            CodeRefused, CodeTimedOut, CodeTooBig, SandboxUnavailable, SandboxBusy: As for `call`.
        """
        return await self._pool.call_host_in(
            self._scope, code, host, arguments, manifest=manifest, timeout_seconds=timeout_seconds
        )


class SandboxPool:
    """Workers for custom code. Starts on first use; bound to one event loop; close it with `aclose`.

    Args:
        limits: Limits of each call.
        size: Number of workers.
        insecure: When a layer of isolation is missing, run with resource limits in a separate process instead of
            refusing. Has no effect otherwise.
        scan: Whether code is analysed and rejected with a clear message before it runs.
        import_paths: Import folders of custom code in addition to the standard library; by default the installed
            packages.
        hosts: The trusted functions of `call_host`, as `module:function`.
        network: The operator's connection rules for components.
        temporary: Folder for the workers' scratch folders, which other users must be able to traverse; by default the
            system's.
        most: Maximum concurrent calls of a tenant, a space and a user, by path; None means no limit.
        probe: Reports the isolation layers of this system.
    """

    def __init__(
        self,
        *,
        limits: Limits = DEFAULT_LIMITS,
        size: PoolSize = DEFAULT_SIZE,
        insecure: bool = False,
        scan: bool = True,
        import_paths: tuple[str, ...] | None = None,
        hosts: tuple[str, ...] = libraries.HOSTS,
        network: NetworkRules = NO_NETWORK,
        temporary: Path | None = None,
        most: Callable[[tuple[str, ...]], int | None] = lambda _: None,
        probe: Callable[[], SandboxReport] = probe,
    ) -> None:
        self.limits = limits
        self.size = size
        self.scan = scan
        self._places = FairPlaces(size.running, size.reserve, limit_of=most)
        new_stock = functools.partial(
            WorkerStock,
            limits=limits,
            size=size,
            insecure=insecure,
            probe=probe,
            import_paths=libraries.installed_packages() if import_paths is None else import_paths,
            temporary=temporary,
        )
        self._hosts = hosts
        self.network = network
        self._stock = new_stock(kit=Kit())
        rehearsal = libraries.REHEARSAL if hosts == libraries.HOSTS else "[]"
        self._components = new_stock(kit=Kit(hosts=hosts, rehearsal=rehearsal))
        self._connected = new_stock(kit=Kit(hosts=hosts, rehearsal=rehearsal, network=True))

    def runner(self, tenant_id: str) -> ScopedRunner:
        """Return the runner of one execution for a tenant."""
        return ScopedRunner(self, tenant_id)

    def close_scope(self, scope: Scope) -> None:
        """End the workers of a finished execution."""
        scope.closed = True
        for stock in (self._stock, self._components, self._connected):
            stock.close(scope)

    async def call_in(
        self, scope: Scope, code: str, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float
    ) -> JsonValue:
        """See `ScopedRunner.call`."""
        self._check_size(code)
        if self.scan:
            check_code(code, function)
        target = f"{function}()"
        encoded = self._encode(target, arguments)
        seconds = min(timeout_seconds, self.limits.wall_seconds)
        request = Request(Owner(scope, code), target, {"function": function}, encoded, seconds)
        return await self._execute(self._stock, request)

    async def call_host_in(
        self,
        scope: Scope,
        code: str,
        host: str,
        arguments: Mapping[str, JsonValue],
        *,
        manifest: Manifest,
        timeout_seconds: float,
    ) -> JsonValue:
        """See `ScopedRunner.call_host`."""
        if host not in self._hosts:
            raise Invalid(f"'{host}' is not one of the functions that can be called on custom code.")
        self._check_size(code)
        if self.scan:
            check_component(code)
        target = "the component"
        encoded = self._encode(target, arguments)
        seconds = min(timeout_seconds, self.limits.wall_seconds)
        grants: dict[str, JsonValue] = {"imports": list(manifest.imports)}
        request = Request(Owner(scope, code, manifest), target, {"host": host}, encoded, seconds, grants)
        connects = bool(manifest.hosts and self.network.hosts)
        return await self._execute(self._connected if connects else self._components, request)

    async def start(self) -> None:
        """Start now rather than on first use. Raises `SandboxUnavailable`."""
        await self._stock.start()

    async def aclose(self) -> None:
        """End every process and remove every file of the pool."""
        for stock in (self._stock, self._components, self._connected):
            await stock.aclose()

    def _check_size(self, code: str) -> None:
        try:
            size = len(code.encode())
        except UnicodeEncodeError as error:
            raise Invalid("the code is not valid Unicode.", remedy="Save it as UTF-8.") from error
        if size > self.limits.code_bytes:
            raise CodeTooBig(
                f"the code is {size} bytes long; the limit is {self.limits.code_bytes}.",
                remedy="Split the node in two, or install long code as a package.",
            )

    def _encode(self, target: str, arguments: Mapping[str, JsonValue]) -> bytes:
        try:
            encoded = orjson.dumps(dict(arguments))
        except TypeError as error:
            raise Invalid(
                f"the arguments of {target} are not JSON: {error}.",
                remedy="Numbers must fit 64 bits, and text must be valid Unicode.",
            ) from error
        if len(encoded) > self.limits.input_bytes:
            raise CodeTooBig(
                f"{target} received {len(encoded)} bytes of arguments; the limit is {self.limits.input_bytes}.",
                remedy="Pass less, for example a selection of the data.",
            )
        return encoded

    async def _place(self, share: Share) -> Place:
        """Wait for a slot of the pool."""
        try:
            return await self._places.take(share, self.size.queue_seconds)
        except TimeoutError:
            raise SandboxBusy(
                f"no sandbox worker became free for {self.size.queue_seconds:g} s.",
                remedy="Try again later.",
            ) from None

    async def _execute(self, stock: WorkerStock, request: Request) -> JsonValue:
        slot = await self._place(share_of(request.owner.scope.tenant_id))
        try:
            worker = await stock.take(request.owner)
            fit = False
            try:
                async with self._session(worker) as session:
                    value = await self._exchange(worker, request, session)
                fit = session is None or session.intact
                return value
            finally:
                stock.put_back(worker, fit=fit)
        finally:
            self._places.release(slot)

    def _session(self, worker: Worker) -> contextlib.AbstractAsyncContextManager[Session | None]:
        """Return the network session of a call, when its worker has network."""
        if worker.broker is None or worker.owner is None:
            return contextlib.nullcontext()
        return Session(worker.broker, Grant.of(worker.owner.manifest, self.network), self.limits)

    async def _exchange(self, worker: Worker, request: Request, session: Session | None) -> JsonValue:
        worker.calls += 1
        limits = self.limits
        with Watchdog(worker, limits, session) as watchdog:
            try:
                async with asyncio.timeout(request.timeout_seconds):
                    await worker.send(request.payload(first=worker.calls == 1))
                    frame = await worker.read_frame(limits.output_bytes)
            except TimeoutError:
                raise CodeTimedOut(
                    f"{request.what} took longer than {request.timeout_seconds:g} s and was stopped.",
                    remedy="Check for an endless loop, or raise the node's time limit.",
                ) from None
            except FrameTooLong as error:
                raise CodeTooBig(f"the result of {request.what}: {error}.", remedy="Return less.") from None
            except (EOFError, ConnectionError):
                if watchdog.verdict:
                    raise watchdog.verdict from None
                raise answers.ended(request.what, await worker.exit_status()) from None
        return answers.read_answer(frame, request.id, request.owner.code, request.what, limits)
