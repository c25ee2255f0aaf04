"""Lists approvals and stores decisions on them."""

from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.runs.approvals import repository
from headgate.features.runs.approvals.errors import (
    ApprovalDecided,
    ApprovalNotFound,
    ContentChanged,
    NotAssigned,
    ResponseInvalid,
)
from headgate.features.runs.approvals.schemas import ApprovalOut, ApprovalState, AssigneeOut, DecisionIn, DecisionOut
from headgate.features.runs.approvals.sealed import seal, unseal
from headgate.features.runs.approvals.tables import ApprovalDecisionRow, ApprovalRow
from headgate.features.runs.ports import Sealer
from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.transitions import clock
from headgate.features.runs.waking import wake_step
from headgate.foundation.canonical import digest
from headgate.foundation.database import moment
from headgate.foundation.ids import is_id

MOST_SEARCHED = 1000
"""Pending approvals of others that a list of your own covers."""


async def list_approvals(
    session: AsyncSession,
    principal: Principal,
    *,
    box: Sealer,
    status: ApprovalState | None = None,
    mine: bool = False,
    run_id: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> Sequence[ApprovalOut]:
    """List approvals that the caller can view, newest first; with `mine`, those that wait for the caller."""
    rows = await repository.list_approvals(
        session,
        tenant_id=principal.tenant_id,
        spaces=principal.spaces_where(Permission.RUNS_VIEW),
        status="pending" if mine else status,
        run_id=run_id,
        limit=MOST_SEARCHED if mine else limit,
        before=before,
    )
    decisions = await repository.list_decisions(session, [row[0].id for row in rows], tenant_id=principal.tenant_id)
    if mine:
        rows = [row for row in rows if _can_decide(principal, row, _of(row[0], decisions))][:limit]
    return [_out(principal, row, _of(row[0], decisions), box) for row in rows]


async def count_mine(session: AsyncSession, principal: Principal, *, box: Sealer) -> int:
    """Return how many approvals wait for the caller."""
    return len(await list_approvals(session, principal, box=box, mine=True, limit=MOST_SEARCHED))


async def get_approval(session: AsyncSession, principal: Principal, approval_id: str, *, box: Sealer) -> ApprovalOut:
    """Return an approval. Raises `ApprovalNotFound`, `PermissionMissing`."""
    row = await _find(session, principal, approval_id, Permission.RUNS_VIEW)
    decisions = await repository.list_decisions(session, [approval_id], tenant_id=principal.tenant_id)
    return _out(principal, row, decisions, box)


async def decide(
    session: AsyncSession, principal: Principal, approval_id: str, decision_in: DecisionIn, *, box: Sealer
) -> ApprovalOut:
    """Store a decision and wake the step, in one transaction.

    Raises `ApprovalNotFound`, `PermissionMissing`, `NotAssigned`, `ApprovalDecided`, `ContentChanged` or
    `ResponseInvalid`.
    """
    row = await _find(session, principal, approval_id, Permission.RUNS_START)
    approval: ApprovalRow = row[0]
    if _state(row) == "pending" and not _is_assigned(principal, approval):
        raise NotAssigned(
            "This approval is assigned to other users, or to other users than the one who started the run.",
            remedy="Ask one of its assignees to decide.",
        )
    if decision_in.content_hash and decision_in.content_hash != approval.content_hash:
        raise ContentChanged("The approval shows other content.", remedy="Read the approval again, then decide.")
    _check_response(_content(approval, box), decision_in)
    at = clock()
    status = await repository.settle(session, approval.id, decision_in.decision, tenant_id=principal.tenant_id, at=at)
    values = _decision_row(principal, approval, decision_in, box, at)
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
        },
    )
    if status != "pending":
        await wake_step(session, approval.flow_run_id, approval.step_id, tenant_id=principal.tenant_id, at=at)
    return await get_approval(session, principal, approval_id, box=box)


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


