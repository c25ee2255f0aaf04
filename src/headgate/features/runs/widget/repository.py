"""The query of widgets. Visitors belong to no tenant: the tenant is the flow's."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow, FlowVersionRow


@dataclass(frozen=True, slots=True)
class Offered:
    """A published flow, and the widget settings of its draft."""

    tenant_id: str
    space_id: str
    version: int
    draft: dict[str, Any]
    definition: dict[str, Any]


async def find_published(session: AsyncSession, flow_id: str) -> Offered | None:
    """Return a flow that is published and not deleted, of any tenant; its settings decide whether it has a widget."""
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
