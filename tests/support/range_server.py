"""A loopback HTTP server of one file with ranges, which can be killed in the middle and started again at its port."""

import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self

from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port

_BLOCK = 1 << 20


class RangeServer:
    """Serves `size` bytes at any path, from where they are asked for. Use as a context manager.

    Args:
        size: Bytes of the file.
        piece: Its bytes from a place to another.
    """

    def __init__(self, size: int, piece: Callable[[int, int], bytes]) -> None:
        self.size = size
        self.piece = piece
        self.holds_at: int | None = None
        """Where an answer stops until the server is killed or released; None where it does not."""
        self.asked: list[tuple[str, str]] = []
        """Path and range of each request."""
        self.halfway = threading.Event()
        """An answer reached `holds_at`."""
        self.port = free_port()
        self._over = threading.Event()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen. What an earlier start was asked stays in `asked`."""
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), type("Handler", (_Handler,), {"owner": self}))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def kill(self) -> None:
        """End every answer in the middle and listen no more."""
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def hold(self) -> None:
        """Wait for the end of the server."""
        self.halfway.set()
        self._over.wait(PATIENCE_SECONDS)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()


class _Handler(BaseHTTPRequestHandler):
    owner: ClassVar[RangeServer]

    def do_GET(self) -> None:
        owner = self.owner
        ranges = self.headers.get("range", "")
        at = int(ranges.removeprefix("bytes=").rstrip("-") or 0)
        owner.asked.append((self.path, ranges))
        self.send_response(206 if at else 200)
        self.send_header("content-length", str(owner.size - at))
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            while at < owner.size:
                holds_at = owner.holds_at
                if holds_at is not None and at >= holds_at:
                    owner.hold()
                    return
                end = min(at + _BLOCK, owner.size if holds_at is None else holds_at)
                self.wfile.write(owner.piece(at, end))
                at = end

    def log_message(self, *_parts: Any) -> None:
        return
