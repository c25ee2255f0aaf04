"""Frames between server and worker: four bytes of length, most significant first, then that many bytes of JSON."""

import socket

HEADER_BYTES = 4


class FrameTooLong(ValueError):
    """A frame announced more than its reader takes."""


def pack(payload: bytes) -> bytes:
    """The payload with its length in front."""
    return len(payload).to_bytes(HEADER_BYTES, "big") + payload


def frame_length(header: bytes, limit: int) -> int:
    """The length that a header announces. Raises `FrameTooLong` above `limit` bytes."""
    length = int.from_bytes(header, "big")
    if length > limit:
        raise FrameTooLong(f"a frame of {length} bytes is over the limit of {limit}")
    return length


def receive(connection: socket.socket, limit: int) -> bytes:
    """The next frame's payload. Raises `EOFError` when the other side is gone, `FrameTooLong`."""
    return _receive_exactly(connection, frame_length(_receive_exactly(connection, HEADER_BYTES), limit))


def _receive_exactly(connection: socket.socket, count: int) -> bytes:
    received = connection.recv(count)
    if len(received) == count:
        return received
    whole = bytearray(received)
    while len(whole) < count:
        if not received:
            raise EOFError
        received = connection.recv(min(count - len(whole), 1 << 20))
        whole += received
    return bytes(whole)
