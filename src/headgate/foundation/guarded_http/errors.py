"""What can go wrong with a request to the web. Messages name the server, never the path, the query or a header value.

Invalid
├── BadRequest          a method, address or header that is never sent
│   ├── BadUrl
│   └── HeaderRefused
Forbidden
└── AddressRefused      the server's address is private, local or reserved
TooLarge
└── AnswerTooLarge      over the cap, before or after decompression
UpstreamFailed
├── HostNotFound        the name has no address
├── ConnectFailed       no connection; nothing was sent
│   └── ProxyFailed     the operator's outgoing proxy opens no connection
│       └── ProxyRefused  it does not allow this server
├── CertificateRefused  the server could not prove who it is
├── ConnectionDropped   the connection broke after the request was sent
├── BrokenAnswer        what came back is not HTTP, or cannot be decompressed
├── RequestTimedOut     no complete answer before the deadline
└── TooManyRedirects
"""

from headgate.foundation.errors import Forbidden, Invalid, TooLarge, UpstreamFailed


class BadRequest(Invalid):
    """A request that is never sent."""

    code = "bad_request"
    title = "Request not possible"


class BadUrl(BadRequest):
    """An address that is not a plain http or https one."""

    code = "bad_url"
    title = "Not a web address"


class HeaderRefused(BadRequest):
    """A header that a flow may not set, or that is not a header."""

    code = "header_refused"
    title = "Header not allowed"


class AddressRefused(Forbidden):
    """The server's address is private, local or reserved, and not listed in the settings."""

    code = "address_refused"
    title = "Address not allowed"


class AnswerTooLarge(TooLarge):
    """The answer is over the cap, before or after decompression."""

    code = "answer_too_large"
    title = "Answer too large"


class HostNotFound(UpstreamFailed):
    """The name has no address."""

    code = "host_not_found"
    title = "Host not found"


class ConnectFailed(UpstreamFailed):
    """No connection; nothing was sent."""

    code = "connect_failed"
    title = "No connection"


class ProxyFailed(ConnectFailed):
    """The operator's outgoing proxy opens no connection; nothing was sent to the server."""

    code = "proxy_failed"
    title = "Outgoing proxy failed"


class ProxyRefused(ProxyFailed):
    """The proxy answers and does not allow a connection to this server."""

    title = "Outgoing proxy refused"


class CertificateRefused(UpstreamFailed):
    """The server could not prove who it is."""

    code = "certificate_refused"
    title = "Certificate not trusted"


class ConnectionDropped(UpstreamFailed):
    """The connection broke after the request was sent: whether it took effect is unknown."""

    code = "connection_dropped"
    title = "Connection dropped"


class BrokenAnswer(UpstreamFailed):
    """What came back is not HTTP, or cannot be decompressed."""

    code = "broken_answer"
    title = "Broken answer"


class RequestTimedOut(UpstreamFailed):
    """No whole answer before the deadline."""

    code = "request_timed_out"
    title = "No answer in time"


class TooManyRedirects(UpstreamFailed):
    """Sent on more often than the settings allow."""

    code = "too_many_redirects"
    title = "Too many redirects"
