"""Versions of flows as stored. Commands and lists read them without importing the flow language."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows import repository
from headgate.features.flows.errors import VersionNotFound
from headgate.features.flows.service import get_flow
from headgate.features.flows.tables import FlowRow, FlowVersionRow


async def published_releases(session: AsyncSession, principal: Principal, rows: Sequence[FlowRow]) -> dict[str, int]:
    """Return the release numbers of published flows."""
    version_ids = [row.id for row in rows if row.published_version is not None]
    return await repository.list_releases(session, version_ids, tenant_id=principal.tenant_id) if version_ids else {}


async def list_versions(
    session: AsyncSession,
    principal: Principal,
    flow_id: str,
    *,
    released_only: bool = False,
    limit: int = 50,
    before: int | None = None,
) -> Sequence[FlowVersionRow]:
    """Versions of a flow, newest first."""
    await get_flow(session, principal, flow_id)
    return await repository.list_versions(
        session, flow_id, tenant_id=principal.tenant_id, released_only=released_only, limit=limit, before=before
    )


async def get_version(
    session: AsyncSession,
    principal: Principal,
    flow_id: str,
    version: int,
    *,
    permission: Permission = Permission.FLOWS_VIEW,
) -> FlowVersionRow:
    """Return one version, also of a deleted flow. Raises `VersionNotFound`, `PermissionMissing`."""
    row_and_space = await repository.find_version_in_space(session, flow_id, version, tenant_id=principal.tenant_id)
    if row_and_space is None:
        raise no_version(flow_id, version)
    row, space_id = row_and_space
    principal.require_in(space_id, permission, no_version(flow_id, version))
    return row


def no_version(flow_id: str, version: int) -> VersionNotFound:
    """Return the error for a version that a flow does not have."""
    return VersionNotFound(f"Flow '{flow_id}' has no version {version}.", remedy="List its versions.")
