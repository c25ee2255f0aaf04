"""Ports for servers of which a test names the port before they start."""

import random
import socket
import time

LOWEST, HIGHEST = 20_000, 32_000
"""Below the ports that the system gives out, to connections too (32768 and up on Linux, 49152 on others)."""


def free_port() -> int:
    """A port of this machine that nobody listens on, and that no connection can be given before its server starts."""
    while True:
        port = random.SystemRandom().randrange(LOWEST, HIGHEST)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def wait_for_port(port: int, seconds: float = 30) -> None:
    """Return when somebody listens on a port of this machine, or after a time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
