"""The current rights of a user, for work that runs on the user's behalf later: sessions, triggers."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Role, TenantRole
from headgate.features.access.principal import Access
from headgate.features.accounts.tables import SpaceMember, User


async def access_of(session: AsyncSession, user: User) -> Access:
    """Return the rights of a user without an API key, as the database has them now."""
    query = select(SpaceMember.space_id, SpaceMember.role).where(
        SpaceMember.user_id == user.id, SpaceMember.tenant_id == user.tenant_id
    )
    roles = {space_id: Role(role) for space_id, role in (await session.execute(query)).all()}
    return Access(admin=user.role == TenantRole.ADMIN.value, roles=roles)
