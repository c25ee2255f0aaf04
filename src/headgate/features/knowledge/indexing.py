"""Indexes documents, as one kind of job: read in the sandbox, divided, stored in small transactions, and embedded.

A job that was interrupted continues: passages that are stored are unique rows and stay. Of a new version only changed
passages are indexed. The generation of a document keeps a job for an older content from writing. An attempt that fails
because something is unavailable is repeated later, at most `MOST_TRIES` times; the document says why.

A document that is ready when its job runs is only embedded: its base has another embedding model. Each batch of vectors
is committed with the tokens that it used. An interrupted job embeds the passages without a vector.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.components.isolated.calls import Runners
from headgate.features.access.principal import Principal, system_principal
from headgate.features.files import service as files
from headgate.features.files.limits import StorageLimits
from headgate.features.files.storage import Storage
from headgate.features.jobs.errors import LeaseLost
from headgate.features.jobs.leases import MICROSECONDS, clock
from headgate.features.jobs.queue import Job
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.knowledge import repository
from headgate.features.knowledge.documents.attachments import Attachments
from headgate.features.knowledge.documents.passage_rows import Passages, prepared
from headgate.features.knowledge.index import embeddings, lexical
from headgate.features.knowledge.index.vector_bytes import encode
from headgate.features.knowledge.index.vectors import require_vectors
from headgate.features.knowledge.passages.changes import changes_of
from headgate.features.knowledge.passages.extraction import Extract, extract, mark_passages
from headgate.features.knowledge.search.queries import LIKELY_TO_PASS
from headgate.features.knowledge.search.service import Embedder
from headgate.features.knowledge.tables import DocumentRow, KnowledgeBaseRow
from headgate.features.models.embeddings import MOST_TEXTS
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.log import get_logger

KIND = "knowledge"
AT_ONCE = 2
"""Documents that one process indexes at once."""
MOST_TRIES = 8
"""Attempts to index a content, also those that ended with their process."""
RETRY_SECONDS = 10.0
"""Pause after the first attempt; each following pause is twice as long."""
MOST_RETRY_SECONDS = 600.0
_ENDED = (
    f"The process that indexed it ended {MOST_TRIES} times: the document may need too much memory. Split it, then"
    " index it again."
)
BATCH = 200
"""Passages of one transaction."""
NOT_EMBEDDED = "Not embedded:"
Item = TypeVar("Item")
log = get_logger(__name__)


class _Outdated(Exception):
    """The job works on an earlier content, or with an earlier embedding model."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Passages to embed, with a model and the keys of a space."""

    principal: Principal
    model: str
    ids: Sequence[int]


