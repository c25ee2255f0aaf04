"""API schemas of knowledge."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from headgate.features.knowledge.chunking import MOST_TOKENS, OVERLAP_TOKENS
from headgate.features.knowledge.metadata import Conditions, Metadata
from headgate.features.knowledge.terms import LONGEST_QUERY
from headgate.features.models.reranking import MOST_TEXTS
from headgate.foundation import names
from headgate.graph.json_values import PlainText
from headgate.graph.queries import MOST_QUERIES

Name = Annotated[names.Name, Field(max_length=100)]
LONGEST_NAME = 255
"""Of a document."""
DocumentName = Annotated[names.Name, Field(max_length=LONGEST_NAME)]
ReaderRole = Literal["visitor", "viewer", "runner", "editor", "publisher", "owner"]
Mode = Literal["lexical", "vector", "hybrid"]
WordsOnly = Literal["chosen", "no_model", "embedding", "failed"]
"""Why a search is lexical only."""
EmbeddingModel = Annotated[
    str, Field(max_length=250, pattern=r"^([^\s/\x00][^/\x00]*/[^\s\x00][^\x00]*)?$", description="As `provider/name`.")
]
RetentionDays = Annotated[
    int,
    Field(
        ge=0,
        le=36_500,
        description="Days after its last version that a document is deleted; 0: never. Documents of sources stay.",
    ),
]
Status = Literal["pending", "indexing", "ready", "failed"]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
MOST_READERS = 200
MOST_VERSION = 2**31 - 1
"""The database's largest integer."""
MOST_PASSAGES = 50
MOST_VERIFIED = 20
"""Files that one request to verify citations reads."""
DEFAULT_PASSAGES = 8
DEFAULT_BUDGET = 3_000
MOST_BUDGET = 100_000
MOST_NEIGHBOURS = 5
DEFAULT_CANDIDATES = 30
"""Passages of a search that are reranked."""


class KnowledgeBaseIn(BaseModel):
    """A new knowledge base."""

    model_config = ConfigDict(extra="forbid")

    name: Name = Field(description="Name that flows refer to.")
    description: PlainText = Field(default="", max_length=2_000)
    passage_tokens: int = Field(default=MOST_TOKENS, ge=50, le=2_000, description="Size of a passage in tokens.")
    overlap_tokens: int = Field(
        default=OVERLAP_TOKENS, ge=0, le=500, description="How much neighbouring passages share, in tokens."
    )
    embedding_model: EmbeddingModel = Field(
        default="",
        description=(
            "Model that embeds its passages, as `provider/name`, such as `openai/text-embedding-3-small` or"
            " `ollama/nomic-embed-text`; empty: the search is lexical only."
        ),
    )
    rerank_model: EmbeddingModel = Field(
        default="",
        description=(
            "Model that reranks the first passages of each search, as `provider/name`, of a server with a `/rerank`,"
            " such as `cohere/rerank-v3.5`; empty: none."
        ),
    )
    rerank_candidates: int = Field(
        default=DEFAULT_CANDIDATES, ge=2, le=MOST_TEXTS, description="Number of the first passages that it receives."
    )
    retention_days: RetentionDays = 0
    space_id: str | None = Field(default=None, description="Space of the base; empty: your own space.")


class KnowledgeBaseChange(BaseModel):
    """The members to change; omitted ones stay unchanged. Another passage size applies to documents indexed later."""

    model_config = ConfigDict(extra="forbid")

    name: Name | None = None
    description: PlainText | None = Field(default=None, max_length=2_000)
    passage_tokens: int | None = Field(default=None, ge=50, le=2_000)
    overlap_tokens: int | None = Field(default=None, ge=0, le=500)
    embedding_model: EmbeddingModel | None = Field(
        default=None,
        description=(
            "All passages are embedded with another model; until then the search uses the previous one. Empty: their"
            " embeddings are deleted, and the search is lexical only."
        ),
    )
    rerank_model: EmbeddingModel | None = Field(default=None, description="Empty: searches are not reranked.")
    rerank_candidates: int | None = Field(default=None, ge=2, le=MOST_TEXTS)
    retention_days: RetentionDays | None = None


