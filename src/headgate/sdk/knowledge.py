"""Knowledge: passages of documents that a step may read."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KnowledgeQuery:
    """A search in a knowledge base of the flow's space."""

    base: str
    """Its name."""
    text: str
    limit: int = 8
    """Maximum number of passages."""
    max_tokens: int = 3_000
    """Maximum number of tokens of all passages."""
    mode: str = ""
    """`lexical`, `vector` or `hybrid`; empty: hybrid where passages are embedded, else lexical."""
    neighbours: int = 0
    """Number of passages before and after each one that are returned with it."""
    diversity: float = 0
    """From 0, the best passages, to 1, passages that share few words."""
    rerank: bool | None = None
    """Whether the first passages are reranked; None: when the base has a rerank model, and it can be reached."""
    also: tuple[str, ...] = ()
    """Further queries for the same; the ranks of all are fused."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document, with what is needed to verify it."""

    text: str
    context: str
    """Headings above it, and the header row of its table."""
    document: str
    """Name of the document."""
    document_id: str
    base_id: str
    version: int
    document_sha256: str
    """Checksum of the file of that version."""
    ordinal: int
    start: int
    end: int
    """Characters `start` to `end` of the document's text."""
    page: int | None
    sha256: str
    """Checksum of the text."""
    score: float
    """From 0 to 1, of the ranks by words and by meaning: the order, unless the passages are reranked."""
    lexical_rank: int | None = None
    """Rank among the passages found by words; None: it is not among the first."""
    vector_rank: int | None = None
    """Rank among the passages found by meaning; None: it is not among the first."""
    similarity: float | None = None
    """Cosine of the embeddings of passage and query, where it has a vector rank."""
    embedding_model: str = ""
    """Model of that embedding; empty without a vector rank."""
    rerank_score: float | None = None
    """Score of the rerank model, on its own scale; None: it did not receive the passage."""
    rerank_model: str = ""
    """That model; empty without a score."""
    first_rank: int | None = None
    """Rank before the search was reranked; None: it was not."""


class Knowledge(Protocol):
    """Knowledge bases of the flow's space, with the rights of the user who started the run."""

    async def search(self, query: KnowledgeQuery) -> tuple[Passage, ...]:
        """Return passages, the best first; the evidence lists them. Raises `NotFound` for an unknown base."""
