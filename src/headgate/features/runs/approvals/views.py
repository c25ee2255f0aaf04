"""What callers see of approvals, and whether they may decide."""

from collections.abc import Sequence
from typing import Any, cast

from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import Principal
from headgate.features.runs.approvals.repository import AnyRow
from headgate.features.runs.approvals.schemas import (
    ApprovalOut,
    ApprovalState,
    ApprovalSummary,
    AssigneeOut,
    DecisionOut,
    NoticeOut,
    Refusal,
)
from headgate.features.runs.approvals.sealed import unseal
from headgate.features.runs.approvals.tables import ApprovalDecisionRow, ApprovalNoticeRow, ApprovalRow
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.transitions import clock
from headgate.foundation.database import moment
from headgate.sdk.approvals import form_fields


def state_of(row: AnyRow) -> ApprovalState:
    """Return the state; a pending approval of a run that is over is closed."""
    status = cast("ApprovalState", row[0].status)
    return "closed" if status == "pending" and row.run_status not in LIVE_RUNS else status


def is_assigned(principal: Principal, approval: ApprovalRow) -> bool:
    """Return whether the caller is among those who may decide."""
    if is_barred(principal, approval):
        return False
    if not approval.assignees:
        return True
    order = list(Role)
    own = principal.access.roles.get(approval.space_id)
    rank = len(order) if principal.access.admin else -1 if own is None else order.index(own)
    return any(
        entry.get("user_id") == principal.user_id or ("role" in entry and order.index(Role(entry["role"])) <= rank)
        for entry in deciders_of(approval)
    )


def deciders_of(approval: ApprovalRow) -> list[dict[str, Any]]:
    """Return who may decide now: the assignees, and after the time of escalation also others."""
    escalated = approval.escalates_at is not None and approval.escalates_at <= clock()
    return [*approval.assignees, *((approval.escalation or ()) if escalated else ())]


def is_barred(principal: Principal, approval: ApprovalRow) -> bool:
    """Return whether the caller started the run and may therefore not decide."""
    return approval.barred_user_id is not None and approval.barred_user_id == principal.user_id


def refusal_of(principal: Principal, row: AnyRow, decisions: Sequence[ApprovalDecisionRow]) -> Refusal | None:
    """Return why the caller may not decide now; None when they may. `decisions` are those on this approval."""
    approval: ApprovalRow = row[0]
    reasons: tuple[tuple[bool, Refusal], ...] = (
        (state_of(row) != "pending", "over"),
        (approval.due_at is not None and approval.due_at <= clock(), "timed_out"),
        (not principal.may(Permission.RUNS_START, approval.space_id), "no_permission"),
        (is_barred(principal, approval), "starter"),
        (not is_assigned(principal, approval), "not_assigned"),
        (any(decision.user_id == principal.user_id for decision in decisions), "already_decided"),
    )
    return next((reason for applies, reason in reasons if applies), None)


def summary_of(
    principal: Principal, row: AnyRow, decisions: Sequence[ApprovalDecisionRow], box: Sealer
) -> ApprovalSummary:
    """Return an approval as a list shows it."""
    question = unseal(box, row[0].content)["question"]
    return ApprovalSummary(question=question, **_described(principal, row, decisions))


def approval_of(
    principal: Principal,
    row: AnyRow,
    decisions: Sequence[ApprovalDecisionRow],
    notices: Sequence[ApprovalNoticeRow],
    box: Sealer,
) -> ApprovalOut:
    """Return an approval with what it shows and the decisions on it."""
    return ApprovalOut(
        **{name: value for name, value in shown_of(box, row[0]).items() if name != "tool"},
        **_described(principal, row, decisions),
        decisions=[_decision_out(decision, box) for decision in decisions],
        notices=[_notice_out(notice) for notice in notices],
    )


def shown_of(box: Sealer, approval: ApprovalRow) -> dict[str, Any]:
    """Return what users see, with the fields of the form."""
    content: dict[str, Any] = unseal(box, approval.content)
    return content | {"questions": form_fields(content["questions"])}


def _described(principal: Principal, row: AnyRow, decisions: Sequence[ApprovalDecisionRow]) -> dict[str, Any]:
    approval: ApprovalRow = row[0]
    refusal = refusal_of(principal, row, decisions)
    return {
        "id": approval.id,
        "run_id": approval.flow_run_id,
        "flow_id": approval.flow_id,
        "flow_name": row.flow_name,
        "step_id": approval.step_id,
        "space_id": approval.space_id,
        "status": state_of(row),
        "tool": approval.tool,
        "content_hash": approval.content_hash,
        "starter_id": row.starter_id,
        "starter_name": row.starter_name,
        "not_starter": approval.barred_user_id is not None,
        "assignees": [AssigneeOut(**entry) for entry in deciders_of(approval)],
        "escalation": [AssigneeOut(**entry) for entry in approval.escalation or ()],
        "escalates_at": None if approval.escalates_at is None else moment(approval.escalates_at),
        "needed": approval.needed,
        "approvals": approval.approvals,
        "can_decide": refusal is None,
        "refusal": refusal,
        "created_at": moment(approval.created_at),
        "due_at": None if approval.due_at is None else moment(approval.due_at),
        "decided_at": None if approval.decided_at is None else moment(approval.decided_at),
    }


def _notice_out(notice: ApprovalNoticeRow) -> NoticeOut:
    return NoticeOut.model_validate(
        {
            "kind": notice.kind,
            "status": notice.status,
            "url": "" if notice.connection else notice.url_shown,
            "connection": notice.connection or "",
            "recipient": notice.url_shown if notice.link_id else "",
            "due_at": None if notice.due_at is None else moment(notice.due_at),
            "sent_at": None if notice.sent_at is None else moment(notice.sent_at),
            "error": notice.error_message or "",
        }
    )


def _decision_out(decision: ApprovalDecisionRow, box: Sealer) -> DecisionOut:
    return DecisionOut.model_validate(
        {
            "user_id": decision.user_id,
            "user_name": decision.user_name,
            "decision": decision.decision,
            **unseal(box, decision.response),
            "shown_hash": decision.shown_hash,
            "outside": decision.outside or "",
            "decided_at": moment(decision.decided_at),
        }
    )
