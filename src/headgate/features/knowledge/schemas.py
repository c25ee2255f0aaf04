"""API schemas of knowledge bases."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.knowledge.passages.chunking import MOST_TOKENS, OVERLAP_TOKENS
from headgate.features.models.reranking import MOST_TEXTS
from headgate.foundation import names
from headgate.graph.json_values import PlainText

Name = Annotated[names.Name, Field(max_length=100)]
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
