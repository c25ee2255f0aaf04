"""A second tenant beside the default one, for tests that nothing crosses."""

from headgate.features.accounts.principal import Principal
from headgate.features.accounts.tables import Space, Tenant, User
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id


async def add_tenant(database: Database, name: str = "Other") -> Principal:
    """A tenant with one user and one space; returns its user."""
    principal = Principal(tenant_id=new_id(), user_id=new_id(), space_id=new_id())
    at = now()
    async with database.writing() as session:
        session.add(Tenant(id=principal.tenant_id, name=name, created_at=at))
        await session.flush()
        session.add(User(id=principal.user_id, tenant_id=principal.tenant_id, name="them", created_at=at))
        await session.flush()
        session.add(
            Space(
                id=principal.space_id,
                tenant_id=principal.tenant_id,
                name="Personal",
                owner_user_id=principal.user_id,
                created_at=at,
            )
        )
    return principal
