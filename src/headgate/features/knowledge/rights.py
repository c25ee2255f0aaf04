"""Who may read which documents, as a condition of SQL queries: it is applied before anything is ranked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, false, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Role
from headgate.features.access.principal import Principal
from headgate.features.accounts.directory.service import group_ids_of
from headgate.features.knowledge.tables import DocumentRow, KnowledgeBaseRow, ReaderRow

VISITOR = "visitor"
_LEVELS = (VISITOR, *(role.value for role in Role))


@dataclass(frozen=True, slots=True)
class Reader:
    """A user who reads documents of one space. Without a user and a role: a run that nobody started."""

    user_id: str = ""
    role: str = VISITOR
    groups: frozenset[str] = frozenset()
    clearance: int | None = None
    """The highest classification that may be read; None: any."""

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the `reader_role` values that let this reader in."""
        return _LEVELS[: _LEVELS.index(self.role) + 1]


async def reader_of(
    session: AsyncSession, principal: Principal, space_id: str, *, clearance: int | None = None
) -> Reader:
    """Return the caller as a reader of a space's documents; a caller outside of the space is a visitor."""
    readers = await readers_of(session, principal, [space_id], clearance=clearance)
    return readers[space_id]


async def readers_of(
    session: AsyncSession, principal: Principal, space_ids: Collection[str], *, clearance: int | None = None
) -> dict[str, Reader]:
    """Return the caller as a reader of the documents of each space; see `reader_of`."""
    user_id = "" if principal.is_visitor else principal.user_id
    roles = {
        space_id: Role.OWNER if principal.access.admin else principal.access.roles[space_id]
        for space_id in space_ids
        if principal.sees(space_id)
    }
    groups = await group_ids_of(session, user_id, tenant_id=principal.tenant_id) if roles else frozenset()
    members = {space_id: Reader(user_id, role.value, groups, clearance) for space_id, role in roles.items()}
    return dict.fromkeys(space_ids, Reader(clearance=clearance)) | members


def readable(reader: Reader) -> ColumnElement[bool]:
    """Return the condition that a row of `knowledge_documents` may be read."""
    ways: list[ColumnElement[bool]] = [DocumentRow.reader_role.in_(reader.levels)]
    if reader.user_id:
        listed = or_(
            and_(ReaderRow.kind == "user", ReaderRow.reader_id == reader.user_id),
            and_(ReaderRow.kind == "group", ReaderRow.reader_id.in_(sorted(reader.groups))),
        )
        ways.append(DocumentRow.owner_user_id == reader.user_id)
        ways.append(select(ReaderRow.document_id).where(ReaderRow.document_id == DocumentRow.id, listed).exists())
    allowed = or_(*ways)
    return allowed if reader.clearance is None else and_(allowed, DocumentRow.classification <= reader.clearance)


def of_spaces(conditions: Mapping[str, ColumnElement[bool]]) -> ColumnElement[bool]:
    """Return the condition that a row of `knowledge_documents` matches the one of the space of its base."""
    return or_(
        false(), *(and_(KnowledgeBaseRow.space_id == space_id, condition) for space_id, condition in conditions.items())
    )
