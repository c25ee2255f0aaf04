"""Network for custom code: `socket` requests connections from the server, and libraries above it work unchanged.

Names are never resolved here: `getaddrinfo` returns a placeholder address (198.18.0.0/15 of RFC 2544, which is not
routed; fd00:: for IPv6), and connecting to the placeholder requests the name. The server resolves the name, checks all
its addresses, connects, and passes the connected socket. The system still refuses every `connect`.
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
    """Sends requests to the server, one at a time.

    Args:
        connection: Preserves message boundaries (SOCK_SEQPACKET).
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def open(self, host: str, port: int, seconds: float | None) -> int:
        """Return a descriptor of a connected socket. Raises `OSError` with the server's error."""
        with self._lock:
            number = next(self._numbers)
            question = {"id": number, "host": host, "port": port, "seconds": seconds}
            self._connection.send(json.dumps(question).encode())
            data, descriptors, _, _ = socket.recv_fds(self._connection, ANSWER_BYTES, 1)
        if not data:
            raise ConnectionAbortedError(errno.ECONNABORTED, "the sandbox allows no more connections in this call")
        response = json.loads(data)
        if response["id"] == number and descriptors:
            return descriptors[0]
        for descriptor in descriptors:
            os.close(descriptor)
        if response["id"] != number:
            raise ConnectionAbortedError(errno.ECONNABORTED, "the sandbox's responses are out of sequence")
        if response.get("unknown"):
            raise socket.gaierror(socket.EAI_NONAME, response["error"])
        raise OSError(response["errno"], response["error"])


class StandIns:
    """Names and their placeholder addresses."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._addresses: dict[tuple[str, int], str] = {}

    def address(self, name: str, family: int) -> str:
        """Return the placeholder of a name. Raises `socket.gaierror` when there are too many names."""
        address = self._addresses.get((name, family))
        if address is None:
            number = len(self._addresses) + 1
            if number > MOST_NAMES:
                raise socket.gaierror(socket.EAI_MEMORY, "too many different hosts")
            address = f"fd00::{number:x}" if family == socket.AF_INET6 else f"198.18.{number >> 8}.{number & 255}"
            self._addresses[name, family] = address
            self._names[address] = name
        return address

    def name(self, address: str) -> str:
        """Return the name of a placeholder; any other address unchanged."""
        return self._names.get(address, address)


def install(connection: socket.socket) -> None:
    """Make this process's `socket` module connect through the server."""
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
            raise socket.gaierror(socket.EAI_SERVICE, "only connections to host names are possible here")
        name = host.decode("ascii") if isinstance(host, bytes) else host
        own_family = _family(name)
        if flags & socket.AI_NUMERICHOST and not own_family:
            raise socket.gaierror(socket.EAI_NONAME, f"{name} is not an address")
        kind = own_family or (socket.AF_INET6 if family == socket.AF_INET6 else socket.AF_INET)
        address = name if own_family else stand_ins.address(name, kind)
        endpoint = (address, _port(port), 0, 0) if kind == socket.AF_INET6 else (address, _port(port))
        canonical = name if flags & socket.AI_CANONNAME else ""
        return [(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP, canonical, endpoint)]

    def gethostbyname(name: str) -> str:
        return str(getaddrinfo(name, 0, socket.AF_INET)[0][4][0])

    socket.socket.connect = connect  # type: ignore[assignment,method-assign]
    socket.socket.connect_ex = connect_ex  # type: ignore[assignment,method-assign]
    socket.getaddrinfo = getaddrinfo
    socket.gethostbyname = gethostbyname


def _family(host: str) -> socket.AddressFamily | None:
    """Return the family of an IP address; None for a name."""
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
