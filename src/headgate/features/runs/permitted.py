"""Permission checks for runs. A run belongs to its flow's space."""

from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.runs import repository
from headgate.features.runs.errors import RunNotFound
from headgate.features.runs.spaces import Spaces
from headgate.foundation.ids import is_id


class OfFlow(Protocol):
    """The columns of a run that refer to its flow."""

    @property
    def id(self) -> str:
        """Id of the run."""

    @property
    def tenant_id(self) -> str:
        """Tenant of the run."""

    @property
    def flow_id(self) -> str:
        """Flow of the run."""


async def find_run(
    session: AsyncSession, principal: Principal, run_id: str, permission: Permission
) -> repository.AnyRow:
    """Return a run's row with `space_id`. Raises `RunNotFound`, `PermissionMissing`."""
    row = await repository.find_run(session, run_id, tenant_id=principal.tenant_id) if is_id(run_id) else None
    if row is None:
        raise RunNotFound(run_id)
    principal.require_in(row.space_id, permission, RunNotFound(run_id))
    return row


async def require_of_run(spaces: Spaces, principal: Principal, run: OfFlow, permission: Permission) -> None:
    """Check a run that the store has read, without its space. Raises `RunNotFound`, `PermissionMissing`.

    Skips the lookup for callers with access to every space.
    """
    if principal.visible_spaces is None:
        principal.require_scope(permission)
        return
    space_id = await spaces.of(run.tenant_id, run.flow_id)
    principal.require_in(space_id, permission, RunNotFound(run.id))
