"""Registering passkeys and signing in with them.

A challenge is a row that is deleted when it is answered, in a separate transaction: it can be used once, on any server.
The browser holds its token in a cookie; a challenge created in a session can only be answered in that session.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.accounts import repository as accounts
from headgate.features.accounts.passkeys import repository
from headgate.features.accounts.passkeys.errors import (
    PasskeyExists,
    PasskeyNotAccepted,
    PasskeyNotFound,
    PasskeyRefused,
    PasskeysOff,
    TooManyPasskeys,
)
from headgate.features.accounts.passkeys.relying_party import RelyingParty
from headgate.features.accounts.second_factor import repository as factors
from headgate.features.accounts.second_factor.confirmation import CurrentSession, require_fresh
from headgate.features.accounts.second_factor.errors import RequiredBySettings
from headgate.features.accounts.second_factor.service import ensure_recovery_codes, forget_recovery_codes
from headgate.features.accounts.sessions.client import Client
from headgate.features.accounts.sessions.repository import find_active
from headgate.features.accounts.sessions.service import name_of, start_session
from headgate.features.accounts.sessions.sign_in import SignedIn
from headgate.features.accounts.sessions.tokens import hash_of, new_token
from headgate.features.accounts.tables import Passkey, PasskeyChallenge
from headgate.features.audit.recorder import record
from headgate.foundation.database import Database, now
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.settings import AccountSettings

if TYPE_CHECKING:  # an extra, imported when a passkey is first used
    from types import ModuleType

MOST_PASSKEYS = 20
CHALLENGE_BYTES = 32
LASTS = timedelta(minutes=5)
Purpose = Literal["sign_in", "register", "confirm"]


@dataclass(frozen=True, slots=True)
class Ceremony:
    """A started ceremony that the browser continues."""

    options: dict[str, Any]
    token: str
    """For the browser's cookie."""


async def begin_use(
    session: AsyncSession, relying_party: RelyingParty, purpose: Purpose, current: CurrentSession | None = None
) -> Ceremony:
    """Start the use of any passkey of this relying party."""
    challenge, token = await _new_challenge(session, purpose, current)
    return Ceremony(_load_ceremony().request_options(relying_party, challenge=challenge), token)


async def begin_registration(session: AsyncSession, relying_party: RelyingParty, current: CurrentSession) -> Ceremony:
    """Start the registration of a passkey. Raises `ConfirmationNeeded`, `TooManyPasskeys`."""
    await require_fresh(session, current)
    user = current.user
    existing = await repository.list_passkeys(session, user.id, tenant_id=user.tenant_id)
    if len(existing) >= MOST_PASSKEYS:
        raise TooManyPasskeys(MOST_PASSKEYS)
    challenge, token = await _new_challenge(session, "register", current)
    options = _load_ceremony().registration_options(
        relying_party,
        handle=user.id.encode(),
        account=name_of(user),
        name=user.name,
        challenge=challenge,
        existing=[passkey.credential_id for passkey in existing],
    )
    return Ceremony(options, token)


async def take_challenge(
    database: Database, token: str | None, purpose: Purpose, current: CurrentSession | None
) -> bytes | None:
    """Consume a challenge, regardless of the result of its response."""
    if not token:
        return None
    session_id = None if current is None else current.session.id
    async with database.writing() as session:
        return await repository.take_challenge(
            session, hash_of(token), purpose=purpose, at=now(), session_id=session_id
        )


async def register(
    session: AsyncSession,
    principal: Principal,
    current: CurrentSession,
    *,
    relying_party: RelyingParty,
    challenge: bytes | None,
    credential: Mapping[str, Any],
    name: str,
) -> tuple[Passkey, list[str] | None]:
    """Store a new passkey; returns new recovery codes when it is the first second factor.

    Raises `ConfirmationNeeded`, `PasskeyNotAccepted`, `PasskeyExists`.
    """
    await require_fresh(session, current)
    if challenge is None:
        raise PasskeyNotAccepted
    credential_id, public_key, count = _load_ceremony().read_registration(relying_party, credential, challenge)
    user, at = current.user, now()
    passkey = Passkey(
        id=new_id(),
        tenant_id=user.tenant_id,
        user_id=user.id,
        name=name,
        credential_id=credential_id,
        public_key=public_key,
        sign_count=count,
        created_at=at,
    )
    try:
        await repository.add_passkey(session, passkey)
    except IntegrityError as error:
        raise PasskeyExists from error
    await factors.note_confirmed(session, current.session.id, tenant_id=user.tenant_id, at=at, factor="passkey")
    payload = {"factor": "passkey", "name": name}
    await record(session, principal, "user.second_factor_added", id=user.id, name=name_of(user), payload=payload)
    return passkey, await ensure_recovery_codes(session, user)


