"""Credentials that the guarded client adds to requests, and the only servers that it sends them to.

A host is an origin such as `https://api.example.org` or `http://localhost:8000`. `https://*.example.org` is every host
below `example.org`, not `example.org` itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, quote

from headgate.foundation.guarded_http.errors import HeaderRefused, HostRefused
from headgate.foundation.guarded_http.headers import check_headers, names
from headgate.foundation.guarded_http.request import Request
from headgate.foundation.guarded_http.targets import Target, parse_target

_ANY = "*."


@dataclass(frozen=True, slots=True)
class Credential:
    """What is added to every request, also after a redirect, and the servers that it may be sent to."""

    owner: str
    """As named in errors: `the connection 'crm'`."""
    hosts: tuple[str, ...]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict, repr=False)

    def require(self, target: Target) -> None:
        """Raise `HostRefused` when the server is not one of the hosts."""
        if not is_host_of(target, self.hosts):
            listed = ", ".join(self.hosts) or "none"
            raise HostRefused(
                f"{self.owner[:1].upper()}{self.owner[1:]} is not used for {target.origin}: its hosts are {listed}.",
                remedy="Use a URL of one of these hosts, or add the host to the connection.",
                host=target.origin,
            )

    def check(self, request: Request) -> None:
        """Raise `HostRefused` for another server, `HeaderRefused` when the request sets what the credential sets."""
        self.require(request.target)
        own = {name.lower() for name in self.headers} & names(request.headers)
        if own:
            raise HeaderRefused(
                f"The header {min(own)} is set by {self.owner}.", remedy="Remove the header from the request."
            )
        if self.query.keys() & _query_names(request.target):
            name = min(self.query.keys() & _query_names(request.target))
            raise HeaderRefused(
                f"The query parameter {name} is set by {self.owner}.", remedy="Remove it from the request."
            )

    def signed(self, request: Request) -> Request:
        """Return the request with the credential. Raises `HostRefused`."""
        self.require(request.target)
        headers = {name.lower() for name in self.headers}
        other_headers = tuple((name, value) for name, value in request.headers if name.lower() not in headers)
        return replace(
            request, headers=other_headers + check_headers(self.headers), target=self._with_query(request.target)
        )

    def _with_query(self, target: Target) -> Target:
        present = _query_names(target)
        added = "&".join(
            f"{quote(name, safe='')}={quote(value, safe='')}"
            for name, value in self.query.items()
            if name not in present
        )
        if not added:
            return target
        return replace(target, path=f"{target.path}{'&' if '?' in target.path else '?'}{added}")


def host_of(text: str) -> str:
    """Return a host in its stored form, from a URL, a host name (https) or a pattern. Raises `BadUrl`."""
    text = text.strip()
    scheme, separator, rest = text.rpartition("://")
    wildcard = rest.startswith(_ANY)
    target = parse_target(f"{scheme if separator else 'https'}://{rest[len(_ANY) :] if wildcard else rest}")
    return f"{target.scheme}://{_ANY if wildcard else ''}{target.authority}"


def is_host_of(target: Target, hosts: Iterable[str]) -> bool:
    """Return whether a server is one of these hosts."""
    for host in hosts:
        scheme, _, authority = host.partition("://")
        if authority.startswith(_ANY):
            if target.scheme == scheme and target.authority.endswith(authority[1:]):
                return True
        elif target.origin == host:
            return True
    return False


def _query_names(target: Target) -> set[str]:
    return {name for name, _ in parse_qsl(target.path.partition("?")[2], keep_blank_values=True)}
