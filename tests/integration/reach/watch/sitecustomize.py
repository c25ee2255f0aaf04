"""Records the connections of every Python process of the product, and which of them its guards opened.

The folder of this file is on the PYTHONPATH of the processes under test, so each interpreter imports it before anything
else. Events go as JSON lines to the file that `WATCH_RECORD` names:

- `connect`, `send`, `lookup`: seen by the interpreter's audit hook, whichever library does it; `guarded` says whether a
  guard of Headgate was opening a connection in this context.
- `opened`, `asked`: a guard opens a connection to an address that it checked, or looks a name up.
- `own`: a port on which the relay of compiled libraries listens.

`WATCH_LOOP=asyncio` hides uvloop, whose connections raise no audit events. `WATCH_LEAK` adds a
component that steps around the guards.
"""

import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from types import ModuleType, SimpleNamespace
from typing import Any

RECORD = os.environ.get("WATCH_RECORD", "")
_guard: ContextVar[str] = ContextVar("guard", default="")


def _write(event: str, host: Any, port: Any = 0, **more: Any) -> None:
    host = host.decode() if isinstance(host, bytes) else str(host)
    line = json.dumps({"event": event, "host": host, "port": port, "part": _part(), **more})
    file = os.open(RECORD, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, line.encode() + b"\n")
    finally:
        os.close(file)


def _part() -> str:
    """The command that the process was started with; a worker's children are forked from it."""
    return next((one for one in sys.argv[1:] if not one.startswith("-")), "")


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"} and isinstance(arguments[1], tuple):
        host, port = arguments[1][:2]
        kind = "connect" if event == "socket.connect" else "send"
        _write(kind, host, port, guarded=bool(_guard.get()), where=_where())
    elif event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyname_ex"}:
        _write("lookup", arguments[0], arguments[1] if len(arguments) > 1 else 0, where=_where())


def _where() -> list[str]:
    frames = [one for one in traceback.extract_stack() if one.filename != __file__]
    return [f"{one.filename}:{one.lineno} {one.name}" for one in frames[-14:]]


class _Recorded:
    """A guard's connector: what it is asked to open was checked."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Waiting(_Recorded):
    async def connect_tcp(self, host: str, port: int, *rest: Any) -> Any:
        return await _opening(self._inner.connect_tcp)(host, port, *rest)


class _Blocking(_Recorded):
    def connect_tcp(self, host: str, port: int, *rest: Any) -> Any:
        _write("opened", host, port, guard="http")
        token = _guard.set("http")
        try:
            return self._inner.connect_tcp(host, port, *rest)
        finally:
            _guard.reset(token)


def _opening(connect: Callable[..., Any], guard: str = "http") -> Callable[..., Any]:
    async def opening(host: str, port: int, *rest: Any) -> Any:
        _write("opened", host, port, guard=guard)
        token = _guard.set(guard)
        try:
            return await connect(host, port, *rest)
        finally:
            _guard.reset(token)

    return opening


def _watch_wire(module: ModuleType) -> None:
    for name, recorded in (("CheckedBackend", _Waiting), ("BlockingBackend", _Blocking)):
        _wrap_network(getattr(module, name), recorded)


def _wrap_network(backend: Any, recorded: type[_Recorded]) -> None:
    begin = backend.__init__

    def __init__(self: Any, *given: Any, **named: Any) -> None:  # noqa: N807 - it replaces one
        begin(self, *given, **named)
        self._network = recorded(self._network)

    backend.__init__ = __init__


def _watch_broker(module: Any) -> None:
    module._try = _opening(module._try, "broker")


def _watch_session(module: Any) -> None:
    connect = module.create_connection

    def opening(address: tuple[str, int], *rest: Any) -> Any:
        return _Blocking(SimpleNamespace(connect_tcp=lambda *_: connect(address, *rest))).connect_tcp(*address)

    module.create_connection = opening


def _watch_sockets(module: Any) -> None:
    """Sockets of components; drivers that connect by themselves are handed an address that was checked."""
    _watch_session(module)
    checked = module.driver_endpoint

    async def endpoint(connection: Any) -> Any:
        found = await checked(connection)
        _write("opened", found.address, found.port, guard="driver")
        return found

    module.driver_endpoint = endpoint


def _watch_relay(module: Any) -> None:
    begin = module.Relay.__init__

    def __init__(self: Any, *given: Any, **named: Any) -> None:  # noqa: N807 - it replaces one
        begin(self, *given, **named)
        _write("own", "127.0.0.1", self.port)

    module.Relay.__init__ = __init__


def _watch_names(module: Any) -> None:
    look_up = module._look_up

    async def asked(host: str, port: int, resolver: Any) -> Any:
        _write("asked", host, port)
        return await look_up(host, port, resolver)

    module._look_up = asked


def _add_leak(module: Any) -> None:
    module.MODULES["Leak"] = "tests.integration.reach.leaks"


_PATCHES: dict[str, Callable[[Any], None]] = {
    "headgate.foundation.guarded_http.wire": _watch_wire,
    "headgate.foundation.guarded_http.checked_socket": _watch_session,
    "headgate.foundation.guarded_http.relay": _watch_relay,
    "headgate.foundation.guarded_http.resolving": _watch_names,
    "headgate.sandbox.broker.connecting": _watch_broker,
    "headgate.components.sockets": _watch_sockets,
}


class _Finder:
    """Applies the patch of a module as soon as it was imported."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        patch = _PATCHES.pop(name, None)
        if patch is None:
            return None
        spec = importlib.util.find_spec(name)
        assert spec is not None
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            patch(module)

        loader.exec_module = exec_module
        return spec


if RECORD:
    if os.environ.get("WATCH_LEAK"):
        _PATCHES["headgate.components"] = _add_leak
    if os.environ.get("WATCH_LOOP") == "asyncio":
        sys.modules["uvloop"] = None  # type: ignore[assignment]
    finder: Any = _Finder()
    sys.meta_path.insert(0, finder)
    sys.addaudithook(_hook)
