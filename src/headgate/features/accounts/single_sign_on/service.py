"""Maps users of the provider to users of Headgate, and decides on access."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pydantic import ValidationError
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import TenantRole
from headgate.features.access.principal import DEFAULT_TENANT_ID, Actor, Principal, system_principal
from headgate.features.accounts.directory import repository as directory
from headgate.features.accounts.sessions.repository import find_active
from headgate.features.accounts.sessions.service import name_of, newcomer
from headgate.features.accounts.single_sign_on import repository
from headgate.features.accounts.single_sign_on.errors import (
    DomainNotAdmitted,
    EmailMissing,
    EmailNotVerified,
    LinkedToAnother,
    NotInvited,
    NotLinked,
    ShutOut,
    TenantGone,
)
from headgate.features.accounts.single_sign_on.sign_on import ProviderIdentity, SignedOut
from headgate.features.accounts.tables import User
from headgate.features.accounts.tenants.repository import find_tenant_called
from headgate.features.accounts.users.errors import EmailTaken, LastAdmin
from headgate.features.accounts.users.repository import find_by_email
from headgate.features.accounts.users.schemas import UserIn, UserPatch
from headgate.features.accounts.users.service import create_user, get_user, update_user
from headgate.features.audit.recorder import record
from headgate.foundation.log import get_logger
from headgate.foundation.settings import SingleSignOnSettings

log = get_logger(__name__)
CLOCK_LEEWAY = timedelta(seconds=60)
"""Maximum lag of the provider's clock."""
ACTOR = "Single sign-on"
"""The audit log's actor for users and roles created because of the provider."""


async def admit(
    session: AsyncSession, vouched: ProviderIdentity, settings: SingleSignOnSettings, *, address: str
) -> User:
    """Return the user whom the provider authenticated, linked and with the role from the provider.

    A linked user is identified by issuer and subject, even when the e-mail address has changed. Before that, the user
    is identified by the id from the directory, or by an address that the provider has verified. Users are only created
    when `create_users` is set.

    Raises a subclass of `NotAdmitted`, and `TenantGone`.
    """
    tenant = await find_tenant_called(session, settings.tenant or DEFAULT_TENANT_ID)
    if tenant is None:
        raise TenantGone
    _require_domain(vouched, settings)
    operator = _operator(tenant.id, address)
    user = (
        await repository.find_by_subject(session, tenant_id=tenant.id, issuer=vouched.issuer, subject=vouched.subject)
        or await _by_external_id(session, operator, vouched)
        or await _by_address(session, operator, vouched, settings)
    )
    if not user.active:
        raise ShutOut
    await _give_role(session, operator, user, vouched)
    return await _link(session, user, vouched, address)


async def unlink(session: AsyncSession, principal: Principal, user_id: str) -> None:
    """Remove a user's link to the provider; the next sign-in uses the e-mail address again.

    Raises `UserNotFound`, `NotLinked`.
    """
    user = await get_user(session, principal, user_id)
    if user.sso_subject is None:
        raise NotLinked(name_of(user))
    before = _shown(user)
    user.sso_issuer = user.sso_subject = None
    await session.flush()
    await record(session, principal, "user.unlinked", id=user.id, name=name_of(user), before=before)


async def sign_out_from_provider(
    session: AsyncSession, signed_out: SignedOut, settings: SingleSignOnSettings, *, address: str
) -> int:
    """End the sessions that the provider signed out. Returns their number.

    Only sessions that started before the token was issued: a replayed token does not end newer sessions. Raises
    `TenantGone`.
    """
    tenant = await find_tenant_called(session, settings.tenant or DEFAULT_TENANT_ID)
    if tenant is None:
        raise TenantGone
    ended_sessions = await repository.end_provider_sessions(
        session,
        tenant_id=tenant.id,
        issuer=signed_out.issuer,
        subject=signed_out.subject,
        provider_session=signed_out.session,
        until=datetime.fromtimestamp(signed_out.issued_at, UTC) + CLOCK_LEEWAY,
    )
    operator = _operator(tenant.id, address)
    for session_id, user_id in ended_sessions:
        payload = {"user_id": user_id, "by": "provider"}
        await record(session, operator, "session.ended", id=session_id, name=ACTOR, payload=payload)
    return len(ended_sessions)


