"""HTTP routes of sources of knowledge bases."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.knowledge_sources import service
from headgate.features.knowledge_sources.schemas import SourceChange, SourceIn, SourceItemOut, SourceOut
from headgate.features.knowledge_sources.syncing import SourceSync
from headgate.foundation.api import Limit, ReadSession, WriteSession, get_database, part, problems
from headgate.foundation.database import Database

router = APIRouter(prefix="/knowledge-bases", tags=["knowledge"])
_EDIT = [needs(Permission.KNOWLEDGE_EDIT)]
Data = Annotated[Database, Depends(get_database)]


Syncs = Annotated[SourceSync, part("source_sync")]


@router.get(
    "/{base_id}/sources",
    summary="List the sources of a knowledge base",
    responses=problems(403, 404),
    dependencies=_EDIT,
)
async def list_sources(base_id: str, session: ReadSession, caller: Caller) -> list[SourceOut]:
    """List the sources with the state of their synchronisation, oldest first."""
    return list(await service.list_sources(session, caller, base_id))


@router.post(
    "/{base_id}/sources", status_code=201, summary="Add a source", responses=problems(403, 404, 409), dependencies=_EDIT
)
async def add_source(base_id: str, body: SourceIn, caller: Caller, database: Data, syncs: Syncs) -> SourceOut:
    """Add a source of documents: a storage, web pages, a query or a mailbox. It is synchronised at once.

    It is read with your rights and connections, as they are at the time.
    """
    async with database.writing() as session:
        source = await service.add_source(session, caller, base_id, body)
    syncs.soon(source.id)
    return source


@router.get("/{base_id}/sources/{source_id}", summary="Read a source", responses=problems(403, 404), dependencies=_EDIT)
async def read_source(base_id: str, source_id: str, session: ReadSession, caller: Caller) -> SourceOut:
    """A source: settings, progress, and the report of its last synchronisation."""
    return await service.describe_source(session, caller, base_id, source_id)


@router.patch(
    "/{base_id}/sources/{source_id}", summary="Change a source", responses=problems(403, 404), dependencies=_EDIT
)
async def change_source(
    base_id: str, source_id: str, body: SourceChange, caller: Caller, database: Data, syncs: Syncs
) -> SourceOut:
    """Change a source, as its owner or an owner of the space; you become its owner.

    Readers and classification apply to all its documents at once; other settings synchronise it again.
    """
    async with database.writing() as session:
        source = await service.change_source(session, caller, base_id, source_id, body)
    syncs.soon(source.id)
    return source


@router.delete(
    "/{base_id}/sources/{source_id}",
    status_code=204,
    summary="Delete a source",
    responses=problems(403, 404),
    dependencies=_EDIT,
)
async def delete_source(base_id: str, source_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete a source, as its owner or an owner of the space. Its documents stay."""
    await service.delete_source(session, caller, base_id, source_id)


@router.post(
    "/{base_id}/sources/{source_id}/sync",
    status_code=202,
    summary="Synchronise a source",
    responses=problems(403, 404, 409),
    dependencies=_EDIT,
)
async def sync_source(base_id: str, source_id: str, caller: Caller, database: Data, syncs: Syncs) -> SourceOut:
    """Read what is new or changed in a source now, and delete what is gone. A source that is being read is refused."""
    async with database.writing() as session:
        source = await service.sync_source(session, caller, base_id, source_id)
    syncs.soon(source.id)
    return source


@router.get(
    "/{base_id}/sources/{source_id}/problems",
    summary="List what of a source was not understood",
    responses=problems(403, 404),
    dependencies=_EDIT,
)
async def list_problems(
    base_id: str,
    source_id: str,
    session: ReadSession,
    caller: Caller,
    limit: Limit = 50,
    after: Annotated[str, Query(max_length=500, description="Only items after this key.")] = "",
) -> list[SourceItemOut]:
    """List items that could not be read, or not completely, with the reasons. The rest follows with `after`."""
    return list(await service.list_problems(session, caller, base_id, source_id, limit=limit, after=after))
