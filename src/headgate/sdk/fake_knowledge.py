"""Knowledge in memory, for unit tests of components."""

from dataclasses import dataclass, field

from headgate.sdk.knowledge import KnowledgeQuery, Passage


@dataclass
class FakeKnowledge:
    """Returns scripted passages; records every query."""

    passages: tuple[Passage, ...] = ()
    queries: list[KnowledgeQuery] = field(default_factory=list)

    async def search(self, query: KnowledgeQuery) -> tuple[Passage, ...]:
        """Record the query and return the first of the passages."""
        self.queries.append(query)
        return self.passages[: query.limit]
