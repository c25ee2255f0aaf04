"""HTTP client of the provider: metadata, keys, tokens, user info."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import orjson

from headgate.features.accounts.single_sign_on.errors import ProviderUnusable
from headgate.features.accounts.single_sign_on.metadata import Metadata, address_of, read_metadata
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import GuardedHttp, HttpAnswer
from headgate.foundation.guarded_http.outgoing import SINGLE_SIGN_ON
from headgate.foundation.settings import HttpSettings, OutgoingSettings

KEPT_SECONDS = 3600.0
"""How long the provider's metadata and keys are cached; keys are fetched earlier when one is unknown."""
MAX_BYTES = 512 * 1024
TIMEOUT_SECONDS = 10.0
PAUSES = (0.25,)
_JSON = {"Accept": "application/json"}


def open_http(outgoing: OutgoingSettings, *, seconds: float = TIMEOUT_SECONDS) -> GuardedHttp:
    """Return a client for the operator's URL, which may be private or on loopback. It follows no redirects."""
    limits = SINGLE_SIGN_ON.limits(HttpSettings(max_response_bytes=MAX_BYTES, timeout_seconds=seconds))
    return GuardedHttp(limits, outgoing, pauses=PAUSES)


class Provider:
    """One OpenID Connect provider. Its metadata is fetched on first use and cached."""

    def __init__(self, issuer: str, http: GuardedHttp) -> None:
        self._issuer = issuer
        self._http = http
        self._metadata: Metadata | None = None
        self._keys: object = None
        self._metadata_until = self._keys_until = 0.0
        self._lock = asyncio.Lock()

    async def metadata(self) -> Metadata:
        """Return its metadata. Raises `ProviderUnusable`."""
        async with self._lock:
            if self._metadata is None or time.monotonic() > self._metadata_until:
                response = await self._get(address_of(self._issuer), _JSON)
                self._metadata = read_metadata(response.content, self._issuer)
                self._metadata_until = time.monotonic() + KEPT_SECONDS
            return self._metadata

    async def keys(self, *, other_than: object = None) -> object:
        """Return its JWK set, as JSON; a new one when the cached one is `other_than`. Raises `ProviderUnusable`."""
        metadata = await self.metadata()
        async with self._lock:
            stale = self._keys is None or time.monotonic() > self._keys_until
            if stale or (other_than is not None and self._keys is other_than):
                self._keys = _object(await self._get(metadata.jwks_uri, _JSON))
                self._keys_until = time.monotonic() + KEPT_SECONDS
            return self._keys

    async def redeem(self, headers: Mapping[str, str], body: str) -> Mapping[str, Any]:
        """Return the tokens for a code. Sent once: a code can be used once. Raises `ProviderUnusable`."""
        metadata = await self.metadata()
        return _object(await self._send("POST", metadata.token_endpoint, headers, body), refused=True)

    async def userinfo(self, access_token: str) -> Mapping[str, Any]:
        """Return the user info (OpenID Connect Core 1.0, 5.3). Raises `ProviderUnusable`."""
        metadata = await self.metadata()
        if metadata.userinfo_endpoint is None:
            return {}
        return _object(
            await self._get(metadata.userinfo_endpoint, {**_JSON, "Authorization": f"Bearer {access_token}"})
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._http.close()

    async def _get(self, address: str, headers: Mapping[str, str]) -> HttpAnswer:
        return await self._send("GET", address, headers, None)

    async def _send(self, method: str, address: str, headers: Mapping[str, str], body: str | None) -> HttpAnswer:
        try:
            return await self._http.request(method, address, headers=headers, body=body)
        except HeadgateError as error:
            raise ProviderUnusable(
                f"The provider at {self._issuer} cannot be used: {error.detail}",
                remedy="Try again. If it fails again, ask the operator to run `headgate doctor`.",
            ) from error


def _object(response: HttpAnswer, *, refused: bool = False) -> Mapping[str, Any]:
    """Return the JSON object of a response. With `refused`, an error response (RFC 6749, 5.2) is also returned."""
    try:
        document = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        document = None
    if isinstance(document, dict) and (response.status == 200 or (refused and isinstance(document.get("error"), str))):
        return document
    raise ProviderUnusable(
        f"The provider answered with status {response.status} and {response.media_type[:60]}; "
        "a JSON object was expected.",
        remedy="Try again. If it fails again, ask the operator to run `headgate doctor`.",
    )
