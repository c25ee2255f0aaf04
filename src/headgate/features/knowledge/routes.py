"""HTTP routes of knowledge bases and their documents."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.files.download import CONTENT, sent_file
from headgate.features.files.storage import Storage
from headgate.features.files.upload import OPTIONAL_FORM, uploaded_file
from headgate.features.knowledge import service
from headgate.features.knowledge.contents import delete_contents
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.page_pictures import Pictures, file_of
from headgate.features.knowledge.documents.previewing import Content, Previewer
from headgate.features.knowledge.documents.schemas import (
    MOST_VERSION,
    DocumentChange,
    DocumentIn,
    DocumentOut,
    PassageOut,
    PreviewIn,
    PreviewOut,
    VerifyIn,
    VerifyOut,
)
from headgate.features.knowledge.documents.verifying import Verifier
from headgate.features.knowledge.indexing import Indexer
from headgate.features.knowledge.metadata.rows import list_fields
from headgate.features.knowledge.metadata.values import MetadataField
from headgate.features.knowledge.schemas import KnowledgeBaseChange, KnowledgeBaseIn, KnowledgeBaseOut
from headgate.features.knowledge.search.schemas import SearchIn, SearchOut
from headgate.features.knowledge.search.service import Searcher
from headgate.foundation.api import (
    Cursor,
    Limit,
    Page,
    ReadSession,
    WriteSession,
    get_database,
    page_of,
    parse_cursor,
    part,
    problems,
)
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings

router = APIRouter(prefix="/knowledge-bases", tags=["knowledge"])
_VIEW, _EDIT = [needs(Permission.KNOWLEDGE_VIEW)], [needs(Permission.KNOWLEDGE_EDIT)]
Data = Annotated[Database, Depends(get_database)]


Version = Annotated[int | None, Query(ge=1, le=MOST_VERSION, description="Empty: the current version.")]
Contents = Annotated[Storage, part("storage")]
Jobs = Annotated[Indexer, part("indexer")]
Search = Annotated[Searcher, part("searcher")]


@router.get("", summary="List knowledge bases", responses=problems(404), dependencies=_VIEW)
async def list_(
    session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None, space_id: str | None = None
) -> Page[KnowledgeBaseOut]:
    """List knowledge bases of one space, or of all that you can view, oldest first."""
    rows = await service.list_bases(session, caller, space_id=space_id, limit=limit + 1, after=parse_cursor(cursor))
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.post(
    "", status_code=201, summary="Create a knowledge base", responses=problems(403, 404, 409), dependencies=_EDIT
)
async def create(body: KnowledgeBaseIn, database: Data, caller: Caller, searcher: Search) -> KnowledgeBaseOut:
    """Create a knowledge base. Flows of its space refer to it by name. Its models are tested with one text."""
    await searcher.probe(caller, body.space_id or caller.space_id, body.embedding_model, body.rerank_model)
    async with database.writing() as session:
        return await service.create_base(session, caller, body)


@router.post("/verify", summary="Verify citations", responses=problems(), dependencies=_VIEW)
async def verify(body: VerifyIn, caller: Caller, verifier: Annotated[Verifier, part("citations")]) -> VerifyOut:
    """Verify that cited texts are in the documents with the cited checksums: their files are read again."""
    return await verifier.verify(caller, body.citations)


@router.get("/{base_id}", summary="Read a knowledge base", responses=problems(404), dependencies=_VIEW)
async def read(base_id: str, session: ReadSession, caller: Caller) -> KnowledgeBaseOut:
    """A knowledge base with the numbers of its documents that you can view."""
    return await service.described(session, caller, await service.get_base(session, caller, base_id))


@router.patch("/{base_id}", summary="Change a knowledge base", responses=problems(403, 404, 409), dependencies=_EDIT)
async def change(
    base_id: str, body: KnowledgeBaseChange, database: Data, caller: Caller, searcher: Search
) -> KnowledgeBaseOut:
    """Change a knowledge base. Another passage size applies to documents that are indexed later.

    Another model is tested with one text; with an embedding model all passages are then embedded in the background.
    """
    async with database.reading() as session:
        row = await service.get_base(session, caller, base_id, permission=Permission.KNOWLEDGE_EDIT)
    await searcher.probe(caller, row.space_id, body.embedding_model, body.rerank_model)
    async with database.writing() as session:
        return await service.change_base(session, caller, base_id, body)


@router.delete(
    "/{base_id}",
    status_code=204,
    summary="Delete a knowledge base",
    responses=problems(403, 404),
    dependencies=[needs(Permission.KNOWLEDGE_MANAGE)],
)
async def delete(base_id: str, caller: Caller, database: Data, storage: Contents) -> None:
    """Delete a knowledge base with all its documents, as an owner of the space."""
    async with database.writing() as session:
        file_ids = await service.delete_base(session, caller, base_id)
    await delete_contents(storage, file_ids, tenant_id=caller.tenant_id)


@router.post("/{base_id}/search", summary="Search a knowledge base", responses=problems(404), dependencies=_VIEW)
async def search(base_id: str, body: SearchIn, caller: Caller, searcher: Search) -> SearchOut:
    """Return the passages that answer a query, of the documents that you may read."""
    return await searcher.search_as(caller, base_id, body)


@router.post(
    "/{base_id}/preview",
    summary="Preview passages",
    responses=problems(403, 404, 413),
    openapi_extra=OPTIONAL_FORM,
    dependencies=_EDIT,
)
async def preview(
    base_id: str,
    request: Request,
    caller: Caller,
    options: Annotated[PreviewIn, Query()],
    previewer: Annotated[Previewer, part("previews")],
) -> PreviewOut:
    """Divide a file, or a document of the base, without storing anything: to choose the size of passages."""
    if options.document_id:
        return await previewer.preview(caller, base_id, options, None)
    settings: Settings = request.app.state.settings
    async with uploaded_file(request, max_bytes=settings.server.max_upload_bytes) as file:
        content = Content(file.filename or "document", file.content_type or "", await file.read())
    return await previewer.preview(caller, base_id, options, content)


@router.get("/{base_id}/metadata", summary="List metadata", responses=problems(404), dependencies=_VIEW)
async def list_metadata(base_id: str, session: ReadSession, caller: Caller) -> list[MetadataField]:
    """List the keys that documents which you may read have, by which a search can be filtered, with their values."""
    return await list_fields(session, caller, await service.get_base(session, caller, base_id))


@router.get("/{base_id}/documents", summary="List documents", responses=problems(404), dependencies=_VIEW)
async def list_documents(
    base_id: str, session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None
) -> Page[DocumentOut]:
    """List the documents of a base that you can view, newest first."""
    rows = await documents.list_documents(session, caller, base_id, limit=limit + 1, before=parse_cursor(cursor))
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.post(
    "/{base_id}/documents",
    status_code=201,
    summary="Add a document",
    responses=problems(403, 404, 409),
    dependencies=_EDIT,
)
async def add_document(base_id: str, body: DocumentIn, caller: Caller, database: Data, jobs: Jobs) -> DocumentOut:
    """Add an uploaded file, or make it the next version of the document of its name. It is indexed afterwards."""
    async with database.writing() as session:
        document = await documents.add_document(session, caller, base_id, body)
    jobs.soon(document.id)
    return document


@router.get(
    "/{base_id}/documents/{document_id}", summary="Read a document", responses=problems(404), dependencies=_VIEW
)
async def read_document(base_id: str, document_id: str, session: ReadSession, caller: Caller) -> DocumentOut:
    """A document: readers, version, checksum, the progress of its index, and what was not understood."""
    return await documents.describe_document(session, caller, base_id, document_id)


@router.patch(
    "/{base_id}/documents/{document_id}",
    summary="Change a document",
    responses=problems(403, 404),
    dependencies=_EDIT,
)
async def change_document(
    base_id: str, document_id: str, body: DocumentChange, session: WriteSession, caller: Caller
) -> DocumentOut:
    """Change who may read a document, its classification and metadata. It applies to the next search."""
    return await documents.change_document(session, caller, base_id, document_id, body)


@router.delete(
    "/{base_id}/documents/{document_id}",
    status_code=204,
    summary="Delete a document",
    responses=problems(403, 404),
    dependencies=_EDIT,
)
async def delete_document(base_id: str, document_id: str, caller: Caller, database: Data, storage: Contents) -> None:
    """Delete a document with its passages and versions."""
    async with database.writing() as session:
        file_ids = await documents.delete_document(session, caller, base_id, document_id)
    await delete_contents(storage, file_ids, tenant_id=caller.tenant_id)


@router.post(
    "/{base_id}/documents/{document_id}/reindex",
    summary="Index a document again",
    responses=problems(403, 404),
    dependencies=_EDIT,
)
async def reindex_document(base_id: str, document_id: str, caller: Caller, database: Data, jobs: Jobs) -> DocumentOut:
    """Read a document again and update its passages, for example after another passage size."""
    async with database.writing() as session:
        document = await documents.reindex_document(session, caller, base_id, document_id)
    jobs.soon(document.id)
    return document


@router.get(
    "/{base_id}/documents/{document_id}/passages",
    summary="List the passages of a document",
    responses=problems(404),
    dependencies=_VIEW,
)
async def list_passages(
    base_id: str,
    document_id: str,
    session: ReadSession,
    caller: Caller,
    limit: Limit = 50,
    after: Annotated[int, Query(ge=-1, description="Only passages after this ordinal.")] = -1,
    page: Annotated[int | None, Query(ge=1, le=MOST_VERSION, description="Only passages of this page.")] = None,
) -> list[PassageOut]:
    """List passages in the order of the document. The rest follows with `after`."""
    passages = documents.list_passages(session, caller, base_id, document_id, limit=limit, after=after, page=page)
    return list(await passages)


@router.get(
    "/{base_id}/documents/{document_id}/pages/{page}",
    summary="Draw a page of a document",
    response_class=Response,
    responses=problems(404)
    | {
        200: {"description": "The page", "content": {"image/webp": {"schema": {"type": "string", "format": "binary"}}}},
        304: {"description": "The picture has not changed."},
    },
    dependencies=_VIEW,
)
async def draw_page(
    base_id: str,
    document_id: str,
    page: Annotated[int, Path(ge=1, le=MOST_VERSION)],
    caller: Caller,
    pictures: Annotated[Pictures, part("pictures")],
    version: Version = None,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """A page of a PDF that you may read, as a picture of at most 4 megapixels. Boxes of passages refer to it."""
    file = await pictures.find(caller, base_id, document_id, version=version, page=page)
    headers = {"ETag": f'"{file.sha256}-{page}"', "Cache-Control": "private, max-age=0, must-revalidate"}
    if if_none_match == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(await pictures.draw(file, page), media_type="image/webp", headers=headers)


@router.get(
    "/{base_id}/documents/{document_id}/content",
    summary="Download a document",
    response_class=StreamingResponse,
    responses=CONTENT | problems(404),
    dependencies=_VIEW,
)
async def content(
    base_id: str,
    document_id: str,
    session: ReadSession,
    caller: Caller,
    storage: Contents,
    version: Version = None,
) -> StreamingResponse:
    """The file of a document that you may read, after verifying its hash."""
    file = await file_of(session, caller, base_id, document_id, version=version)
    return await sent_file(storage, file)
