"""Who may be connected to: what the code's manifest names, the operator allows, and has a public address."""

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
    """The operator's rules for all sandboxed code. The default reaches nothing."""

    hosts: tuple[HostPattern, ...] = ()
    addresses: AddressPolicy = field(default_factory=AddressPolicy)
    resolver: Resolver = system_resolver

    @classmethod
    def of(cls, hosts: Iterable[str], addresses: AddressPolicy) -> Self:
        """From hosts as the operator writes them. Raises `BadUrl` for what is none."""
        return cls(tuple(read_pattern(host) for host in hosts), addresses)

    def opens(self, manifest: Manifest) -> bool:
        """Whether every host that a manifest names is open. Raises `BadUrl` when it names what is no host."""
        named = [read_pattern(host) for host in manifest.hosts]
        return all(any(rule.includes(one) for rule in self.hosts) for one in named)


NO_NETWORK = NetworkRules()


@dataclass(frozen=True, slots=True)
class Grant:
    """What one piece of code may connect to."""

    declared: tuple[HostPattern, ...]
    rules: NetworkRules

    @classmethod
    def of(cls, manifest: Manifest, rules: NetworkRules) -> Self:
        """From a manifest. Raises `BadUrl` when it names what is no host."""
        return cls(tuple(read_pattern(host) for host in manifest.hosts), rules)

    def require(self, host: str, port: int) -> None:
        """Raise `HostRefused` unless both the manifest and the operator name this host on this port."""
        shown = str(HostPattern(host, (port,)))
        if not covered(self.declared, host, port):
            named = ", ".join(str(pattern) for pattern in self.declared[:SHOWN_HOSTS]) or "none"
            raise HostRefused(
                f"{shown} is not among the hosts of the code's manifest ({named}).",
                remedy='Name it in the class: hosts: ClassVar = ("api.example.org",); with its port unless 80 or 443.',
            )
        if not covered(self.rules.hosts, host, port):
            raise HostRefused(
                f"{shown} is not among the hosts that the operator opens to own code.",
                remedy="The operator adds it to HEADGATE_SANDBOX__HOSTS.",
            )
