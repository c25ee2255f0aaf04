"""State of a sign-in, held by the browser."""

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
    """One pending sign-in. The browser holds it encrypted and authenticated, and cannot read it."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    purpose: Literal["single_sign_on"] = "single_sign_on"
    issuer: str
    """The expected issuer; callbacks from others are rejected (RFC 9700, 4.4)."""
    state: str
    nonce: str
    verifier: str
    """PKCE (RFC 7636): required to redeem the code."""
    redirect_uri: str
    next: str
    """The requested path."""
    started_at: float


def begin_transaction(issuer: str, redirect_uri: str, path: str) -> Transaction:
    """Return a new transaction, with secrets of 256 bits."""
    return Transaction(
        issuer=issuer,
        state=secrets.token_urlsafe(32),
        nonce=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(32),
        redirect_uri=redirect_uri,
        next=own_path(path),
        started_at=time.time(),
    )


def seal(box: SecretBox, transaction: Transaction) -> str:
    """Return the transaction as encrypted for the browser."""
    return box.encrypt(SecretStr(transaction.model_dump_json())).decode()


def unseal(box: SecretBox, sealed: str | None) -> Transaction:
    """Return the decrypted transaction. Raises `SignInLost` when it is missing, invalid or too old."""
    if not sealed or len(sealed) > MAX_SEALED:
        raise SignInLost
    try:
        transaction = Transaction.model_validate_json(box.decrypt(sealed.encode()).get_secret_value())
    except (Unavailable, ValidationError) as error:
        raise SignInLost from error
    if not 0 <= time.time() - transaction.started_at <= LIFETIME_SECONDS:
        raise SignInLost
    return transaction
