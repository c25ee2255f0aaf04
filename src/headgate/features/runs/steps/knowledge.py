"""Knowledge bases as one step uses them: passages are content from outside, and are listed in the evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from headgate.features.knowledge.search.queries import LIKELY_TO_PASS, Question, Variant, not_embedded
from headgate.features.runs.errors import ClassRefused
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.storage import KnowledgeBases, SearchModels
from headgate.features.runs.steps.guard import StepGuard
from headgate.features.runs.steps.outside import OutsideContent
from headgate.foundation.errors import TooLarge
from headgate.foundation.lazy import lazy_module
from headgate.foundation.secret_values import SecretValues
from headgate.sdk import Model
from headgate.sdk.knowledge import AddedDocument, DocumentState, KnowledgeQuery, NewDocument, Passage
from headgate.sdk.outside import mark

if TYPE_CHECKING:  # named without importing the search, which few runs need
    from headgate.features.knowledge.search import reranking
    from headgate.features.runs.steps.context import StepContext
else:
    reranking = lazy_module("headgate.features.knowledge.search.reranking")

SEARCH: Final = "knowledge.search"
"""Name under which a search is in the tool calls of the evidence."""
ADD: Final = "knowledge.add"
"""The same of a document that is added."""


class StepKnowledge:
    """A `Knowledge` of one step."""

    def __init__(
        self,
        bases: KnowledgeBases,
        origin: Origin,
        ctx: "StepContext",
        outside: OutsideContent,
        *,
        guard: StepGuard | None,
        secrets: SecretValues,
    ) -> None:
        self._bases = bases
        self._origin = origin
        self._ctx = ctx
        self._outside = outside
        self._guard = guard
        self._secrets = secrets

    async def search(self, query: KnowledgeQuery) -> tuple[Passage, ...]:
        """Return the passages that the user who started the run may read."""
        await self._ctx.check_cancelled()
        models = await self._bases.models(self._origin, query)
        model = models.embedding
        question, not_asked = await self._question(query, query.text, model) if model else (None, "")
        variants = []
        for text in query.also:
            embedded, _ = await self._question(query, text, model) if question is not None else (None, "")
            variants.append(Variant(text, embedded))
        clearance = None if self._guard is None else self._guard.clearance
        reranking = self._reranking(query, models)
        answer = await self._bases.search(
            self._origin, query, clearance=clearance, question=question, reranking=reranking, variants=variants
        )
        if answer.problem:
            self._ctx.log(answer.problem)
        problem = " ".join(filter(None, (not_asked, answer.problem)))
        if self._guard is not None:
            self._guard.read(answer.level)
        self._outside.add(*(mark("file", passage.document) for passage in answer.passages))
        cited: list[JsonValue] = [citation(passage) for passage in answer.passages]
        asked: dict[str, JsonValue] = {"base": query.base, "query": query.text, "mode": answer.mode}
        asked |= {"queries": [query.text, *query.also]} if query.also else {}
        asked |= {"neighbours": query.neighbours} if query.neighbours else {}
        asked |= {"diversity": query.diversity} if query.diversity else {}
        asked |= {"filters": query.filters} if query.filters else {}
        asked |= {"embedding_model": model} if question is not None else {}
        asked |= {"rerank_model": answer.rerank_model} if answer.rerank_model else {}
        asked |= {"words_only": answer.words_only} if answer.words_only else {}
        asked |= {"vector_recall": answer.vector_recall} if answer.vector_recall is not None else {}
        asked |= {"problem": problem} if problem else {}
        self._ctx.record_tool_call(SEARCH, asked, cited)
        return answer.passages

    async def add(self, document: NewDocument) -> AddedDocument:
        """Add a document without secrets, with the classification of what has reached the step so far."""
        await self._ctx.check_cancelled()
        shown = replace(
            document,
            name=self._secrets.text(document.name),
            content=self._secrets.content(document.content),
            metadata=self._secrets.json(document.metadata),
        )
        level = 0 if self._guard is None else self._guard.reached
        added = await self._bases.add(self._origin, shown, level=level)
        metadata: dict[str, JsonValue] = {"metadata": dict(shown.metadata)} if shown.metadata else {}
        arguments: dict[str, JsonValue] = {"base": shown.base, "document": shown.name, "classification": level}
        self._ctx.record_tool_call(ADD, arguments | metadata, asdict(added))
        return added

    async def states(self, base: str, document_ids: Sequence[str]) -> Mapping[str, DocumentState]:
        """Return the states of documents."""
        await self._ctx.check_cancelled()
        return await self._bases.states(self._origin, base, document_ids)

    def _reranking(self, query: KnowledgeQuery, models: SearchModels) -> "reranking.Reranking | None":
        """Return how the passages are reranked. Those above the clearance of the model are not sent to it."""
        if not models.rerank:
            return None
        model = Model.model_validate(models.rerank)

        async def ask(texts: Sequence[str]) -> Sequence[float]:
            return await self._ctx.rerank(model, query.text, texts)

        clearance = None if self._guard is None else self._guard.clearance_of(model)
        tolerated = (*LIKELY_TO_PASS, TooLarge, ClassRefused)
        return reranking.Reranking(models.rerank, models.candidates, ask, clearance, bool(query.rerank), tolerated)

    async def _question(self, query: KnowledgeQuery, text: str, model: str) -> tuple[Question | None, str]:
        """Return the embedded query; or why the search is lexical, unless the query has a mode."""
        try:
            (vector,) = await self._ctx.embed(Model.model_validate(model), [text])
        except (*LIKELY_TO_PASS, ClassRefused) as error:
            if query.mode:
                raise
            problem = not_embedded(error)
            self._ctx.log(problem)
            return None, problem
        return Question(model, vector), ""


def citation(passage: Passage) -> dict[str, JsonValue]:
    """Return where a passage is, without its text."""
    values = asdict(passage)
    return {name: values[name] for name in values if name not in {"text", "context"}}
