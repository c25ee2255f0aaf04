"""HTTP routes for the holders of one-time links. Opening a link decides nothing."""

from fastapi import Request

from headgate.features.access.caller import public
from headgate.features.accounts.addresses import address_of, counted
from headgate.features.accounts.ports import Scope
from headgate.features.runs.approvals import links
from headgate.features.runs.approvals.routes import Box, Classifications
from headgate.features.runs.approvals.schemas import ReviewDecisionIn, ReviewOut, ReviewTokenIn
from headgate.foundation.api import ReadSession, Routes, WriteSession

router = Routes(prefix="/reviews", tags=["approvals"])


async def _count(request: Request) -> None:
    await request.app.state.throttle.allow(Scope.LINK_ADDRESS, counted(address_of(request)))


@router.post(
    "/read",
    "Read what a one-time link asks",
    [public("Only the holder of the link can use it. Attempts are rate-limited.")],
    problems=(404, 429),
)
async def read(
    body: ReviewTokenIn, request: Request, session: ReadSession, box: Box, scheme: Classifications
) -> ReviewOut:
    """Return what is to be decided. The link stays usable."""
    await _count(request)
    return await links.read_review(session, body.token, box=box, scheme=scheme)


@router.post(
    "/decide",
    "Decide with a one-time link",
    [public("The link is the right to decide one approval. It works once; attempts are rate-limited.")],
    problems=(404, 409, 429),
)
async def decide(
    body: ReviewDecisionIn, request: Request, session: WriteSession, box: Box, scheme: Classifications
) -> None:
    """Approve or reject. A refused decision leaves the link usable."""
    await _count(request)
    await links.decide_by_link(session, body.token, body, address=address_of(request), box=box, scheme=scheme)
