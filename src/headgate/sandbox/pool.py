"""The sandbox as the rest of Headgate uses it: `SandboxPool().runner(tenant_id)` runs the code of one execution."""

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
    """The `CodeRunner` of one execution, of a step for example; `close` it when that is over.

    Calls of the same code and manifest may share a worker, where the last one left nothing behind. No other runner ever
    gets it: what foreign code did to its process ends with the execution.

    Args:
        pool: Whose workers it uses.
        tenant_id: For whom.
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
        """Whether the operator opens every host that a manifest names."""
        return self._pool.network.opens(manifest)

    async def call(
        self, code: str, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float = 10.0
    ) -> JsonValue:
        """Call a function of `code` with keyword arguments.

        Raises:
            CodeRefused: The scan found something; nothing ran.
            CodeFailed: The code raised or crashed; with exception, line and frames.
            CodeTimedOut: It used more than `timeout_seconds`, or more processor time than the limit.
            CodeTooBig: Code, arguments, result or files are over a limit.
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
        """Load `code` and call the trusted function `host` on it: `host(module, arguments)` gives JSON.

        The code may import what the manifest names and no more.

        Raises:
            CodeFailed: The code or the function on it raised; the function's own message, remedy and the code's line.
            CodeRefused, CodeTimedOut, CodeTooBig, SandboxUnavailable, SandboxBusy: As for `call`.
        """
        return await self._pool.call_host_in(
            self._scope, code, host, arguments, manifest=manifest, timeout_seconds=timeout_seconds
        )


class SandboxPool:
    """Workers for foreign code. Starts on first use; belongs to one event loop; close it with `aclose`.

    Args:
        limits: Bounds of each call.
        size: How many workers to keep.
        insecure: Where a layer of isolation is missing, run with resource limits in a separate process rather than
            refuse. Where none is missing it changes nothing.
        scan: Whether code is read and refused with a good message before it runs.
        import_paths: Folders own code imports from beside the standard library; by default the installed packages.
        hosts: The trusted functions that `call_host` knows, as `module:function`.
        network: What components may connect to, where their manifests name it.
        temporary: Folder for the workers' scratch folders, which other users must be able to pass; by default the
            system's.
        most: Most calls at the same time of a tenant, a space and a user, by path; None: no limit.
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
        hosts: tuple[str, ...] = libraries.HOSTS,
        network: NetworkRules = NO_NETWORK,
        temporary: Path | None = None,
        most: Callable[[tuple[str, ...]], int | None] = lambda _: None,
        probe: Callable[[], SandboxReport] = probe,
    ) -> None:
        self.limits = limits
        self.size = size
        self.scan = scan
        self._places = FairPlaces(size.running, size.reserve, most=most)
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
        """The runner of one execution for a tenant."""
        return ScopedRunner(self, tenant_id)

    def close_scope(self, scope: Scope) -> None:
        """End the workers of an execution that is over."""
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
        what = f"{function}()"
        encoded = self._encode(what, arguments)
        seconds = min(timeout_seconds, self.limits.wall_seconds)
        request = Request(Owner(scope, code), what, {"function": function}, encoded, seconds)
        return await self._carry_out(self._stock, request)

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
            raise Invalid(f"'{host}' is not among the functions that may be called on own code.")
        self._check_size(code)
        if self.scan:
            check_component(code)
        what = "the component"
        encoded = self._encode(what, arguments)
        seconds = min(timeout_seconds, self.limits.wall_seconds)
        grants: dict[str, JsonValue] = {"imports": list(manifest.imports)}
        request = Request(Owner(scope, code, manifest), what, {"host": host}, encoded, seconds, grants)
        connects = bool(manifest.hosts and self.network.hosts)
        return await self._carry_out(self._connected if connects else self._components, request)

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
                remedy="Split the node in two, or install what is long as a package.",
            )

    def _encode(self, what: str, arguments: Mapping[str, JsonValue]) -> bytes:
        try:
            encoded = orjson.dumps(dict(arguments))
        except TypeError as error:
            raise Invalid(
                f"the arguments of {what} are not JSON: {error}.",
                remedy="Numbers must fit 64 bits, and text must be valid Unicode.",
            ) from error
        if len(encoded) > self.limits.input_bytes:
            raise CodeTooBig(
                f"{what} got {len(encoded)} bytes of arguments; the limit is {self.limits.input_bytes}.",
                remedy="Pass less, for example a selection of the data.",
            )
        return encoded

    async def _place(self, share: Share) -> Place:
        """Wait for one of the pool's running places."""
        try:
            return await self._places.take(share, self.size.queue_seconds)
        except TimeoutError:
            raise SandboxBusy(
                f"no sandbox worker became free for {self.size.queue_seconds:g} s.",
                remedy="Try again later.",
            ) from None

    async def _carry_out(self, stock: WorkerStock, request: Request) -> JsonValue:
        place = await self._place(share_of(request.owner.scope.tenant_id))
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
            self._places.release(place)

    def _session(self, worker: Worker) -> contextlib.AbstractAsyncContextManager[Session | None]:
        """The network of one call, where the worker has any."""
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
                    remedy="Look for a loop that does not end, or raise the node's time limit.",
                ) from None
            except FrameTooLong as error:
                raise CodeTooBig(f"the result of {request.what}: {error}.", remedy="Return less.") from None
            except (EOFError, ConnectionError):
                if watchdog.verdict:
                    raise watchdog.verdict from None
                raise answers.ended(request.what, await worker.exit_status()) from None
        return answers.read_answer(frame, request.id, request.owner.code, request.what, limits)
