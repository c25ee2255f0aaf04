"""Questions of knowledge bases, and the results of their evaluations."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Json, TenantRow, Timestamp, now, of_tenant


class QuestionRow(TenantRow):
    """A question with the documents that answer it."""

    __tablename__ = "knowledge_questions"
    __table_args__ = (
        of_tenant("base_id", "knowledge_bases"),
        Index("ix_knowledge_questions_base_id_id", "base_id", "id"),
    )

    base_id: Mapped[str] = mapped_column(String(36))
    question: Mapped[str] = mapped_column(Text)
    document_ids: Mapped[list[str]] = mapped_column(Json)
    quote: Mapped[str] = mapped_column(Text)
    """Text that a passage contains which answers it; empty: any passage of the documents does."""
    answer: Mapped[str] = mapped_column(Text, default="", server_default=text("''"))
    """A correct answer; empty: none is known."""
    filters: Mapped[list[dict[str, Any]]] = mapped_column(Json, default=list, server_default=text("'[]'"))
    """`Condition` of the metadata of documents, with which it is searched."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class EvaluationRow(TenantRow):
    """Measures of all questions of a base at one time, with the settings of the base then."""

    __tablename__ = "knowledge_evaluations"
    __table_args__ = (
        of_tenant("base_id", "knowledge_bases"),
        Index("ix_knowledge_evaluations_base_id_id", "base_id", "id"),
    )

    base_id: Mapped[str] = mapped_column(String(36))
    user_id: Mapped[str] = mapped_column(String(36))
    """Whose rights applied to the searches."""
    limit: Mapped[int]
    """Passages of each search, the k of the measures."""
    passage_tokens: Mapped[int]
    overlap_tokens: Mapped[int]
    embedding_model: Mapped[str] = mapped_column(String(250))
    rerank_model: Mapped[str] = mapped_column(String(250), default="", server_default=text("''"))
    """The model whose order was measured too; empty: none."""
    rerank_candidates: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    """Number of passages that it received of each question."""
    query_model: Mapped[str] = mapped_column(String(250), default="", server_default=text("''"))
    """The model whose queries were measured too; empty: none."""
    queries: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    """Queries that it wrote of each question."""
    filters: Mapped[list[dict[str, Any]]] = mapped_column(Json, default=list, server_default=text("'[]'"))
    """`Condition` of the metadata of all documents that were searched."""
    passages: Mapped[int]
    skipped: Mapped[int]
    """Questions none of whose documents exist, may be read by the user and meet the filters."""
    measures: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    """`MeasureOut` of each way of searching."""
    answers: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    """`AnswerOut` of each question."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
