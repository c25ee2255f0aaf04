"""Decides several approvals, each in its own transaction."""

from collections.abc import Sequence

from headgate.features.access.principal import Principal
from headgate.features.runs.approvals import service
from headgate.features.runs.approvals.schemas import DecisionItem, DecisionProblem, DecisionResult
from headgate.features.runs.ports.flows import Sealer
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError


async def decide_each(
    database: Database, principal: Principal, items: Sequence[DecisionItem], *, box: Sealer
) -> list[DecisionResult]:
    """Store each decision by its own compare-and-swap. A refused one changes nothing for the others."""
    return [await _decide(database, principal, item, box) for item in items]


async def _decide(database: Database, principal: Principal, item: DecisionItem, box: Sealer) -> DecisionResult:
    try:
        async with database.writing() as session:
            approval = await service.decide(session, principal, item.approval_id, item, box=box)
    except HeadgateError as error:
        problem = DecisionProblem.model_validate(error.problem())
        return DecisionResult(approval_id=item.approval_id, stored=False, status=None, problem=problem)
    return DecisionResult(approval_id=item.approval_id, stored=True, status=approval.status, problem=None)
