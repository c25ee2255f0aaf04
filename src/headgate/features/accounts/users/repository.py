"""Every query on people. The tenant is always required."""

from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import TenantRole
from headgate.features.accounts.tables import User


async def list_users(
    session: AsyncSession, *, tenant_id: str, search: str | None, limit: int, after: str | None
) -> Sequence[User]:
    """People in the order they came; `search` is part of the name or address."""
    query = select(User).where(User.tenant_id == tenant_id, User.deleted_at.is_(None))
    if search:
        word = search.lower()
        query = query.where(
            or_(
                func.lower(User.name).contains(word, autoescape=True),
                func.lower(User.email).contains(word, autoescape=True),
            )
        )
    if after is not None:
        query = query.where(User.id > after)
    return (await session.execute(query.order_by(User.id).limit(limit))).scalars().all()


async def find_by_email(session: AsyncSession, email: str, *, tenant_id: str) -> User | None:
    """The person of that address."""
    query = select(User).where(User.email == email, User.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def add_user(session: AsyncSession, user: User) -> None:
    """Keep a new person. Raises `IntegrityError` when the tenant has one of that address."""
    async with session.begin_nested():
        session.add(user)


async def lock_user(session: AsyncSession, user_id: str, *, tenant_id: str) -> User | None:
    """One person of the tenant; nobody else changes them until the transaction ends."""
    mine = (User.id == user_id, User.tenant_id == tenant_id, User.deleted_at.is_(None))
    query = select(User).where(*mine).with_for_update()
    return (await session.execute(query.execution_options(populate_existing=True))).scalar_one_or_none()


async def lock_admins(session: AsyncSession, *, tenant_id: str) -> Sequence[User]:
    """The admins who can sign in. Two who shut each other out at once wait for one another here."""
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


async def anybody_can_sign_in(session: AsyncSession, *, by_address: bool) -> bool:
    """Whether anybody of any tenant can sign in; with `by_address` an e-mail address is enough. Asked at the start."""
    ways = [User.password_hash.is_not(None), User.sso_subject.is_not(None)]
    if by_address:
        ways.append(User.email.is_not(None))
    return (await session.execute(select(User.id).where(User.active, or_(*ways)).limit(1))).first() is not None