class KnowledgeBaseOut(BaseModel):
    """A knowledge base. The counts are those of documents that you can view."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    space_id: str
    name: str
    description: str
    passage_tokens: int
    overlap_tokens: int
    embedding_model: str
    """The model that embeds its passages; empty: none, the search is lexical."""
    searched_model: str
    """The model whose embeddings a search uses; empty: none is complete yet, the search is lexical."""
    rerank_model: str
    """The model that reranks the first passages of a search; empty: none."""
    retention_days: int
    """Days after its last version that a document is deleted; 0: never."""
    rerank_candidates: int
    """Number of the first passages that it receives."""
    created_at: datetime
    updated_at: datetime
    passages: int
    passages_embedded: int
    """Passages with an embedding of `embedding_model`."""
    embedding_tokens: int
    """Tokens that were sent to embedding models, in all."""
    vector_recall: float | None
    """Share of the nearest passages that a search by meaning finds, measured; null: it compares all of them."""
    documents: int
    waiting: int
    """Documents that are not indexed yet."""
    failed: int


class Readers(BaseModel):
    """Who may read the passages of a document, in addition to its owner."""

    model_config = ConfigDict(extra="forbid")

    role: ReaderRole | None = Field(
        default="viewer",
        description=(
            "Lowest role in the space that may read it; visitor: also runs without a user, such as those of a public"
            " page; null: only the listed users and groups."
        ),
    )
    users: list[str] = Field(default_factory=list, max_length=MOST_READERS, description="Ids of users.")
    groups: list[str] = Field(default_factory=list, max_length=MOST_READERS, description="Ids of directory groups.")


class DocumentIn(BaseModel):
    """A document to add. A document of the same name becomes its next version."""

    model_config = ConfigDict(extra="forbid")

    file_id: str = Field(description="Id of an uploaded file.")
    name: DocumentName | None = Field(default=None, description="Name of the document; empty: that of the file.")
    source: PlainText = Field(default="upload", max_length=500, description="Where it came from.")
    readers: Readers | None = Field(
        default=None,
        description=(
            "Empty: every member of the space; of a next version: those of the document, which apply to all its"
            " versions. A next version with others is refused."
        ),
    )
    classification: int | None = Field(
        default=None,
        ge=0,
        le=4,
        description=(
            "Sensitivity level of the content. Empty: 0; of a next version: that of the document. A next version with"
            " another is refused."
        ),
    )
    language: str = Field(default="", max_length=16, description="ISO 639-1 code; empty: detected.")
    metadata: Metadata | None = Field(
        default=None, description="Empty: none; of a next version: those of the document."
    )


class DocumentChange(BaseModel):
    """The members to change, for all versions of the document; omitted ones stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    readers: Readers | None = None
    classification: int | None = Field(default=None, ge=0, le=4)
    retention_days: RetentionDays | None = Field(default=None, description="Null: as the base says.")
    metadata: Metadata | None = Field(default=None, description="Replaces all values.")


class DocumentOut(BaseModel):
    """A document and the state of its index."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    base_id: str
    name: str
    source: str
    owner_user_id: str | None
    readers: Readers
    classification: int
    retention_days: int | None
    """Days after its last version that it is deleted; 0: never; null: as the base says."""
    parent_id: str | None
    """The document that it is an attachment of."""
    language: str
    version: int
    sha256: str
    size_bytes: int
    media_type: str
    file_id: str
    status: Status
    problem: str
    """Why it could not be read, or why the last attempt failed while it waits for the next one."""
    notes: list[str]
    """What was not understood."""
    metadata: Metadata
    characters: int
    pages: int | None
    passages: int
    passages_done: int
    passages_added: int
    """Passages that the last indexing added; the others were unchanged."""
    passages_embedded: int
    """Passages with an embedding of the base's model."""
    embedding_tokens: int
    """Tokens that were sent to embedding models, in all."""
    created_at: datetime
    updated_at: datetime