async def list_passkeys(session: AsyncSession, current: CurrentSession) -> Sequence[Passkey]:
    """Return the caller's passkeys, oldest first."""
    return await repository.list_passkeys(session, current.user.id, tenant_id=current.user.tenant_id)


async def find_own(session: AsyncSession, principal: Principal, passkey_id: str) -> Passkey:
    """Return a passkey of the caller. Raises `PasskeyNotFound`."""
    owner = {"user_id": principal.user_id, "tenant_id": principal.tenant_id}
    passkey = await repository.find_passkey(session, passkey_id, **owner) if is_id(passkey_id) else None
    if passkey is None:
        raise PasskeyNotFound(passkey_id)
    return passkey


async def rename(
    session: AsyncSession, principal: Principal, current: CurrentSession, passkey: Passkey, *, name: str
) -> Passkey:
    """Rename a passkey of the caller."""
    before, passkey.name = passkey.name, name
    await session.flush()
    await record(
        session,
        principal,
        "user.second_factor_renamed",
        id=current.user.id,
        name=name_of(current.user),
        before={"passkey": before},
        after={"passkey": name},
        payload={"passkey": name},
    )
    return passkey


async def remove(session: AsyncSession, principal: Principal, current: CurrentSession, passkey: Passkey) -> None:
    """Remove a passkey. Raises `ConfirmationNeeded`, `RequiredBySettings`."""
    await require_fresh(session, current)
    user = current.user
    await repository.delete_passkeys(session, user.id, tenant_id=user.tenant_id, only=passkey.id)
    if not await forget_recovery_codes(session, user) and await factors.is_required(session, tenant_id=user.tenant_id):
        raise RequiredBySettings
    payload = {"factor": "passkey", "name": passkey.name}
    await record(session, principal, "user.second_factor_removed", id=user.id, name=name_of(user), payload=payload)


async def confirm(
    session: AsyncSession,
    current: CurrentSession,
    *,
    relying_party: RelyingParty,
    challenge: bytes | None,
    credential: Mapping[str, Any],
) -> None:
    """Confirm the caller's session with a passkey of the caller. Raises `PasskeyRefused`."""
    passkey = await _proven(session, relying_party, challenge, credential)
    if (passkey.user_id, passkey.tenant_id) != (current.user.id, current.user.tenant_id):
        raise PasskeyRefused
    await factors.note_confirmed(
        session, current.session.id, tenant_id=current.user.tenant_id, at=now(), factor="passkey"
    )


async def sign_in(
    session: AsyncSession,
    settings: AccountSettings,
    client: Client,
    *,
    relying_party: RelyingParty,
    challenge: bytes | None,
    credential: Mapping[str, Any],
    replaces: str | None,
) -> SignedIn:
    """Start a session for the owner of a passkey. Raises `PasskeyRefused`."""
    passkey = await _proven(session, relying_party, challenge, credential)
    user = await find_active(session, passkey.user_id, tenant_id=passkey.tenant_id, lock=True)
    tenant = await accounts.find_tenant(session, tenant_id=passkey.tenant_id)
    if user is None or tenant is None:
        raise PasskeyRefused
    new = await start_session(
        session,
        user,
        settings,
        address=client.address,
        user_agent=client.user_agent,
        method="passkey",
        replaces=replaces,
        second_factor="passkey",
    )
    return SignedIn(user=user, tenant=tenant, session=new)


async def _proven(
    session: AsyncSession, relying_party: RelyingParty, challenge: bytes | None, credential: Mapping[str, Any]
) -> Passkey:
    ceremony = _load_ceremony()
    passkey = await repository.find_by_credential(session, ceremony.credential_id_of(credential))
    if passkey is None or challenge is None:
        raise PasskeyRefused
    count = ceremony.new_counter(relying_party, credential, challenge, passkey)
    await repository.note_used(session, passkey.id, tenant_id=passkey.tenant_id, sign_count=count, at=now())
    return passkey


async def _new_challenge(session: AsyncSession, purpose: Purpose, current: CurrentSession | None) -> tuple[bytes, str]:
    challenge, token, at = secrets.token_bytes(CHALLENGE_BYTES), new_token(), now()
    await repository.delete_expired_challenges(session, at=at)
    row = PasskeyChallenge(
        token_hash=hash_of(token),
        challenge=challenge,
        purpose=purpose,
        session_id=None if current is None else current.session.id,
        expires_at=at + LASTS,
    )
    await repository.add_challenge(session, row)
    return challenge, token


def _load_ceremony() -> "ModuleType":
    try:
        from headgate.features.accounts.passkeys import ceremony  # noqa: PLC0415 - brings py_webauthn, an extra
    except ImportError as error:
        raise PasskeysOff from error
    return ceremony
