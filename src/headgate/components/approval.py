"""The component that waits for a decision of users."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, JsonValue, PrivateAttr, model_validator

from headgate.components.clock import LONGEST_HOURS, timeout_field
from headgate.components.wording import listed_text
from headgate.graph.template import FieldKind
from headgate.sdk import (
    NOT_TAKEN,
    Component,
    ComponentError,
    ConnectionReference,
    Data,
    NotTaken,
    Table,
    field,
    output,
)
from headgate.sdk.approvals import (
    MOST_QUESTIONS,
    NOTICE_KINDS,
    ApprovalAnswer,
    ApprovalRequest,
    Outcome,
    form_fields,
    parse_edit,
)
from headgate.sdk.coerce import data_of

MOST_ITEMS = 20
_LIST: dict[str, JsonValue] = {"type": "array", "items": {"type": "string"}, "maxItems": MOST_ITEMS}


class Approval(Component):
    """Asks users to approve its value before the flow continues. A waiting run needs no worker."""

    label = "Approval"
    category = "logic"
    icon = "user-check"
    keywords = (
        "approve", "approval", "human", "review", "reviewer", "confirm", "confirmation", "ask me", "sign off",
        "reject", "decision", "manual", "permission", "four eyes", "before sending", "inbox", "human in the loop",
    )  # fmt: skip

    value: str | Data | Table = field(label="Value", help="What is shown, and passed on when approved.", main=True)
    question: str = field(
        default="Approve this?",
        label="Question",
        help="What the users decide, for example: Send this mail?",
        kind=FieldKind.MULTILINE,
        port=False,
        max_length=2000,
    )
    assignees: Annotated[list[str], BeforeValidator(listed_text)] = field(
        default_factory=list,
        label="Assignees",
        help="Email addresses, or role:owner, role:publisher, role:editor; empty: every user who may run the flow.",
        port=False,
        schema=_LIST,
    )
    needed: int = field(
        default=1, label="Approvals needed", help="Users who must approve; one rejection rejects.", ge=1, le=MOST_ITEMS
    )
    not_starter: bool = field(
        default=False, label="Not the starter", help="The user who started the run may not decide."
    )
    timeout_hours: float = timeout_field()
    questions: Annotated[list[JsonValue], BeforeValidator(listed_text)] = field(
        default_factory=list,
        label="Form",
        help="Fields that the user who decides answers, as in a form of a flow, without files; a text: a text field.",
        port=False,
        schema={"type": "array", "items": {"type": ["string", "object"]}, "maxItems": MOST_QUESTIONS},
    )
    editable: Annotated[list[str], BeforeValidator(listed_text)] = field(
        default_factory=list,
        label="Editable fields",
        help="Members of the value that may be changed before approval; * is all of them, or the text.",
        port=False,
        schema=_LIST,
    )
    reminders: Annotated[list[float], BeforeValidator(listed_text)] = field(
        default_factory=list,
        label="Reminders after hours",
        help="Hours after the request at which notices remind of it, for example 24, 48.",
        port=False,
        schema={"type": "array", "items": {"type": "number"}, "maxItems": MOST_ITEMS},
    )
    escalate_hours: float = field(
        default=0.0,
        label="Escalate after hours",
        help="Then the users of Escalate to may decide too; 0: never.",
        ge=0,
        le=LONGEST_HOURS,
    )
    escalate_to: Annotated[list[str], BeforeValidator(listed_text)] = field(
        default_factory=list,
        label="Escalate to",
        help="Email addresses, or role:owner, role:publisher, role:editor.",
        port=False,
        schema=_LIST,
    )
    notify_url: str = field(
        default="",
        label="Notice URL",
        help="Web address that signed notices are sent to; empty: the variable APPROVAL_WEBHOOK_URL.",
        port=False,
        max_length=2000,
    )
    notify_connection: ConnectionReference | None = field(
        default=None,
        label="Notice connection",
        help="Sends notices by mail (SMTP) or chat (Notification address); empty: the variable APPROVAL_CONNECTION.",
        connection_kinds=NOTICE_KINDS,
    )
    notify_language: Literal["space", "en", "sv"] = field(
        default="space",
        label="Notice language",
        help="Language of notices by mail and chat; space: the variable APPROVAL_LANGUAGE (en or sv), or English.",
    )
    _answer: ApprovalAnswer | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.editable and self.needed > 1:
            raise ComponentError(
                "Approval: a value that several users must approve cannot be edited.",
                remedy="Set the approvals needed to 1, or remove the editable fields.",
                field="editable",
            )
        named = {*self.assignees, *self.escalate_to}
        if self.assignees and len(named) < self.needed and not any(name.startswith("role:") for name in named):
            raise ComponentError(
                f"Approval: {self.needed} users must approve, but only {len(named)} may decide.",
                remedy="Assign more users or a role, or lower the approvals needed.",
                field="needed",
            )
        try:
            form_fields(self.questions)
        except ValueError as error:
            remedy = 'Write fields such as {"id": "cost_centre", "label": "Cost centre", "type": "number"}.'
            raise ComponentError(f"Approval: its form has {error}", remedy=remedy, field="questions") from None
        self._check_times()
        return self

    def _check_times(self) -> None:
        """Raise `ComponentError` for reminders and escalations that would never come."""
        if bool(self.escalate_hours) != bool(self.escalate_to) or (self.escalate_to and not self.assignees):
            raise ComponentError(
                "Approval: an escalation needs assignees, a time, and who else may decide then.",
                remedy="Set the assignees, Escalate after hours and Escalate to, or clear the last two.",
                field="escalate_to",
            )
        if any(not 0 < hours <= LONGEST_HOURS for hours in self.reminders):
            raise ComponentError(
                "Approval: a reminder must be more than 0 and at most ten years after the request.",
                remedy="Write hours, for example 24, 48.",
                field="reminders",
            )
        latest = max(self.escalate_hours, *self.reminders, 0.0)
        if self.timeout_hours and latest >= self.timeout_hours:
            raise ComponentError(
                "Approval: a reminder or the escalation would come after the timeout.",
                remedy="Raise the timeout, or lower their hours.",
                field="timeout_hours",
            )

    @output(help="The value with its edits, when approved.", branch=True)
    async def approve(self) -> Data | NotTaken:
        """Return the value or `NOT_TAKEN`."""
        return edited(data_of(self.value), (await self._decision()).edits) if await self._is("approve") else NOT_TAKEN

    @output(help="The value, when rejected.", branch=True)
    async def reject(self) -> Data | NotTaken:
        """Return the value or `NOT_TAKEN`."""
        return data_of(self.value) if await self._is("reject") else NOT_TAKEN

    @output(help="The value, when nobody decided in time.", branch=True)
    async def timeout(self) -> Data | NotTaken:
        """Return the value or `NOT_TAKEN`."""
        return data_of(self.value) if await self._is("timeout") else NOT_TAKEN

    @output(help="outcome, comment, answers by id of the form field, and decided_by.")
    async def decision(self) -> Data:
        """Return the decision as an object."""
        answer = await self._decision()
        return {
            "outcome": answer.outcome,
            "comment": answer.comment,
            "answers": dict(answer.answers),
            "decided_by": list(answer.decided_by),
        }

    async def _is(self, outcome: Outcome) -> bool:
        return (await self._decision()).outcome == outcome

    async def _decision(self) -> ApprovalAnswer:
        if self._answer is None:
            self._answer = await self.ctx.approval(
                ApprovalRequest(
                    question=self.question,
                    value=data_of(self.value),
                    assignees=tuple(self.assignees),
                    needed=self.needed,
                    not_starter=self.not_starter,
                    questions=form_fields(self.questions),
                    editable=tuple(self.editable),
                    timeout_seconds=self.timeout_hours * 3600 or None,
                    reminder_seconds=tuple(hours * 3600 for hours in self.reminders),
                    escalation_seconds=self.escalate_hours * 3600 or None,
                    escalation=tuple(self.escalate_to),
                    notify_url=self.notify_url.strip(),
                    notify_language="" if self.notify_language == "space" else self.notify_language,
                    notify_connection="" if self.notify_connection is None else self.notify_connection.name,
                )
            )
        return self._answer


def edited(value: Data, edits: "dict[str, JsonValue] | object") -> Data:
    """Return the value with the changed members."""
    if not isinstance(edits, dict) or not edits:
        return value
    if isinstance(value, dict):
        return {**value, **{name: parse_edit(value.get(name), str(text)) for name, text in edits.items()}}
    return edits.get("*", value)
