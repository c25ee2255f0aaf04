"""Verification of a second factor: a code of the authenticator app, or a recovery code. Each is accepted once."""

from collections.abc import Sequence
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.passkeys.repository import list_passkeys
from headgate.features.accounts.second_factor import recovery, repository, totp
from headgate.features.accounts.second_factor.errors import SecondFactorNeeded, SecondFactorRefused
from headgate.features.accounts.tables import User
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import now

Factor = Literal["totp", "recovery"]


async def methods_of(session: AsyncSession, user: User) -> Sequence[str]:
    """Return the second factors of a user."""
    authenticator = await repository.find_authenticator(session, user.id, tenant_id=user.tenant_id)
    has_app = authenticator is not None and authenticator.confirmed_at is not None
    has_passkey = bool(await list_passkeys(session, user.id, tenant_id=user.tenant_id))
    methods = [name for name, is_set in (("totp", has_app), ("passkey", has_passkey)) if is_set]
    return [*methods, "recovery"] if methods else []


async def prove(session: AsyncSession, box: SecretBox, user: User, code: str | None) -> Factor | None:
    """Return the second factor that a code proves; None for a user without one.

    Raises `SecondFactorNeeded` without a code, `SecondFactorRefused` for a wrong, expired or used one.
    """
    methods = await methods_of(session, user)
    if not methods:
        return None
    if code is None:
        raise SecondFactorNeeded(methods)
    return await claim(session, box, user, code)


async def claim(session: AsyncSession, box: SecretBox, user: User, code: str) -> Factor:
    """Consume a code. Raises `SecondFactorRefused`."""
    normal = recovery.normalized(code)
    if recovery.is_code(normal):
        code_hash = recovery.hash_of(user.id, normal)
        if await repository.claim_recovery_code(
            session, user.id, tenant_id=user.tenant_id, code_hash=code_hash, at=now()
        ):
            return "recovery"
        raise SecondFactorRefused
    authenticator = await repository.find_authenticator(session, user.id, tenant_id=user.tenant_id)
    if authenticator is None:
        raise SecondFactorRefused
    step = totp.matching_step(box.decrypt(authenticator.secret).get_secret_value(), normal)
    if step is None or not await repository.claim_step(session, user.id, step, tenant_id=user.tenant_id):
        raise SecondFactorRefused
    return "totp"
