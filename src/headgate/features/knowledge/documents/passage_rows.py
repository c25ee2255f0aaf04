"""The passages of a document's text, as rows of the database. Pure."""

from dataclasses import dataclass
from typing import Any

from headgate.features.knowledge.passages.chunking import Chunk, count_tokens, digest_of
from headgate.features.knowledge.passages.extraction import Extract
from headgate.features.knowledge.passages.terms import language_of, terms
from headgate.features.knowledge.tables import DocumentRow, KnowledgeBaseRow


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of a text, ready to be stored."""

    rows: list[dict[str, Any]]
    language: str

    @property
    def digests(self) -> list[str]:
        """Return the digest of each passage."""
        return [row["digest"] for row in self.rows]


def prepared(read: Extract, document: DocumentRow, base: KnowledgeBaseRow) -> Passages:
    """Return the passages of a text. Takes time in proportion to the text."""
    chunks = read.divided(most_tokens=base.passage_tokens, overlap_tokens=base.overlap_tokens)
    place = {
        "tenant_id": document.tenant_id, "base_id": base.id, "document_id": document.id,
        "generation": document.generation, "version": document.version,
    }  # fmt: skip
    rows = [{**place, "ordinal": number, **_row(read, chunk)} for number, chunk in enumerate(chunks)]
    return Passages(rows, language_of(read.text))


def _row(read: Extract, chunk: Chunk) -> dict[str, Any]:
    text, context, page = read.text[chunk.start : chunk.end], chunk.context, read.page_number(chunk.page)
    return {
        "start": chunk.start, "core": chunk.core, "end": chunk.end, "page": page, "context": context, "text": text,
        "sha256": digest_of(text), "digest": digest_of(f"{page}\n{chunk.core - chunk.start}\n{context}\n\n{text}"),
        "tokens": count_tokens(text), "terms": terms(f"{context}\n{text}"), "marks": None,
    }  # fmt: skip
