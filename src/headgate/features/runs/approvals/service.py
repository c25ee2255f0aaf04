"""Lists approvals and stores decisions on them."""

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts import repository as accounts
from headgate.features.audit.recorder import record
from headgate.features.runs.approvals import repository
from headgate.features.runs.approvals.errors import (
    ApprovalDecided,
    ApprovalNotFound,
    ContentChanged,
    NotAssigned,
    ResponseInvalid,
)
from headgate.features.runs.approvals.notices import list_notices
from headgate.features.runs.approvals.schemas import ApprovalFilter, ApprovalOut, ApprovalSummary, DecisionIn
from headgate.features.runs.approvals.sealed import seal, unseal
from headgate.features.runs.approvals.tables import ApprovalRow
from headgate.features.runs.approvals.views import approval_of, is_assigned, state_of, summary_of
from headgate.features.runs.errors import InputInvalid
from headgate.features.runs.form import check_form
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.transitions import clock
from headgate.features.runs.waking import wake_step
from headgate.foundation.canonical import digest
from headgate.foundation.ids import is_id
from headgate.sdk.approvals import form_fields, parse_edit

BATCH = 200
"""Approvals that are read at a time to select those of the caller."""
MOST_COUNTED = 100
LARGEST_ANSWERS = 200_000
"""Bytes of the answers of a decision."""


