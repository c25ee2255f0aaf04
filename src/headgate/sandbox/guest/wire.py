"""Frames between server and worker: four bytes of length in big-endian order, then that many bytes of JSON."""

import socket

HEADER_BYTES = 4


class FrameTooLong(ValueError):
    """A frame exceeds its reader's limit."""


def pack(payload: bytes) -> bytes:
    """Return the payload prefixed with its length."""
    return len(payload).to_bytes(HEADER_BYTES, "big") + payload


def frame_length(header: bytes, limit: int) -> int:
    """Return the length in a header. Raises `FrameTooLong` above `limit` bytes."""
    length = int.from_bytes(header, "big")
    if length > limit:
        raise FrameTooLong(f"a frame of {length} bytes is over the limit of {limit}")
    return length


def receive(connection: socket.socket, limit: int) -> bytes:
    """Return the next frame's payload. Raises `EOFError` when the other side closed, `FrameTooLong`."""
    return _receive_exactly(connection, frame_length(_receive_exactly(connection, HEADER_BYTES), limit))


def _receive_exactly(connection: socket.socket, count: int) -> bytes:
    received = connection.recv(count)
    if len(received) == count:
        return received
    buffer = bytearray(received)
    while len(buffer) < count:
        if not received:
            raise EOFError
        received = connection.recv(min(count - len(buffer), 1 << 20))
        buffer += received
    return bytes(buffer)