class BoxOut(BaseModel):
    """A rectangle on a page, in points from the upper left corner of the page as it is shown."""

    left: float
    top: float
    right: float
    bottom: float


class MarksOut(BaseModel):
    """Where the text of a passage is on its page."""

    width: float
    """Of the page, in points."""
    height: float
    boxes: list[BoxOut]
    """One or more for each line."""


class PassageOut(BaseModel):
    """A passage of a document: characters `start` to `end` of its text."""

    model_config = ConfigDict(from_attributes=True)

    ordinal: int
    version: int
    start: int
    core: int
    """Where the part begins that the passage before it does not contain."""
    end: int
    page: int | None
    marks: MarksOut | None
    """Of a passage of a PDF; null where its place is unknown, such as in a scan."""
    context: str
    """Headings above it, and the header row of its table."""
    text: str
    sha256: str
    tokens: int


class PreviewIn(BaseModel):
    """How a document is divided for a preview."""

    model_config = ConfigDict(extra="forbid")

    passage_tokens: int | None = Field(default=None, ge=50, le=2_000, description="Empty: as the base says.")
    overlap_tokens: int | None = Field(default=None, ge=0, le=500, description="Empty: as the base says.")
    document_id: str = Field(default="", max_length=36, description="A document of the base, when no file is sent.")


class PreviewPassage(BaseModel):
    """A passage as it would be stored."""

    start: int
    core: int
    """Where the part begins that the passage before it does not contain."""
    end: int
    page: int | None
    context: str
    text: str
    tokens: int


class PreviewOut(BaseModel):
    """How a document would be divided. Nothing is stored."""

    passage_tokens: int
    overlap_tokens: int
    characters: int
    pages: int | None
    passages: int
    tokens: int
    """Of all passages, with their overlap."""
    smallest: int
    """Tokens of the smallest passage."""
    largest: int
    notes: list[str]
    """What was not understood."""
    shown: list[PreviewPassage]
    """The first passages."""


class SearchIn(BaseModel):
    """A search in a knowledge base."""

    model_config = ConfigDict(extra="forbid")

    query: PlainText = Field(min_length=1, max_length=LONGEST_QUERY)
    limit: int = Field(default=DEFAULT_PASSAGES, ge=1, le=MOST_PASSAGES, description="Most passages.")
    max_tokens: int = Field(default=DEFAULT_BUDGET, ge=50, le=MOST_BUDGET, description="Most tokens of all passages.")
    mode: Mode | None = Field(
        default=None,
        description=(
            "By words, by meaning, or both fused by rank. Empty: hybrid where the passages are embedded, else lexical."
        ),
    )
    neighbours: int = Field(
        default=0, ge=0, le=MOST_NEIGHBOURS, description="Passages before and after each one that are returned with it."
    )
    diversity: float = Field(
        default=0, ge=0, le=1, description="From 0, the best passages, to 1, passages that share few words."
    )
    rerank: bool | None = Field(
        default=None,
        description=(
            "Whether the first passages are reranked. Empty: where the base has a rerank model; when that fails, they"
            " keep their order, and `problem` says why. True: the search fails with the model. False: never."
        ),
    )
    filters: Conditions = Field(default_factory=list)
    query_model: EmbeddingModel = Field(
        default="",
        description=(
            "Chat model `provider/name` that rewrites the query and writes further ones; the ranks of all are fused."
            " Empty: the query is searched as it is. For editors: no budget applies."
        ),
    )
    queries: int = Field(default=3, ge=1, le=MOST_QUERIES, description="Queries that `query_model` writes.")
    conversation: str = Field(
        default="",
        max_length=100_000,
        description=(
            "Messages before the query, for `query_model`, which receives the last 8,000 characters. The query is then"
            " searched only as it was rewritten."
        ),
    )


