"""An HTTP proxy in a process of its own, as operators run one: it knows CONNECT only, and writes down what it is asked.

`python -m tests.support.connect_proxy HOST RECORD SETTINGS` prints its port. SETTINGS is JSON: `user` and `password`,
`names` (what it resolves names to), `answers` (a status for a host, in place of a connection).
"""

import base64
import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any

from pydantic import SecretStr

from headgate.foundation.settings import OutgoingSettings


@dataclass(frozen=True)
class ConnectProxy:
    """A running proxy."""

    host: str
    port: int
    record: Path

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def targets(self) -> list[str]:
        """`host:port` of each CONNECT it accepted the user for, in order."""
        return [json.loads(line)["target"] for line in self.record.read_text().splitlines()]

    def settings(self, **more: Any) -> OutgoingSettings:
        """Headgate's settings for it."""
        if "proxy_password" in more:
            more["proxy_password"] = SecretStr(more["proxy_password"])
        return OutgoingSettings(proxy_url=self.url, **more)


@contextmanager
def connect_proxy(
    folder: Path,
    host: str = "127.0.0.9",
    *,
    user: str = "",
    password: str = "",
    names: Mapping[str, str] | None = None,
    answers: Mapping[str, int] | None = None,
) -> Iterator[ConnectProxy]:
    """Run one for the length of a block."""
    record = folder / f"proxy-{host}.jsonl"
    record.write_text("")
    settings = {"user": user, "password": password, "names": dict(names or {}), "answers": dict(answers or {})}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.connect_proxy", host, str(record), json.dumps(settings)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield ConnectProxy(host, int(process.stdout.readline()), record)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class _Handler(StreamRequestHandler):
    """One connection."""

    record: Path
    settings: dict[str, Any]

    def handle(self) -> None:
        method, _, rest = self.rfile.readline().decode("ascii").partition(" ")
        target = rest.split(" ")[0]
        headers = dict(self._headers())
        if method != "CONNECT":
            return self._answer(405)
        wanted = base64.b64encode(f"{self.settings['user']}:{self.settings['password']}".encode()).decode()
        if self.settings["user"] and headers.get("proxy-authorization") != f"Basic {wanted}":
            return self._answer(407)
        with self.record.open("a") as file:
            file.write(json.dumps({"target": target}) + "\n")
        host, _, port = target.rpartition(":")
        host = host.strip("[]")
        if host in self.settings["answers"]:
            return self._answer(self.settings["answers"][host])
        try:
            server = socket.create_connection((self.settings["names"].get(host, host), int(port)), 5)
        except OSError:
            return self._answer(502)
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
        with server:
            back = Thread(target=_pump, args=(server, self.connection), daemon=True)
            back.start()
            _pump(self.connection, server)
            back.join()
        return None

    def _headers(self) -> Iterator[tuple[str, str]]:
        while (line := self.rfile.readline().decode("latin-1").strip()) != "":
            name, _, value = line.partition(":")
            yield name.lower(), value.strip()

    def _answer(self, status: int) -> None:
        self.wfile.write(f"HTTP/1.1 {status} Scripted\r\nContent-Length: 0\r\n\r\n".encode())


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


class _Server(ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128


def main(host: str, record: str, settings: str) -> None:
    """Serve until killed."""
    _Handler.record, _Handler.settings = Path(record), json.loads(settings)
    with _Server((host, 0), _Handler) as server:
        print(server.server_address[1], flush=True)  # noqa: T201 - read by the test
        server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
