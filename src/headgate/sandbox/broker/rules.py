"""Connection rules: hosts in the code's manifest that the operator allows and that have a public address."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.foundation.guarded_http.resolving import Resolver, system_resolver
from headgate.graph.manifest import Manifest
from headgate.sandbox.errors import HostRefused
from headgate.sandbox.hosts import HostPattern, covered, read_pattern

SHOWN_HOSTS = 10


@dataclass(frozen=True, slots=True)
class NetworkRules:
    """The operator's rules for all sandboxed code. By default nothing is allowed."""

    hosts: tuple[HostPattern, ...] = ()
    addresses: AddressPolicy = field(default_factory=AddressPolicy)
    resolver: Resolver = system_resolver

    @classmethod
    def of(cls, hosts: Iterable[str], addresses: AddressPolicy) -> Self:
        """Return the rules for hosts as the operator writes them. Raises `BadUrl` for an invalid host."""
        return cls(tuple(read_pattern(host) for host in hosts), addresses)

    def opens(self, manifest: Manifest) -> bool:
        """Return whether every host of a manifest is allowed. Raises `BadUrl` for an invalid host."""
        patterns = [read_pattern(host) for host in manifest.hosts]
        return all(any(rule.includes(pattern) for rule in self.hosts) for pattern in patterns)


NO_NETWORK = NetworkRules()


@dataclass(frozen=True, slots=True)
class Grant:
    """The permitted connections of one piece of code."""

    declared: tuple[HostPattern, ...]
    rules: NetworkRules

    @classmethod
    def of(cls, manifest: Manifest, rules: NetworkRules) -> Self:
        """Return the grant for a manifest. Raises `BadUrl` for an invalid host."""
        return cls(tuple(read_pattern(host) for host in manifest.hosts), rules)

    def require(self, host: str, port: int) -> None:
        """Raise `HostRefused` unless both the manifest and the operator allow this host on this port."""
        pattern = str(HostPattern(host, (port,)))
        if not covered(self.declared, host, port):
            declared = ", ".join(str(pattern) for pattern in self.declared[:SHOWN_HOSTS]) or "none"
            raise HostRefused(
                f"{pattern} is not one of the hosts in the code's manifest ({declared}).",
                remedy=(
                    'Declare it in the class: hosts: ClassVar = ("api.example.org",); with its port unless 80 or 443.'
                ),
            )
        if not covered(self.rules.hosts, host, port):
            raise HostRefused(
                f"{pattern} is not one of the hosts that the operator allows for custom code.",
                remedy="The operator adds it to HEADGATE_SANDBOX__HOSTS.",
            )
