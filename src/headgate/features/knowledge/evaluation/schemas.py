"""API schemas of evaluations."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.knowledge.metadata.values import Condition, Conditions
from headgate.features.knowledge.passages.terms import LONGEST_QUERY
from headgate.features.knowledge.schemas import EmbeddingModel
from headgate.features.knowledge.search.schemas import MOST_PASSAGES, Mode
from headgate.graph.json_values import PlainText
from headgate.graph.queries import MOST_QUERIES

MOST_QUESTIONS = 200
"""Questions of a base."""
MOST_EXPECTED = 20
"""Documents that answer a question."""
DEFAULT_LIMIT = 10
MOST_PROPOSALS = 20
LONGEST_ANSWER = 10_000
LONGEST_FILE = 2_000_000
"""Characters of a file of questions."""


class QuestionIn(BaseModel):
    """A question with the documents that answer it."""

    model_config = ConfigDict(extra="forbid")

    question: PlainText = Field(min_length=1, max_length=LONGEST_QUERY)
    document_ids: list[PlainText] = Field(
        min_length=1, max_length=MOST_EXPECTED, description="Documents of the base that answer it, all of them."
    )
    quote: PlainText = Field(
        default="",
        max_length=1_000,
        description="Text that a passage must contain to answer it. Empty: any passage of the documents.",
    )
    answer: PlainText = Field(
        default="", max_length=LONGEST_ANSWER, description="A correct answer, which tests of flows compare with."
    )
    filters: Conditions = Field(
        default_factory=list, description="Conditions on metadata with which the question is searched."
    )


class ExpectedOut(BaseModel):
    """A document that answers a question."""

    id: str
    name: str
    """Empty when it was deleted, or you may not view it."""


class QuestionOut(BaseModel):
    """A question with the documents that answer it."""

    id: str
    question: str
    documents: list[ExpectedOut]
    quote: str
    answer: str
    filters: list[Condition]
    created_at: datetime


class QuestionFile(BaseModel):
    """A file of questions."""

    model_config = ConfigDict(extra="forbid")

    content: str = Field(
        max_length=LONGEST_FILE,
        description=(
            "CSV with the columns `question`, `documents` (names, separated by `;`), `quote`, `answer` and"
            " `filters` (such as `year>=2024;team=sales`); or JSON: a list of objects with these members, or one"
            " on each line. There, `documents` is a list, and `filters` a list of conditions as in a search."
        ),
    )


class QuestionsAdded(BaseModel):
    """What was added of a file."""

    added: list[QuestionOut]
    skipped: int
    """Questions that the base has already, with the same text."""


class ProposalIn(BaseModel):
    """A request for questions that a model makes from passages of a base."""

    model_config = ConfigDict(extra="forbid")

    model: str = Field(
        max_length=250,
        pattern=r"^[^\s/\x00][^/\x00]*/[^\s\x00][^\x00]*$",
        description="Chat model, as `provider/name`.",
    )
    count: int = Field(default=10, ge=1, le=MOST_PROPOSALS, description="Passages to ask about, chosen at random.")


class ProposalOut(BaseModel):
    """A question that a model made from a passage. It is not stored."""

    question: str
    document: ExpectedOut
    quote: str
    """Text of the passage that answers it."""
    answer: str


class ProposalsOut(BaseModel):
    """Questions that a model made."""

    proposals: list[ProposalOut]
    rejected: int
    """Questions that were not usable: their quote or the numbers of their answer are not in the passage."""
    tokens: int


class EvaluationIn(BaseModel):
    """An evaluation of all questions of a base."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MOST_PASSAGES, description="Passages of each search, the k.")
    rerank: bool = Field(
        default=True, description="Also measure the searches reranked, where the base has a rerank model."
    )
    query_model: EmbeddingModel = Field(
        default="", description="Also measure the searches with queries that this chat model writes; empty: do not."
    )
    queries: int = Field(default=3, ge=1, le=MOST_QUERIES, description="Queries that it writes of each question.")
    filters: Conditions = Field(
        default_factory=list,
        description=(
            "Conditions on the metadata of documents, in addition to those of each question: no other document is"
            " searched or expected."
        ),
    )


class WayOut(BaseModel):
    """A way of searching."""

    mode: Mode
    reranked: bool = False
    """Whether the passages were reranked."""
    queries: int = 0
    """Queries that a model wrote; 0: only the question was searched."""

    @property
    def way(self) -> str:
        """Return it in words: `hybrid, reranked`."""
        queries = f", {self.queries} written queries" if self.queries else ""
        return f"{self.mode}{', reranked' * self.reranked}{queries}"


class MeasureOut(WayOut):
    """Means over the questions, from 0 to 1."""

    recall: float
    """Share of the expected documents among the first passages."""
    ndcg: float
    """Normalised discounted cumulative gain: 1 when the expected documents come first."""
    mrr: float
    """Reciprocal of the rank of the first passage that answers."""
    complete: int
    """Questions all of whose documents were found."""


class RanksOut(WayOut):
    """Where the expected documents of a question were found by a way of searching."""

    ranks: list[int | None]
    """Rank of the first passage of each document that answers, in the order of `documents`; null: not found."""

    def missed(self, documents: Sequence[ExpectedOut]) -> list[str]:
        """Return the names of the documents of the question that were not found."""
        return [document.name for document, rank in zip(documents, self.ranks, strict=True) if rank is None]


class AnswerOut(BaseModel):
    """A question as it was evaluated."""

    question_id: str
    question: str
    documents: list[ExpectedOut]
    """Those that were searched: the others were deleted, could not be read by the user, or were excluded by the
    filters of the evaluation."""
    filters: list[Condition] = []
    """Of the question, at the time."""
    searches: list[RanksOut]
    """Empty when the question was skipped."""


class EvaluationOut(BaseModel):
    """Measures of all questions of a base at one time."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    user_id: str
    limit: int
    passage_tokens: int
    overlap_tokens: int
    embedding_model: str
    """The model whose vectors were searched; empty: the search was lexical only."""
    rerank_model: str
    """The model whose order was measured too; empty: none."""
    rerank_candidates: int
    """Number of passages that it received of each question."""
    query_model: str
    """The model whose queries were measured too; empty: none."""
    queries: int
    """Queries that it wrote of each question."""
    filters: list[Condition]
    """Conditions on the metadata of all documents that were searched."""
    passages: int
    questions: int
    skipped: int
    """Questions none of whose documents exist, could be read by the user and meet the filters."""
    measures: list[MeasureOut]
    """Of each way of searching; without embeddings only the lexical one."""
    created_at: datetime


class EvaluationDetail(EvaluationOut):
    """An evaluation with its questions."""

    answers: list[AnswerOut]
