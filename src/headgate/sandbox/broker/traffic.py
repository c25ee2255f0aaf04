"""Traffic of a connection as counted by the kernel, without a proxy."""

import socket
import struct
from typing import Final

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
