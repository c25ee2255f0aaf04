"""The one query of widgets. Visitors belong to no tenant: the flow says which tenant it is of."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow, FlowVersionRow


@dataclass(frozen=True, slots=True)
class Offered:
    """A published flow, and what its draft says of its widget."""

    tenant_id: str
    space_id: str
    version: int
    draft: dict[str, Any]
    definition: dict[str, Any]


async def find_published(session: AsyncSession, flow_id: str) -> Offered | None:
    """A flow that is published and not deleted, of whatever tenant: what is offered is decided by its settings."""
    version = and_(
        FlowVersionRow.flow_id == FlowRow.id,
        FlowVersionRow.tenant_id == FlowRow.tenant_id,
        FlowVersionRow.version == FlowRow.published_version,
    )
    query = (
        select(FlowRow.tenant_id, FlowRow.space_id, FlowVersionRow.version, FlowRow.draft, FlowVersionRow.definition)
        .join(FlowVersionRow, version)
        .where(FlowRow.id == flow_id, FlowRow.deleted_at.is_(None))
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else Offered(*row)