class CitationOut(BaseModel):
    """Where a passage is: enough to open it and to verify it."""

    document_id: str
    document: str
    version: int
    document_sha256: str
    ordinal: int
    start: int
    end: int
    page: int | None
    sha256: str
    """Of the passage's text."""


class HitOut(CitationOut):
    """A passage that answers a query, with its score."""

    context: str
    text: str
    tokens: int
    classification: int
    score: float
    """From 0 to 1, of the ranks by words and by meaning; the best of all ways of searching is 1."""
    lexical_rank: int | None
    """Rank among the passages found by words; null: it is not among the first."""
    vector_rank: int | None
    """Rank among the passages found by meaning; null: it is not among the first."""
    similarity: float | None
    """Cosine of the embeddings of passage and query, where it has a vector rank."""
    embedding_model: str
    """Model of that embedding; empty without a vector rank."""
    rerank_score: float | None
    """Score of the rerank model, on its own scale, which decides the order; null: it did not receive the passage."""
    rerank_model: str
    """That model; empty without a score."""
    first_rank: int | None
    """Rank before the search was reranked; null: it was not."""
    matched: list[str]
    """Terms of the queries that it contains."""
    queries: list[int]
    """Which of the queries found it, from 0; its ranks are those of query 0."""


class SearchOut(BaseModel):
    """Passages, the best first."""

    queries: list[str]
    """What was searched: the query, as the query model rewrote it, then further ones."""
    terms: list[str]
    """Terms that were searched."""
    vectors: bool
    """Whether embeddings were used; without them the search is lexical only."""
    words_only: WordsOnly | None = None
    """Why it is lexical only: it was asked for, the base has no model, its passages are being embedded, or the model
    failed, as `problem` says."""
    vector_recall: float | None = None
    """Measured share of the nearest passages that this search by meaning finds: it is approximate, because there are
    many. Null: all were compared, or none."""
    mode: Mode
    embedding_model: str
    """The model that embedded the query; empty for a lexical search."""
    rerank_model: str = ""
    """The model that reranked the passages; empty: none."""
    problem: str = ""
    """Why the search is lexical although the passages are embedded, or not reranked; empty when nothing failed."""
    hits: list[HitOut]


class CitationIn(BaseModel):
    """A citation to verify."""

    model_config = ConfigDict(extra="ignore")

    document_id: str = Field(max_length=36)
    version: int = Field(ge=1, le=MOST_VERSION)
    document_sha256: Sha256
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    sha256: Sha256

    @property
    def content(self) -> tuple[str, int]:
        """Return the document and the version whose file is read."""
        return self.document_id, self.version


class VerifyIn(BaseModel):
    """Citations to verify, of a limited number of documents: the file of each is read."""

    model_config = ConfigDict(extra="forbid")

    citations: list[CitationIn] = Field(
        max_length=500, description=f"Citations of at most {MOST_VERIFIED} versions of documents."
    )

    @field_validator("citations")
    @classmethod
    def _few_documents(cls, citations: list[CitationIn]) -> list[CitationIn]:
        if len({citation.content for citation in citations}) > MOST_VERIFIED:
            raise ValueError(f"the citations are of more than {MOST_VERIFIED} documents; verify them in several steps")
        return citations


class VerdictOut(BaseModel):
    """Whether the cited text is in the document with the cited checksum."""

    document_id: str
    document: str
    version: int
    start: int
    end: int
    verified: bool
    reason: str
    """Why it is not verified, or where the text is."""


class VerifyOut(BaseModel):
    """Verdicts, in the order of the citations."""

    verified: bool
    """Whether all are verified."""
    citations: list[VerdictOut]
