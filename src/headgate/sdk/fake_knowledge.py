"""Knowledge in memory, for unit tests of components."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headgate.sdk.knowledge import AddedDocument, DocumentState, KnowledgeQuery, NewDocument, Passage


@dataclass
class FakeKnowledge:
    """Returns scripted passages; records every query and document."""

    passages: tuple[Passage, ...] = ()
    queries: list[KnowledgeQuery] = field(default_factory=list)
    documents: list[NewDocument] = field(default_factory=list)
    """Documents in the order in which they were added."""
    notes: tuple[str, ...] = ()
    """What was not understood of each document."""

    async def search(self, query: KnowledgeQuery) -> tuple[Passage, ...]:
        """Record the query and return the first of the passages."""
        self.queries.append(query)
        return self.passages[: query.limit]

    async def add(self, document: NewDocument) -> AddedDocument:
        """Record the document; its id is its name."""
        before = [known.content for known in self.documents if known.name == document.name]
        self.documents.append(document)
        sha256 = hashlib.sha256(document.content).hexdigest()
        if before and before[-1] == document.content:
            return AddedDocument(document.name, len(before), sha256, "unchanged")
        return AddedDocument(document.name, len(before) + 1, sha256, "changed" if before else "added")

    async def states(self, base: str, document_ids: Sequence[str]) -> Mapping[str, DocumentState]:  # noqa: ARG002
        """Return that all documents are indexed, as one passage each."""
        return {id_: DocumentState("ready", 1, "", self.notes) for id_ in document_ids}
