"""The HTTP server."""

import re

from pydantic import BaseModel, Field, SecretStr, field_validator

from headgate.foundation.settings.network import HostName, Network, Origin
from headgate.foundation.settings.units import MEBIBYTE


class ServerSettings(BaseModel, defer_build=True):
    """The HTTP server."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=7411, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    auto_login: bool = Field(default=True, description="One local user, no sign-in. Only served on loopback addresses.")
    insecure: bool = Field(default=False, description="Allow auto-login on other addresses. Anyone there is the user.")
    public_url: str = Field(
        default="",
        description="Address that people open, such as `https://headgate.example.org`. Needed where people sign in and "
        "the server listens on more than loopback: cookies, links and single sign-on go by it.",
    )
    allowed_hosts: list[HostName] = Field(
        default_factory=list,
        description="Further names the server is called by, as a JSON list, without ports. It answers to no others: a "
        "web page cannot point its own name here. The name in `PUBLIC_URL` and this machine's own need not be listed.",
    )
    cors_origins: list[Origin] = Field(
        default_factory=list,
        description='Sites whose pages may call the API, as a JSON list such as `["https://intranet.example.org"]`. '
        "They need an API key: cookies are not taken from there.",
    )
    trusted_proxies: list[Network] = Field(
        default_factory=list,
        description="Addresses or networks of reverse proxies, as a JSON list. Only from these are `X-Forwarded-For` "
        "and `X-Forwarded-Proto` believed.",
    )
    metrics_token: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="Bearer token for `/metrics`, and for the details of `/health/ready`. Empty: figures are shown "
        "with auto-login only.",
    )
    max_loop_lag_seconds: float = Field(
        default=5.0,
        gt=0,
        description="`/health/ready` responds 503 when the event loop was blocked longer within the last ten seconds.",
    )
    max_body_bytes: int = Field(default=4 * MEBIBYTE, ge=1024, description="Largest request body, uploads excepted.")
    max_upload_bytes: int = Field(default=64 * MEBIBYTE, ge=1024, description="Largest uploaded file.")
    read_seconds: float = Field(
        default=30.0, gt=0, description="How long a client may take for its headers, and between two parts of its body."
    )
    keep_alive_seconds: int = Field(
        default=75,
        ge=1,
        description="How long a connection may rest between two requests. Keep it above what a reverse proxy allows "
        "(nginx: 60): one that sends as the server closes gets no answer.",
    )

    @field_validator("public_url")
    @classmethod
    def _is_an_origin(cls, url: str) -> str:
        if url and not re.fullmatch(r"https?://[^/?#@\s]+", url):
            raise ValueError(
                "say scheme and name only, such as https://headgate.example.org; Headgate has a name of its own, "
                "and no path below another's"
            )
        return url

    @field_validator("trusted_proxies")
    @classmethod
    def _somebody_is_not_trusted(cls, networks: list[Network]) -> list[Network]:
        if any(network.prefixlen == 0 for network in networks):
            raise ValueError("a network of every address trusts everybody; list the proxies' own addresses")
        return networks
