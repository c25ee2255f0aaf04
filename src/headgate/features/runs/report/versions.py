"""Author and number of runs of each version of a flow."""

from sqlalchemy import and_, case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.accounts.tables import User
from headgate.features.flows import service as flows
from headgate.features.flows.tables import FlowVersionRow
from headgate.features.runs.report.schemas import VersionFigures
from headgate.features.runs.tables import flow_runs
from headgate.foundation.database import moment


async def figures_of_versions(session: AsyncSession, principal: Principal, flow_id: str) -> list[VersionFigures]:
    """Return the figures of each version, newest first. Raises `FlowNotFound`, `PermissionMissing`."""
    await flows.get_flow(session, principal, flow_id)
    of_version = and_(
        flow_runs.c.flow_id == FlowVersionRow.flow_id,
        flow_runs.c.version == FlowVersionRow.version,
        flow_runs.c.tenant_id == FlowVersionRow.tenant_id,
    )
    query = (
        select(
            FlowVersionRow.version,
            func.max(User.name).label("made_by"),
            func.count(flow_runs.c.id).label("runs"),
            func.sum(case((flow_runs.c.status == "failed", 1), else_=0)).label("failed"),
            func.max(flow_runs.c.created_at).label("last"),
        )
        .outerjoin(User, and_(User.id == FlowVersionRow.created_by_user_id, User.tenant_id == FlowVersionRow.tenant_id))
        .outerjoin(flow_runs, of_version)
        .where(FlowVersionRow.flow_id == flow_id, FlowVersionRow.tenant_id == principal.tenant_id)
        .group_by(FlowVersionRow.version)
        .order_by(FlowVersionRow.version.desc())
    )
    return [
        VersionFigures(
            version=row.version,
            made_by=row.made_by,
            runs=row.runs,
            failed=row.failed or 0,
            last_run_at=None if row.last is None else moment(row.last),
        )
        for row in await session.execute(query)
    ]
