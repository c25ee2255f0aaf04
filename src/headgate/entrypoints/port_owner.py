"""Refuses a port that another program listens on, and says which."""

import socket
from contextlib import suppress
from pathlib import Path

from headgate.foundation.errors import Invalid

_LISTENS = "0A"


def refuse_taken_port(host: str, port: int) -> None:
    """Raise `Invalid` when this port is in use. Port 0 is always free."""
    if not port:
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Invalid(
                f"Port {port} of {host} cannot be used: {_owner(port) or error.strerror}.",
                remedy="Stop that program, or choose another port with --port.",
            ) from error


def _owner(port: int) -> str:
    """Return the program that listens at a port, if the system reports it (Linux, for programs of this user)."""
    sockets = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        with suppress(OSError):
            rows = (line.split() for line in table.read_text().splitlines()[1:])
            sockets |= {f"socket:[{row[9]}]" for row in rows if row[3] == _LISTENS and row[1].endswith(f":{port:04X}")}
    for descriptor in Path("/proc").glob("[0-9]*/fd/*") if sockets else ():
        with suppress(OSError):
            if str(descriptor.readlink()) in sockets:
                command = (descriptor.parents[1] / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                return f"process {descriptor.parents[1].name} listens there ({command.strip()[:200]})"
    return ""
