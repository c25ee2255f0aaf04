"""Names of hosts with their ports, as manifests and operators write them.

| pattern             | stands for                                      |
|---------------------|-------------------------------------------------|
| `api.example.org`   | this host, on the ports of the web: 80 and 443  |
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
    """Hosts on ports."""

    host: str
    """In ASCII and lower case, IPv6 without brackets; `*` stands for every host."""
    ports: tuple[int, ...] = WEB_PORTS
    """Empty: any."""
    below: bool = False
    """Whether it stands for the hosts below `host` and not for itself."""

    def covers(self, host: str, port: int) -> bool:
        """Whether it stands for this host, in ASCII and lower case, on this port."""
        if self.ports and port not in self.ports:
            return False
        if self.below:
            return host.endswith("." + self.host)
        return self.host in {"*", host}

    def includes(self, other: "HostPattern") -> bool:
        """Whether it stands for everything that another pattern stands for."""
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
    """Read one pattern. Raises `BadUrl` saying what is wrong with it."""
    match = _PATTERN.fullmatch(text.strip())
    if match is None or (match["below"] and match["host"] == "*"):
        raise BadUrl(f"'{text[:200]}' is no host.", remedy="Write it such as api.example.org or *.example.org.")
    host, port = match["host"], match["port"]
    target = parse_target(f"http://{'any.host' if host == '*' else host}:{port if port and port != '*' else 80}/")
    if match["below"] and target.address is not None:
        raise BadUrl(f"'{text[:200]}' is no host: nothing lies below an address.")
    ports = WEB_PORTS if port is None else () if port == "*" else (target.port,)
    return HostPattern("*" if host == "*" else target.host, ports, bool(match["below"]))


def covered(patterns: Iterable[HostPattern], host: str, port: int) -> bool:
    """Whether one of the patterns stands for this host on this port."""
    return any(pattern.covers(host, port) for pattern in patterns)
