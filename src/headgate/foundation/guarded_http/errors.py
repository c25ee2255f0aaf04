"""Errors of HTTP requests. Messages name the server, never the path, the query or a header value.

Invalid
├── BadRequest          a method, URL or header that is never sent
│   ├── BadUrl
│   └── HeaderRefused
Forbidden
├── AddressRefused      the server's address is private, local or reserved
└── HostRefused         a credential is not sent to this server
TooLarge
└── AnswerTooLarge      over the limit, before or after decompression
UpstreamFailed
├── HostNotFound        the name has no address
├── ConnectFailed       no connection; nothing was sent
│   └── ProxyFailed     the outgoing proxy opened no connection
│       └── ProxyRefused  it does not allow this server
├── CertificateRefused  the server's certificate is not trusted
├── ConnectionDropped   the connection broke after the request was sent
├── BrokenAnswer        the response is not HTTP, or cannot be decompressed
├── RequestTimedOut     no complete response before the deadline
└── TooManyRedirects
"""

from headgate.foundation.errors import Forbidden, Invalid, TooLarge, UpstreamFailed


class BadRequest(Invalid):
    """A request that is never sent."""

    code = "bad_request"
    title = "Invalid request"


class BadUrl(BadRequest):
    """A URL that is not a plain http or https URL."""

    code = "bad_url"
    title = "Not a URL"


class HeaderRefused(BadRequest):
    """A header that a flow may not set, or that is invalid."""

    code = "header_refused"
    title = "Header not allowed"


class AddressRefused(Forbidden):
    """The server's address is private, local or reserved, and not allowed in the settings."""

    code = "address_refused"
    title = "Address not allowed"


class HostRefused(Forbidden):
    """The server is not one of those that a credential may be sent to, before or after a redirect."""

    code = "host_refused"
    title = "Host not allowed"


class AnswerTooLarge(TooLarge):
    """The response exceeds the limit, before or after decompression."""

    code = "answer_too_large"
    title = "Response too large"


class HostNotFound(UpstreamFailed):
    """The name has no address."""

    code = "host_not_found"


class ConnectFailed(UpstreamFailed):
    """The connection failed; nothing was sent."""

    code = "connect_failed"
    title = "No connection"


class ProxyFailed(ConnectFailed):
    """The outgoing proxy opened no connection; nothing was sent to the server."""

    code = "proxy_failed"
    title = "Outgoing proxy failed"


class ProxyRefused(ProxyFailed):
    """The proxy responded and does not allow a connection to this server."""

    title = "Rejected by outgoing proxy"


class CertificateRefused(UpstreamFailed):
    """The server's certificate is not trusted."""

    code = "certificate_refused"
    title = "Certificate not trusted"


class ConnectionDropped(UpstreamFailed):
    """The connection broke after the request was sent: whether it took effect is unknown."""

    code = "connection_dropped"


class BrokenAnswer(UpstreamFailed):
    """The response is not HTTP, or cannot be decompressed."""

    code = "broken_answer"


class RequestTimedOut(UpstreamFailed):
    """No complete response arrived before the deadline."""

    code = "request_timed_out"


class TooManyRedirects(UpstreamFailed):
    """More redirects than the settings allow."""

    code = "too_many_redirects"
