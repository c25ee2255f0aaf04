"""The HTTP client of a step."""

from collections.abc import Mapping
from typing import Protocol

from headgate.foundation.guarded_http import HttpAnswer


class HttpClient(Protocol):
    """The guarded client: no private addresses, redirects are checked, sizes and times are limited."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """Send one request. Raises `UpstreamFailed` when the server cannot be reached, `Forbidden` when not allowed."""
