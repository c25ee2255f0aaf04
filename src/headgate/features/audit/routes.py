"""HTTP routes of the audit log."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.audit import service
from headgate.features.audit.repository import EventFilters
from headgate.features.audit.schemas import AuditOut, HeadOut, VerdictOut
from headgate.features.audit.service import Place
from headgate.foundation.api import Limit, Page, ReadSession, Routes, get_database
from headgate.foundation.crypto import EvidenceSigner
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid

router = Routes(prefix="/audit", tags=["audit"])
_VIEW = [needs(Permission.AUDIT_VIEW)]
_TYPES = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The entries", "content": {kind: {} for kind in ("application/jsonl", "text/csv")}}
}
Stored = Annotated[Database, Depends(get_database)]
_LARGEST_PLACE = 2**63 - 1


def _text(longest: int, description: str) -> Any:  # noqa: ANN401 - FastAPI's own type is private
    return Query(max_length=longest, pattern=r"^[^\x00]*$", description=description)


@dataclass(frozen=True)
class Filter:
    """Filters of entries."""

    actor: Annotated[str | None, _text(300, "A user's id, or the name of the actor.")] = None
    key: Annotated[str | None, _text(36, "An API key's id or prefix.")] = None
    action: Annotated[str | None, _text(64, "An action, or a prefix of one: `flow.`.")] = None
    resource_kind: Annotated[str | None, _text(32, "A resource type: `flow`.")] = None
    resource_id: Annotated[str | None, _text(300, "The id of a resource.")] = None
    space_id: Annotated[str | None, _text(36, "The id of a space.")] = None
    since: Annotated[AwareDatetime | None, Query(description="From this time, inclusive.")] = None
    until: Annotated[AwareDatetime | None, Query(description="Before this time.")] = None


Since = Annotated[AwareDatetime | None, Query(description="From the first entry at or after this time.")]
Until = Annotated[AwareDatetime | None, Query(description="To the last entry before this time.")]


@router.get("", "List the audit log", _VIEW)
async def list_(
    session: ReadSession,
    caller: Caller,
    filters: Annotated[Filter, Depends(Filter)],
    limit: Limit = 50,
    cursor: Annotated[str | None, Query(max_length=200, description="`next_cursor` of the previous page.")] = None,
) -> Page[AuditOut]:
    """List changes, newest first."""
    rows = await service.list_events(
        session, caller, EventFilters(**asdict(filters)), limit=limit + 1, before=_place(cursor)
    )
    more = str(rows[limit - 1].seq) if len(rows) > limit else None
    return Page(items=[AuditOut.of(row) for row in rows[:limit]], next_cursor=more)


@router.get("/head", "Read the latest entry of the audit log", _VIEW)
async def head(session: ReadSession, caller: Caller) -> HeadOut:
    """The number of entries and the hash of the last. Store it elsewhere; `verify` compares with it."""
    chain_head = await service.get_head(session, caller)
    return HeadOut(seq=chain_head.seq, hash=chain_head.hash)


@router.get("/verify", "Verify the audit log", _VIEW)
async def verify(
    database: Stored,
    caller: Caller,
    seq: Annotated[
        int | None, Query(ge=1, le=_LARGEST_PLACE, description=("Sequence number that you noted earlier."))
    ] = None,
    hash: Annotated[str | None, Query(pattern="^[0-9a-f]{64}$", description="The hash of that entry.")] = None,  # noqa: A002
) -> VerdictOut:
    """Verify the complete chain and report faults; with `seq` and `hash`, compare with a stored end."""
    if (seq is None) != (hash is None):
        raise Invalid(
            "A sequence number requires a hash, and a hash a sequence number.",
            remedy="Send both `seq` and `hash`, or neither.",
        )
    noted = None if seq is None or hash is None else Place(seq, hash)
    return VerdictOut.of(await service.verify_chain(database, caller, noted))


@router.get("/export", "Export the audit log", _VIEW, response_class=StreamingResponse, responses=_FILE)
async def export(
    request: Request,
    database: Stored,
    caller: Caller,
    format: Annotated[Literal["jsonl", "csv"], Query(description="JSON Lines can be verified.")] = "jsonl",  # noqa: A002
    since: Since = None,
    until: Until = None,
) -> StreamingResponse:
    """Export every entry of a period, oldest first: JSON Lines with a signed head, for `headgate audit verify`."""
    async with database.reading() as session:
        export_head = await service.head_of_export(session, caller, since=since, until=until)
    signer = _signatures(request).signer() if format == "jsonl" else None
    lines = service.export_lines(database, export_head, signer)
    name = f'attachment; filename="audit-{export_head.first}-{export_head.last}.{format}"'
    return StreamingResponse(lines, media_type=_TYPES[format], headers={"content-disposition": name})


def _signatures(request: Request) -> EvidenceSigner:
    signatures: EvidenceSigner = request.app.state.evidence_signer
    return signatures


def _place(cursor: str | None) -> int | None:
    """Parse a cursor, which is the number of the last entry. Raises `Invalid`."""
    if cursor is None:
        return None
    if not cursor.isascii() or not cursor.isdecimal() or not 1 <= int(cursor) <= _LARGEST_PLACE:
        raise Invalid("Invalid cursor.", remedy="Omit it to start at the first page.")
    return int(cursor)
