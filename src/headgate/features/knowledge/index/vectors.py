"""Which passages are nearest to a question.

The search compares the question with every vector that the reader may search, which a query selects by rights and
classification, in batches and in threads of their own; of many vectors, with those of the groups that are nearest: see
`approximate`.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.knowledge.errors import VectorsNotInstalled
from headgate.features.knowledge.index.approximate import probe_of
from headgate.features.knowledge.index.lexical import Scope
from headgate.features.knowledge.index.vector_bytes import HEAD, cosines
from headgate.features.knowledge.tables import VectorRow
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

BATCH = 10_000
"""Vectors that are compared at once."""
Near = tuple[int, float]
"""Id of a passage, and the cosine of its vector with that of the question."""


def require_vectors() -> None:
    """Raise `VectorsNotInstalled` unless the extra `vectors` is installed."""
    if not is_installed():
        raise VectorsNotInstalled


def is_installed() -> bool:
    """Return whether the extra `vectors` is installed."""
    return find_spec("numpy") is not None


async def nearest(
    session: AsyncSession, scope: Scope, model: str, question: Sequence[float], *, limit: int
) -> tuple[list[Near], float | None]:
    """Return the passages nearest to a question, among those that the reader may read, the nearest first.

    And the measured share of the nearest ones that such a search finds; None when all were compared.
    """
    require_vectors()
    row = VectorRow
    query = select(row.passage_id, row.vector).where(
        row.base_id == scope.base_id,
        row.model == model,
        row.tenant_id == scope.tenant_id,
        row.document_id.in_(scope.documents),
        func.length(row.vector) == len(question) + HEAD,
    )
    probe = await probe_of(session, scope, model, question)
    best: list[Near] = []
    for part in [query] if probe is None else [query.where(condition) for condition in probe.conditions]:
        # Without an order, so that the index on groups is used where there are some.
        stream = await session.stream(part.execution_options(yield_per=BATCH))
        async for rows in stream.partitions():
            best = await asyncio.get_running_loop().run_in_executor(_threads(), _best, best, rows, question, limit)
    return best, None if probe is None else probe.recall


def _best(before: Sequence[Near], rows: Sequence[Any], question: Sequence[float], limit: int) -> list[Near]:
    """Return the nearest of these and of those before."""
    asked = np.asarray(question, dtype=np.float32)
    asked = asked / np.linalg.norm(asked)
    similar = cosines([row[1] for row in rows], asked)
    places = np.argpartition(-similar, limit)[:limit] if len(rows) > limit else range(len(rows))
    near = [(int(rows[place][0]), float(similar[place])) for place in places]
    return sorted([*before, *near], key=lambda entry: (-entry[1], entry[0]))[:limit]


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads of searches, apart from those of flows and of the event loop."""
    return ThreadPoolExecutor(2, thread_name_prefix="vectors")
