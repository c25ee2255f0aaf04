"""Network of one call: handles the worker's connection requests during the call, and disconnects at its end."""

import asyncio
import contextlib
import errno
import socket
import struct
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

import orjson

from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.errors import BadUrl, ConnectFailed, HostNotFound
from headgate.foundation.guarded_http.targets import Target, parse_target
from headgate.sandbox.broker.connecting import CONNECT_SECONDS, connect
from headgate.sandbox.broker.rules import Grant
from headgate.sandbox.errors import HostRefused
from headgate.sandbox.limits import Limits

BYTES_AT: Final = 120
"""Offset of `tcpi_bytes_acked` and `tcpi_bytes_received` in `struct tcp_info` (`linux/tcp.h`, since 4.1)."""
_LENGTH: Final = BYTES_AT + 16


def bytes_transferred(connection: socket.socket) -> int:
    """Return the acknowledged and received bytes; 0 when the system does not report them."""
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LENGTH)
    except (OSError, AttributeError):
        return 0
    if len(info) < _LENGTH:
        return 0
    acknowledged, received = struct.unpack_from("=QQ", info, BYTES_AT)
    return int(acknowledged + received)


QUESTION_BYTES = 2048
LEAST_SECONDS = 1.0
"""Limit of lookups in progress: an abandoned lookup continues in its thread for a while."""
ERROR_CHARACTERS = 600
"""Maximum length of an error: with six bytes per character in JSON, it fits the worker's buffer."""


@dataclass(frozen=True, slots=True)
class Question:
    """A worker's request for a connection."""

    number: int
    host: str
    port: int
    seconds: float

    def target(self) -> Target:
        """Return host and port, parsed as strictly as those of a URL. Raises `BadUrl`."""
        if any(character in self.host for character in "/?#"):
            raise BadUrl("The host name contains an invalid character.")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return parse_target(f"http://{host}:{self.port:d}/")


class Session:
    """Use as `async with Session(line, grant, limits) as session:` around the call.

    Each connected socket is also kept here, so that it can be measured and shut down while the worker uses it.

    Args:
        line: The server's end of the worker's broker socket, which preserves message boundaries; non-blocking. It may
            be closed at any time, since a worker may be killed at any moment: the session duplicates the descriptor.
        grant: The permitted connections.
        limits: Limits of connections and traffic.
    """

    def __init__(self, line: socket.socket, grant: Grant, limits: Limits) -> None:
        self.intact = True
        """Whether every question was proper and has its answer: only then may the worker serve another call."""
        self._line = line.dup()
        self._grant = grant
        self._limits = limits
        self._connections: list[socket.socket] = []
        self._task: asyncio.Task[None]

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._serve())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # also ends the worker's copy
            connection.close()
        self._line.close()

    def bytes_transferred(self) -> int:
        """Return the traffic of all connections of the call so far, in both directions."""
        return sum(bytes_transferred(connection) for connection in self._connections)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            for _ in range(self._limits.questions):
                packet = await loop.sock_recv(self._line, QUESTION_BYTES)
                self.intact = False
                question = read_question(packet)
                if question is None:
                    break
                await self._answer(question)
                self.intact = True
                await asyncio.sleep(0)  # lets other tasks run while a worker sends requests without pause
            self.intact = False
            self._line.shutdown(socket.SHUT_RDWR)
        except OSError:
            self.intact = False  # the worker ended, or does not read its responses

    async def _answer(self, question: Question) -> None:
        if len(self._connections) >= self._limits.connections:
            error: HeadgateError = HostRefused(
                f"the code opened {self._limits.connections} connections in one call.", remedy="Reuse them."
            )
        else:
            try:
                connection = await connect(self._grant, question.target(), question.seconds)
            except HeadgateError as refusal:
                error = refusal
            else:
                self._connections.append(connection)
                socket.send_fds(self._line, [orjson.dumps({"id": question.number})], [connection.fileno()])
                return
        self._line.send(orjson.dumps({"id": question.number, **_as_answer(error)}))


def read_question(packet: bytes) -> Question | None:
    """Parse a worker's request; None when it is invalid."""
    try:
        match orjson.loads(packet):
            case {
                "id": int(number),
                "host": str(host),
                "port": int(port),
                "seconds": int() | float() | None as seconds,
            }:
                return Question(number, host, port, CONNECT_SECONDS if seconds is None else max(LEAST_SECONDS, seconds))
    except orjson.JSONDecodeError:
        pass
    return None


def _as_answer(error: HeadgateError) -> dict[str, Any]:
    """Return `{"error", "errno"}`; `{"error", "unknown": true}` for a name without an address."""
    response = {"error": str(error)[:ERROR_CHARACTERS]}
    if isinstance(error, HostNotFound):
        return response | {"unknown": True}
    return response | {"errno": errno.ECONNREFUSED if isinstance(error, ConnectFailed) else errno.EACCES}
