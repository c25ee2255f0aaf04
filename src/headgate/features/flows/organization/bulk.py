"""Actions on several flows, each flow in its own transaction."""

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.flows import publications
from headgate.features.flows import service as flows
from headgate.features.flows.organization import service
from headgate.features.flows.organization.schemas import BulkIn, BulkProblem, BulkResult
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError


async def change_each(database: Database, principal: Principal, body: BulkIn) -> list[BulkResult]:
    """Apply the action to each flow. A refused one changes nothing for the others."""
    return [await _change(database, principal, flow_id, body) for flow_id in dict.fromkeys(body.flow_ids)]


async def _change(database: Database, principal: Principal, flow_id: str, body: BulkIn) -> BulkResult:
    try:
        async with database.writing() as session:
            await _apply(session, principal, flow_id, body)
    except HeadgateError as error:
        problem = BulkProblem.model_validate(error.problem())
        return BulkResult(flow_id=flow_id, done=False, problem=problem)
    return BulkResult(flow_id=flow_id, done=True, problem=None)


async def _apply(session: AsyncSession, principal: Principal, flow_id: str, body: BulkIn) -> None:
    match body.action:
        case "move":
            await service.move_flow(session, principal, flow_id, body.folder or "")
        case "tag":
            await service.change_tags(session, principal, flow_id, add=body.tags)
        case "untag":
            await service.change_tags(session, principal, flow_id, remove=body.tags)
        case "unpublish":
            await publications.unpublish_flow(session, principal, flow_id)
        case "delete":
            await flows.delete_flow(session, principal, flow_id)
        case "restore":
            await flows.restore_flow(session, principal, flow_id)
