"""Registering passkeys and signing in with them.

A challenge is a row that is deleted when it is answered, in a transaction of its own: it works once, on whichever
server. The browser holds its token in a cookie; one that was made in a session is answered in that session only.
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
from headgate.features.accounts.passkeys.place import Place
from headgate.features.accounts.second_factor import repository as factors
from headgate.features.accounts.second_factor.confirmation import Here, require_fresh
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
class Begun:
    """A ceremony that the browser continues."""

    options: dict[str, Any]
    token: str
    """For the browser's cookie."""


async def begin_use(session: AsyncSession, place: Place, purpose: Purpose, here: Here | None = None) -> Begun:
    """Ask for any passkey of this place."""
    challenge, token = await _new_challenge(session, purpose, here)
    return Begun(_load_ceremony().request_options(place, challenge=challenge), token)


async def begin_registration(session: AsyncSession, place: Place, here: Here) -> Begun:
    """Begin to register a passkey. Raises `ConfirmationNeeded`, `TooManyPasskeys`."""
    await require_fresh(session, here)
    user = here.user
    existing = await repository.list_passkeys(session, user.id, tenant_id=user.tenant_id)
    if len(existing) >= MOST_PASSKEYS:
        raise TooManyPasskeys(MOST_PASSKEYS)
    challenge, token = await _new_challenge(session, "register", here)
    options = _load_ceremony().registration_options(
        place,
        handle=user.id.encode(),
        account=name_of(user),
        name=user.name,
        challenge=challenge,
        existing=[one.credential_id for one in existing],
    )
    return Begun(options, token)


async def take_challenge(database: Database, token: str | None, purpose: Purpose, here: Here | None) -> bytes | None:
    """Use a challenge up, whatever becomes of its answer."""
    if not token:
        return None
    session_id = None if here is None else here.session.id
    async with database.writing() as session:
        return await repository.take_challenge(
            session, hash_of(token), purpose=purpose, at=now(), session_id=session_id
        )


async def register(
    session: AsyncSession,
    principal: Principal,
    here: Here,
    *,
    place: Place,
    challenge: bytes | None,
    credential: Mapping[str, Any],
    name: str,
) -> tuple[Passkey, list[str] | None]:
    """A new passkey, and new recovery codes when it is the first second factor.

    Raises `ConfirmationNeeded`, `PasskeyNotAccepted`, `PasskeyExists`.
    """
    await require_fresh(session, here)
    if challenge is None:
        raise PasskeyNotAccepted
    credential_id, public_key, count = _load_ceremony().read_registration(place, credential, challenge)
    user, at = here.user, now()
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
    await factors.note_confirmed(session, here.session.id, tenant_id=user.tenant_id, at=at, factor="passkey")
    payload = {"factor": "passkey", "name": name}
    await record(session, principal, "user.second_factor_added", id=user.id, name=name_of(user), payload=payload)
    return passkey, await ensure_recovery_codes(session, user)


async def list_passkeys(session: AsyncSession, here: Here) -> Sequence[Passkey]:
    """The caller's passkeys, the oldest first."""
    return await repository.list_passkeys(session, here.user.id, tenant_id=here.user.tenant_id)


async def find_own(session: AsyncSession, principal: Principal, passkey_id: str) -> Passkey:
    """A passkey of the caller's. Raises `PasskeyNotFound`."""
    mine = {"user_id": principal.user_id, "tenant_id": principal.tenant_id}
    passkey = await repository.find_passkey(session, passkey_id, **mine) if is_id(passkey_id) else None
    if passkey is None:
        raise PasskeyNotFound(passkey_id)
    return passkey


async def rename(session: AsyncSession, principal: Principal, here: Here, passkey: Passkey, *, name: str) -> Passkey:
    """Rename a passkey of the caller's."""
    before, passkey.name = passkey.name, name
    await session.flush()
    await record(
        session,
        principal,
        "user.second_factor_renamed",
        id=here.user.id,
        name=name_of(here.user),
        before={"passkey": before},
        after={"passkey": name},
        payload={"passkey": name},
    )
    return passkey


async def remove(session: AsyncSession, principal: Principal, here: Here, passkey: Passkey) -> None:
    """Remove a passkey. Raises `ConfirmationNeeded`, `RequiredBySettings`."""
    await require_fresh(session, here)
    user = here.user
    await repository.delete_passkeys(session, user.id, tenant_id=user.tenant_id, only=passkey.id)
    if not await forget_recovery_codes(session, user) and await factors.is_required(session, tenant_id=user.tenant_id):
        raise RequiredBySettings
    payload = {"factor": "passkey", "name": passkey.name}
    await record(session, principal, "user.second_factor_removed", id=user.id, name=name_of(user), payload=payload)


async def confirm(
    session: AsyncSession, here: Here, *, place: Place, challenge: bytes | None, credential: Mapping[str, Any]
) -> None:
    """Confirm the caller's session with a passkey of theirs. Raises `PasskeyRefused`."""
    passkey = await _proven(session, place, challenge, credential)
    if (passkey.user_id, passkey.tenant_id) != (here.user.id, here.user.tenant_id):
        raise PasskeyRefused
    await factors.note_confirmed(session, here.session.id, tenant_id=here.user.tenant_id, at=now(), factor="passkey")


async def sign_in(
    session: AsyncSession,
    settings: AccountSettings,
    client: Client,
    *,
    place: Place,
    challenge: bytes | None,
    credential: Mapping[str, Any],
    replaces: str | None,
) -> SignedIn:
    """Start a session for the owner of a passkey. Raises `PasskeyRefused`."""
    passkey = await _proven(session, place, challenge, credential)
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
    session: AsyncSession, place: Place, challenge: bytes | None, credential: Mapping[str, Any]
) -> Passkey:
    ceremony = _load_ceremony()
    passkey = await repository.find_by_credential(session, ceremony.credential_id_of(credential))
    if passkey is None or challenge is None:
        raise PasskeyRefused
    count = ceremony.new_counter(place, credential, challenge, passkey)
    await repository.note_used(session, passkey.id, tenant_id=passkey.tenant_id, sign_count=count, at=now())
    return passkey


async def _new_challenge(session: AsyncSession, purpose: Purpose, here: Here | None) -> tuple[bytes, str]:
    challenge, token, at = secrets.token_bytes(CHALLENGE_BYTES), new_token(), now()
    await repository.delete_expired_challenges(session, at=at)
    row = PasskeyChallenge(
        token_hash=hash_of(token),
        challenge=challenge,
        purpose=purpose,
        session_id=None if here is None else here.session.id,
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
