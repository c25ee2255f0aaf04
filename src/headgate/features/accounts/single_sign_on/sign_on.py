"""One sign-in through the provider, from redirect to callback. Does not use the database."""

import hmac
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from headgate.features.accounts.single_sign_on.errors import (
    ExtraMissing,
    KeyUnknown,
    ProviderRefused,
    SignInCancelled,
    SignInLost,
    TokenRefused,
)
from headgate.features.accounts.single_sign_on.provider import Provider, open_http
from headgate.features.accounts.single_sign_on.transaction import (
    LIFETIME_SECONDS,
    Transaction,
    begin_transaction,
    seal,
    unseal,
)
from headgate.foundation.crypto import SecretBox
from headgate.foundation.log import get_logger
from headgate.foundation.settings import Settings, SingleSignOnSettings

if TYPE_CHECKING:  # an extra, imported at the first single sign-on
    from types import ModuleType

log = get_logger(__name__)
MAX_SUBJECT = 255
MAX_ANSWER = 4096
"""Maximum length of a code and of an error name."""


@dataclass(frozen=True, slots=True)
class ProviderIdentity:
    """A user as authenticated by the provider."""

    issuer: str
    subject: str
    """The provider's permanent subject. Unlike an e-mail address, it is never reassigned."""
    email: str | None
    """In lower case."""
    email_verified: bool
    name: str
    admin: bool | None
    """Whether the user is to be an admin; None when the provider does not decide this."""
    session: str | None = None
    """The provider's session id (claim `sid`)."""


@dataclass(frozen=True, slots=True)
class SignedOut:
    """What the provider signed out: a session, or all sessions of a user."""

    issuer: str
    subject: str | None
    session: str | None
    issued_at: float
    """In seconds since 1970."""


class SingleSignOn:
    """Single sign-on with one provider. Owned by the server and closed with it."""

    def __init__(self, settings: SingleSignOnSettings, box: SecretBox, provider: Provider) -> None:
        self.settings = settings
        self._box = box
        self._provider = provider
        self._used: OrderedDict[str, float] = OrderedDict()

    async def begin(self, redirect_uri: str, path: str) -> tuple[str, str]:
        """Return the URL to redirect to, and the cookie's value. Raises `ProviderUnusable`, `ExtraMissing`."""
        protocol = _load_protocol()
        transaction = begin_transaction(self.settings.issuer, redirect_uri, path)
        url: str = protocol.authorization_url(await self._provider.metadata(), self.settings, transaction)
        return url, seal(self._box, transaction)

    async def finish(self, query: Mapping[str, str], sealed: str | None) -> tuple[ProviderIdentity, str]:
        """Return the authenticated user, and the requested path.

        Args:
            query: The query of the callback.
            sealed: The cookie's value.

        Raises `SignInLost`, `SignInCancelled`, `ProviderRefused`, `TokenRefused`, `ProviderUnusable`, `ExtraMissing`.
        """
        transaction = unseal(self._box, sealed)
        self._take(transaction, query.get("state", ""))
        await self._require_issuer(query.get("iss"))
        code = _code(query)
        return await self._vouched(transaction, code), transaction.next

    async def signed_out(self, logout_token: str) -> SignedOut:
        """Return the sessions that a logout token refers to (OpenID Connect Back-Channel Logout 1.0, 2.6).

        Raises `TokenRefused`, `ProviderUnusable`, `ExtraMissing`.
        """
        protocol = _load_protocol()
        keys = await self._provider.keys()
        try:
            claims = protocol.check_logout_token(logout_token, keys, self.settings)
        except KeyUnknown:
            keys = await self._provider.keys(other_than=keys)
            claims = protocol.check_logout_token(logout_token, keys, self.settings)
        subject, session = _text(claims.get("sub")), _text(claims.get("sid"))
        if subject is None and session is None:
            raise TokenRefused("it names neither a user nor a session")
        return SignedOut(self.settings.issuer, subject, session, float(claims["iat"]))

    async def sign_out_address(self, back_to: str) -> str | None:
        """Return the provider's sign-out URL (OpenID Connect RP-Initiated Logout 1.0, 2); None when it has none.

        Raises `ProviderUnusable`.
        """
        metadata = await self._provider.metadata()
        if metadata.end_session_endpoint is None or not self.settings.sign_out_at_provider:
            return None
        query = urlencode({"client_id": self.settings.client_id, "post_logout_redirect_uri": back_to})
        joint = "&" if "?" in metadata.end_session_endpoint else "?"
        return f"{metadata.end_session_endpoint}{joint}{query}"

    async def count_keys(self) -> int:
        """Return the number of the provider's signing keys, to check that it responds.

        Raises `ProviderUnusable`, `ExtraMissing`.
        """
        count: int = _load_protocol().count_keys(await self._provider.keys())
        return count

    async def close(self) -> None:
        """Close every connection."""
        await self._provider.close()

    def _take(self, transaction: Transaction, state: str) -> None:
        """Raise `SignInLost` unless the callback belongs to this transaction and provider, and is the first one."""
        now = time.monotonic()
        while self._used and next(iter(self._used.values())) < now:
            self._used.popitem(last=False)
        same = hmac.compare_digest(transaction.state.encode(), state.encode())
        if not same or transaction.issuer != self.settings.issuer or transaction.state in self._used:
            raise SignInLost
        self._used[transaction.state] = now + LIFETIME_SECONDS

    async def _require_issuer(self, issuer: str | None) -> None:
        """Raise `TokenRefused` when the callback is from another provider (RFC 9207, 2.4)."""
        metadata = await self._provider.metadata()
        if issuer is None and not metadata.authorization_response_iss_parameter_supported:
            return
        if issuer != metadata.issuer:
            raise TokenRefused("the response does not name its issuer")

    async def _vouched(self, transaction: Transaction, code: str) -> ProviderIdentity:
        protocol = _load_protocol()
        headers, body = protocol.token_request(await self._provider.metadata(), self.settings, transaction, code)
        tokens = await self._provider.redeem(headers, body)
        if "error" in tokens:
            raise _refusal(str(tokens["error"]))
        id_token, access_token = tokens.get("id_token"), tokens.get("access_token")
        if not isinstance(id_token, str):
            raise TokenRefused("there is no ID token")
        claims = await self._claims(protocol, id_token, transaction.nonce, _text(access_token))
        subject = _text(claims.get("sub"))
        if not subject or len(subject) > MAX_SUBJECT:
            raise TokenRefused("the subject is not a string of 1 to 255 characters")
        if (token := _text(access_token)) and self._lacks_something(claims):
            claims = await self._with_userinfo(claims, subject, token)
        return _identity(claims, subject, self.settings)

    async def _claims(
        self, protocol: "ModuleType", id_token: str, nonce: str, access_token: str | None
    ) -> Mapping[str, Any]:
        """Return the verified claims. Keys are fetched again once when the signature matches no known key."""
        keys = await self._provider.keys()
        try:
            claims = protocol.check_id_token(id_token, keys, self.settings, nonce=nonce, access_token=access_token)
        except KeyUnknown:
            keys = await self._provider.keys(other_than=keys)
            claims = protocol.check_id_token(id_token, keys, self.settings, nonce=nonce, access_token=access_token)
        return dict(claims)

    async def _with_userinfo(self, claims: Mapping[str, Any], subject: str, access_token: str) -> Mapping[str, Any]:
        """Return the claims with additions from userinfo; those of the ID token have precedence."""
        info = await self._provider.userinfo(access_token)
        if info and info.get("sub") != subject:
            raise TokenRefused("the ID token and userinfo are about different users")
        if not _text(claims.get("email")):  # whether an address is verified is part of the same source as the address
            claims = {name: value for name, value in claims.items() if name not in {"email", "email_verified"}}
        return {**info, **claims}

    def _lacks_something(self, claims: Mapping[str, Any]) -> bool:
        claim = self.settings.admin_claim
        return not _text(claims.get("email")) or bool(claim and claim not in claims)


