"""A network of the process's own, with nothing outside of it, in which every connection is seen as packets.

Packets are seen whoever sends them: compiled libraries and child processes too. Loopback is up; every other address is
routed into a device that nobody answers on.
"""

import ctypes
import fcntl
import os
import selectors
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000
_SET_FLAGS, _SET_ADDRESS, _SET_MASK, _ADD_ROUTE, _MAKE_TUN = 0x8914, 0x8916, 0x891C, 0x890B, 0x400454CA
_UP, _TUN, _NO_HEADER = 0x1 | 0x40, 0x1, 0x1000
_ALL = 0x0003
_SYN, _ACK = 0x02, 0x10
_TCP, _UDP = 6, 17
DEVICE = "outside0"


class Seen(NamedTuple):
    """The first packet of a connection, or a datagram."""

    protocol: str
    host: str
    port: int
    source: int
    """The port that it came from: each try to connect has one of its own."""


def is_available() -> bool:
    """Whether this machine lets the process make a network of its own; tried in a child."""
    child = os.fork()
    if child == 0:
        try:
            enter()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def enter() -> None:
    """Move this process, which must have one thread, to a network of its own. Raises `OSError` where refused."""
    user, group, library = os.getuid(), os.getgid(), ctypes.CDLL(None, use_errno=True)
    wanted = _NEW_NETWORK if user == 0 else _NEW_NETWORK | _NEW_USER
    if library.unshare(wanted) != 0:
        raise OSError(ctypes.get_errno(), "unshare is refused")
    if wanted & _NEW_USER:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))


def route_everything() -> int:
    """Route all other addresses into a device; its descriptor, which keeps it there."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    fcntl.ioctl(device, _MAKE_TUN, struct.pack("16sH14x", DEVICE.encode(), _TUN | _NO_HEADER))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        name = DEVICE.encode()
        fcntl.ioctl(control, _SET_ADDRESS, struct.pack("16s16s", name, _address("10.255.255.1")))
        fcntl.ioctl(control, _SET_MASK, struct.pack("16s16s", name, _address("255.255.255.252")))
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH14x", name, _UP))
        anywhere, gateway = _address("0.0.0.0"), _address("10.255.255.2")
        route = struct.pack("@L16s16s16sHhLPhPLLH6x", 0, anywhere, gateway, anywhere, 0x3, 0, 0, 0, 0, 0, 0, 0, 0)
        fcntl.ioctl(control, _ADD_ROUTE, route)
    return device


def _address(text: str) -> bytes:
    return struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(text))


class Capture:
    """Reads packets in a thread until it is closed. Open it in the network that it is to see."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ALL))
        self._socket.setsockopt(socket.SOL_SOCKET, 33, 64 * 1024 * 1024)  # SO_RCVBUFFORCE
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._done = socket.socketpair()
        self._thread.start()

    def close(self) -> int:
        """Stop; how many packets were lost."""
        self._done[0].close()
        self._thread.join(10)
        lost: int = struct.unpack("II", self._socket.getsockopt(263, 6, 8))[1]  # SOL_PACKET, PACKET_STATISTICS
        self._socket.close()
        return lost

    def _read(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            selector.register(self._done[1], selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._socket in ready:
                    packet, link = self._socket.recvfrom(2048)
                    if link[2] == socket.PACKET_OUTGOING:
                        self.seen.extend(read_packet(packet))
                elif ready:
                    return


def read_packet(packet: bytes) -> Iterator[Seen]:
    """What an IP packet begins: a connection by TCP, or a datagram of UDP."""
    if not packet:
        return
    if packet[0] >> 4 == 4:
        size, protocol, target = (packet[0] & 0xF) * 4, packet[9], socket.inet_ntop(socket.AF_INET, packet[16:20])
    else:
        size, protocol, target = 40, packet[6], socket.inet_ntop(socket.AF_INET6, packet[24:40])
    inner = packet[size:]
    if protocol == _TCP and inner[13] & (_SYN | _ACK) == _SYN:
        source, port = struct.unpack("!HH", inner[:4])
        yield Seen("tcp", target, port, source)
    if protocol == _UDP:
        source, port = struct.unpack("!HH", inner[:4])
        yield Seen("udp", target, port, source)
