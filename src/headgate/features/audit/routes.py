"""HTTP routes of the audit log."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.audit import service
from headgate.features.audit.repository import Wanted
from headgate.features.audit.schemas import AuditOut, HeadOut, VerdictOut
from headgate.features.audit.service import Place
from headgate.foundation.api import Limit, Page, ReadSession, get_database, problems
from headgate.foundation.crypto import EvidenceSigner
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid

router = APIRouter(prefix="/audit", tags=["audit"])
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
    """Which entries are asked for."""

    actor: Annotated[str | None, _text(300, "A person's id, or the name of the actor.")] = None
    key: Annotated[str | None, _text(36, "An API key's id or prefix.")] = None
    action: Annotated[str | None, _text(64, "An action, or how it begins: `flow.`.")] = None
    resource_kind: Annotated[str | None, _text(32, "A sort of thing: `flow`.")] = None
    resource_id: Annotated[str | None, _text(300, "The id of a thing.")] = None
    space_id: Annotated[str | None, _text(36, "The id of a space.")] = None
    since: Annotated[AwareDatetime | None, Query(description="From this moment on.")] = None
    until: Annotated[AwareDatetime | None, Query(description="Before this moment.")] = None


Since = Annotated[AwareDatetime | None, Query(description="From the first entry at or after this moment.")]
Until = Annotated[AwareDatetime | None, Query(description="To the last entry before this moment.")]


@router.get("", summary="List the audit log", responses=problems(), dependencies=_VIEW)
async def list_(
    session: ReadSession,
    caller: Caller,
    wanted: Annotated[Filter, Depends(Filter)],
    limit: Limit = 50,
    cursor: Annotated[str | None, Query(max_length=200, description="`next_cursor` of the page before.")] = None,
) -> Page[AuditOut]:
    """Who changed what, newest first."""
    rows = await service.list_events(session, caller, Wanted(**asdict(wanted)), limit=limit + 1, before=_place(cursor))
    more = str(rows[limit - 1].seq) if len(rows) > limit else None
    return Page(items=[AuditOut.of(row) for row in rows[:limit]], next_cursor=more)


@router.get("/head", summary="The end of the audit log", responses=problems(), dependencies=_VIEW)
async def head(session: ReadSession, caller: Caller) -> HeadOut:
    """How many entries there are and the hash of the last. Keep it elsewhere; `verify` compares with it."""
    found = await service.get_head(session, caller)
    return HeadOut(seq=found.seq, hash=found.hash)


@router.get("/verify", summary="Check the audit log", responses=problems(), dependencies=_VIEW)
async def verify(
    database: Stored,
    caller: Caller,
    seq: Annotated[int | None, Query(ge=1, le=_LARGEST_PLACE, description="A place that you noted earlier.")] = None,
    hash: Annotated[str | None, Query(pattern="^[0-9a-f]{64}$", description="The hash that it had.")] = None,  # noqa: A002
) -> VerdictOut:
    """Go along the whole chain and say where it does not hold; with `seq` and `hash`, whether that is still so."""
    if (seq is None) != (hash is None):
        raise Invalid("A place needs its hash, and a hash its place.", remedy="Give both `seq` and `hash`, or neither.")
    noted = None if seq is None or hash is None else Place(seq, hash)
    return VerdictOut.of(await service.verify_chain(database, caller, noted))


@router.get(
    "/export",
    summary="Export the audit log",
    response_class=StreamingResponse,
    responses=_FILE | problems(),
    dependencies=_VIEW,
)
async def export(
    request: Request,
    database: Stored,
    caller: Caller,
    format: Annotated[Literal["jsonl", "csv"], Query(description="JSON Lines can be verified.")] = "jsonl",  # noqa: A002
    since: Since = None,
    until: Until = None,
) -> StreamingResponse:
    """Every entry of a period, oldest first; as JSON Lines under a signed head that `headgate audit verify` checks."""
    async with database.reading() as session:
        found = await service.head_of_export(session, caller, since=since, until=until)
    signer = _signatures(request).signer() if format == "jsonl" else None
    lines = service.export_lines(database, found, signer)
    name = f'attachment; filename="audit-{found.first}-{found.last}.{format}"'
    return StreamingResponse(lines, media_type=_TYPES[format], headers={"content-disposition": name})


def _signatures(request: Request) -> EvidenceSigner:
    signatures: EvidenceSigner = request.app.state.evidence_signer
    return signatures


def _place(cursor: str | None) -> int | None:
    """A cursor is the place of the last entry seen. Raises `Invalid`."""
    if cursor is None:
        return None
    if not cursor.isascii() or not cursor.isdecimal() or not 1 <= int(cursor) <= _LARGEST_PLACE:
        raise Invalid("The cursor is not one that this server gave.", remedy="Leave it out to start at the first page.")
    return int(cursor)
