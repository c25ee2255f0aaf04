"""Ports for what is stored: files, values of flows and knowledge bases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from headgate.features.access.principal import Principal
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.transitions import RunKey
from headgate.sdk import File
from headgate.sdk.knowledge import AddedDocument, DocumentState, KnowledgeQuery, NewDocument, Passage
from headgate.sdk.state import StateChange, StateValue

if TYPE_CHECKING:  # referenced without importing them
    from headgate.features.knowledge.search.queries import Question, Variant
    from headgate.features.knowledge.search.reranking import Reranking


class GivenFiles(Protocol):
    """Input files of a run."""

    @property
    def files(self) -> tuple[File, ...]:
        """The files, in the given order."""

    @property
    def unshared(self) -> tuple[str, ...]:
        """Ids of those that only their owner has access to until the run takes them."""


class RunFiles(Protocol):
    """Uploaded files and artifacts of a tenant."""

    async def given(self, principal: Principal, file_ids: Sequence[str]) -> GivenFiles:
        """Return the files of these ids, in that order. Raises `NotFound` naming the first inaccessible one."""

    async def take(self, principal: Principal, flow_id: str, unshared: Sequence[str]) -> None:
        """Share the user's uploads with the space of the flow whose run takes them."""

    async def read(self, tenant_id: str, file_id: str) -> bytes:
        """Return the content, for ids that Headgate itself stored. Raises `NotFound`."""

    async def read_in(self, tenant_id: str, flow_id: str, file_id: str) -> bytes:
        """Return the content, for ids that a flow's author may have chosen.

        Raises `NotFound` for a file that no run of the flow, or of another flow of its space, created or took.
        """

    async def of_run(self, key: RunKey) -> tuple[File, ...]:
        """Return the artifacts of a run so far, oldest first."""

    async def save(self, origin: Origin, name: str, content: bytes, media_type: str) -> File:
        """Store an artifact with its tags."""


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value of a flow's state, and the marks of the outside content in it."""

    value: StateValue
    outside: tuple[str, ...]
    classification: int | None = None
    """Of the value, and after a change of the one before it; None where it is not known."""


class FlowState(Protocol):
    """Values that last between runs of a flow."""

    async def read(self, origin: Origin, name: str) -> StoredValue:
        """Return a value of the flow of a step."""

    async def write(
        self, origin: Origin, change: StateChange, *, outside: Sequence[str], classification: int | None = None
    ) -> StoredValue:
        """Change a value once for a step of a run; with the marks and the classification of what reached the step."""


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """The answer to a search."""

    passages: tuple[Passage, ...]
    level: int
    """Their highest classification."""
    mode: str
    """How they were searched."""
    rerank_model: str = ""
    """The model that reranked them; empty: none."""
    problem: str = ""
    """Why they were not reranked; empty when nothing failed."""
    words_only: str = ""
    """Why they were searched lexically only; see `knowledge.search.schemas.WordsOnly`. Empty: they were not."""
    vector_recall: float | None = None
    """Measured share of the nearest passages that an approximate search finds; None: it was exact, or lexical."""


@dataclass(frozen=True, slots=True)
class SearchModels:
    """The models of a search; empty where it needs none."""

    embedding: str = ""
    """The model to embed the query with; empty: the search is lexical."""
    rerank: str = ""
    """The model that reranks the first passages; empty: none."""
    candidates: int = 0
    """Number of passages that it receives."""


class KnowledgeBases(Protocol):
    """Documents that steps may read and add."""

    async def models(self, origin: Origin, query: KnowledgeQuery) -> SearchModels:
        """Return the models of a search.

        Raises `NotFound` for an unknown base, `Invalid` for a search that needs a model which the base does not have.
        """

    async def search(
        self,
        origin: Origin,
        query: KnowledgeQuery,
        *,
        clearance: int | None,
        question: "Question | None" = None,
        reranking: "Reranking | None" = None,
        variants: "Sequence[Variant]" = (),
    ) -> FoundPassages:
        """Return the passages that the user who started the run may read.

        Args:
            origin: The step; the base is of the space of its flow.
            query: What is searched.
            clearance: The highest classification that the step may read; None when classifications are disabled.
            question: The embedded query; without it the search is lexical.
            reranking: How the passages are reranked; None: they are not.
            variants: Further queries.

        Raises:
            NotFound: The space has no such base.
        """

    async def add(self, origin: Origin, document: NewDocument, *, level: int) -> AddedDocument:
        """Add a document as the user who started the run, with at least a classification. See `sdk.Knowledge.add`."""
        ...

    async def states(self, origin: Origin, base: str, document_ids: Sequence[str]) -> Mapping[str, DocumentState]:
        """Return the states of documents that the user who started the run can view, by id."""
        ...
