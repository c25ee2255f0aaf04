"""`headgate serve`."""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Annotated, Any

import typer
import uvicorn

from headgate.entrypoints.cli.exposure import exposures, refuse_exposure
from headgate.entrypoints.cli.json_output import JsonFlag, print_json
from headgate.entrypoints.cli.printable import printable
from headgate.entrypoints.handed_over import handed_socket, listen, report_ready
from headgate.entrypoints.http.app import create_app
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.log import configure
from headgate.foundation.settings import ServerSettings, Settings
from headgate.foundation.settings.unknown import NO_SETTING, unknown_variables

if sys.platform != "win32":
    from headgate.entrypoints.http.bounded_protocol import bounded

app = typer.Typer(add_completion=False)
NOBODY = """Nobody can sign in yet. Create the first administrator in another terminal:
    headgate users create YOU@EXAMPLE.ORG --admin"""
_WARNING = typer.style("Warning:", fg="yellow", bold=True)


def _print_line(line: str) -> None:
    """Print a line on standard error; unstyled if it is no terminal. Rich would take longer to import."""
    typer.echo(line, err=True)


def _warn(warning: str) -> None:
    _print_line(f"{_WARNING} {printable(warning)}")


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 selects a free port.", min=0, max=65535)] = None,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Allow auto-login, or sign-in over HTTP, on an address that others can reach."),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Start the server: the API, its documentation at /docs, and the engine that runs flows."""
    settings = Settings()
    changes: dict[str, Any] = {"host": host, "port": port, "insecure": insecure or None}
    chosen = {key: value for key, value in changes.items() if value is not None}
    settings = settings.model_copy(update={"server": settings.server.model_copy(update=chosen)})
    for name, remedy in unknown_variables():
        _warn(f"{name} {NO_SETTING}. {remedy}")
    refuse_exposure(settings.server)
    configure(settings.log)
    for warning in exposures(settings.server):
        _warn(warning)
    handed = handed_socket()
    listening = handed or listen(settings.server)
    address = listening.getsockname()
    shown = f"[{address[0]}]" if ":" in address[0] else address[0]
    url = f"http://{shown}:{address[1]}"

    def announce() -> None:
        if json:
            print_json({"url": url, "pid": os.getpid()})
        else:
            _print_line(f"Headgate is at {typer.style(url, bold=True)}  (API: /docs, stop: Ctrl+C)")
            if not settings.server.auto_login and settings.server.public_url:
                sign_in = typer.style(f"{printable(settings.server.public_url)}/sign-in", bold=True)
                _print_line(f"Sign in at {sign_in}")
        if made.state.locked:
            _print_line(typer.style(NOBODY, fg="yellow", bold=True))

    made = create_app(settings)
    guarded = _Starting(made, announce)
    wire = _wire(guarded, settings.server)
    server = uvicorn.Server(wire) if handed is None else _Replaceable(wire, guarded, settings.server.handover_seconds)
    try:
        server.run(sockets=[listening])
    except SystemExit:  # uvicorn's way of saying that it did not start
        if guarded.fault is not None:
            raise guarded.fault from None
        raise
    if not server.started:
        raise Unavailable("The server could not start. See the log above.", remedy="Run `headgate doctor`.")


def _wire(app: Any, settings: ServerSettings) -> uvicorn.Config:  # noqa: ANN401 - an ASGI application
    """How uvicorn serves it. The application itself reads the proxies' headers; no route takes a WebSocket."""
    return uvicorn.Config(
        app,
        http="h11" if sys.platform == "win32" else bounded(settings.read_seconds),
        ws="none",
        proxy_headers=False,
        lifespan="on",
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=10,
        timeout_keep_alive=settings.keep_alive_seconds,
        server_header=False,
    )


class _Starting:
    """The application; reports when it is up, and a start-up error without a traceback."""

    def __init__(self, app: Any, announce: Callable[[], None]) -> None:  # noqa: ANN401 - an ASGI application
        self.fault: HeadgateError | None = None
        self.leaving = False
        """Whether each response asks its client for another connection."""
        self._app = app
        self._announce = announce

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI
        """Pass requests on; watch the start."""
        if scope["type"] != "lifespan":
            await self._app(scope, receive, _closing(send) if self.leaving else send)
            return
        failed: list[Any] = []

        async def watch(message: Any) -> None:  # noqa: ANN401 - ASGI
            if message["type"] == "lifespan.startup.failed":
                failed.append(message)
                return
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                self._announce()

        try:
            await self._app(scope, receive, watch)
        except HeadgateError as error:
            self.fault = error
            failed = [message | {"message": ""} for message in failed]
        finally:
            for message in failed:
                await send(message)


def _closing(send: Any) -> Any:  # noqa: ANN401 - ASGI
    async def write(message: Any) -> None:  # noqa: ANN401 - ASGI
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]
        await send(message)

    return write


class _Replaceable(uvicorn.Server):
    """A server that another process replaces on the same socket, after `SIGUSR1`."""

    def __init__(self, config: uvicorn.Config, app: _Starting, handover_seconds: float) -> None:
        super().__init__(config)
        self._app = app
        self._handover_seconds = handover_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and report readiness."""
        await super().startup(sockets)
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._retire)
        report_ready()

    def _retire(self) -> None:
        self._app.leaving = self.should_exit = True
        self.config.timeout_graceful_shutdown = int(self._handover_seconds)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no connections. One that is idle is kept for a while: its client may be sending a request."""
        if self._app.leaving:
            for listening in (*self.servers, *(sockets or ())):
                listening.close()
            until = time.monotonic() + min(self._handover_seconds, self.config.timeout_keep_alive)
            while self.server_state.connections and time.monotonic() < until:  # noqa: ASYNC110 - uvicorn's own set
                await asyncio.sleep(0.1)
        await super().shutdown(sockets)
