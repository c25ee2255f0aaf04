"""One sign-in through the provider, from leaving to coming back. Nothing here touches the database."""

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

if TYPE_CHECKING:  # an extra, imported when somebody first signs in this way
    from types import ModuleType

log = get_logger(__name__)
MAX_SUBJECT = 255
MAX_ANSWER = 4096
"""Longest code, and longest name of an error, that is looked at."""


@dataclass(frozen=True, slots=True)
class Vouched:
    """What the provider vouches for about a person."""

    issuer: str
    subject: str
    """What the provider calls them for ever. An e-mail address may change hands; this does not."""
    email: str | None
    """In lower case."""
    email_verified: bool
    name: str
    admin: bool | None
    """Whether they are to be an admin; None when the provider has no say in it."""
    session: str | None = None
    """What the provider calls the session there (claim `sid`)."""


@dataclass(frozen=True, slots=True)
class SignedOut:
    """Whom the provider signed out: a session, or all of a person."""

    issuer: str
    subject: str | None
    session: str | None
    issued_at: float
    """In seconds since 1970."""


class SingleSignOn:
    """Signing in through one provider. Kept by the server; closed with it."""

    def __init__(self, settings: SingleSignOnSettings, box: SecretBox, provider: Provider) -> None:
        self.settings = settings
        self._box = box
        self._provider = provider
        self._used: OrderedDict[str, float] = OrderedDict()

    async def begin(self, redirect_uri: str, wanted: str) -> tuple[str, str]:
        """Where to send the browser, and what it is to hold meanwhile. Raises `ProviderUnusable`, `ExtraMissing`."""
        protocol = _load_protocol()
        transaction = begin_transaction(self.settings.issuer, redirect_uri, wanted)
        url: str = protocol.authorization_url(await self._provider.metadata(), self.settings, transaction)
        return url, seal(self._box, transaction)

    async def finish(self, answer: Mapping[str, str], sealed: str | None) -> tuple[Vouched, str]:
        """Who came back, and the path they wanted to see.

        Args:
            answer: The query that the browser came back with.
            sealed: What the browser held.

        Raises `SignInLost`, `SignInCancelled`, `ProviderRefused`, `TokenRefused`, `ProviderUnusable`, `ExtraMissing`.
        """
        transaction = unseal(self._box, sealed)
        self._take(transaction, answer.get("state", ""))
        await self._require_issuer(answer.get("iss"))
        code = _code(answer)
        return await self._vouched(transaction, code), transaction.next

    async def signed_out(self, logout_token: str) -> SignedOut:
        """Whom a logout token of the provider is about (OpenID Connect Back-Channel Logout 1.0, 2.6).

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
            raise TokenRefused("it names neither a person nor a session")
        return SignedOut(self.settings.issuer, subject, session, float(claims["iat"]))

    async def sign_out_address(self, back_to: str) -> str | None:
        """Where a browser signs out at the provider (OpenID Connect RP-Initiated Logout 1.0, 2); None: nowhere.

        Raises `ProviderUnusable`.
        """
        metadata = await self._provider.metadata()
        if metadata.end_session_endpoint is None or not self.settings.sign_out_at_provider:
            return None
        query = urlencode({"client_id": self.settings.client_id, "post_logout_redirect_uri": back_to})
        joint = "&" if "?" in metadata.end_session_endpoint else "?"
        return f"{metadata.end_session_endpoint}{joint}{query}"

    async def count_keys(self) -> int:
        """How many keys the provider signs with: whether it answers, before anybody signs in.

        Raises `ProviderUnusable`, `ExtraMissing`.
        """
        found: int = _load_protocol().count_keys(await self._provider.keys())
        return found

    async def close(self) -> None:
        """Close every connection."""
        await self._provider.close()

    def _take(self, transaction: Transaction, state: str) -> None:
        """Raise `SignInLost` unless the answer is to this transaction, of this provider, and the first one."""
        now = time.monotonic()
        while self._used and next(iter(self._used.values())) < now:
            self._used.popitem(last=False)
        same = hmac.compare_digest(transaction.state.encode(), state.encode())
        if not same or transaction.issuer != self.settings.issuer or transaction.state in self._used:
            raise SignInLost
        self._used[transaction.state] = now + LIFETIME_SECONDS

    async def _require_issuer(self, named: str | None) -> None:
        """Raise `TokenRefused` when another provider sent the browser back (RFC 9207, 2.4)."""
        metadata = await self._provider.metadata()
        if named is None and not metadata.authorization_response_iss_parameter_supported:
            return
        if named != metadata.issuer:
            raise TokenRefused("it did not name itself when it sent you back")

    async def _vouched(self, transaction: Transaction, code: str) -> Vouched:
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
            raise TokenRefused("the subject is no text of 1 to 255 characters")
        if (token := _text(access_token)) and self._lacks_something(claims):
            claims = await self._with_userinfo(claims, subject, token)
        return _person(claims, subject, self.settings)

    async def _claims(
        self, protocol: "ModuleType", id_token: str, nonce: str, access_token: str | None
    ) -> Mapping[str, Any]:
        """The checked claims. Keys are fetched again once when none of those we know made the signature."""
        keys = await self._provider.keys()
        try:
            found = protocol.check_id_token(id_token, keys, self.settings, nonce=nonce, access_token=access_token)
        except KeyUnknown:
            keys = await self._provider.keys(other_than=keys)
            found = protocol.check_id_token(id_token, keys, self.settings, nonce=nonce, access_token=access_token)
        return dict(found)

    async def _with_userinfo(self, claims: Mapping[str, Any], subject: str, access_token: str) -> Mapping[str, Any]:
        """The claims with what userinfo adds to them; what the ID token says stands."""
        told = await self._provider.userinfo(access_token)
        if told and told.get("sub") != subject:
            raise TokenRefused("the ID token and userinfo are about two people")
        if not _text(claims.get("email")):  # whether an address is verified is said where the address is
            claims = {name: value for name, value in claims.items() if name not in {"email", "email_verified"}}
        return {**told, **claims}

    def _lacks_something(self, claims: Mapping[str, Any]) -> bool:
        wanted = self.settings.admin_claim
        return not _text(claims.get("email")) or bool(wanted and wanted not in claims)


def single_sign_on(settings: Settings, box: SecretBox) -> SingleSignOn:
    """The provider of the settings; close it."""
    provider = Provider(settings.single_sign_on.issuer, open_http(settings.outgoing))
    return SingleSignOn(settings.single_sign_on, box, provider)


def _load_protocol() -> "ModuleType":
    try:
        from headgate.features.accounts.single_sign_on import protocol  # noqa: PLC0415 - brings Authlib, an extra
    except ImportError as error:
        raise ExtraMissing from error
    return protocol


def _code(answer: Mapping[str, str]) -> str:
    """The code of an answer (RFC 6749, 4.1.2). Raises `SignInCancelled`, `ProviderRefused`."""
    if "error" in answer:
        raise _refusal(answer["error"])
    code = answer.get("code", "")
    if not code or len(code) > MAX_ANSWER:
        raise ProviderRefused("The provider sent no code.", remedy="Sign in again.")
    return code


def _refusal(error: str) -> SignInCancelled | ProviderRefused:
    """What an error of the provider (RFC 6749, 4.1.2.1 and 5.2) amounts to. Its own words go to the log alone."""
    if error == "access_denied":
        return SignInCancelled()
    log.warning("the provider refused a sign-in", error=error[:100])
    return ProviderRefused(
        "The provider refused to sign you in.",
        remedy="Sign in again; if it stays so, the operator finds more in the log.",
    )


def _person(claims: Mapping[str, Any], subject: str, settings: SingleSignOnSettings) -> Vouched:
    email = _address(claims.get("email"))
    name = _text(claims.get("name")) or _text(claims.get("preferred_username")) or email or subject
    return Vouched(
        issuer=settings.issuer,
        subject=subject,
        email=email,
        email_verified=claims.get("email_verified") in (True, "true") or settings.trust_email,
        name="".join(letter for letter in name if letter.isprintable()).strip()[:200] or subject,
        admin=_is_admin(claims, settings),
        session=(_text(claims.get("sid")) or "")[:MAX_SUBJECT] or None,
    )


def _address(claim: object) -> str | None:
    """The e-mail address in lower case; None for one that only lowering makes ASCII, such as with a Kelvin sign."""
    email = (_text(claim) or "").strip()
    lowered = email.lower()
    return lowered if lowered and lowered.isascii() == email.isascii() else None


def _is_admin(claims: Mapping[str, Any], settings: SingleSignOnSettings) -> bool | None:
    if not settings.admin_claim:
        return None
    found = claims.get(settings.admin_claim)
    return settings.admin_value in found if isinstance(found, list) else found == settings.admin_value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
