"""Transferring a flow to another owner."""

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.members import hold_member
from headgate.features.flows.errors import CannotOwn, FlowNotFound
from headgate.features.flows.service import get_flow, record_change
from headgate.features.flows.tables import FlowRow


async def transfer_flow(session: AsyncSession, principal: Principal, flow_id: str, user_id: str) -> FlowRow:
    """Make another member of the flow's space its owner.

    The owner may do this as long as they may edit the flow, and so may users who manage the space. The new owner must
    be able to edit flows there.

    Raises `FlowNotFound`, `PermissionMissing`, `MemberNotFound`, `CannotOwn`.
    """
    row = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    if not principal.user_id or row.owner_user_id != principal.user_id:
        principal.require_in(row.space_id, Permission.SPACES_MANAGE, FlowNotFound(flow_id))
    member, permissions = await hold_member(session, principal, row.space_id, user_id)
    if not member.active or Permission.FLOWS_EDIT not in permissions:
        raise CannotOwn(member.name)
    if row.owner_user_id != member.user_id:
        before, row.owner_user_id = row.owner_user_id, member.user_id
        await session.flush()
        owners = {"owner_before": before, "owner": member.user_id}
        await record_change(session, principal, row, "flow.owner_changed", payload=owners)
    return row
