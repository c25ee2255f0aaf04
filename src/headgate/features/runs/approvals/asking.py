"""The side of the step: stores what it asks, and reads the decision."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Role
from headgate.features.accounts.users.repository import find_by_email
from headgate.features.runs.approvals import repository
from headgate.features.runs.approvals.notices import CONNECTION_VARIABLE, LANGUAGE_VARIABLE, URL_VARIABLE, add_notices
from headgate.features.runs.approvals.sealed import seal, unseal
from headgate.features.runs.approvals.tables import ApprovalRow
from headgate.features.runs.approvals.words import language_of
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.waits import Pending
from headgate.features.runs.spaces import Spaces
from headgate.features.runs.transitions import clock
from headgate.foundation.canonical import digest, portable
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid
from headgate.foundation.ids import new_id
from headgate.sdk.approvals import ApprovalAnswer, ApprovalRequest, Outcome

MOST_CALLS = 50
"""Calls of one step that may ask in the same moment: each attempt to insert stores one of them."""
LARGEST_BYTES = 200_000
"""Of what is shown: more cannot be reviewed."""
_OUTCOMES: dict[str, Outcome] = {"approved": "approve", "rejected": "reject", "timed_out": "timeout"}
_ROLE = re.compile(r"^role:\s*([a-z]+)$")


async def no_variable(origin: Origin, name: str) -> str:  # noqa: ARG001
    """Return no value."""
    return ""


@dataclass(frozen=True, slots=True)
class StepApprovals:
    """Approvals of steps; see `ports.Approvals`."""

    database: Database
    box: Sealer
    spaces: Spaces
    variable_of: Callable[[Origin, str], Awaitable[str]] = no_variable
    """Returns the value of a variable of a step's space, such as where its notices are sent; empty without one."""
    public_url: str = ""
    """Address of the page, for links in notices."""

    async def ask(
        self, origin: Origin, request: ApprovalRequest, *, scope: str = "", classification: int | None = None
    ) -> ApprovalAnswer | Pending:
        """Store the request, or return its outcome. Raises `Invalid`."""
        key = origin.key
        async with self.database.writing() as session:
            row = await repository.find_of_step(session, key.run_id, origin.step_id, scope, tenant_id=key.tenant_id)
            if row is not None:
                return await self._outcome(session, row)
        space_id = await self.spaces.of(key.tenant_id, key.flow_id)
        url = request.notify_url or await self.variable_of(origin, URL_VARIABLE)
        connection = request.notify_connection or (await self.variable_of(origin, CONNECTION_VARIABLE)).strip()
        language = language_of(request.notify_language or await self.variable_of(origin, LANGUAGE_VARIABLE))
        async with self.database.writing() as session:
            described = {"space_id": space_id, "scope": scope, "classification": classification}
            values = await self._values(session, origin, request) | described
            row = await self._stored(session, origin, values)
            if row is None:
                raise Invalid("The run of this approval is gone.", remedy="Start the flow again.")
            if row.id == values["id"]:
                places = {"url": url, "connection": connection[:64], "public_url": self.public_url}
                await add_notices(session, row, request, **places, language=language, box=self.box)
            return await self._outcome(session, row)

    async def _outcome(self, session: AsyncSession, row: ApprovalRow) -> ApprovalAnswer | Pending:
        """Return what was decided; a request whose time is over is settled."""
        status = row.status
        if status == "pending" and row.due_at is not None and row.due_at <= clock():
            status = await repository.settle(session, row.id, "timeout", tenant_id=row.tenant_id, at=clock()) or status
        if status == "pending":
            return Pending(row.due_at)
        return await self._answer(session, row, _OUTCOMES[status])

    async def _stored(self, session: AsyncSession, origin: Origin, values: dict[str, Any]) -> ApprovalRow | None:
        """Insert an approval and return it; several calls of a step that ask at once get one number each."""
        key = origin.key
        for _ in range(MOST_CALLS):
            await repository.add_approval(session, values, tenant_id=key.tenant_id)
            row = await repository.find_of_step(
                session, key.run_id, origin.step_id, values["scope"], tenant_id=key.tenant_id
            )
            if row is not None:
                return row
        return None

    async def _values(self, session: AsyncSession, origin: Origin, request: ApprovalRequest) -> dict[str, Any]:
        key = origin.key
        shown = _shown(origin, request)
        at = clock()
        timeout = request.timeout_seconds
        starter = await repository.find_starter(session, key.run_id, tenant_id=key.tenant_id)
        return {
            "id": new_id(),
            "flow_run_id": key.run_id,
            "flow_id": key.flow_id,
            "step_id": origin.step_id,
            "tool": request.tool[:255],
            "status": "pending",
            "content": seal(self.box, shown),
            "content_hash": digest(shown),
            "assignees": [await _assignee(session, entry, key.tenant_id) for entry in request.assignees],
            "escalation": [await _assignee(session, entry, key.tenant_id) for entry in request.escalation] or None,
            "escalates_at": None
            if request.escalation_seconds is None
            else at + int(request.escalation_seconds * 1_000_000),
            "needed": request.needed,
            "approvals": 0,
            "barred_user_id": starter if request.not_starter else None,
            "due_at": None if timeout is None else at + int(timeout * 1_000_000),
            "created_at": at,
        }

    async def _answer(self, session: AsyncSession, row: ApprovalRow, outcome: Outcome) -> ApprovalAnswer:
        decisions = await repository.list_decisions(session, [row.id], tenant_id=row.tenant_id)
        names = tuple(decision.user_name for decision in decisions)
        if outcome == "timeout" or not decisions:
            return ApprovalAnswer(outcome, decided_by=names)
        response = unseal(self.box, decisions[-1].response)
        return ApprovalAnswer(outcome, **response, decided_by=names)


def _shown(origin: Origin, request: ApprovalRequest) -> Any:  # noqa: ANN401 - JSON
    """Return what users see of a request. Raises `Invalid` when it is too large."""
    shown = portable(
        {
            "question": request.question,
            "value": request.value,
            "questions": [field.model_dump(mode="json", exclude_defaults=True) for field in request.questions],
            "editable": list(request.editable),
            **({"tool": request.tool} if request.tool else {}),
        }
    )
    content = orjson.dumps(shown)
    if len(content) > LARGEST_BYTES:
        raise Invalid(
            f"Step '{origin.step_id}' asks to approve {len(content):,} bytes; {LARGEST_BYTES:,} is the most.",
            remedy="Select the part that users need to see before the Approval.",
        )
    return shown


async def _assignee(session: AsyncSession, entry: str, tenant_id: str) -> dict[str, Any]:
    text = entry.strip().lower()
    role = _ROLE.match(text)
    if role is not None and role[1] in list(Role):
        return {"role": role[1]}
    user = await find_by_email(session, text, tenant_id=tenant_id)
    if user is None or not user.active:
        raise Invalid(
            f"There is no user '{entry[:200]}' to assign the approval to.",
            remedy="Use the email address of a user of the organisation, or role:owner, role:publisher, role:editor.",
        )
    return {"user_id": user.id, "name": user.name}
