"""API schemas of searches."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.knowledge.metadata.values import Conditions
from headgate.features.knowledge.passages.terms import LONGEST_QUERY
from headgate.features.knowledge.schemas import EmbeddingModel
from headgate.graph.json_values import PlainText
from headgate.graph.queries import MOST_QUERIES

Mode = Literal["lexical", "vector", "hybrid"]
WordsOnly = Literal["chosen", "no_model", "embedding", "failed"]
"""Why a search is lexical only."""
MOST_PASSAGES = 50
DEFAULT_PASSAGES = 8
DEFAULT_BUDGET = 3_000
MOST_BUDGET = 100_000
MOST_NEIGHBOURS = 5


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
