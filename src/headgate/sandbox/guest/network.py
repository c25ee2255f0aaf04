"""The network as own code sees it: `socket` asks the server for connections, and everything above it works as it is.

A name is never looked up here: `getaddrinfo` gives a stand-in address for it (198.18.0.0/15 of RFC 2544, which is
routed nowhere; fd00:: where IPv6 was asked for), and connecting to the stand-in asks for the name. The server looks
the name up, checks every address it has, connects, and passes the connected socket. The system refuses `connect` all
the same, to everything.
"""

import contextlib
import errno
import itertools
import json
import os
import socket
import threading
from typing import Any

ANSWER_BYTES = 4096
MOST_NAMES = 1024
SERVICES = {"http": 80, "https": 443}


class BrokerLine:
    """Asks the server, one question after the other.

    Args:
        connection: Keeps the bounds of messages (SOCK_SEQPACKET).
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def open(self, host: str, port: int, seconds: float | None) -> int:
        """A descriptor of a connected socket. Raises `OSError` with the server's own words."""
        with self._lock:
            number = next(self._numbers)
            question = {"id": number, "host": host, "port": port, "seconds": seconds}
            self._connection.send(json.dumps(question).encode())
            data, descriptors, _, _ = socket.recv_fds(self._connection, ANSWER_BYTES, 1)
        if not data:
            raise ConnectionAbortedError(errno.ECONNABORTED, "the sandbox gives this call no more connections")
        answer = json.loads(data)
        if answer["id"] == number and descriptors:
            return descriptors[0]
        for descriptor in descriptors:
            os.close(descriptor)
        if answer["id"] != number:
            raise ConnectionAbortedError(errno.ECONNABORTED, "the sandbox's answers are out of step")
        if answer.get("unknown"):
            raise socket.gaierror(socket.EAI_NONAME, answer["error"])
        raise OSError(answer["errno"], answer["error"])


class StandIns:
    """Names and the addresses that stand for them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._addresses: dict[tuple[str, int], str] = {}

    def address(self, name: str, family: int) -> str:
        """The stand-in of a name. Raises `socket.gaierror` when there are too many names."""
        found = self._addresses.get((name, family))
        if found is None:
            number = len(self._addresses) + 1
            if number > MOST_NAMES:
                raise socket.gaierror(socket.EAI_MEMORY, "too many different hosts")
            found = f"fd00::{number:x}" if family == socket.AF_INET6 else f"198.18.{number >> 8}.{number & 255}"
            self._addresses[name, family] = found
            self._names[found] = name
        return found

    def name(self, address: str) -> str:
        """What an address stands for; itself when nothing."""
        return self._names.get(address, address)


def install(connection: socket.socket) -> None:
    """Have this process's `socket` module connect through the server."""
    line, stand_ins = BrokerLine(connection), StandIns()
    original = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:  # noqa: ANN401 - whatever a family calls its addresses
        if self.family not in (socket.AF_INET, socket.AF_INET6):
            original(self, address)
            return
        host, port = stand_ins.name(address[0]), address[1]
        descriptor = line.open(host, port, self.gettimeout() or None)
        os.dup2(descriptor, self.fileno(), inheritable=False)
        os.close(descriptor)
        os.set_blocking(self.fileno(), self.gettimeout() is None)

    def connect_ex(self: socket.socket, address: Any) -> int:  # noqa: ANN401
        try:
            self.connect(address)
        except socket.gaierror:
            return errno.EHOSTUNREACH
        except OSError as error:
            return error.errno or errno.EIO
        return 0

    def getaddrinfo(  # noqa: PLR0917 - the library's own signature
        host: bytes | str | None,
        port: bytes | str | int | None,
        family: int = 0,
        type: int = 0,  # noqa: A002
        proto: int = 0,
        flags: int = 0,
    ) -> list[tuple[Any, ...]]:
        if host is None or type not in (0, socket.SOCK_STREAM) or proto not in (0, socket.IPPROTO_TCP):
            raise socket.gaierror(socket.EAI_SERVICE, "only connections to hosts can be made here")
        name = host.decode("ascii") if isinstance(host, bytes) else host
        known = _family(name)
        if flags & socket.AI_NUMERICHOST and not known:
            raise socket.gaierror(socket.EAI_NONAME, f"{name} is no address")
        kind = known or (socket.AF_INET6 if family == socket.AF_INET6 else socket.AF_INET)
        address = name if known else stand_ins.address(name, kind)
        place = (address, _port(port), 0, 0) if kind == socket.AF_INET6 else (address, _port(port))
        canonical = name if flags & socket.AI_CANONNAME else ""
        return [(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP, canonical, place)]

    def gethostbyname(name: str) -> str:
        return str(getaddrinfo(name, 0, socket.AF_INET)[0][4][0])

    socket.socket.connect = connect  # type: ignore[assignment,method-assign]
    socket.socket.connect_ex = connect_ex  # type: ignore[assignment,method-assign]
    socket.getaddrinfo = getaddrinfo
    socket.gethostbyname = gethostbyname


def _family(host: str) -> socket.AddressFamily | None:
    """The family of a written address; None for a name."""
    for family in (socket.AF_INET, socket.AF_INET6):
        with contextlib.suppress(OSError, ValueError):
            socket.inet_pton(family, host)
            return family
    return None


def _port(port: bytes | str | int | None) -> int:
    text = port.decode("ascii") if isinstance(port, bytes) else port
    if isinstance(text, str):
        if text in SERVICES:
            return SERVICES[text]
        if not text.isdecimal():
            raise socket.gaierror(socket.EAI_SERVICE, f"the service {text} is not known")
    return int(text or 0)
