"""Knowledge bases as one step reads them: passages are content from outside, and are listed in the evidence."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from headgate.features.runs.ports import KnowledgeBases, Origin
from headgate.features.runs.steps.guard import StepGuard
from headgate.features.runs.steps.outside import OutsideContent
from headgate.sdk.knowledge import KnowledgeQuery, Passage
from headgate.sdk.outside import mark

if TYPE_CHECKING:
    from headgate.features.runs.steps.context import StepContext

SEARCH: Final = "knowledge.search"
"""Name under which a search is in the tool calls of the evidence."""


class StepKnowledge:
    """A `Knowledge` of one step."""

    def __init__(
        self,
        bases: KnowledgeBases,
        origin: Origin,
        ctx: "StepContext",
        outside: OutsideContent,
        guard: StepGuard | None,
    ) -> None:
        self._bases = bases
        self._origin = origin
        self._ctx = ctx
        self._outside = outside
        self._guard = guard

    async def search(self, query: KnowledgeQuery) -> tuple[Passage, ...]:
        """Return the passages that the user who started the run may read."""
        await self._ctx.check_cancelled()
        clearance = None if self._guard is None else self._guard.clearance
        passages, level = await self._bases.search(self._origin, query, clearance=clearance)
        if self._guard is not None:
            self._guard.read(level)
        self._outside.add(*(mark("file", passage.document) for passage in passages))
        cited: list[JsonValue] = [citation(passage) for passage in passages]
        self._ctx.record_tool_call(SEARCH, {"base": query.base, "query": query.text}, cited)
        return passages


def citation(passage: Passage) -> dict[str, JsonValue]:
    """Return where a passage is, without its text."""
    values = asdict(passage)
    return {name: values[name] for name in values if name not in {"text", "context"}}
