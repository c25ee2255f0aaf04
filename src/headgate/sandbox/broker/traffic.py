"""How much a connection carried, as the kernel counts it: nobody has to stand in between."""

import socket
import struct
from typing import Final

BYTES_AT: Final = 120
"""Offset of `tcpi_bytes_acked` and `tcpi_bytes_received` in `struct tcp_info` (`linux/tcp.h`, since 4.1)."""
_LENGTH: Final = BYTES_AT + 16


def bytes_carried(connection: socket.socket) -> int:
    """Bytes that the other side acknowledged and those received; 0 where the system does not say."""
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LENGTH)
    except (OSError, AttributeError):
        return 0
    if len(info) < _LENGTH:
        return 0
    sent, received = struct.unpack_from("=QQ", info, BYTES_AT)
    return int(sent + received)
