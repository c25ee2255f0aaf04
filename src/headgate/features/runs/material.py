"""What a run worked with: the documents whose passages it received, and its highest classification."""

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs import repository
from headgate.features.runs.steps.knowledge import SEARCH

CHECKS = "AnswerFromKnowledge"
"""The component that checks the support of each sentence."""


@dataclass(frozen=True, slots=True)
class RunMaterial:
    """Documents and classification of a run."""

    level: int = 0
    """The highest classification of its outputs."""
    sources: dict[str, dict[str, str]] = field(default_factory=dict)
    """By knowledge base, in the order of the searches: names of documents by id."""

    checked: bool = False
    """Whether a step of it marks the sentences of its answer that no passage supports."""

    @property
    def documents(self) -> frozenset[str]:
        """Return the names of all documents."""
        return frozenset(name for documents in self.sources.values() for name in documents.values())


async def read_material(session: AsyncSession, run_id: str, *, tenant_id: str) -> RunMaterial:
    """Return what the steps of a run received from knowledge bases, after the permission check."""
    steps = await repository.list_steps(session, run_id, tenant_id=tenant_id)
    sources: dict[str, dict[str, str]] = {}
    for step in steps:
        for call in step.tool_calls or []:
            for passage in _passages(call):
                sources.setdefault(passage["base_id"], {})[passage["document_id"]] = passage["document"]
    level = max((step.classification or 0 for step in steps), default=0)
    return RunMaterial(level, sources, checked=any(step.type == CHECKS and step.output_payload for step in steps))


def _passages(call: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON of a tool call
    result = call.get("result") if isinstance(call, dict) and call.get("name") == SEARCH else None
    return [entry for entry in result or [] if isinstance(entry, dict) and "base_id" in entry]
