"""Queries on passkeys and their challenges."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import Passkey, PasskeyChallenge


async def add_challenge(session: AsyncSession, challenge: PasskeyChallenge) -> None:
    """Store a challenge."""
    session.add(challenge)
    await session.flush()


async def take_challenge(
    session: AsyncSession, token_hash: str, *, purpose: str, at: datetime, session_id: str | None
) -> bytes | None:
    """Consume a challenge atomically: one of several concurrent callers receives it, all others None."""
    query = (
        delete(PasskeyChallenge)
        .where(
            PasskeyChallenge.token_hash == token_hash,
            PasskeyChallenge.purpose == purpose,
            PasskeyChallenge.expires_at > at,
            PasskeyChallenge.session_id.is_(None) if session_id is None else PasskeyChallenge.session_id == session_id,
        )
        .returning(PasskeyChallenge.challenge)
    )
    return (await session.execute(query)).scalar_one_or_none()


async def delete_expired_challenges(session: AsyncSession, *, at: datetime) -> None:
    """Delete expired challenges."""
    await session.execute(delete(PasskeyChallenge).where(PasskeyChallenge.expires_at <= at))


async def find_by_credential(session: AsyncSession, credential_id: bytes) -> Passkey | None:
    """Lock and return the passkey with this credential id until the transaction ends."""
    query = select(Passkey).where(Passkey.credential_id == credential_id).with_for_update()
    return (await session.execute(query.execution_options(populate_existing=True))).scalar_one_or_none()


async def list_passkeys(session: AsyncSession, user_id: str, *, tenant_id: str) -> Sequence[Passkey]:
    """Return a user's passkeys, oldest first."""
    query = select(Passkey).where(Passkey.user_id == user_id, Passkey.tenant_id == tenant_id).order_by(Passkey.id)
    return (await session.execute(query)).scalars().all()


async def find_passkey(session: AsyncSession, passkey_id: str, *, user_id: str, tenant_id: str) -> Passkey | None:
    """Return one of a user's passkeys."""
    query = select(Passkey).where(Passkey.id == passkey_id, Passkey.user_id == user_id, Passkey.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def add_passkey(session: AsyncSession, passkey: Passkey) -> None:
    """Store a passkey. Raises `IntegrityError` for a registered credential id."""
    async with session.begin_nested():
        session.add(passkey)


async def note_used(session: AsyncSession, passkey_id: str, *, tenant_id: str, sign_count: int, at: datetime) -> None:
    """Record a use of a passkey."""
    await session.execute(
        update(Passkey)
        .where(Passkey.id == passkey_id, Passkey.tenant_id == tenant_id)
        .values(sign_count=sign_count, last_used_at=at)
    )


async def delete_passkeys(session: AsyncSession, user_id: str, *, tenant_id: str, only: str | None = None) -> int:
    """Delete a user's passkeys, or one of them. Returns their number."""
    query = delete(Passkey).where(Passkey.user_id == user_id, Passkey.tenant_id == tenant_id)
    if only is not None:
        query = query.where(Passkey.id == only)
    return int(cast("CursorResult[Any]", await session.execute(query)).rowcount)
