"""A TCP port on loopback in front of a server that listens on a Unix socket."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread


class _Server(ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False


@contextmanager
def forwarded(path: str) -> Iterator[int]:
    """The port that leads to a Unix socket."""

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as inner:
                inner.connect(path)
                back = Thread(target=_pump, args=(inner, self.request), daemon=True)
                back.start()
                _pump(self.request, inner)
                back.join(5)

    with _Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while content := source.recv(65_536):
            sink.sendall(content)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
