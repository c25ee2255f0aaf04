"""Queries on second factors. The tenant is always required."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import RecoveryCode, Tenant, TotpAuthenticator, UserSession


async def find_authenticator(session: AsyncSession, user_id: str, *, tenant_id: str) -> TotpAuthenticator | None:
    """Return the user's authenticator app, also one that is being set up."""
    query = select(TotpAuthenticator).where(
        TotpAuthenticator.user_id == user_id, TotpAuthenticator.tenant_id == tenant_id
    )
    return (await session.execute(query.execution_options(populate_existing=True))).scalar_one_or_none()


async def add_authenticator(session: AsyncSession, authenticator: TotpAuthenticator) -> None:
    """Store an authenticator app that is being set up."""
    session.add(authenticator)
    await session.flush()


async def claim_step(session: AsyncSession, user_id: str, step: int, *, tenant_id: str) -> bool:
    """Consume a code atomically: True for the first caller with this time step or a later one."""
    result = await session.execute(
        update(TotpAuthenticator)
        .where(
            TotpAuthenticator.user_id == user_id,
            TotpAuthenticator.tenant_id == tenant_id,
            TotpAuthenticator.last_step < step,
        )
        .values(last_step=step)
    )
    return _count(result) == 1


async def confirm_authenticator(session: AsyncSession, user_id: str, *, tenant_id: str, at: datetime) -> None:
    """Enable the authenticator app after its first code."""
    await session.execute(
        update(TotpAuthenticator)
        .where(TotpAuthenticator.user_id == user_id, TotpAuthenticator.tenant_id == tenant_id)
        .values(confirmed_at=at)
    )


async def delete_authenticator(session: AsyncSession, user_id: str, *, tenant_id: str) -> int:
    """Delete the user's authenticator app. Returns the number of deleted rows."""
    result = await session.execute(
        delete(TotpAuthenticator).where(TotpAuthenticator.user_id == user_id, TotpAuthenticator.tenant_id == tenant_id)
    )
    return _count(result)


async def add_recovery_codes(session: AsyncSession, codes: Iterable[RecoveryCode]) -> None:
    """Store new recovery codes."""
    session.add_all(codes)
    await session.flush()


async def delete_recovery_codes(session: AsyncSession, user_id: str, *, tenant_id: str) -> int:
    """Delete all recovery codes of a user. Returns their number."""
    result = await session.execute(
        delete(RecoveryCode).where(RecoveryCode.user_id == user_id, RecoveryCode.tenant_id == tenant_id)
    )
    return _count(result)


async def claim_recovery_code(
    session: AsyncSession, user_id: str, *, tenant_id: str, code_hash: str, at: datetime
) -> bool:
    """Consume a recovery code: True for exactly one of concurrent callers."""
    result = await session.execute(
        update(RecoveryCode)
        .where(
            RecoveryCode.user_id == user_id,
            RecoveryCode.tenant_id == tenant_id,
            RecoveryCode.code_hash == code_hash,
            RecoveryCode.used_at.is_(None),
        )
        .values(used_at=at)
    )
    return _count(result) == 1


async def count_recovery_codes(session: AsyncSession, user_id: str, *, tenant_id: str) -> int:
    """Return the number of unused recovery codes."""
    query = select(func.count()).where(
        RecoveryCode.user_id == user_id, RecoveryCode.tenant_id == tenant_id, RecoveryCode.used_at.is_(None)
    )
    return (await session.execute(query)).scalar_one()


async def is_required(session: AsyncSession, *, tenant_id: str) -> bool:
    """Return whether the organisation requires a second factor."""
    query = select(Tenant.second_factor_required).where(Tenant.id == tenant_id)
    return bool((await session.execute(query)).scalar_one_or_none())


async def set_required(session: AsyncSession, *, tenant_id: str, required: bool) -> None:
    """Set whether the organisation requires a second factor."""
    await session.execute(update(Tenant).where(Tenant.id == tenant_id).values(second_factor_required=required))


async def note_confirmed(
    session: AsyncSession, session_id: str, *, tenant_id: str, at: datetime, factor: str | None
) -> None:
    """Record the confirmation of a session, and the second factor used for it, if any."""
    values: dict[str, Any] = {"confirmed_at": at} | ({} if factor is None else {"second_factor": factor})
    await session.execute(
        update(UserSession).where(UserSession.id == session_id, UserSession.tenant_id == tenant_id).values(**values)
    )


def _count(result: object) -> int:
    return int(cast("CursorResult[Any]", result).rowcount)
