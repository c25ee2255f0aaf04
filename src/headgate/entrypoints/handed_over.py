"""What `headgate up` hands over to the processes that it starts: the listening socket, and a pipe to report readiness.

The socket stays open in `up`, so that a server can be replaced by another without refusing a connection.
"""

import os
import socket
from collections.abc import Mapping
from contextlib import suppress

from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import ServerSettings

SOCKET, READY = "UP_SOCKET_FD", "UP_READY_FD"
BACKLOG = 2048


def listen(server: ServerSettings) -> socket.socket:
    """Listen on the address of the settings. Raises `Unavailable`."""
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    # Named as TCP, or asyncio (where there is no uvloop) would hold small answers back.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((server.host, server.port))
    except OSError as error:
        listening.close()
        raise Unavailable(
            f"Port {server.port} on {server.host} cannot be used: {error.strerror}.",
            remedy="Stop the program that uses it, or choose another port with --port.",
        ) from error
    listening.listen(BACKLOG)
    return listening


def environment_of(listening: int | None, ready: int | None) -> tuple[Mapping[str, str], list[int]]:
    """Return variables for a process, and descriptors that it inherits."""
    numbers = {name: number for name, number in ((SOCKET, listening), (READY, ready)) if number is not None}
    return {name: str(number) for name, number in numbers.items()}, list(numbers.values())


def handed_socket() -> socket.socket | None:
    """Return the listening socket that this process was handed; None when it has to listen itself."""
    number = os.environ.pop(SOCKET, None)
    return None if number is None else socket.socket(fileno=int(number))


def report_ready() -> None:
    """Report once that this process does its work, if `up` waits for it."""
    number = os.environ.pop(READY, None)
    if number is not None:
        with suppress(OSError):  # `up` is gone
            os.write(int(number), b"1")
            os.close(int(number))
