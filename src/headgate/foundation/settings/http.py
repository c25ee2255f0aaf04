"""Requests that flows make to the web."""

from pydantic import BaseModel, Field

from headgate.foundation.settings.network import Network
from headgate.foundation.settings.units import MEBIBYTE


class HttpSettings(BaseModel, defer_build=True):
    """Requests that flows make to the web."""

    allowed_internal_cidrs: list[Network] = Field(
        default_factory=list,
        description=(
            "Private networks that flows may access, as a JSON list. Loopback and link-local "
            "addresses stay blocked unless listed here too."
        ),
    )
    max_response_bytes: int = Field(default=MEBIBYTE, ge=1024, description="Maximum size of a response.")
    timeout_seconds: float = Field(default=30.0, gt=0, description="Timeout of one request.")
    max_redirects: int = Field(
        default=5, ge=0, le=20, description=("Maximum number of redirects, each of which is checked.")
    )
    max_connections: int | None = Field(
        default=None,
        ge=1,
        description="Maximum of concurrent requests. Empty: the maximum of concurrent steps, "
        "`HEADGATE_ENGINE__MAX_CONCURRENT_RUNS` times `HEADGATE_ENGINE__MAX_CONCURRENT_STEPS`. Waiting for a slot does "
        "not count as request time.",
    )
    max_connections_per_host: int = Field(
        default=100, ge=1, description="Maximum of concurrent requests to one host, so that one server cannot use all."
    )
    circuit_failures: int = Field(
        default=10,
        ge=0,
        description="Failures in a row after which flows of an organisation do not call a host for a while; 0: never.",
    )
    circuit_window_seconds: float = Field(
        default=60.0, gt=0, description="Failures count that follow the first one within this time."
    )
    circuit_open_seconds: float = Field(
        default=30.0, gt=0, description="How long the host is not called; then one request tries it again."
    )
