"""The HTTP server."""

import re

from pydantic import BaseModel, Field, SecretStr, field_validator

from headgate.foundation.settings.network import HostName, Network, Origin
from headgate.foundation.settings.units import MEBIBYTE


class ServerSettings(BaseModel, defer_build=True):
    """The HTTP server."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=7411, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    auto_login: bool = Field(
        default=True, description=("One local user without sign-in. Available on loopback addresses only.")
    )
    insecure: bool = Field(
        default=False, description=("Allow auto-login on other addresses. Anyone with access to them is the user.")
    )
    public_url: str = Field(
        default="",
        description=(
            "Public URL, such as `https://headgate.example.org`. Required when users sign in and "
            "the server listens on more than loopback: cookies, links and single sign-on depend on "
            "it."
        ),
    )
    allowed_hosts: list[HostName] = Field(
        default_factory=list,
        description=(
            "Additional host names of the server, as a JSON list, without ports. Requests for "
            "other names are rejected, which prevents DNS rebinding. The name in `PUBLIC_URL` and "
            "this machine's own name need not be listed."
        ),
    )
    cors_origins: list[Origin] = Field(
        default_factory=list,
        description=(
            "Sites whose pages may call the API, as a JSON list such as "
            '`["https://intranet.example.org"]`. They need an API key: cookies are not accepted '
            "from them."
        ),
    )
    trusted_proxies: list[Network] = Field(
        default_factory=list,
        description=(
            "Addresses or networks of reverse proxies, as a JSON list. `X-Forwarded-For` and "
            "`X-Forwarded-Proto` are accepted from these only."
        ),
    )
    metrics_token: SecretStr | None = Field(
        default=None,
        min_length=16,
        description=(
            "Bearer token for `/metrics`, and for the details of `/health/ready`. Empty: metrics "
            "are available with auto-login only."
        ),
    )
    max_loop_lag_seconds: float = Field(
        default=5.0,
        gt=0,
        description="`/health/ready` responds 503 when the event loop was blocked longer within the last ten seconds.",
    )
    max_body_bytes: int = Field(
        default=4 * MEBIBYTE, ge=1024, description=("Maximum size of a request body, except uploads.")
    )
    max_upload_bytes: int = Field(default=64 * MEBIBYTE, ge=1024, description="Maximum size of an uploaded file.")
    read_seconds: float = Field(
        default=30.0, gt=0, description="Timeout for receiving the headers, and between two parts of the body."
    )
    keep_alive_seconds: int = Field(
        default=75,
        ge=1,
        description=(
            "Keep-alive timeout between two requests. Set it higher than that of the reverse proxy "
            "(nginx: 60), otherwise a request sent while the server closes the connection is lost."
        ),
    )

    handover_seconds: float = Field(
        default=30.0,
        ge=0,
        description=(
            "How long a server or worker that `headgate restart` replaces may finish its requests and tasks. Tasks "
            "that take longer are recovered."
        ),
    )

    @field_validator("public_url")
    @classmethod
    def _is_an_origin(cls, url: str) -> str:
        if url and not re.fullmatch(r"https?://[^/?#@\s]+", url):
            raise ValueError(
                "write scheme and host only, such as https://headgate.example.org; Headgate requires its "
                "own host name and does not support a path prefix"
            )
        return url

    @field_validator("trusted_proxies")
    @classmethod
    def _refuse_every_network(cls, networks: list[Network]) -> list[Network]:
        if any(network.prefixlen == 0 for network in networks):
            raise ValueError("a network of all addresses trusts everyone; list the proxies' addresses")
        return networks
