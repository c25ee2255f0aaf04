"""Small real images, made from their formats' rules."""

import base64
import struct
import zlib


def png(width: int = 4, height: int = 3, *, claims: tuple[int, int] | None = None) -> bytes:
    """A red picture; `claims` is the size its header gives, when that is another."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\x00" + b"\xc0\x20\x20" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", *(claims or (width, height)), 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def jpeg_head(width: int, height: int) -> bytes:
    """The beginning of a JPEG up to its size."""
    application = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\x00" + bytes(9)
    return b"\xff\xd8" + application + b"\xff\xc0" + struct.pack(">HBHH", 17, 8, height, width)


def data_uri(content: bytes, media_type: str = "image/png") -> str:
    """The content inside its address (RFC 2397)."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"
