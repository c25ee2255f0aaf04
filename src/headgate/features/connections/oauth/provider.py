"""Requests to an OAuth provider, through the guarded client. The provider's text is never shown."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

import orjson
from pydantic import SecretStr

from headgate.features.connections.errors import OAuthMissing, ProviderFailed
from headgate.foundation import secret_values
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import now
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import HttpAnswer
from headgate.foundation.guarded_http.targets import shown_url

TIMEOUT_SECONDS = 15.0
MAX_BYTES = 256 * 1024
MAX_LIFETIME = 366 * 86_400
EARLY = timedelta(seconds=60)
_ENDED = frozenset({"invalid_grant", "unauthorized_client", "access_denied", "expired_token"})
_PENDING = frozenset({"authorization_pending", "slow_down"})
_KNOWN = frozenset({"invalid_request", "invalid_client", "unsupported_grant_type", "invalid_scope", "server_error"})


class ProviderHttp(Protocol):
    """The guarded client."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """Send a request."""


class GrantEnded(ProviderFailed):
    """The provider no longer accepts the refresh token or code: the user must authorize again."""

    code = "oauth_grant_ended"
    title = "Authorization ended"


class GrantPending(ProviderFailed):
    """The user has not entered the device code yet."""

    code = "oauth_grant_pending"
    title = "Waiting for the user"

    def __init__(self, *, slower: bool) -> None:
        super().__init__("The user has not confirmed the code yet.", remedy="Enter the code at the provider.")
        self.slower = slower


@dataclass(frozen=True, slots=True)
class TokenSet:
    """Tokens of one authorization."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    scopes: str = ""
    expires_at: datetime | None = None
    refresh_at: datetime | None = None
    """When it is refreshed: a minute before it expires, of a short one at half of its life."""

    def seal(self, box: SecretBox, reach: Collection[str]) -> bytes:
        """Return the encrypted tokens, with the servers that they were issued for."""
        content = {"access": self.access, "refresh": self.refresh, "refresh_at": self.refresh_at}
        return box.encrypt(SecretStr(orjson.dumps({**content, "reach": sorted(reach)}).decode()))

    def read(self) -> "TokenSet":
        """Have the tokens removed from everything that the run of this task stores or shows."""
        for token in filter(None, (self.access, self.refresh)):
            secret_values.read(token)
        return self


def unseal(
    box: SecretBox, sealed: bytes | None, *, scopes: str, expires_at: datetime | None, reach: Collection[str]
) -> TokenSet | None:
    """Return the decrypted tokens; None when there are none, or they were issued for other servers."""
    if sealed is None:
        return None
    content = orjson.loads(box.decrypt(sealed).get_secret_value())
    if not {*reach} <= {*content.get("reach", ())}:  # stored by a refresh that began before the servers changed
        return None
    refresh_at = content["refresh_at"]
    return TokenSet(
        content["access"],
        content["refresh"],
        scopes,
        expires_at,
        None if refresh_at is None else datetime.fromisoformat(refresh_at),
    )


async def fetch_tokens(
    http: ProviderHttp, fields: Mapping[str, Any], secret: str, grant: str, **parameters: str
) -> TokenSet:
    """Return the tokens for a grant. Sent once: codes and rotating refresh tokens are used once.

    Raises `GrantEnded`, `GrantPending`, `ProviderFailed`, `OAuthMissing`.
    """
    headers, body = messages().token_message(fields, secret, grant, **parameters)
    answer = await post(http, str(fields["token_url"]), headers, body)
    return _tokens(answer, str(fields["token_url"]), str(fields.get("scopes") or "")).read()


async def post(http: ProviderHttp, url: str, headers: Mapping[str, str], body: str) -> Mapping[str, Any]:
    """Return the JSON object of a provider's answer. Raises `GrantEnded`, `GrantPending`, `ProviderFailed`."""
    try:
        answer = await http.request("POST", url, headers=headers, body=body, timeout_seconds=TIMEOUT_SECONDS)
    except HeadgateError as error:
        raise ProviderFailed(
            f"The provider at {shown_url(url)} cannot be used: {error.detail}",
            remedy="Check the address, and try again.",
        ) from error
    document = _object(answer)
    if answer.status >= 400 or "error" in document:
        raise _refused(str(document.get("error") or ""), answer.status, url)
    return document


def messages() -> Any:  # noqa: ANN401 - a module
    """Return the module that builds messages, imported at the first use. Raises `OAuthMissing`."""
    try:
        from headgate.features.connections.oauth import protocol  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"authlib", "joserfc"}:
            raise
        raise OAuthMissing(
            "The package for OAuth is not installed.", remedy="Install it: pip install 'headgate[sso]'."
        ) from error
    return protocol


def _object(answer: HttpAnswer) -> dict[str, Any]:
    if len(answer.content) > MAX_BYTES:
        return {}
    try:
        document = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}


def _refused(error: str, status: int, url: str) -> ProviderFailed:
    if error in _PENDING:
        return GrantPending(slower=error == "slow_down")
    reason = error if error in _ENDED | _KNOWN else f"status {status}"
    if error in _ENDED:
        return GrantEnded(
            f"The provider at {shown_url(url)} no longer accepts the authorization ({reason}).",
            remedy="Authorize the connection again.",
        )
    return ProviderFailed(
        f"The provider at {shown_url(url)} refused the request ({reason}).",
        remedy="Check the client ID, the client secret, the scopes and the redirect URI at the provider.",
    )


def _tokens(document: Mapping[str, Any], url: str, scopes: str) -> TokenSet:
    access, kind = document.get("access_token"), document.get("token_type", "bearer")
    if not isinstance(access, str) or not access or not isinstance(kind, str) or kind.lower() != "bearer":
        raise ProviderFailed(
            f"The provider at {shown_url(url)} issued no bearer token.", remedy="Check the token URL and the scopes."
        )
    refresh, granted = document.get("refresh_token"), document.get("scope")
    lifetime, at = _lifetime(document.get("expires_in")), now()
    return TokenSet(
        access,
        refresh if isinstance(refresh, str) else "",
        granted if isinstance(granted, str) and granted else scopes,
        None if lifetime is None else at + lifetime,
        None if lifetime is None else at + max(lifetime - EARLY, lifetime / 2),
    )


def _lifetime(seconds: object) -> timedelta | None:
    if not isinstance(seconds, int | float | str):
        return None
    try:
        return timedelta(seconds=min(max(int(seconds), 0), MAX_LIFETIME))
    except ValueError:
        return None
