"""A component that steps around the guards: what the tests of the whole product must find."""

import ctypes
import os
import socket
import struct
import urllib.request

from headgate.sdk import Component, Text, field, output


class Leak(Component):
    """Connects by itself, to `WATCH_LEAK_TO`: as Python does, or as a compiled library does."""

    input: str = field(default="", main=True)

    @output()
    def text(self) -> Text:
        """What came of it."""
        host, port = os.environ["WATCH_LEAK_TO"].split(":")
        if os.environ["WATCH_LEAK"] == "urllib":
            with urllib.request.urlopen(f"http://{host}:{port}/", timeout=5) as answer:
                return str(answer.status)
        return _native(host, int(port))


def _native(host: str, port: int) -> str:
    """Connect as a compiled library does: the interpreter knows nothing of it."""
    address = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port), socket.inet_aton(host))
    with socket.socket() as end:
        return str(ctypes.CDLL(None).connect(end.fileno(), address, len(address)))