async def list_approvals(
    session: AsyncSession,
    principal: Principal,
    *,
    box: Sealer,
    status: ApprovalFilter | None = None,
    mine: bool = False,
    run_id: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> Sequence[ApprovalSummary]:
    """List approvals that the caller can view; with `mine`, those that wait for the caller.

    Newest first; pending ones by due time, those without one last and newest first.
    """
    if mine:
        rows = await _list_mine(session, principal, run_id=run_id, limit=limit, before=before)
    else:
        rows = await repository.list_approvals(
            session,
            tenant_id=principal.tenant_id,
            spaces=principal.spaces_where(Permission.RUNS_VIEW),
            status=status,
            run_id=run_id,
            limit=limit,
            before=before,
        )
    decisions = await repository.list_decisions(session, [row[0].id for row in rows], tenant_id=principal.tenant_id)
    return [
        summary_of(principal, row, [item for item in decisions if item.approval_id == row[0].id], box) for row in rows
    ]


async def count_mine(session: AsyncSession, principal: Principal) -> int:
    """Return how many approvals wait for the caller, at most `MOST_COUNTED`."""
    return len(await _list_mine(session, principal, run_id=None, limit=MOST_COUNTED, before=None))


async def _list_mine(
    session: AsyncSession, principal: Principal, *, run_id: str | None, limit: int, before: str | None
) -> Sequence[repository.AnyRow]:
    viewed, started = principal.spaces_where(Permission.RUNS_VIEW), principal.spaces_where(Permission.RUNS_START)
    spaces = started if viewed is None else viewed if started is None else viewed & started
    mine: list[repository.AnyRow] = []
    while len(mine) < limit:
        rows = await repository.list_undecided(
            session,
            principal.user_id,
            tenant_id=principal.tenant_id,
            spaces=spaces,
            run_id=run_id,
            run_states=LIVE_RUNS,
            at=clock(),
            limit=BATCH,
            before=before,
        )
        mine += [row for row in rows if is_assigned(principal, row[0])]
        if len(rows) < BATCH:
            break
        before = rows[-1][0].id
    return mine[:limit]


async def get_approval(session: AsyncSession, principal: Principal, approval_id: str, *, box: Sealer) -> ApprovalOut:
    """Return an approval. Raises `ApprovalNotFound`, `PermissionMissing`."""
    row = await find_visible(session, principal, approval_id, Permission.RUNS_VIEW)
    decisions = await repository.list_decisions(session, [approval_id], tenant_id=principal.tenant_id)
    notices = await list_notices(session, [approval_id], tenant_id=principal.tenant_id)
    return approval_of(principal, row, decisions, notices, box)


async def decide(
    session: AsyncSession, principal: Principal, approval_id: str, decision_in: DecisionIn, *, box: Sealer
) -> ApprovalOut:
    """Store a decision and wake the step, in one transaction.

    Raises `ApprovalNotFound`, `PermissionMissing`, `NotAssigned`, `ApprovalDecided`, `ContentChanged` or
    `ResponseInvalid`.
    """
    row = await find_visible(session, principal, approval_id, Permission.RUNS_START)
    approval: ApprovalRow = row[0]
    account = await accounts.find_user(session, principal.user_id, tenant_id=principal.tenant_id)
    if account is not None and account.kind == "service":
        raise NotAssigned("Service accounts decide no approvals.", remedy="Ask one of its assignees to decide.")
    if state_of(row) == "pending" and not is_assigned(principal, approval):
        raise NotAssigned(
            "This approval is assigned to other users, or to other users than the one who started the run.",
            remedy="Ask one of its assignees to decide.",
        )
    await store_decision(session, principal, row, decision_in, box=box)
    return await get_approval(session, principal, approval_id, box=box)


async def store_decision(
    session: AsyncSession,
    principal: Principal,
    row: repository.AnyRow,
    decision_in: DecisionIn,
    *,
    box: Sealer,
    outside: str | None = None,
) -> None:
    """Store the decision of somebody who may decide; `outside` names the holder of a link of the principal.

    Raises `ApprovalDecided`, `ContentChanged` or `ResponseInvalid`.
    """
    approval: ApprovalRow = row[0]
    if decision_in.content_hash and decision_in.content_hash != approval.content_hash:
        raise ContentChanged("The approval shows other content.", remedy="Read the approval again, then decide.")
    decision_in = _checked(unseal(box, approval.content), decision_in)
    at = clock()
    status = await repository.settle(session, approval.id, decision_in.decision, tenant_id=principal.tenant_id, at=at)
    values = _decision_row(principal, approval, decision_in, box, at) | {"outside": outside}
    if status is None or not await repository.add_decision(session, values, tenant_id=principal.tenant_id):
        raise ApprovalDecided(
            "This approval is decided, timed out, or closed with its run, or you have decided already.",
            remedy="Read the approval to see the outcome.",
        )
    await record(
        session,
        principal,
        "approval.approved" if decision_in.decision == "approve" else "approval.rejected",
        id=approval.id,
        name=row.flow_name,
        space_id=approval.space_id,
        payload={
            "run_id": approval.flow_run_id,
            "step_id": approval.step_id,
            "shown_hash": approval.content_hash,
            "response_hash": values["response_hash"],
            **({"outside_reviewer": outside} if outside is not None else {}),
        },
    )
    if status != "pending":
        await wake_step(session, approval.flow_run_id, approval.step_id, tenant_id=principal.tenant_id, at=at)


def _decision_row(
    principal: Principal, approval: ApprovalRow, decision_in: DecisionIn, box: Sealer, at: int
) -> dict[str, Any]:
    response = {"comment": decision_in.comment, "answers": decision_in.answers, "edits": decision_in.edits}
    return {
        "approval_id": approval.id,
        "user_id": principal.user_id,
        "user_name": principal.actor.name[:300],
        "decision": decision_in.decision,
        "response": seal(box, response),
        "response_hash": digest(response),
        "shown_hash": approval.content_hash,
        "key_id": principal.actor.key_id,
        "address": principal.actor.address and principal.actor.address[:64],
        "decided_at": at,
    }


def _checked(content: dict[str, Any], decision_in: DecisionIn) -> DecisionIn:
    """Return the decision with answers in the types of their fields. A rejection may leave required ones out."""
    fields = form_fields(content["questions"])
    if decision_in.decision == "reject":
        fields = tuple(field.model_copy(update={"required": False}) for field in fields)
    try:
        answers = check_form(fields, decision_in.answers)
    except InputInvalid as error:
        raise ResponseInvalid(error.detail, remedy=error.remedy) from None
    if len(orjson.dumps(answers)) > LARGEST_ANSWERS:
        raise ResponseInvalid(f"The answers have more than {LARGEST_ANSWERS:,} bytes.", remedy="Shorten them.")
    _check_edits(content["value"], set(content["editable"]), decision_in.edits)
    return decision_in.model_copy(update={"answers": answers})


def _check_edits(value: JsonValue, editable: set[str], edits: dict[str, str]) -> None:
    members = value if isinstance(value, dict) else {"*": value} if isinstance(value, str) else {}
    for name, text in edits.items():
        if name not in members or not editable & {name, "*"}:
            raise ResponseInvalid(f"'{name[:200]}' may not be changed.", remedy="Change editable members only.")
        try:
            parse_edit(members[name], text)
        except ValueError as error:
            raise ResponseInvalid(f"'{name[:200]}': {error}", remedy="Correct the value, then decide again.") from None


async def find_visible(
    session: AsyncSession, principal: Principal, approval_id: str, permission: Permission
) -> repository.AnyRow:
    """Return an approval that the caller has a permission on. Raises `ApprovalNotFound`, `PermissionMissing`."""
    row = None
    if is_id(approval_id):
        row = await repository.find_approval(session, approval_id, tenant_id=principal.tenant_id)
    if row is None:
        raise ApprovalNotFound(approval_id)
    principal.require_in(row[0].space_id, permission, ApprovalNotFound(approval_id))
    return row
