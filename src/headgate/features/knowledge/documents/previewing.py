"""How a document would be divided, before it is added or its base is changed. Nothing is stored."""

import asyncio
from dataclasses import dataclass, field

from headgate.components.isolated.calls import Runners
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.files import service as files
from headgate.features.files.storage import Storage
from headgate.features.knowledge.documents.page_pictures import file_of
from headgate.features.knowledge.documents.schemas import PreviewIn, PreviewOut, PreviewPassage
from headgate.features.knowledge.passages.chunking import Chunk, count_tokens
from headgate.features.knowledge.passages.extraction import Extract, extract
from headgate.features.knowledge.service import get_base
from headgate.foundation.database import Database
from headgate.foundation.flow_threads import run_in_flow_thread

AT_ONCE = 2
"""Files that one process reads for previews at once."""
SHOWN = 200
"""Passages of a preview."""


@dataclass(frozen=True, slots=True)
class Content:
    """A file that is not stored."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Previewer:
    """Reads and divides documents. No connection is held while one is read."""

    database: Database
    storage: Storage
    isolated: Runners
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def preview(
        self, principal: Principal, base_id: str, preview_in: PreviewIn, content: Content | None
    ) -> PreviewOut:
        """Return the passages of a file, or without one of a document of the base, as one of its readers.

        Raises `BaseNotFound`, `PermissionMissing`, `DocumentNotFound`, `Unreadable`, and `ComponentError`.
        """
        async with self.database.reading() as session:
            base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
        async with self.turns:
            if content is None:
                content = await self._stored(principal, base_id, preview_in.document_id)
            read = await extract(
                self.isolated, content.content, tenant_id=principal.tenant_id, name=content.name,
                media_type=content.media_type,
            )  # fmt: skip
            most = preview_in.passage_tokens or base.passage_tokens
            overlap = base.overlap_tokens if preview_in.overlap_tokens is None else preview_in.overlap_tokens
            return await run_in_flow_thread(_divided, read, most, overlap)

    async def _stored(self, principal: Principal, base_id: str, document_id: str) -> Content:
        async with self.database.reading() as session:
            file = await file_of(session, principal, base_id, document_id, version=None)
        return Content(file.name, file.media_type, await files.read_content(self.storage, file))


def _divided(read: Extract, most_tokens: int, overlap_tokens: int) -> PreviewOut:
    chunks = read.divided(most_tokens=most_tokens, overlap_tokens=overlap_tokens)
    sizes = [count_tokens(read.text, chunk.start, chunk.end) for chunk in chunks]
    return PreviewOut(
        passage_tokens=most_tokens,
        overlap_tokens=overlap_tokens,
        characters=len(read.text),
        pages=read.page_count,
        passages=len(chunks),
        tokens=sum(sizes),
        smallest=min(sizes, default=0),
        largest=max(sizes, default=0),
        notes=list(read.notes),
        shown=[_shown(read, *pair) for pair in zip(chunks[:SHOWN], sizes[:SHOWN], strict=True)],
    )


def _shown(read: Extract, chunk: Chunk, tokens: int) -> PreviewPassage:
    return PreviewPassage(
        start=chunk.start,
        core=chunk.core,
        end=chunk.end,
        page=read.page_number(chunk.page),
        context=chunk.context,
        text=read.text[chunk.start : chunk.end],
        tokens=tokens,
    )
