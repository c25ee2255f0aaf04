"""A knowledge base of a tenant with one document, its version, a reader, a passage and a source."""

from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.knowledge.evaluation.tables import EvaluationRow, QuestionRow
from headgate.features.knowledge.index.lexical import add_passages
from headgate.features.knowledge.passages.terms import terms
from headgate.features.knowledge.tables import (
    DocumentRow,
    DocumentVersionRow,
    KnowledgeBaseRow,
    MetadataRow,
    PassageRow,
    ReaderRow,
    VectorGroupsRow,
    VectorRow,
)
from headgate.features.knowledge_sources.tables import SourceItemRow, SourceRow
from headgate.foundation.database import now
from headgate.foundation.ids import new_id


async def add_documents(
    session: AsyncSession, principal: Principal, file_id: str, marker: str, name: str
) -> tuple[str, str, int]:
    """Returns the ids of the base, the document and the passage."""
    tenant, base, document = {"tenant_id": principal.tenant_id}, new_id(), new_id()
    await session.execute(
        insert(KnowledgeBaseRow).values(
            id=base, **tenant, space_id=principal.space_id, name=name, description=marker, passage_tokens=400,
            overlap_tokens=40, created_at=now(), updated_at=now(),
        )
    )  # fmt: skip
    row: dict[str, Any] = {
        **tenant, "base_id": base, "source": marker, "owner_user_id": principal.user_id, "reader_role": "viewer",
        "classification": 0, "language": "en", "version": 1, "generation": 1, "status": "ready", "problem": "",
        "notes": [], "characters": len(marker), "pages": None, "passages": 1, "passages_done": 1, "passages_added": 1,
        "created_at": now(), "updated_at": now(),
    }  # fmt: skip
    await session.execute(insert(DocumentRow).values(id=document, name=name, **row))
    await session.execute(insert(DocumentRow).values(id=new_id(), name=f"{name} attached", parent_id=document, **row))
    await session.execute(
        insert(DocumentVersionRow).values(
            document_id=document, version=1, **tenant, file_id=file_id, sha256="0" * 64, size_bytes=1,
            media_type="text/plain", created_at=now(),
        )
    )  # fmt: skip
    await session.execute(
        insert(ReaderRow).values(document_id=document, kind="user", reader_id=principal.user_id, **tenant)
    )
    value = {"kind": "text", "text": marker, "number": None}
    await session.execute(insert(MetadataRow).values(document_id=document, key="team", **tenant, **value))
    passage = {
        **tenant, "base_id": base, "document_id": document, "generation": 1, "version": 1, "ordinal": 0, "start": 0,
        "core": 0, "end": len(marker), "page": 1, "context": "", "text": marker, "sha256": "0" * 64,
        "digest": "0" * 64, "tokens": 1, "terms": terms(marker),
    }  # fmt: skip
    await add_passages(session, [passage])
    passage_id = (await session.execute(select(PassageRow.id).where(PassageRow.document_id == document))).scalar_one()
    question = {"question": marker, "document_ids": [document], "quote": "", "answer": marker}
    await session.execute(insert(QuestionRow).values(id=base, **tenant, base_id=base, **question, created_at=now()))
    await session.execute(
        insert(EvaluationRow).values(
            id=base, **tenant, base_id=base, user_id=principal.user_id, limit=10, passage_tokens=400, overlap_tokens=40,
            embedding_model="", passages=1, skipped=1, measures=[], created_at=now(),
            answers=[{"question_id": base, "question": marker, "documents": [], "searches": []}],
        )
    )  # fmt: skip
    await _add_source(session, principal, base, document, (marker, name))
    keys = {"base_id": base, "model": marker[:250], "passage_id": passage_id, "document_id": document}
    await session.execute(insert(VectorRow).values(**keys, **tenant, vector=marker.encode()))
    groups = {"epoch": 1, "vectors": 1, "size": 1, "centroids": marker.encode(), "probes": 1, "recall": 1.0}
    await session.execute(insert(VectorGroupsRow).values(base_id=base, model=marker[:250], **tenant, **groups))
    return base, document, passage_id


async def _add_source(
    session: AsyncSession, principal: Principal, base: str, document: str, named: tuple[str, str]
) -> None:
    """A source with the id of its base, which is due at no time."""
    tenant, (marker, name) = {"tenant_id": principal.tenant_id}, named
    await session.execute(
        insert(SourceRow).values(
            id=base, **tenant, base_id=base, name=name, owner_user_id=principal.user_id,
            config={"kind": "web", "url": f"https://example.org/{marker}"},
            readers={"role": "viewer", "users": [], "groups": []},
            classification=0, every_seconds=None, generation=1, status="ready", problem="", report={}, attempts=0,
            created_at=now(), updated_at=now(),
        )
    )  # fmt: skip
    item = {"version": "", "sha256": "0" * 64, "problem": marker, "note": ""}
    await session.execute(
        insert(SourceItemRow).values(source_id=base, key=marker, **tenant, document_id=document, **item)
    )
