"""The vectors of passages: what they are in the database, and which are nearest to a question.

The search is exact: it compares the question with every vector that the reader may search, which a query selects by
rights and classification, in batches and in threads of their own. A vector is stored as the inverse of its length, a
32-bit float, and its components, each one byte; both databases hold the same bytes.
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
from headgate.features.knowledge.search_index import Scope
from headgate.features.knowledge.tables import VectorRow
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

BATCH = 10_000
"""Vectors that are compared at once."""
_HEAD = 4
"""Bytes before the components."""
_MOST = 127
Near = tuple[int, float]
"""Id of a passage, and the cosine of its vector with that of the question."""


def require_vectors() -> None:
    """Raise `VectorsNotInstalled` unless the extra `vectors` is installed."""
    if not is_installed():
        raise VectorsNotInstalled


def is_installed() -> bool:
    """Return whether the extra `vectors` is installed."""
    return find_spec("numpy") is not None


def encode(vector: Sequence[float]) -> bytes:
    """Return a vector, which is not zero, as it is stored."""
    exact = np.asarray(vector, dtype=np.float32)
    small = np.rint(exact * (_MOST / np.abs(exact).max())).astype(np.int8)
    inverse = 1 / np.linalg.norm(small.astype(np.float32))
    return bytes(np.asarray(inverse, dtype="<f4").tobytes() + small.tobytes())


async def nearest(
    session: AsyncSession, scope: Scope, model: str, question: Sequence[float], *, limit: int
) -> list[Near]:
    """Return the passages nearest to a question, among those that the reader may read, the nearest first."""
    require_vectors()
    row = VectorRow
    query = select(row.passage_id, row.vector).where(
        row.base_id == scope.base_id,
        row.model == model,
        row.tenant_id == scope.tenant_id,
        row.document_id.in_(scope.documents),
        func.length(row.vector) == len(question) + _HEAD,
    )
    best: list[Near] = []
    after = 0
    while True:
        batch = query.where(row.passage_id > after).order_by(row.passage_id).limit(BATCH)
        rows = (await session.execute(batch)).all()
        if rows:
            best = await asyncio.get_running_loop().run_in_executor(_threads(), _best, best, rows, question, limit)
            after = rows[-1][0]
        if len(rows) < BATCH:
            return best


def _best(before: Sequence[Near], rows: Sequence[Any], question: Sequence[float], limit: int) -> list[Near]:
    """Return the nearest of these and of those before."""
    asked = np.asarray(question, dtype=np.float32)
    asked = asked / np.linalg.norm(asked)
    stored = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.uint8).reshape(len(rows), -1)
    inverse = np.ascontiguousarray(stored[:, :_HEAD]).view("<f4")[:, 0]
    cosines = (stored[:, _HEAD:].view(np.int8).astype(np.float32) @ asked) * inverse
    places = np.argpartition(-cosines, limit)[:limit] if len(rows) > limit else range(len(rows))
    near = [(int(rows[place][0]), float(cosines[place])) for place in places]
    return sorted([*before, *near], key=lambda entry: (-entry[1], entry[0]))[:limit]


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads of searches, apart from those of flows and of the event loop."""
    return ThreadPoolExecutor(2, thread_name_prefix="vectors")
