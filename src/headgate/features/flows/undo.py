"""Undo and redo of drafts: every revision of the last hundred can be restored."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows import repository
from headgate.features.flows.errors import DraftNotFound, NothingToUndo, StaleRevision
from headgate.features.flows.service import definition_of, get_flow, replace_draft
from headgate.features.flows.tables import FlowRow
from headgate.graph.model import Flow

if TYPE_CHECKING:
    from headgate.features.catalog.registry import Components


@dataclass(frozen=True, slots=True)
class Draft:
    """The draft of one revision."""

    revision: int
    flow: Flow
    restores: int | None
    """The earlier revision that it restored."""
    saved_at: datetime

    @property
    def origin(self) -> int:
        """The revision that first had this draft."""
        return self.restores or self.revision


async def undo_draft(
    session: AsyncSession, principal: Principal, catalog: "Components", flow_id: str, *, revision: int, to: int = 0
) -> FlowRow:
    """Restore an earlier draft as the next revision. An undo after an undo goes one change further back.

    Args:
        session: The session of the change.
        principal: The caller.
        catalog: The components.
        flow_id: The flow.
        revision: The revision that the caller read: later changes by others are never undone.
        to: The revision to restore, also one that was undone; 0 undoes the last change.

    Raises `StaleRevision`, `NothingToUndo`, or `DraftNotFound`.
    """
    row = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    if row.revision != revision:
        raise StaleRevision(sent=revision, current=row.revision)
    draft = await earlier_draft(session, row, to=to)
    await replace_draft(session, principal, catalog, row, draft.flow, restores=draft.origin)
    return row


async def earlier_draft(session: AsyncSession, row: FlowRow, *, to: int = 0, at: int | None = None) -> Draft:
    """Return the draft of revision `to`, else the one before the last change that is not undone yet.

    `at` is the revision that the caller has already restored. Raises `NothingToUndo`, `DraftNotFound`.
    """
    target = to or (at or row.restores or row.revision) - 1
    if target == 0:
        raise NothingToUndo
    draft = await repository.find_draft(session, row.id, target, tenant_id=row.tenant_id)
    if draft is None:
        raise DraftNotFound(target, row.revision)
    return Draft(draft.revision, Flow.model_validate(draft.definition), draft.restores, draft.saved_at)


async def list_drafts(session: AsyncSession, principal: Principal, flow_id: str, *, limit: int) -> list[Draft]:
    """Return the newest drafts of a flow, the current one first. Raises `FlowNotFound`, `PermissionMissing`."""
    row = await get_flow(session, principal, flow_id)
    earlier = await repository.list_drafts(session, row.id, tenant_id=row.tenant_id, limit=limit - 1)
    return [
        Draft(row.revision, definition_of(row), row.restores, row.updated_at),
        *(
            Draft(draft.revision, Flow.model_validate(draft.definition), draft.restores, draft.saved_at)
            for draft in earlier
        ),
    ]
