"""Converts requests and errors between Headgate and httpcore2."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import httpcore2

from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.guarded_http.errors import (
    BadRequest,
    BrokenAnswer,
    CertificateRefused,
    ConnectFailed,
    ConnectionDropped,
)
from headgate.foundation.guarded_http.request import Request

CONNECT_SECONDS = 10.0
"""Connect timeout for one address; the next one is tried afterwards."""


def to_httpcore(request: Request) -> httpcore2.Request:
    """Return the request for httpcore2, with connection headers."""
    target = request.target
    body = request.body if request.body is not None else (b"" if request.method in {"POST", "PUT", "PATCH"} else None)
    headers = [("Host", target.authority), *request.headers]
    if body is not None:
        headers.append(("Content-Length", str(len(body))))
    return httpcore2.Request(
        request.method,
        httpcore2.URL(
            scheme=target.scheme.encode(), host=target.host.encode(), port=target.port, target=target.path.encode()
        ),
        headers=[(name.encode(), value.encode()) for name, value in headers],
        content=body,
        extensions={"timeout": {"connect": CONNECT_SECONDS}},
    )


@contextmanager
def translated(origin: str) -> Iterator[None]:
    """Convert httpcore2's errors to Headgate's, naming the server."""
    try:
        yield
    except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
        raise _no_tls(origin, error) from error
    except httpcore2.RemoteProtocolError as error:
        if "closed" in str(error) or "disconnected" in str(error):
            raise ConnectionDropped(f"{origin} closed the connection before the response was complete.") from error
        raise BrokenAnswer(f"The response of {origin} is not HTTP.") from error
    except (httpcore2.NetworkError, httpcore2.TimeoutException) as error:
        raise ConnectionDropped(f"The connection to {origin} was interrupted.") from error
    except httpcore2.LocalProtocolError as error:
        raise BadRequest(f"The request to {origin} is not valid HTTP.") from error


def _no_tls(origin: str, error: Exception) -> UpstreamFailed:
    """Return the error for a failed TLS handshake; TCP failures are `ConnectFailed` already."""
    cause = error.args[0] if error.args else None
    if isinstance(cause, ssl.SSLCertVerificationError):
        return CertificateRefused(
            f"The certificate of {origin} is not trusted: {cause.verify_message or cause.reason}.",
            remedy="Check the URL. For a private certificate authority, add it to the system's certificates.",
        )
    return ConnectFailed(f"No TLS connection to {origin} could be established.")
