"""Host patterns with ports in manifests and settings.

| pattern             | matches                                         |
|---------------------|-------------------------------------------------|
| `api.example.org`   | this host, on the web ports 80 and 443          |
| `*.example.org`     | every host below it, not itself; the same ports |
| `*`                 | every host; the same ports                      |
| `10.1.2.3:8080`     | this address, on this port                      |
| `[2001:db8::1]:*`   | this address, on any port                       |
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from headgate.foundation.guarded_http.errors import BadUrl
from headgate.foundation.guarded_http.targets import parse_target

WEB_PORTS: Final = (80, 443)
_PATTERN: Final = re.compile(r"(?P<below>\*\.)?(?P<host>\*|\[[^\[\]]+\]|[^\[\]:*/?#@]+)(:(?P<port>\*|[0-9]{1,5}))?")


class HostPattern(NamedTuple):
    """A host pattern with ports."""

    host: str
    """In ASCII and lower case, IPv6 without brackets; `*` matches every host."""
    ports: tuple[int, ...] = WEB_PORTS
    """Empty means any port."""
    below: bool = False
    """Whether it matches the hosts below `host` and not `host` itself."""

    def covers(self, host: str, port: int) -> bool:
        """Return whether it matches this host, in ASCII and lower case, on this port."""
        if self.ports and port not in self.ports:
            return False
        if self.below:
            return host.endswith("." + self.host)
        return self.host in {"*", host}

    def includes(self, other: "HostPattern") -> bool:
        """Return whether it matches everything that another pattern matches."""
        if self.ports and not (other.ports and set(other.ports) <= set(self.ports)):
            return False
        if self.below:
            return other.host.endswith("." + self.host) or (other.below and other.host == self.host)
        return self.host == "*" or (self.host == other.host and not other.below)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        ports = "" if self.ports == WEB_PORTS else f":{self.ports[0]}" if self.ports else ":*"
        return f"{'*.' if self.below else ''}{host}{ports}"


def read_pattern(text: str) -> HostPattern:
    """Parse one pattern. Raises `BadUrl` with the reason."""
    match = _PATTERN.fullmatch(text.strip())
    if match is None or (match["below"] and match["host"] == "*"):
        raise BadUrl(f"'{text[:200]}' is not a host.", remedy="Write it such as api.example.org or *.example.org.")
    host, port = match["host"], match["port"]
    target = parse_target(f"http://{'any.host' if host == '*' else host}:{port if port and port != '*' else 80}/")
    if match["below"] and target.address is not None:
        raise BadUrl(f"'{text[:200]}' is not a host: an IP address has no subdomains.")
    ports = WEB_PORTS if port is None else () if port == "*" else (target.port,)
    return HostPattern("*" if host == "*" else target.host, ports, bool(match["below"]))


def covered(patterns: Iterable[HostPattern], host: str, port: int) -> bool:
    """Return whether one of the patterns matches this host on this port."""
    return any(pattern.covers(host, port) for pattern in patterns)
