"""A loopback HTTP server in a thread that answers from a script: the wire is real, the provider is not."""

import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self

from headgate.features.models.listing import forget_lists


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def streaming(self) -> bool:
        return bool(isinstance(self.body, dict) and self.body.get("stream"))


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before the next bytes, or until the server closes."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Drop:
    """Reset the connection."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Wait before the next bytes until the test has seen what it came to see, or until the server closes."""

    seen: threading.Event = field(default_factory=threading.Event)

    def release(self) -> None:
        self.seen.set()


Step = bytes | Pause | Hold | Drop


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: status, headers, and the body as steps."""

    steps: tuple[Step, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"
    chunked: bool = False


def json_reply(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A JSON body in one piece."""
    return Reply((json.dumps(value).encode(),), status=status, headers=headers or {})


Script = Callable[[Asked], Reply]


class ScriptedServer:
    """Answers each request with the next script; the last one stays. Use as a context manager."""

    model_list: Reply | None = None
    """What it always says of its models, beside the scripts; None leaves that to the scripts too."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.asked_for_models: list[Asked] = []
        """Requests that `model_list` answered."""
        self.sort: Callable[[Asked], Script | None] | None = None
        """Picks the answer to a request by what it asks; None leaves it to the scripts."""
        self.closing = threading.Event()
        self._scripts: deque[Script] = deque()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, *scripts: Script | Reply) -> Self:
        """What to answer next."""
        for one in scripts:
            self._scripts.append(one if callable(one) else _always(one))
        return self

    def next_reply(self, asked: Asked) -> Reply:
        if self.model_list is not None and asked.body is None and asked.path.partition("?")[0].endswith("/models"):
            self.asked_for_models.append(asked)
            return self.model_list
        with self._lock:
            self.asked.append(asked)
            sorted_out = self.sort(asked) if self.sort is not None else None
            if sorted_out is not None:
                return sorted_out(asked)
            if not self._scripts:
                return json_reply({"error": {"message": "nothing scripted"}}, status=500)
            script = self._scripts.popleft() if len(self._scripts) > 1 else self._scripts[0]
        return script(asked)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.closing.set()
        forget_lists()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def _always(reply: Reply) -> Script:
    return lambda _asked: reply


class _Handler(BaseHTTPRequestHandler):
    owner: ClassVar[ScriptedServer]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            body = json.loads(raw)
        except ValueError:
            body = raw
        self._answer(body)

    do_PUT = do_POST  # noqa: N815 - the standard library's name

    def do_GET(self) -> None:
        self._answer(None)

    def _answer(self, body: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.close_connection = True
        try:
            self._send(self.owner.next_reply(Asked(self.path, headers, body)))
        except (BrokenPipeError, ConnectionResetError):
            return

    def _send(self, reply: Reply) -> None:
        self._send_head(reply)
        for step in reply.steps:
            if isinstance(step, Drop):
                self._reset()
                return
            if isinstance(step, Pause):
                self.owner.closing.wait(step.seconds)
                continue
            if isinstance(step, Hold):
                while not (step.seen.wait(0.02) or self.owner.closing.is_set()):
                    pass
                continue
            self.wfile.write(b"%x\r\n%s\r\n" % (len(step), step) if reply.chunked else step)
            self.wfile.flush()
        if reply.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _send_head(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("content-type", reply.media_type)
        self.send_header("connection", "close")  # client libraries pool connections beyond a test's event loop
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.chunked:
            self.send_header("transfer-encoding", "chunked")
        elif "content-length" not in reply.headers:
            self.send_header("content-length", str(sum(len(step) for step in reply.steps if isinstance(step, bytes))))
        self.end_headers()

    def _reset(self) -> None:
        self.wfile.flush()
        time.sleep(0.05)  # let the client read what was sent before the reset discards it
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def finish(self) -> None:
        try:
            super().finish()
        except (OSError, ValueError):  # a connection that was reset on purpose
            return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        return
