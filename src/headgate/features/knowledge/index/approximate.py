"""Approximate search of many vectors: they are put into groups of near ones, and a search reads the nearest groups.

Up to `EXACT` vectors that a reader may search, every one is compared. Above, the maintenance job `knowledge_vectors`
(`grouping`) makes about the square root of as many groups, by k-means on a sample, and measures on passages how many
groups must be read to find enough of the nearest ones. Rights are conditions of the query as ever. Vectors without a
group, such as new ones, are compared by every search: nothing is missed while groups are made.

A group is a number of an epoch: `epoch * GROUPS + number`. Vectors below the first number of the last epoch have none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.knowledge.index.lexical import Scope
from headgate.features.knowledge.index.vector_bytes import HEAD, decode
from headgate.features.knowledge.tables import DocumentRow, VectorGroupsRow, VectorRow
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

EXACT = 100_000
"""Vectors up to which a search compares all."""
GROUPS = 1 << 16
"""Most groups of an epoch."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Which vectors a search compares: those of some groups, and all without a group."""

    first: int
    """The first group of the epoch."""
    groups: tuple[int, ...]
    recall: float
    """Measured share of the nearest passages that it finds."""

    @property
    def conditions(self) -> tuple[ColumnElement[bool], ...]:
        """Return the conditions of the vectors, one for each query."""
        return VectorRow.cluster.in_(self.groups), VectorRow.cluster < self.first


async def probe_of(session: AsyncSession, scope: Scope, model: str, question: Sequence[float]) -> Probe | None:
    """Return which groups are nearest to a question; None when all vectors are compared.

    A reader of a part of the base has neighbours that are further apart: as many times more groups are read.
    """
    row = VectorGroupsRow
    query = select(row).where(row.base_id == scope.base_id, row.model == model, row.tenant_id == scope.tenant_id)
    made = (await session.execute(query.where(row.recall.is_not(None)))).scalar_one_or_none()
    if made is None:
        return None
    readable = select(func.sum(DocumentRow.passages)).where(DocumentRow.id.in_(scope.documents))
    count = int((await session.execute(readable)).scalar_one() or 0)
    if count <= EXACT or made.size != len(question) + HEAD:
        return None
    near = decode(list(parts(made.centroids, made.size))) @ np.asarray(question, np.float32)
    number = min(len(near), round(made.probes * max(1.0, made.vectors / count)))
    first = made.epoch * GROUPS
    return Probe(first, tuple(int(group) + first for group in np.argsort(-near)[:number]), made.recall or 0.0)


def parts(items: Any, size: int) -> Any:  # noqa: ANN401 - a sequence
    """Yield the parts of a sequence."""
    return (items[at : at + size] for at in range(0, len(items), size))


async def recalls_of(session: AsyncSession, base_ids: Sequence[str], tenant_id: str) -> dict[tuple[str, str], float]:
    """Return the measured recall by base and model, of those with groups."""
    row = VectorGroupsRow
    query = select(row.base_id, row.model, row.recall).where(row.base_id.in_(base_ids), row.tenant_id == tenant_id)
    rows = await session.execute(query.where(row.recall.is_not(None)))
    return {(groups.base_id, groups.model): groups.recall for groups in rows}
