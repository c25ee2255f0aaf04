"""Making spaces, and saying who may do what in them."""

from collections.abc import Sequence

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces import repository
from headgate.features.accounts.spaces.errors import SpaceNameTaken
from headgate.features.accounts.tables import Space
from headgate.foundation.database import now
from headgate.foundation.ids import new_id


async def list_spaces(
    session: AsyncSession, principal: Principal, *, limit: int = 50, after: str | None = None
) -> Sequence[Space]:
    """The spaces of the caller's tenant, oldest first."""
    return await repository.list_spaces(session, tenant_id=principal.tenant_id, limit=limit, after=after)


async def create_space(session: AsyncSession, principal: Principal, *, name: str) -> Space:
    """A new space that the caller owns. Raises `SpaceNameTaken`."""
    space = Space(
        id=new_id(), tenant_id=principal.tenant_id, name=name, owner_user_id=principal.user_id, created_at=now()
    )
    try:
        await repository.add_space(session, space)
    except IntegrityError as error:
        raise SpaceNameTaken(name) from error
    return space
