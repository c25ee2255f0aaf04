"""Whom a person of the provider is here, and whether they may come in."""

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
from headgate.features.accounts.single_sign_on.sign_on import SignedOut, Vouched
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
"""How far the provider's clock may be behind."""
ACTOR = "Single sign-on"
"""Whom the audit log names when somebody is made or gets a role because the provider says so."""


async def admit(session: AsyncSession, vouched: Vouched, settings: SingleSignOnSettings, *, address: str) -> User:
    """The person whom the provider vouches for, linked and with the role that it gives them.

    They are known by issuer and subject once they are linked, whatever their e-mail address has become then. Before
    that they are known by the id that the directory gave them, or by an address that the provider has verified. Nobody
    is made unless `create_users` is set.

    Raises `NotAdmitted` in one of its kinds, and `TenantGone`.
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
    """Forget what the provider calls a person; their next sign-in goes by their e-mail address again.

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
    """End the sessions of whom the provider signed out. Returns how many there were.

    Only those that began before the token was issued: a token that comes again ends nothing that began since. Raises
    `TenantGone`.
    """
    tenant = await find_tenant_called(session, settings.tenant or DEFAULT_TENANT_ID)
    if tenant is None:
        raise TenantGone
    ended = await repository.end_provider_sessions(
        session,
        tenant_id=tenant.id,
        issuer=signed_out.issuer,
        subject=signed_out.subject,
        provider_session=signed_out.session,
        until=datetime.fromtimestamp(signed_out.issued_at, UTC) + CLOCK_LEEWAY,
    )
    operator = _operator(tenant.id, address)
    for session_id, user_id in ended:
        payload = {"user_id": user_id, "by": "provider"}
        await record(session, operator, "session.ended", id=session_id, name=ACTOR, payload=payload)
    return len(ended)


def _require_domain(vouched: Vouched, settings: SingleSignOnSettings) -> None:
    """Raise unless the address is of a domain that may come in; asked at every sign-in."""
    if not settings.allowed_domains:
        return
    email = _verified(vouched)
    if email.rpartition("@")[2] not in settings.allowed_domains:
        raise DomainNotAdmitted


async def _by_external_id(session: AsyncSession, operator: Principal, vouched: Vouched) -> User | None:
    """The user whom the directory (SCIM) gave the provider's id, unless they are linked or two have it."""
    tenant_id = operator.tenant_id
    users = await directory.find_users_of_external_id(session, vouched.subject, tenant_id=tenant_id)
    return users[0] if len(users) == 1 and users[0].sso_subject is None else None


async def _by_address(
    session: AsyncSession, operator: Principal, vouched: Vouched, settings: SingleSignOnSettings
) -> User:
    """The person of the e-mail address, made if the settings say so."""
    email = _verified(vouched)
    found = await find_by_email(session, email, tenant_id=operator.tenant_id)
    if found is None and not settings.create_users:
        raise NotInvited
    if found is None:
        try:
            return await create_user(session, operator, wanted=_wanted(email, vouched.name))
        except EmailTaken:  # by a sign-in at the same moment
            found = await find_by_email(session, email, tenant_id=operator.tenant_id)
    if found is None:
        raise NotInvited
    return found


async def _give_role(session: AsyncSession, operator: Principal, user: User, vouched: Vouched) -> None:
    """Make them what the provider says they are. The last admin who can sign in stays one."""
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
        log.warning("the provider says that the last admin is none; they stay one", user_id=user.id)


async def _link(session: AsyncSession, user: User, vouched: Vouched, address: str) -> User:
    """Remember what the provider calls them. One of another provider is replaced: only one is set up at a time."""
    fresh = await find_active(session, user.id, tenant_id=user.tenant_id, lock=True)
    if fresh is None:
        raise ShutOut
    if (fresh.sso_issuer, fresh.sso_subject) == (vouched.issuer, vouched.subject):
        return fresh
    if fresh.sso_issuer == vouched.issuer:
        raise LinkedToAnother
    before = _shown(fresh) if fresh.sso_subject is not None else None
    try:
        async with session.begin_nested():
            fresh.sso_issuer, fresh.sso_subject = vouched.issuer, vouched.subject
    except IntegrityError as error:  # the subject came twice at once, with two addresses
        raise LinkedToAnother from error
    await record(
        session,
        newcomer(fresh, address),
        "user.linked",
        id=fresh.id,
        name=name_of(fresh),
        before=before,
        after=_shown(fresh),
        payload=_shown(fresh),
    )
    return fresh


def _verified(vouched: Vouched) -> str:
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
    """What the audit log keeps of a link."""
    return {"issuer": user.sso_issuer, "subject": user.sso_subject}
