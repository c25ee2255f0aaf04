"""Knowledge bases filled without HTTP, and an indexer whose readers run in this process."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, LOCAL, Access, Actor, Principal
from headgate.features.files import service as files
from headgate.features.files.local_storage import LocalStorage
from headgate.features.jobs.leases import Leases
from headgate.features.jobs.runner import JobRunner
from headgate.features.jobs.worker import Worker
from headgate.features.knowledge import service
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.schemas import DocumentIn, Readers
from headgate.features.knowledge.indexing import Indexer
from headgate.features.knowledge.schemas import KnowledgeBaseIn
from headgate.features.knowledge.search.service import Searcher
from headgate.features.models.embeddings import Embedded
from headgate.features.models.reranking import Reranked
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.sdk.fakes import InProcess
from tests.support.asking import ScriptedAsker
from tests.support.embedding_server import vector_of
from tests.support.rerank_server import score_of


@dataclass
class BagEmbedder:
    """Embeds texts as bags of words; see `tests.support.embedding_server`."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    """Model and text, in the order in which they were embedded."""
    reranked: list[tuple[str, str]] = field(default_factory=list)
    """The same of texts that were reranked."""
    cleared_for: int | None = None
    failure: HeadgateError | None = None

    async def embed(self, principal: Principal, model: str, texts: Sequence[str]) -> Embedded:
        if self.failure is not None:
            raise self.failure
        self.texts += [(model, text) for text in texts]
        return Embedded(tuple(tuple(vector_of(text)) for text in texts), sum(len(text.split()) for text in texts))

    async def rerank(self, principal: Principal, model: str, query: str, texts: Sequence[str]) -> Reranked:
        if self.failure is not None:
            raise self.failure
        self.reranked += [(model, text) for text in texts]
        return Reranked(tuple(score_of(query, text) for text in texts), None)

    async def clearance(self, tenant_id: str, model: str) -> int | None:
        return self.cleared_for

    def by(self, model: str) -> list[str]:
        return [text for name, text in self.texts if name == model]


class SameProcess:
    """Runs the functions of the sandbox in this process."""

    def runner(self, tenant_id: str) -> "SameProcess":
        return self

    def __enter__(self) -> InProcess:
        return InProcess()

    def __exit__(self, *_: object) -> None:
        pass


@dataclass
class Shelf:
    """A base of a database, to which documents are added."""

    database: Database
    storage: LocalStorage
    jobs: JobRunner
    indexer: Indexer
    embedder: BagEmbedder
    asker: ScriptedAsker = field(default_factory=ScriptedAsker)
    base_id: str = ""

    @property
    def searcher(self) -> Searcher:
        return Searcher(self.database, self.embedder, self.asker)

    async def make_base(self, name: str = "Base", **more: Any) -> str:
        async with self.database.writing() as session:
            self.base_id = (await service.create_base(session, LOCAL, KnowledgeBaseIn(name=name, **more))).id
        return self.base_id

    async def add(
        self,
        name: str,
        text: str,
        principal: Principal = LOCAL,
        *,
        readers: Readers | None = None,
        level: int | None = None,
    ) -> str:
        file = await files.store_upload(
            self.database, self.storage, principal, name=name, content=text.encode(), media_type="text/plain"
        )
        body = DocumentIn(file_id=file.id, name=name, readers=readers, classification=level)
        async with self.database.writing() as session:
            document = await documents.add_document(session, principal, self.base_id, body)
        self.indexer.soon(document.id)
        return document.id


def open_shelf(database: Database, folder: Path, embedder: BagEmbedder | None = None) -> Shelf:
    """A shelf whose jobs run when `jobs.running()` is entered."""
    storage = LocalStorage(folder / "files")
    jobs = JobRunner(database, Leases(Worker(folder / "workers"), 3.0))
    embedder = embedder or BagEmbedder()
    return Shelf(database, storage, jobs, Indexer(database, storage, SameProcess(), jobs, embedder), embedder)


def member(user_id: str, role: Role, space_id: str = DEFAULT_SPACE_ID) -> Principal:
    """A user with a role in a space."""
    access = Access(roles={space_id: role})
    return Principal(DEFAULT_TENANT_ID, user_id, space_id, access, Actor("user", user_id))
