"""The provider over HTTP: its document, its keys, codes for tokens, what it tells about a person."""

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
"""How long the provider's document and keys are kept; keys are fetched again sooner when one is unknown."""
MAX_BYTES = 512 * 1024
TIMEOUT_SECONDS = 10.0
PAUSES = (0.25,)
_JSON = {"Accept": "application/json"}


def open_http(outgoing: OutgoingSettings, *, seconds: float = TIMEOUT_SECONDS) -> GuardedHttp:
    """A client for the address that the operator chose, which may be private or on loopback. It follows no redirect."""
    limits = SINGLE_SIGN_ON.limits(HttpSettings(max_response_bytes=MAX_BYTES, timeout_seconds=seconds))
    return GuardedHttp(limits, outgoing, pauses=PAUSES)


class Provider:
    """One OpenID Connect provider. What it says about itself is fetched when it is first needed, and kept."""

    def __init__(self, issuer: str, http: GuardedHttp) -> None:
        self._issuer = issuer
        self._http = http
        self._metadata: Metadata | None = None
        self._keys: object = None
        self._metadata_until = self._keys_until = 0.0
        self._lock = asyncio.Lock()

    async def metadata(self) -> Metadata:
        """What it says about itself. Raises `ProviderUnusable`."""
        async with self._lock:
            if self._metadata is None or time.monotonic() > self._metadata_until:
                answer = await self._get(address_of(self._issuer), _JSON)
                self._metadata = read_metadata(answer.content, self._issuer)
                self._metadata_until = time.monotonic() + KEPT_SECONDS
            return self._metadata

    async def keys(self, *, other_than: object = None) -> object:
        """Its JWK set, as JSON; a new one when the kept one is `other_than`. Raises `ProviderUnusable`."""
        metadata = await self.metadata()
        async with self._lock:
            stale = self._keys is None or time.monotonic() > self._keys_until
            if stale or (other_than is not None and self._keys is other_than):
                self._keys = _object(await self._get(metadata.jwks_uri, _JSON))
                self._keys_until = time.monotonic() + KEPT_SECONDS
            return self._keys

    async def redeem(self, headers: Mapping[str, str], body: str) -> Mapping[str, Any]:
        """The tokens for a code. Sent once: a code is good for one use. Raises `ProviderUnusable`."""
        metadata = await self.metadata()
        return _object(await self._send("POST", metadata.token_endpoint, headers, body), refused=True)

    async def userinfo(self, access_token: str) -> Mapping[str, Any]:
        """What it tells about the person (OpenID Connect Core 1.0, 5.3). Raises `ProviderUnusable`."""
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
                remedy="Try again; if it stays so, the operator looks at `headgate doctor`.",
            ) from error


def _object(answer: HttpAnswer, *, refused: bool = False) -> Mapping[str, Any]:
    """The JSON object of an answer. With `refused`, one that tells an error (RFC 6749, 5.2) is an answer too."""
    try:
        found = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        found = None
    if isinstance(found, dict) and (answer.status == 200 or (refused and isinstance(found.get("error"), str))):
        return found
    raise ProviderUnusable(
        f"The provider answered with status {answer.status} and {answer.media_type[:60]}, where a JSON object was due.",
        remedy="Try again; if it stays so, the operator looks at `headgate doctor`.",
    )