class Indexer:
    """Indexes documents that are due.

    Args:
        database: Holds documents and passages. No connection is held while a document is read.
        storage: Contents of files.
        isolated: Processes of the sandbox in which documents are read.
        jobs: Runs due documents.
        embedder: Embeds passages.
        limits: The storage quotas that apply to attachments.
    """

    def __init__(
        self,
        database: Database,
        storage: Storage,
        isolated: Runners,
        jobs: JobRunner,
        embedder: Embedder,
        *,
        limits: StorageLimits | None = None,
    ) -> None:
        self._database = database
        self._storage = storage
        self._isolated = isolated
        self._jobs = jobs
        self._embedder = embedder
        self._attachments = Attachments(database, storage, limits)
        jobs.register(JobKind(KIND, repository.QUEUE, self.index, AT_ONCE))

    def soon(self, document_id: str) -> None:
        """Index a document as soon as possible, in this process."""
        self._jobs.enqueue(KIND, document_id)

    async def settle(self) -> None:
        """Return when this process indexes nothing and nothing that it may index is due."""
        await self._jobs.settle(KIND)

    async def index(self, job: Job) -> None:
        """Index a document to the end. Raises `LeaseLost` when it was deleted, or another process has it."""
        async with self._database.reading() as session:
            pair = await repository.find_indexed(session, job.id)
        if pair is None:
            raise LeaseLost(f"The document {job.id} was deleted.")
        document, base = pair
        if document.tries >= MOST_TRIES:
            await self._fail(job, document, base, _ENDED)
            return
        status = "ready" if document.status == "ready" else "indexing"
        await self._hold(job, document.generation, status=status, tries=document.tries + 1)
        try:
            if document.status == "ready":
                notes = await self._embed(job, document, base)
                await self._finish(job, document, base, problem="", notes=[*_without_embedding(document.notes), *notes])
            else:
                await self._index(job, document, base)
        except LeaseLost:
            raise
        except LIKELY_TO_PASS as error:
            await self._postpone(job, document, base, str(error))
        except HeadgateError as error:
            await self._fail(job, document, base, str(error))
        except Exception as error:
            log.exception("document not indexed", document_id=document.id)
            reason = f"Unexpected error {type(error).__name__}; see the log of the server."
            await self._postpone(job, document, base, reason)

    async def _index(self, job: Job, document: DocumentRow, base: KnowledgeBaseRow) -> None:
        generation = document.generation
        read = await self._read(document)
        passages = await run_in_flow_thread(prepared, read, document, base)
        read = await mark_passages(self._isolated, read, passages.rows, tenant_id=document.tenant_id)
        sizes = {"passages": len(passages.rows), "characters": len(read.text), "passages_embedded": 0}
        added = await self._store(job, generation, document.tenant_id, passages, sizes)
        notes = list(read.notes) if passages.rows else [*read.notes, "The document has no text."]
        notes += await self._attach(job, document, base, read)
        notes += await self._embed(job, document, base, counted=0)
        await self._finish(
            job,
            document,
            base,
            status="ready",
            problem="",
            notes=notes,
            pages=read.page_count,
            language=document.language or passages.language,
            passages_done=len(passages.rows),
            passages_added=added,
        )

    async def _attach(self, job: Job, document: DocumentRow, base: KnowledgeBaseRow, read: Extract) -> list[str]:
        """Make the attachments of a message its documents. Returns why some have none. Raises `LeaseLost`."""
        if read.attached is None and document.version == 1:
            return []

        async def require(session: AsyncSession) -> None:
            await _require_current(session, job, document, base, {})

        try:
            changed, notes = await self._attachments.replace(document, base, read.attached or (), require)
        except _Outdated:
            await self._again(job)
        for document_id in changed:
            self.soon(document_id)
        return notes

    async def _read(self, document: DocumentRow) -> Extract:
        async with self._database.reading() as session:
            version = await repository.find_version(
                session, document.id, document.version, tenant_id=document.tenant_id
            )
            if version is None:
                raise LeaseLost(f"The document {document.id} was deleted.")
            file = await files.get_file_system(session, tenant_id=document.tenant_id, file_id=version.file_id)
        content = await files.read_content(self._storage, file)
        return await extract(
            self._isolated, content, tenant_id=document.tenant_id, name=file.name, media_type=version.media_type
        )

    async def _store(self, job: Job, generation: int, tenant_id: str, passages: Passages, sizes: dict[str, Any]) -> int:
        """Make the stored passages those of the text. Returns how many were added in this generation.

        `sizes` are written to the document with the first of them.
        """
        async with self._database.reading() as session:
            stored = await repository.stored_passages(session, job.id, tenant_id=tenant_id)
        changes = changes_of(stored, passages.digests, generation)
        if not changes.added or changes.removed or changes.moved:
            await self._hold(job, generation, **sizes)
        for ids in _batches(changes.removed):
            await self._hold(job, generation, deleted=ids, tenant_id=tenant_id)
        done = changes.unchanged
        for moves in _batches(changes.moved):
            done += len(moves)
            places = [{"id": id_, **_place(passages.rows[ordinal])} for id_, ordinal in moves]
            await self._hold(job, generation, moved=places, tenant_id=tenant_id, passages_done=done)
        for ordinals in _batches(changes.added):
            done += len(ordinals)
            rows = [passages.rows[ordinal] for ordinal in ordinals]
            await self._hold(job, generation, added=rows, tenant_id=tenant_id, passages_done=done, **sizes)
        return len(changes.added) + changes.unchanged

    async def _hold(
        self,
        job: Job,
        generation: int,
        *,
        deleted: Sequence[int] = (),
        moved: Sequence[dict[str, Any]] = (),
        added: Sequence[dict[str, Any]] = (),
        tenant_id: str = "",
        **values: Any,  # noqa: ANN401 - columns of the document
    ) -> None:
        """Write in one transaction, if the job still has this generation. Raises `LeaseLost`."""
        async with self._database.writing() as session:
            if await repository.hold_generation(session, job, generation, **values):
                if deleted:
                    await repository.delete_passages(session, deleted, tenant_id=tenant_id)
                if moved:
                    await repository.move_passages(session, moved, tenant_id=tenant_id)
                if added:
                    await lexical.add_passages(session, added)
                return
        await self._again(job)

    async def _embed(
        self, job: Job, document: DocumentRow, base: KnowledgeBaseRow, *, counted: int | None = None
    ) -> list[str]:
        """Embed the passages without a vector. Returns why they were not embedded, if they may not be.

        `counted` is the number of embedded passages that the document has; None: unknown.
        """
        model = base.embedding_model
        if not model:
            return []
        clearance = await self._embedder.clearance(document.tenant_id, model)
        if clearance is not None and document.classification > clearance:
            level = document.classification
            reason = f"the document has sensitivity level {level}, and {model} is cleared for {clearance}"
            return [f"{NOT_EMBEDDED} {reason}. It is found by words."]
        require_vectors()
        async with self._database.reading() as session:
            missing, embedded = await embeddings.without_vector(session, document, model)
        if embedded != counted:
            await self._hold(job, document.generation, passages_embedded=embedded)
        principal = system_principal(document.tenant_id, base.space_id)
        for ids in _batches(missing, MOST_TEXTS):
            await self._embed_batch(job, document, base, Batch(principal, model, ids))
        if base.searched_model != model:
            await self._switch(document)
        return []

    async def _embed_batch(self, job: Job, document: DocumentRow, base: KnowledgeBaseRow, batch: Batch) -> None:
        async with self._database.reading() as session:
            passages = await embeddings.passages_of(session, batch.ids, tenant_id=document.tenant_id)
            digests = {digest for _, digest, _, _, _ in passages}
            vectors = await embeddings.vectors_of_digests(session, digests, base, batch.model)
        texts = {digest: f"{context}\n\n{text}".strip() for _, digest, context, text, _ in passages}
        new = [digest for digest in texts if digest not in vectors]
        used = 0
        if new:
            embedded = await self._embedder.embed(batch.principal, batch.model, [texts[digest] for digest in new])
            vectors |= {digest: encode(vector) for digest, vector in zip(new, embedded.vectors, strict=True)}
            estimate = sum({digest: tokens for _, digest, _, _, tokens in passages if digest in new}.values())
            used = estimate if embedded.tokens is None else embedded.tokens
        place = {"base_id": base.id, "model": batch.model, "document_id": document.id, "tenant_id": document.tenant_id}
        rows = [{**place, "passage_id": id_, "vector": vectors[digest]} for id_, digest, _, _, _ in passages]
        counts = {
            "passages_embedded": DocumentRow.passages_embedded + len(rows),
            "embedding_tokens": DocumentRow.embedding_tokens + used,
        }
        async with self._holding(job, document, base, **counts) as session:
            await embeddings.add_vectors(session, rows)

    async def _switch(self, document: DocumentRow, *, but: str = "") -> None:
        """Search the base with its embedding model if all documents, except perhaps one, are embedded."""
        async with self._database.reading() as session:
            if await embeddings.is_waiting(session, document.base_id, but=but):
                return  # the job that embeds the last document finds that none waits
        async with self._database.writing() as session:
            await embeddings.use_embedded(session, document.base_id, tenant_id=document.tenant_id, but=but)

    async def _finish(self, job: Job, document: DocumentRow, base: KnowledgeBaseRow, **values: Any) -> None:  # noqa: ANN401
        """End the job, unless its base has another embedding model by now: then it continues with that one."""
        async with self._holding(job, document, base, **values) as session:
            await repository.QUEUE.finish(session, job)

    @asynccontextmanager
    async def _holding(
        self,
        job: Job,
        document: DocumentRow,
        base: KnowledgeBaseRow,
        **values: Any,  # noqa: ANN401
    ) -> AsyncIterator[AsyncSession]:
        """Write in one transaction, if the job still has this generation and its base this model. Raises `LeaseLost`.

        The document is locked before the model is read: another model has all documents embedded after this.
        """
        try:
            async with self._database.writing() as session:
                await _require_current(session, job, document, base, values)
                yield session
        except _Outdated:
            await self._again(job)

    async def _fail(self, job: Job, document: DocumentRow, base: KnowledgeBaseRow, reason: str) -> None:
        await self._switch(document, but=document.id)
        await self._finish(job, document, base, status="failed", problem=reason, notes=[], passages_done=0)
        await self._switch(document)

    async def _postpone(self, job: Job, document: DocumentRow, base: KnowledgeBaseRow, reason: str) -> None:
        """Release a job until its next attempt, with the reason; after the last attempt it has failed."""
        attempt = document.tries + 1
        problem = f"Attempt {attempt} of {MOST_TRIES} failed: {reason}"
        if attempt >= MOST_TRIES:
            await self._fail(job, document, base, problem)
            return
        pause = min(RETRY_SECONDS * 2 ** (attempt - 1), MOST_RETRY_SECONDS)
        async with self._database.writing() as session:
            status = "ready" if document.status == "ready" else "pending"
            if await repository.hold_generation(session, job, document.generation, status=status, problem=problem):
                await repository.QUEUE.release(session, job, due_at=clock() + int(pause * MICROSECONDS))
                return
        await self._again(job)

    async def _again(self, job: Job) -> None:
        """Release a job whose document has another content by now. Raises `LeaseLost`."""
        async with self._database.writing() as session:
            await repository.QUEUE.release(session, job, due_at=clock())
        raise LeaseLost(f"The document {job.id} was changed or deleted.")


async def _require_current(
    session: AsyncSession, job: Job, document: DocumentRow, base: KnowledgeBaseRow, values: dict[str, Any]
) -> None:
    held = await repository.hold_generation(session, job, document.generation, **values)
    if not held or await embeddings.embedding_model_of(session, base.id) != base.embedding_model:
        raise _Outdated


def _batches(items: Sequence[Item], size: int | None = None) -> Iterator[Sequence[Item]]:
    size = size or BATCH
    return (items[start : start + size] for start in range(0, len(items), size))


def _without_embedding(notes: Sequence[str]) -> list[str]:
    return [note for note in notes if not note.startswith(NOT_EMBEDDED)]


def _place(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("generation", "version", "ordinal", "start", "core", "end", "marks")}
