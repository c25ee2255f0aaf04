"""HTTP routes of approvals."""

from typing import Annotated

from fastapi import Depends, Query, Request

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.models.classes import ModelClasses
from headgate.features.runs.approvals import bulk, links, service
from headgate.features.runs.approvals.schemas import (
    ApprovalFilter,
    ApprovalOut,
    ApprovalSummary,
    DecisionIn,
    DecisionsIn,
    DecisionsOut,
    NewReviewLinkOut,
    PendingCount,
    ReviewLinkIn,
    ReviewLinksOut,
)
from headgate.foundation.api import (
    Cursor,
    Limit,
    Page,
    ReadSession,
    Routes,
    WriteSession,
    get_database,
    page_of,
    parse_cursor,
    part,
)
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.graph.classification import Scheme

router = Routes(prefix="/approvals", tags=["approvals"])
_VIEW = [needs(Permission.RUNS_VIEW)]


def _scheme(request: Request) -> Scheme | None:
    classes: ModelClasses = request.app.state.classes
    return classes.enforced


Box = Annotated[SecretBox, part("box")]
Classifications = Annotated[Scheme | None, Depends(_scheme)]
"""None while they are disabled."""


@router.get("", "List approvals", _VIEW, problems=(404,))
async def list_(
    session: ReadSession,
    caller: Caller,
    box: Box,
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    status: Annotated[
        ApprovalFilter | None, Query(description="A state; `decided`: every state but `pending`.")
    ] = None,
    mine: Annotated[bool, Query(description="Only those that wait for your decision.")] = False,
    run_id: Annotated[str | None, Query(max_length=36)] = None,
) -> Page[ApprovalSummary]:
    """List approvals of the spaces that you can view, newest first; `pending` ones and your own by due time."""
    rows = await service.list_approvals(
        session,
        caller,
        box=box,
        status=status,
        mine=mine,
        run_id=run_id,
        limit=limit + 1,
        before=parse_cursor(cursor),
    )
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.get("/count", "Count approvals that wait for you", _VIEW)
async def count(session: ReadSession, caller: Caller) -> PendingCount:
    """Return how many approvals wait for your decision."""
    return PendingCount(pending=await service.count_mine(session, caller))


@router.post("/decisions", "Decide several approvals", [needs(Permission.RUNS_START)], problems=(403,))
async def decide_several(
    body: DecisionsIn, database: Annotated[Database, Depends(get_database)], caller: Caller, box: Box
) -> DecisionsOut:
    """Approve or reject each of them, as one request per approval would. The response has one result per decision."""
    return DecisionsOut(items=await bulk.decide_each(database, caller, body.decisions, box=box))


@router.get("/{approval_id}", "Read an approval", _VIEW, problems=(404,))
async def read(approval_id: str, session: ReadSession, caller: Caller, box: Box) -> ApprovalOut:
    """Return what a step asks users to decide, and their decisions."""
    return await service.get_approval(session, caller, approval_id, box=box)


@router.post("/{approval_id}/decision", "Decide an approval", [needs(Permission.RUNS_START)], problems=(403, 404, 409))
async def decide(approval_id: str, body: DecisionIn, session: WriteSession, caller: Caller, box: Box) -> ApprovalOut:
    """Approve or reject. The run continues as soon as enough users have decided."""
    return await service.decide(session, caller, approval_id, body, box=box)


@router.get("/{approval_id}/links", "List one-time links", _VIEW, problems=(404,))
async def list_links(approval_id: str, session: ReadSession, caller: Caller) -> ReviewLinksOut:
    """Return the links with which outside reviewers can decide, or have decided."""
    return ReviewLinksOut(items=await links.get_links(session, caller, approval_id))


@router.post(
    "/{approval_id}/links",
    "Create a one-time link",
    [needs(Permission.RUNS_START)],
    status_code=201,
    problems=(403, 404),
)
async def create_link(
    approval_id: str,
    body: ReviewLinkIn,
    request: Request,
    session: WriteSession,
    caller: Caller,
    scheme: Classifications,
    box: Box,
) -> NewReviewLinkOut:
    """Let an outside reviewer decide in your place, once. The address is shown once; `send` also mails it."""
    server = request.app.state.settings.server.public_url or str(request.base_url)
    return await links.create_link(session, caller, approval_id, body, server=server, scheme=scheme, box=box)


@router.delete(
    "/{approval_id}/links/{link_id}", "Delete a one-time link", [needs(Permission.RUNS_START)], problems=(403, 404)
)
async def delete_link(approval_id: str, link_id: str, session: WriteSession, caller: Caller) -> None:
    """Make an unused link invalid."""
    await links.delete_link(session, caller, approval_id, link_id)
