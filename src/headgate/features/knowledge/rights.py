"""Who may read which documents, as a condition of SQL queries: it is applied before anything is ranked."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Role
from headgate.features.access.principal import Principal
from headgate.features.accounts.directory.service import group_ids_of
from headgate.features.knowledge.tables import DocumentRow, ReaderRow

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
    user_id = "" if principal.is_visitor else principal.user_id
    if not principal.sees(space_id):
        return Reader(clearance=clearance)
    role = Role.OWNER if principal.access.admin else principal.access.roles[space_id]
    groups = await group_ids_of(session, user_id, tenant_id=principal.tenant_id)
    return Reader(user_id, role.value, groups, clearance)


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
