"""Published flows, and ending a publication."""

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows import repository
from headgate.features.flows.live import announce_change
from headgate.features.flows.service import get_flow, record_change
from headgate.features.flows.tables import FlowRow
from headgate.graph.model import Flow


async def unpublish_flow(session: AsyncSession, principal: Principal, flow_id: str) -> FlowRow:
    """End the publication: the published version starts no run any more. No effect on a flow that is not published.

    The version and its release stay, and active runs continue. Publishing again creates the next release.
    Raises `FlowNotFound`, `PermissionMissing`.
    """
    row = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_PUBLISH, lock=True)
    if row.published_version is not None:
        before, row.published_version = row.published_version, None
        await session.flush()
        await record_change(session, principal, row, "flow.unpublished", before={"version": before})
        announce_change(session, principal, row.id, "unpublished", revision=row.revision)
    return row


async def list_released(
    session: AsyncSession, principal: Principal, *, permission: Permission, limit: int
) -> list[tuple[FlowRow, Flow]]:
    """Return the newest published flows for which the caller has a permission, with their published definitions."""
    rows = await repository.list_released(
        session, tenant_id=principal.tenant_id, space_ids=principal.spaces_where(permission), limit=limit
    )
    return [(flow, Flow.model_validate(version.definition)) for flow, version in rows]
