"""Operations on approvals: list, read, decide. The assistant has none of them: its user decides in the inbox."""

from typing import Literal, NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.runs.approvals import service
from headgate.features.runs.approvals.schemas import ApprovalOut, ApprovalSummary, DecisionIn
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid
from headgate.foundation.quoting import shortened
from headgate.sdk.coerce import text_of
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit

MOST_LISTED = 50
SHOWN_CHARACTERS = 20_000
"""Of a value: a longer one is read over HTTP or in the inbox."""


class ApprovalLine(TypedDict):
    """An approval in a list."""

    approval_id: str
    status: str
    question: str
    flow: str
    run_id: str
    started_by: str
    created_at: str
    due_at: str | None
    can_decide: bool
    """Whether the caller may decide now."""


class ApprovalList(TypedDict):
    """Approvals, the most urgent first."""

    approvals: list[ApprovalLine]
    more: NotRequired[str]


class DecisionLine(TypedDict):
    """A user's decision."""

    user: str
    decision: str
    comment: str
    answers: dict[str, JsonValue]
    edits: dict[str, str]


class Approval(ApprovalLine):
    """An approval with what it shows."""

    value: NotRequired[JsonValue]
    value_beginning: NotRequired[str]
    """Of a value that is too long for this answer."""
    more_value: NotRequired[str]
    questions: list[JsonValue]
    """Fields of the form."""
    editable: list[str]
    approvals_needed: int
    approvals_given: int
    content_hash: str
    refusal: NotRequired[str]
    """Why the caller may not decide."""
    decisions: list[DecisionLine]


async def list_approvals(
    visit: Visit,
    show: Literal["mine", "waiting", "decided"] = "mine",
    run_id: str = "",
    limit: int = 20,
    before: str = "",
) -> ApprovalList:
    """List approvals that runs wait for, the most urgent first.

    Args:
        show: mine: the user can decide them now; waiting: all that wait; decided: all that are over.
        run_id: Only of this run.
        limit: 50 at most.
        before: Last approval of the previous page.
    """
    most = max(1, min(limit, MOST_LISTED))
    visit.require(Permission.RUNS_VIEW)
    async with visit.studio.database.reading() as session:
        rows = await service.list_approvals(
            session,
            visit.principal,
            box=visit.studio.sealer(),
            status="decided" if show == "decided" else "pending",
            mine=show == "mine",
            run_id=run_id or None,
            limit=most + 1,
            before=before or None,
        )
    answer: ApprovalList = {"approvals": [_line(row) for row in rows[:most]]}
    if len(rows) > most:
        answer["more"] = f"There are more: call again with before='{rows[most - 1].id}'."
    return answer


async def read_approval(visit: Visit, approval_id: str) -> Approval:
    """Read what an approval asks: the value exactly as the flow passes it on, its form, and its decisions.

    Args:
        approval_id: Id of the approval.
    """
    async with visit.studio.database.reading() as session:
        return _shown(await service.get_approval(session, visit.principal, approval_id, box=visit.studio.sealer()))


async def decide_approval(  # noqa: PLR0917 - arguments of a tool
    visit: Visit,
    approval_id: str,
    decision: Literal["approve", "reject"],
    content_hash: str,
    comment: str = "",
    answers: dict[str, JsonValue] = {},  # noqa: B006 - read by `define`, never changed
    edits: dict[str, str] = {},  # noqa: B006 - read by `define`, never changed
) -> Approval:
    """Approve or reject; the run continues. Ask the user before: the decision is stored as theirs and is final.

    Args:
        approval_id: Id of the approval.
        decision: approve or reject.
        content_hash: From read_approval: the decision is on exactly that content.
        comment: The flow receives it.
        answers: Id of a form field to its answer.
        edits: Changed editable members of the value; '*' is a changed text.
    """
    body = {"decision": decision, "comment": comment, "answers": answers, "edits": edits, "content_hash": content_hash}
    decision_in = checked(DecisionIn, **body)
    if not decision_in.content_hash:
        raise Invalid("The decision names no content.", remedy="Call read_approval and pass its content_hash.")
    async with visit.studio.database.writing() as session:
        approval = await service.decide(session, visit.principal, approval_id, decision_in, box=visit.studio.sealer())
    return _shown(approval)


def _line(approval: ApprovalSummary) -> ApprovalLine:
    return {
        "approval_id": approval.id,
        "status": approval.status,
        "question": approval.question,
        "flow": approval.flow_name,
        "run_id": approval.run_id,
        "started_by": approval.starter_name,
        "created_at": approval.created_at.isoformat(),
        "due_at": None if approval.due_at is None else approval.due_at.isoformat(),
        "can_decide": approval.can_decide,
    }


def _shown(approval: ApprovalOut) -> Approval:
    line = _line(approval)
    answer: Approval = {
        "approval_id": line["approval_id"],
        "status": line["status"],
        "question": line["question"],
        "flow": line["flow"],
        "run_id": line["run_id"],
        "started_by": line["started_by"],
        "created_at": line["created_at"],
        "due_at": line["due_at"],
        "can_decide": line["can_decide"],
        "questions": [field.model_dump(mode="json", exclude_defaults=True) for field in approval.questions],
        "editable": approval.editable,
        "approvals_needed": approval.needed,
        "approvals_given": approval.approvals,
        "content_hash": approval.content_hash,
        "decisions": [
            {
                "user": item.user_name,
                "decision": item.decision,
                "comment": item.comment,
                "answers": item.answers,
                "edits": item.edits,
            }
            for item in approval.decisions
        ],
    }
    text = text_of(approval.value)
    if len(text) > SHOWN_CHARACTERS:
        answer["value_beginning"] = shortened(text, SHOWN_CHARACTERS)
        answer["more_value"] = f"{len(text):,} characters. Complete: GET /api/v1/approvals/{approval.id}."
    else:
        answer["value"] = approval.value
    if approval.refusal is not None:
        answer["refusal"] = approval.refusal
    return answer


OPERATIONS: tuple[Row, ...] = (
    (list_approvals, Permission.RUNS_VIEW, "read"),
    (read_approval, Permission.RUNS_VIEW, "read"),
    (decide_approval, Permission.RUNS_START, "run"),
)
