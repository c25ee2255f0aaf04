"""The network of one call: answers the worker's questions while the call lasts, and hangs up when it ends."""

import asyncio
import contextlib
import errno
import socket
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import orjson

from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.errors import BadUrl, ConnectFailed, HostNotFound
from headgate.foundation.guarded_http.targets import Target, parse_target
from headgate.sandbox.broker.connecting import CONNECT_SECONDS, connect
from headgate.sandbox.broker.rules import Grant
from headgate.sandbox.broker.traffic import bytes_carried
from headgate.sandbox.errors import HostRefused
from headgate.sandbox.limits import Limits

QUESTION_BYTES = 2048
LEAST_SECONDS = 1.0
"""A look-up that is given up goes on in its thread for a while: nobody may start them faster than this."""
ERROR_CHARACTERS = 600
"""An error of this many characters, each six bytes as JSON at worst, fits what the worker reads."""


@dataclass(frozen=True, slots=True)
class Question:
    """One connection that a worker wants."""

    number: int
    host: str
    port: int
    seconds: float

    def target(self) -> Target:
        """Host and port, read as strictly as those of a web address. Raises `BadUrl`."""
        if any(character in self.host for character in "/?#"):
            raise BadUrl("The host name holds a character that no host name has.")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return parse_target(f"http://{host}:{self.port:d}/")


class Session:
    """Use as `async with Session(line, grant, limits) as session:` around the call.

    Each connected socket is kept here too, so that it can be measured and cut off while the worker has it.

    Args:
        line: Our end of the worker's broker socket, which keeps the bounds of messages; does not block. It may be
            closed meanwhile, since a worker may be ended at any moment: the session has a descriptor of its own.
        grant: What the code may connect to.
        limits: How much.
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
                connection.shutdown(socket.SHUT_RDWR)  # the worker's copy ends with it
            connection.close()
        self._line.close()

    def bytes_carried(self) -> int:
        """What all connections of the call carried so far, both ways."""
        return sum(bytes_carried(connection) for connection in self._connections)

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
                await asyncio.sleep(0)  # a worker that asks without end leaves room for others
            self.intact = False
            self._line.shutdown(socket.SHUT_RDWR)
        except OSError:
            self.intact = False  # the worker is gone, or does not read its answers

    async def _answer(self, question: Question) -> None:
        if len(self._connections) >= self._limits.connections:
            error: HeadgateError = HostRefused(
                f"the code opened {self._limits.connections} connections in one call.", remedy="Use them again."
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
    """What a worker asks; None for what is no question."""
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
    """`{"error", "errno"}`; `{"error", "unknown": true}` for a name without address."""
    said = {"error": str(error)[:ERROR_CHARACTERS]}
    if isinstance(error, HostNotFound):
        return said | {"unknown": True}
    return said | {"errno": errno.ECONNREFUSED if isinstance(error, ConnectFailed) else errno.EACCES}