def _check_response(content: dict[str, Any], decision_in: DecisionIn) -> None:
    unknown = sorted(decision_in.answers.keys() - set(content["questions"]))
    if unknown:
        raise ResponseInvalid(f"The approval has no question '{unknown[0][:200]}'.", remedy="Use its own questions.")
    value = content["value"]
    members = set(value) if isinstance(value, dict) else {"*"} if isinstance(value, str) else set()
    if "*" not in content["editable"]:
        members &= set(content["editable"])
    refused = sorted(decision_in.edits.keys() - members)
    if refused:
        raise ResponseInvalid(f"'{refused[0][:200]}' may not be changed.", remedy="Change editable members only.")


async def _find(
    session: AsyncSession, principal: Principal, approval_id: str, permission: Permission
) -> repository.AnyRow:
    row = None
    if is_id(approval_id):
        row = await repository.find_approval(session, approval_id, tenant_id=principal.tenant_id)
    if row is None:
        raise ApprovalNotFound(approval_id)
    principal.require_in(row[0].space_id, permission, ApprovalNotFound(approval_id))
    return row


def _state(row: repository.AnyRow) -> ApprovalState:
    status = cast("ApprovalState", row[0].status)
    return "closed" if status == "pending" and row.run_status not in LIVE_RUNS else status


def _is_assigned(principal: Principal, approval: ApprovalRow) -> bool:
    if approval.barred_user_id is not None and approval.barred_user_id == principal.user_id:
        return False
    if not approval.assignees:
        return True
    order = list(Role)
    own = principal.access.roles.get(approval.space_id)
    rank = len(order) if principal.access.admin else -1 if own is None else order.index(own)
    return any(
        entry.get("user_id") == principal.user_id or ("role" in entry and order.index(Role(entry["role"])) <= rank)
        for entry in approval.assignees
    )


def _can_decide(principal: Principal, row: repository.AnyRow, decisions: Sequence[ApprovalDecisionRow]) -> bool:
    approval: ApprovalRow = row[0]
    return (
        _state(row) == "pending"
        and (approval.due_at is None or approval.due_at > clock())
        and principal.may(Permission.RUNS_START, approval.space_id)
        and _is_assigned(principal, approval)
        and all(decision.user_id != principal.user_id for decision in decisions)
    )


def _of(approval: ApprovalRow, decisions: Sequence[ApprovalDecisionRow]) -> list[ApprovalDecisionRow]:
    return [decision for decision in decisions if decision.approval_id == approval.id]


def _content(approval: ApprovalRow, box: Sealer) -> dict[str, Any]:
    return unseal(box, approval.content)


def _out(
    principal: Principal, row: repository.AnyRow, decisions: Sequence[ApprovalDecisionRow], box: Sealer
) -> ApprovalOut:
    approval: ApprovalRow = row[0]
    return ApprovalOut(
        id=approval.id,
        run_id=approval.flow_run_id,
        flow_id=approval.flow_id,
        flow_name=row.flow_name,
        step_id=approval.step_id,
        space_id=approval.space_id,
        status=_state(row),
        **_content(approval, box),
        content_hash=approval.content_hash,
        assignees=[AssigneeOut(**entry) for entry in approval.assignees],
        needed=approval.needed,
        approvals=approval.approvals,
        can_decide=_can_decide(principal, row, decisions),
        created_at=moment(approval.created_at),
        due_at=None if approval.due_at is None else moment(approval.due_at),
        decided_at=None if approval.decided_at is None else moment(approval.decided_at),
        decisions=[_decision_out(decision, box) for decision in decisions],
    )


def _decision_out(decision: ApprovalDecisionRow, box: Sealer) -> DecisionOut:
    return DecisionOut.model_validate(
        {
            "user_id": decision.user_id,
            "user_name": decision.user_name,
            "decision": decision.decision,
            **unseal(box, decision.response),
            "shown_hash": decision.shown_hash,
            "decided_at": moment(decision.decided_at),
        }
    )