def _require_domain(vouched: ProviderIdentity, settings: SingleSignOnSettings) -> None:
    """Raise unless the domain of the address is allowed; checked at every sign-in."""
    if not settings.allowed_domains:
        return
    email = _verified(vouched)
    if email.rpartition("@")[2] not in settings.allowed_domains:
        raise DomainNotAdmitted


async def _by_external_id(session: AsyncSession, operator: Principal, vouched: ProviderIdentity) -> User | None:
    """Return the user with the provider's id from the directory (SCIM), unless linked or ambiguous."""
    tenant_id = operator.tenant_id
    users = await directory.find_users_of_external_id(session, vouched.subject, tenant_id=tenant_id)
    return users[0] if len(users) == 1 and users[0].sso_subject is None else None


async def _by_address(
    session: AsyncSession, operator: Principal, vouched: ProviderIdentity, settings: SingleSignOnSettings
) -> User:
    """Return the user with the e-mail address, created if the settings allow it."""
    email = _verified(vouched)
    user = await find_by_email(session, email, tenant_id=operator.tenant_id)
    if user is None and not settings.create_users:
        raise NotInvited
    if user is None:
        try:
            return await create_user(session, operator, user_in=_wanted(email, vouched.name))
        except EmailTaken:  # by a concurrent sign-in
            user = await find_by_email(session, email, tenant_id=operator.tenant_id)
    if user is None:
        raise NotInvited
    return user


async def _give_role(session: AsyncSession, operator: Principal, user: User, vouched: ProviderIdentity) -> None:
    """Apply the role from the provider. The last admin who can sign in keeps the role."""
    if vouched.admin is None:
        return
    role = TenantRole.ADMIN if vouched.admin else TenantRole.MEMBER
    if user.role == role.value:
        return
    try:
        async with session.begin_nested():
            await update_user(session, operator, user.id, patch=UserPatch(role=role))
    except LastAdmin:
        await session.refresh(user)
        log.warning("the provider revoked the admin role of the last admin; the role was kept", user_id=user.id)


async def _link(session: AsyncSession, user: User, vouched: ProviderIdentity, address: str) -> User:
    """Store the provider's subject. A link to another provider is replaced: only one is configured at a time."""
    locked = await find_active(session, user.id, tenant_id=user.tenant_id, lock=True)
    if locked is None:
        raise ShutOut
    if (locked.sso_issuer, locked.sso_subject) == (vouched.issuer, vouched.subject):
        return locked
    if locked.sso_issuer == vouched.issuer:
        raise LinkedToAnother
    before = _shown(locked) if locked.sso_subject is not None else None
    try:
        async with session.begin_nested():
            locked.sso_issuer, locked.sso_subject = vouched.issuer, vouched.subject
    except IntegrityError as error:  # two concurrent sign-ins of one subject with two addresses
        raise LinkedToAnother from error
    await record(
        session,
        newcomer(locked, address),
        "user.linked",
        id=locked.id,
        name=name_of(locked),
        before=before,
        after=_shown(locked),
        payload=_shown(locked),
    )
    return locked


def _verified(vouched: ProviderIdentity) -> str:
    if vouched.email is None:
        raise EmailMissing
    if not vouched.email_verified:
        raise EmailNotVerified
    return vouched.email


def _wanted(email: str, name: str) -> UserIn:
    try:
        return UserIn(email=email, name=name)
    except ValidationError as error:
        raise EmailMissing from error


def _operator(tenant_id: str, address: str) -> Principal:
    return replace(system_principal(tenant_id), actor=Actor("system", ACTOR, address=address or None))


def _shown(user: User) -> dict[str, str | None]:
    """Return a link's values for the audit log."""
    return {"issuer": user.sso_issuer, "subject": user.sso_subject}