def single_sign_on(settings: Settings, box: SecretBox) -> SingleSignOn:
    """Return the provider of the settings; the caller closes it."""
    provider = Provider(settings.single_sign_on.issuer, open_http(settings.outgoing))
    return SingleSignOn(settings.single_sign_on, box, provider)


def _load_protocol() -> "ModuleType":
    try:
        from headgate.features.accounts.single_sign_on import protocol  # noqa: PLC0415 - brings Authlib, an extra
    except ImportError as error:
        raise ExtraMissing from error
    return protocol


def _code(query: Mapping[str, str]) -> str:
    """Return the code of a callback (RFC 6749, 4.1.2). Raises `SignInCancelled`, `ProviderRefused`."""
    if "error" in query:
        raise _refusal(query["error"])
    code = query.get("code", "")
    if not code or len(code) > MAX_ANSWER:
        raise ProviderRefused("The provider sent no authorization code.", remedy="Sign in again.")
    return code


def _refusal(error: str) -> SignInCancelled | ProviderRefused:
    """Return the error for a provider's error (RFC 6749, 4.1.2.1 and 5.2). The provider's text is only logged."""
    if error == "access_denied":
        return SignInCancelled()
    log.warning("the provider rejected a sign-in", error=error[:100])
    return ProviderRefused(
        "The provider rejected the sign-in.",
        remedy="Sign in again. If it fails again, ask the operator to check the server log.",
    )


def _identity(claims: Mapping[str, Any], subject: str, settings: SingleSignOnSettings) -> ProviderIdentity:
    email = _address(claims.get("email"))
    name = _text(claims.get("name")) or _text(claims.get("preferred_username")) or email or subject
    return ProviderIdentity(
        issuer=settings.issuer,
        subject=subject,
        email=email,
        email_verified=claims.get("email_verified") in (True, "true") or settings.trust_email,
        name="".join(character for character in name if character.isprintable()).strip()[:200] or subject,
        admin=_is_admin(claims, settings),
        session=(_text(claims.get("sid")) or "")[:MAX_SUBJECT] or None,
    )


def _address(claim: object) -> str | None:
    """Return the e-mail address in lower case; None when only lowering makes it ASCII, as with a Kelvin sign."""
    email = (_text(claim) or "").strip()
    lowered = email.lower()
    return lowered if lowered and lowered.isascii() == email.isascii() else None


def _is_admin(claims: Mapping[str, Any], settings: SingleSignOnSettings) -> bool | None:
    if not settings.admin_claim:
        return None
    claim = claims.get(settings.admin_claim)
    return settings.admin_value in claim if isinstance(claim, list) else claim == settings.admin_value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
