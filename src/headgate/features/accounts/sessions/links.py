"""One-time links for setting a password, for invitations and forgotten passwords."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.accounts.sessions import repository
from headgate.features.accounts.sessions.service import name_of, require_person
from headgate.features.accounts.sessions.tokens import hash_of, new_token
from headgate.features.accounts.tables import OneTimeLink, User
from headgate.features.audit.recorder import record
from headgate.foundation.database import now
from headgate.foundation.ids import new_id
from headgate.foundation.settings import AccountSettings

PAGE = "/set-password"


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link that is shown once. Its holder can set the user's password."""

    expires_at: datetime
    token: str = field(repr=False)

    def address(self, server: str) -> str:
        """Return the link. Its token follows the `#`: browsers do not send it, so it is never logged."""
        return f"{server.rstrip('/')}{PAGE}#token={self.token}"


async def create_link(session: AsyncSession, principal: Principal, user: User, settings: AccountSettings) -> NewLink:
    """Create a link for a user of the caller's tenant. Older links become invalid. Raises `ServiceAccountRefused`."""
    require_person(user)
    await repository.delete_links(session, tenant_id=principal.tenant_id, user_id=user.id)
    at = now()
    token = new_token()
    row = OneTimeLink(
        id=new_id(),
        tenant_id=principal.tenant_id,
        user_id=user.id,
        token_hash=hash_of(token),
        created_at=at,
        expires_at=at + timedelta(hours=settings.link_hours),
    )
    session.add(row)
    await session.flush()
    await record(
        session,
        principal,
        "user.password_link_created",
        id=user.id,
        name=name_of(user),
        after={"link_id": row.id, "expires_at": row.expires_at.isoformat()},
    )
    return NewLink(token=token, expires_at=row.expires_at)
