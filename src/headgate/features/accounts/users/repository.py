"""Queries on users. The tenant is always required."""

from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import TenantRole
from headgate.features.accounts.tables import User


async def list_users(
    session: AsyncSession, *, tenant_id: str, kind: str | None, search: str | None, limit: int, after: str | None
) -> Sequence[User]:
    """Return users in order of creation; `search` is part of the name or address."""
    query = select(User).where(User.tenant_id == tenant_id, User.deleted_at.is_(None))
    if search:
        needle = search.lower()
        query = query.where(
            or_(
                func.lower(User.name).contains(needle, autoescape=True),
                func.lower(User.email).contains(needle, autoescape=True),
            )
        )
    if kind is not None:
        query = query.where(User.kind == kind)
    if after is not None:
        query = query.where(User.id > after)
    return (await session.execute(query.order_by(User.id).limit(limit))).scalars().all()


async def find_by_email(session: AsyncSession, email: str, *, tenant_id: str) -> User | None:
    """Return the user with that address."""
    query = select(User).where(User.email == email, User.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def find_service_account(session: AsyncSession, name: str, *, tenant_id: str) -> User | None:
    """Return the service account with that name."""
    conditions = (User.kind == "service", User.name == name, User.tenant_id == tenant_id, User.deleted_at.is_(None))
    return (await session.execute(select(User).where(*conditions))).scalar_one_or_none()


async def add_user(session: AsyncSession, user: User) -> None:
    """Store a new user. Raises `IntegrityError` when the tenant has one with that address or name."""
    async with session.begin_nested():
        session.add(user)


async def lock_user(session: AsyncSession, user_id: str, *, tenant_id: str) -> User | None:
    """Lock and return one user of the tenant until the transaction ends."""
    conditions = (User.id == user_id, User.tenant_id == tenant_id, User.deleted_at.is_(None))
    query = select(User).where(*conditions).with_for_update()
    return (await session.execute(query.execution_options(populate_existing=True))).scalar_one_or_none()


async def lock_admins(session: AsyncSession, *, tenant_id: str) -> Sequence[User]:
    """Lock and return the admins who can sign in. Concurrent deactivations wait for one another here."""
    query = (
        select(User)
        .where(
            User.tenant_id == tenant_id,
            User.role == TenantRole.ADMIN.value,
            User.active,
            or_(User.password_hash.is_not(None), User.sso_subject.is_not(None)),
        )
        .order_by(User.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    return (await session.execute(query)).scalars().all()


async def can_anyone_sign_in(session: AsyncSession, *, by_address: bool) -> bool:
    """Whether any user of any tenant can sign in; with `by_address` an e-mail address suffices. Used at start-up."""
    conditions = [User.password_hash.is_not(None), User.sso_subject.is_not(None)]
    if by_address:
        conditions.append(User.email.is_not(None))
    return (await session.execute(select(User.id).where(User.active, or_(*conditions)).limit(1))).first() is not None
