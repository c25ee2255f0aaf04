"""Outgoing connections."""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator

_HOST = re.compile(r"\.?[a-z0-9_-]+(\.[a-z0-9_-]+)*")


def _direct_host(value: str) -> str:
    """Validate a name, `.example.org` for a domain with all its hosts, an address or a network."""
    name = value.lower().removeprefix("*")
    try:
        ip_network(name)
    except ValueError:
        if not _HOST.fullmatch(name):
            raise ValueError(
                "write a host name, .example.org for a domain with all its hosts, an address or a network such as "
                "10.0.0.0/8"
            ) from None
    return name


class OutgoingSettings(BaseModel, defer_build=True):
    """The HTTP proxy for outgoing connections. The proxy variables of the environment are not read."""

    proxy_url: str = Field(
        default="",
        description=(
            "URL of an HTTP proxy, such as `http://proxy.example.org:3128`, for all outgoing HTTP "
            "connections. Empty: no proxy. Loopback and link-local addresses are always connected "
            "to directly."
        ),
    )
    proxy_user: str = Field(default="", description="User name for the proxy.")
    proxy_password: SecretStr | None = Field(default=None, description="Password for the proxy.")
    proxy_resolves_names: bool = Field(
        default=False,
        description=(
            "Send host names to the proxy instead of checked addresses, for networks where this "
            "machine cannot resolve public names or the proxy filters by name. The proxy must then "
            "block internal addresses."
        ),
    )
    direct_hosts: list[Annotated[str, AfterValidator(_direct_host)]] = Field(
        default_factory=list,
        description="Hosts that are connected to without the proxy, as a JSON list of names, domains "
        "(`.example.org`), addresses and networks (`10.0.0.0/8`).",
    )
    ca_file: Path | None = Field(
        default=None,
        description=(
            "PEM file of certificate authorities to trust in addition to the system's, for example "
            "that of a proxy that inspects TLS."
        ),
    )

    @property
    def proxy(self) -> tuple[str, int] | None:
        """Return host and port of the proxy; None when there is none."""
        parts = urlsplit(self.proxy_url)
        return (parts.hostname or "", parts.port or 80) if self.proxy_url else None

    @model_validator(mode="after")
    def _is_usable(self) -> Self:
        if self.proxy_url:
            require_proxy(self.proxy_url)
        if self.proxy_password is not None and not self.proxy_user:
            raise ValueError("proxy_password requires proxy_user")
        if self.ca_file is not None and not self.ca_file.is_file():
            raise ValueError(f"ca_file: there is no file {self.ca_file}")
        return self


def require_proxy(url: str) -> None:
    """Raise `ValueError` unless it is exactly `http://host:port`."""
    parts = urlsplit(url)
    if parts.scheme != "http":
        raise ValueError("proxy_url must be an http:// URL; TLS to the proxy itself and SOCKS are not supported")
    if "@" in parts.netloc:
        raise ValueError("proxy_url must not contain a user name; set proxy_user and proxy_password")
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError("proxy_url must be http://host:port without a path")
    _ = parts.port  # raises ValueError
