"""Setting up and removing second factors, and the organisation's policy."""

from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts import repository as accounts
from headgate.features.accounts.passkeys.repository import delete_passkeys
from headgate.features.accounts.second_factor import proof, recovery, repository, totp
from headgate.features.accounts.second_factor.confirmation import CurrentSession, require_fresh
from headgate.features.accounts.second_factor.errors import (
    AuthenticatorExists,
    ConfirmationRefused,
    EnrolmentMissing,
    RequiredBySettings,
    SecondFactorRefused,
)
from headgate.features.accounts.second_factor.schemas import SecondFactorOut, TotpBegun
from headgate.features.accounts.sessions.repository import delete_sessions
from headgate.features.accounts.sessions.service import name_of, require_person
from headgate.features.accounts.tables import RecoveryCode, TotpAuthenticator, User
from headgate.features.audit.recorder import record
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import now
from headgate.foundation.ids import new_id


async def show(session: AsyncSession, principal: Principal, current: CurrentSession) -> SecondFactorOut:
    """Return the caller's second factors."""
    authenticator = await repository.find_authenticator(session, current.user.id, tenant_id=principal.tenant_id)
    return SecondFactorOut(
        required=await repository.is_required(session, tenant_id=principal.tenant_id),
        missing=principal.access.held,
        methods=list(await proof.methods_of(session, current.user)),
        totp_since=None if authenticator is None else authenticator.confirmed_at,
        recovery_codes_left=await repository.count_recovery_codes(
            session, current.user.id, tenant_id=principal.tenant_id
        ),
    )


async def begin_totp(session: AsyncSession, principal: Principal, current: CurrentSession, box: SecretBox) -> TotpBegun:
    """Create a secret for an authenticator app. It is enabled by its first code.

    Raises `ConfirmationNeeded`, `AuthenticatorExists`.
    """
    await require_fresh(session, current)
    user = current.user
    existing = await repository.find_authenticator(session, user.id, tenant_id=user.tenant_id)
    if existing is not None and existing.confirmed_at is not None:
        raise AuthenticatorExists
    secret = totp.new_secret()
    encrypted = box.encrypt(SecretStr(secret))
    await repository.delete_authenticator(session, user.id, tenant_id=user.tenant_id)
    row = TotpAuthenticator(user_id=user.id, tenant_id=user.tenant_id, secret=encrypted, created_at=now(), last_step=0)
    await repository.add_authenticator(session, row)
    tenant = await accounts.find_tenant(session, tenant_id=principal.tenant_id)
    uri = totp.enrolment_uri(secret, name_of(user), "" if tenant is None else tenant.name)
    return TotpBegun(secret=secret, uri=uri, qr=totp.qr_picture(uri))


async def confirm_totp(
    session: AsyncSession, principal: Principal, current: CurrentSession, box: SecretBox, code: str
) -> list[str]:
    """Enable the app with its first code; the user's other sessions end. Returns new recovery codes.

    Raises `ConfirmationNeeded`, `EnrolmentMissing`, `AuthenticatorExists`, `ConfirmationRefused`.
    """
    await require_fresh(session, current)
    user = current.user
    authenticator = await repository.find_authenticator(session, user.id, tenant_id=user.tenant_id)
    if authenticator is None:
        raise EnrolmentMissing
    if authenticator.confirmed_at is not None:
        raise AuthenticatorExists
    try:
        await proof.claim(session, box, user, code)
    except SecondFactorRefused as error:
        raise ConfirmationRefused from error
    at = now()
    await repository.confirm_authenticator(session, user.id, tenant_id=user.tenant_id, at=at)
    await repository.note_confirmed(session, current.session.id, tenant_id=user.tenant_id, at=at, factor="totp")
    ended_count = await delete_sessions(session, tenant_id=user.tenant_id, user_id=user.id, besides=current.session.id)
    payload = {"factor": "totp", "sessions_ended": ended_count}
    await record(session, principal, "user.second_factor_added", id=user.id, name=name_of(user), payload=payload)
    return await ensure_recovery_codes(session, user) or []


async def remove_totp(session: AsyncSession, principal: Principal, current: CurrentSession) -> None:
    """Remove the authenticator app, and the recovery codes unless a passkey remains.

    Raises `ConfirmationNeeded`, `EnrolmentMissing`, `RequiredBySettings`.
    """
    await require_fresh(session, current)
    if not await repository.delete_authenticator(session, current.user.id, tenant_id=principal.tenant_id):
        raise EnrolmentMissing
    if not await forget_recovery_codes(session, current.user) and await repository.is_required(
        session, tenant_id=principal.tenant_id
    ):
        raise RequiredBySettings
    await record(
        session,
        principal,
        "user.second_factor_removed",
        id=current.user.id,
        name=name_of(current.user),
        payload={"factor": "totp"},
    )


async def renew_recovery_codes(session: AsyncSession, principal: Principal, current: CurrentSession) -> list[str]:
    """Replace the recovery codes. Raises `ConfirmationNeeded`, `EnrolmentMissing`."""
    await require_fresh(session, current)
    if not await proof.methods_of(session, current.user):
        raise EnrolmentMissing
    await record(session, principal, "user.recovery_codes_made", id=current.user.id, name=name_of(current.user))
    return await _new_recovery_codes(session, current.user)


async def reset(session: AsyncSession, principal: Principal, user: User) -> None:
    """Remove every second factor of a user, for an admin; the user's sessions end. Raises `ServiceAccountRefused`."""
    principal.require(Permission.PEOPLE_MANAGE)
    require_person(user)
    await repository.delete_authenticator(session, user.id, tenant_id=user.tenant_id)
    await delete_passkeys(session, user.id, tenant_id=user.tenant_id)
    await repository.delete_recovery_codes(session, user.id, tenant_id=user.tenant_id)
    ended_count = await delete_sessions(session, tenant_id=user.tenant_id, user_id=user.id)
    payload = {"sessions_ended": ended_count}
    await record(session, principal, "user.second_factor_reset", id=user.id, name=name_of(user), payload=payload)


async def set_policy(session: AsyncSession, principal: Principal, *, required: bool) -> None:
    """Set whether users who sign in with a password need a second factor. Takes effect immediately."""
    before = await repository.is_required(session, tenant_id=principal.tenant_id)
    if before == required:
        return
    await repository.set_required(session, tenant_id=principal.tenant_id, required=required)
    after = {"second_factor_required": required}
    await record(
        session,
        principal,
        "tenant.sign_in_policy_changed",
        id=principal.tenant_id,
        before={"second_factor_required": before},
        after=after,
        payload=after,
    )


async def ensure_recovery_codes(session: AsyncSession, user: User) -> list[str] | None:
    """Return new recovery codes for a user without unused ones; None for other users."""
    if await repository.count_recovery_codes(session, user.id, tenant_id=user.tenant_id):
        return None
    return await _new_recovery_codes(session, user)


async def forget_recovery_codes(session: AsyncSession, user: User) -> bool:
    """Remove the recovery codes of a user without a second factor. Returns whether a factor remains."""
    if await proof.methods_of(session, user):
        return True
    await repository.delete_recovery_codes(session, user.id, tenant_id=user.tenant_id)
    return False


async def _new_recovery_codes(session: AsyncSession, user: User) -> list[str]:
    codes = recovery.new_codes()
    await repository.delete_recovery_codes(session, user.id, tenant_id=user.tenant_id)
    rows = [
        RecoveryCode(id=new_id(), tenant_id=user.tenant_id, user_id=user.id, code_hash=recovery.hash_of(user.id, code))
        for code in codes
    ]
    await repository.add_recovery_codes(session, rows)
    return codes
