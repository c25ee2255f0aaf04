"""Knowledge: passages of documents that a step may read, and documents that it adds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pydantic import JsonValue


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
    filters: JsonValue = None
    """Conditions on the metadata of documents, a list; None: none. See `features.knowledge.filters`."""


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


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to add to a knowledge base of the flow's space, or the next version of the document of its name."""

    base: str
    """Name of the base."""
    name: str
    """Identifies the document in its base."""
    content: bytes
    media_type: str
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    role: str | None = "viewer"
    """Lowest role in the space that may read it; None: only its owner, the user who started the run."""


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """A document that has a content now."""

    document_id: str
    version: int
    sha256: str
    change: Literal["added", "changed", "unchanged"]


@dataclass(frozen=True, slots=True)
class DocumentState:
    """The state of a document's index."""

    status: str
    """`pending`, `indexing`, `ready` or `failed`."""
    passages: int
    problem: str
    """Why it could not be read; empty unless it could not."""
    notes: tuple[str, ...]
    """What was not understood."""


class Knowledge(Protocol):
    """Knowledge bases of the flow's space, with the rights of the user who started the run."""

    async def search(self, query: KnowledgeQuery) -> tuple[Passage, ...]:
        """Return passages, the best first; the evidence lists them. Raises `NotFound` for an unknown base."""

    async def add(self, document: NewDocument) -> AddedDocument:
        """Add a document, classified as what has reached the step; one with the same content stays as it is.

        It is indexed afterwards. Raises `NotFound` for an unknown base, `Forbidden`, and `Conflict` for a name that a
        document has which is not of this flow.
        """
        ...

    async def states(self, base: str, document_ids: Sequence[str]) -> Mapping[str, DocumentState]:
        """Return the states of documents that the user who started the run can view, by id."""
        ...
