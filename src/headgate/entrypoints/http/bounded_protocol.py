"""HTTP/1.1 on the wire, with bounds that uvicorn's faster parser lacks: the size of a request's head, and its time.

`HttpToolsProtocol` of uvicorn 0.54 gathers a head of any length, for as long as a client likes to send one. Its other
parser (h11) stops at 64 KiB.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 65_536
"""Of the request line and the headers together."""
MOST_HEADERS = 100
_TOO_LARGE, _TOO_SLOW = b"431 Request Header Fields Too Large", b"408 Request Timeout"
_REFUSAL = (
    b"HTTP/1.1 %b\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n"
    b"cache-control: no-store\r\nx-content-type-options: nosniff\r\n"
    b"content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n\r\n%b"
)


class HeadTooLarge(Exception):
    """A request's head is over the limit."""


class BoundedProtocol(HttpToolsProtocol):
    """Closes a connection whose next head is too large or too slow."""

    seconds = 30.0
    _status = b"400 Bad Request"
    _timer: asyncio.TimerHandle | None = None
    _in_head = True
    """Whether a head is read or awaited."""
    _begun = False
    """Whether a part of that head is there."""
    _ended = 0
    """Requests that were read to their end."""
    _head_bytes = 0
    _unparsed_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own
        """Start the timeout of the first head."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._rest()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data; reject an oversized head before its end."""
        ended = self._ended
        super().data_received(data)
        if not (self._begun or (self._in_head and self._ended == ended)):
            return
        self._unparsed_bytes += len(data)
        if self._unparsed_bytes > MOST_HEAD_BYTES:
            self._refuse(_TOO_LARGE)
        elif self._timer is None:
            self._wait()

    def on_message_begin(self) -> None:
        """Start the timeout of a head."""
        self._in_head = self._begun = True
        self._head_bytes = self._unparsed_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A part of the request line is there."""
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a complete header."""
        super().on_header(name, value)
        self._count(len(name) + len(value))

    def on_headers_complete(self) -> None:
        """End the timeout of the head."""
        self._rest()
        self._in_head = self._begun = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The body is complete; the next head may follow."""
        super().on_message_complete()
        self._in_head, self._ended, self._unparsed_bytes = True, self._ended + 1, 0

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's own signature
        """Reject an invalid request, and close the connection."""
        self._refuse(self._status)

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MOST_HEAD_BYTES or len(self.headers) > MOST_HEADERS:
            self._status = _TOO_LARGE  # the parser stops here, and uvicorn answers with `send_400_response`
            raise HeadTooLarge

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self.seconds, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        if self._is_answering():  # what is slow is the next request; this one's answer takes what it takes
            self._wait()
        else:
            self._refuse(_TOO_SLOW)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: bytes) -> None:
        self._rest()
        if self.transport.is_closing():
            return
        if not self._is_answering():  # or it would stand in the middle of an answer
            self.transport.write(_REFUSAL % (status, len(status), status))
        self.transport.close()


def bounded(seconds: float) -> type[BoundedProtocol]:
    """Return the protocol class for a server with this limit on heads."""
    return type("Bounded", (BoundedProtocol,), {"seconds": seconds})
