"""What a browser holds between leaving for the provider and coming back."""

import secrets
import time
from typing import Literal

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from headgate.features.accounts.sessions.own_path import own_path
from headgate.features.accounts.single_sign_on.errors import SignInLost
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import Unavailable

LIFETIME_SECONDS = 600
MAX_SEALED = 4096


class Transaction(BaseModel):
    """One sign-in on its way. The browser holds it encrypted and authenticated, and cannot read it."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    purpose: Literal["single_sign_on"] = "single_sign_on"
    issuer: str
    """Whom the person was sent to; an answer of anybody else is refused (RFC 9700, 4.4)."""
    state: str
    nonce: str
    verifier: str
    """PKCE (RFC 7636): whoever redeems the code must know it."""
    redirect_uri: str
    next: str
    """The path that the person wanted to see."""
    started_at: float


def begin_transaction(issuer: str, redirect_uri: str, wanted: str) -> Transaction:
    """A new one, with secrets of 256 bits."""
    return Transaction(
        issuer=issuer,
        state=secrets.token_urlsafe(32),
        nonce=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(32),
        redirect_uri=redirect_uri,
        next=own_path(wanted),
        started_at=time.time(),
    )


def seal(box: SecretBox, transaction: Transaction) -> str:
    """As the browser keeps it."""
    return box.encrypt(SecretStr(transaction.model_dump_json())).decode()


def unseal(box: SecretBox, sealed: str | None) -> Transaction:
    """The transaction again. Raises `SignInLost` when there is none, it is not ours, or it is too old."""
    if not sealed or len(sealed) > MAX_SEALED:
        raise SignInLost
    try:
        found = Transaction.model_validate_json(box.decrypt(sealed.encode()).get_secret_value())
    except (Unavailable, ValidationError) as error:
        raise SignInLost from error
    if not 0 <= time.time() - found.started_at <= LIFETIME_SECONDS:
        raise SignInLost
    return found
