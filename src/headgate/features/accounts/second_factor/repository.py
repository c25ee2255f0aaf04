"""Every query on second factors. The tenant is always required."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import RecoveryCode, Tenant, TotpAuthenticator, UserSession


async def find_authenticator(session: AsyncSession, user_id: str, *, tenant_id: str) -> TotpAuthenticator | None:
    """The user's authenticator app, also one that is being set up."""
    query = select(TotpAuthenticator).where(
        TotpAuthenticator.user_id == user_id, TotpAuthenticator.tenant_id == tenant_id
    )
    return (await session.execute(query.execution_options(populate_existing=True))).scalar_one_or_none()


async def add_authenticator(session: AsyncSession, authenticator: TotpAuthenticator) -> None:
    """Store an authenticator app that is being set up."""
    session.add(authenticator)
    await session.flush()


async def claim_step(session: AsyncSession, user_id: str, step: int, *, tenant_id: str) -> bool:
    """Use a code up: True for the first who comes with this time step or a later one, in one statement."""
    done = await session.execute(
        update(TotpAuthenticator)
        .where(
            TotpAuthenticator.user_id == user_id,
            TotpAuthenticator.tenant_id == tenant_id,
            TotpAuthenticator.last_step < step,
        )
        .values(last_step=step)
    )
    return _count(done) == 1


async def confirm_authenticator(session: AsyncSession, user_id: str, *, tenant_id: str, at: datetime) -> None:
    """The app produced its first code: it counts from now on."""
    await session.execute(
        update(TotpAuthenticator)
        .where(TotpAuthenticator.user_id == user_id, TotpAuthenticator.tenant_id == tenant_id)
        .values(confirmed_at=at)
    )


async def delete_authenticator(session: AsyncSession, user_id: str, *, tenant_id: str) -> int:
    """Remove the user's authenticator app. Returns how many there were."""
    done = await session.execute(
        delete(TotpAuthenticator).where(TotpAuthenticator.user_id == user_id, TotpAuthenticator.tenant_id == tenant_id)
    )
    return _count(done)


async def add_recovery_codes(session: AsyncSession, codes: Iterable[RecoveryCode]) -> None:
    """Store new recovery codes."""
    session.add_all(codes)
    await session.flush()


async def delete_recovery_codes(session: AsyncSession, user_id: str, *, tenant_id: str) -> int:
    """Remove all recovery codes of a user. Returns how many there were."""
    done = await session.execute(
        delete(RecoveryCode).where(RecoveryCode.user_id == user_id, RecoveryCode.tenant_id == tenant_id)
    )
    return _count(done)


async def claim_recovery_code(
    session: AsyncSession, user_id: str, *, tenant_id: str, code_hash: str, at: datetime
) -> bool:
    """Use a recovery code up: True for one of those who come with it."""
    done = await session.execute(
        update(RecoveryCode)
        .where(
            RecoveryCode.user_id == user_id,
            RecoveryCode.tenant_id == tenant_id,
            RecoveryCode.code_hash == code_hash,
            RecoveryCode.used_at.is_(None),
        )
        .values(used_at=at)
    )
    return _count(done) == 1


async def count_recovery_codes(session: AsyncSession, user_id: str, *, tenant_id: str) -> int:
    """How many recovery codes were not used."""
    query = select(func.count()).where(
        RecoveryCode.user_id == user_id, RecoveryCode.tenant_id == tenant_id, RecoveryCode.used_at.is_(None)
    )
    return (await session.execute(query)).scalar_one()


async def is_required(session: AsyncSession, *, tenant_id: str) -> bool:
    """Whether the organisation requires a second factor."""
    query = select(Tenant.second_factor_required).where(Tenant.id == tenant_id)
    return bool((await session.execute(query)).scalar_one_or_none())


async def set_required(session: AsyncSession, *, tenant_id: str, required: bool) -> None:
    """Require a second factor of everybody in the organisation, or no longer."""
    await session.execute(update(Tenant).where(Tenant.id == tenant_id).values(second_factor_required=required))


async def note_confirmed(
    session: AsyncSession, session_id: str, *, tenant_id: str, at: datetime, factor: str | None
) -> None:
    """A session was confirmed; with the second factor that confirmed it, where one did."""
    values: dict[str, Any] = {"confirmed_at": at} | ({} if factor is None else {"second_factor": factor})
    await session.execute(
        update(UserSession).where(UserSession.id == session_id, UserSession.tenant_id == tenant_id).values(**values)
    )


def _count(result: object) -> int:
    return int(cast("CursorResult[Any]", result).rowcount)
