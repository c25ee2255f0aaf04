"""Makes the groups of many vectors, and measures what a search that reads some of them finds; see `approximate`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, select, update

from headgate.features.knowledge.index import approximate
from headgate.features.knowledge.index.approximate import GROUPS, parts
from headgate.features.knowledge.index.vector_bytes import decode, encode
from headgate.features.knowledge.tables import KnowledgeBaseRow, VectorGroupsRow, VectorRow
from headgate.foundation.database import Database
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

TARGET = 0.95
"""Share of the nearest passages that a search must find."""
GROWTH = 1.5
"""Groups are made again when there are this many times the vectors."""
QUESTIONS = 50
"""Passages whose neighbours are searched to measure the recall."""
NEIGHBOURS = 10
BATCH = 2_000
"""Vectors that are put into groups in one transaction."""
_SAMPLED, _SCANNED, _ROUNDS = 50_000, 10_000, 6


async def tune(database: Database, *, dry: bool = False) -> int:
    """Make, complete and measure the groups of all bases that are large enough. Returns how many vectors got a group.

    An interrupted call is continued by the next one. `dry` only counts.
    """
    row = VectorRow
    query = select(row.base_id, row.tenant_id, row.model, func.count()).group_by(row.base_id, row.tenant_id, row.model)
    async with database.reading() as session:
        large = (await session.execute(query.having(func.count() > approximate.EXACT))).all()
    if not dry:
        await _forget(database, {(base_id, model) for base_id, _, model, _ in large})
    grouped = 0
    for base_id, tenant_id, model, count in large:
        made = await _made(database, base_id, model)
        if made is None or not made.vectors / GROWTH < count < made.vectors * GROWTH:
            if dry:
                grouped += count
                continue
            made = await _make(
                database, VectorGroupsRow(base_id=base_id, tenant_id=tenant_id, model=model, vectors=count)
            )
        if made is not None:
            grouped += await _assign(database, made, dry=dry)
            if made.recall is None and not dry:
                await _measure(database, made)
    return grouped


async def _forget(database: Database, large: set[tuple[str, str]]) -> None:
    row = VectorGroupsRow
    async with database.writing() as session:
        for base_id, model in (await session.execute(select(row.base_id, row.model))).all():
            if (base_id, model) not in large:
                await session.execute(delete(row).where(row.base_id == base_id, row.model == model))


async def _made(database: Database, base_id: str, model: str) -> VectorGroupsRow | None:
    async with database.reading() as session:
        return await session.get(VectorGroupsRow, (base_id, model))


async def _make(database: Database, planned: VectorGroupsRow) -> VectorGroupsRow | None:
    """Make new groups from a sample; searches are exact until they are measured. None: the base was deleted."""
    row = VectorRow
    mine = (row.base_id == planned.base_id, row.model == planned.model)
    async with database.reading() as session:
        ids = (
            await session.execute(select(row.passage_id).where(*mine).order_by(func.random()).limit(_SAMPLED))
        ).scalars()
        sample: list[bytes] = []
        for some in parts(list(ids), 500):
            sample += (await session.execute(select(row.vector).where(*mine, row.passage_id.in_(some)))).scalars()
    count = min(int(planned.vectors**0.5), GROUPS - 1)
    centroids = await run_in_flow_thread(_trained, sample, count)
    async with database.writing() as session:
        if await session.get(KnowledgeBaseRow, planned.base_id, with_for_update=True) is None:
            return None
        before = await session.get(VectorGroupsRow, (planned.base_id, planned.model))
        made = before or planned
        made.epoch, made.vectors = (before.epoch if before else 0) + 1, planned.vectors
        made.centroids, made.size, made.probes, made.recall = b"".join(centroids), len(centroids[0]), count, None
        session.add(made)
    return made


async def _assign(database: Database, made: VectorGroupsRow, *, dry: bool) -> int:
    """Put every vector without a group into the nearest one. Returns their number."""
    row, first = VectorRow, made.epoch * GROUPS
    mine = (row.base_id == made.base_id, row.model == made.model, row.cluster < first)
    change = (
        update(row)
        .where(*mine, row.passage_id == bindparam("id"))
        .values(cluster=bindparam("to"))
        .execution_options(synchronize_session=False)
    )
    if dry:
        async with database.reading() as session:
            return int((await session.execute(select(func.count()).select_from(row).where(*mine))).scalar_one())
    grouped = 0
    while True:
        async with database.reading() as session:
            rows = (await session.execute(select(row.passage_id, row.vector).where(*mine).limit(BATCH))).all()
        if not rows:
            return grouped
        groups = await run_in_flow_thread(_groups, made, [row[1] for row in rows])
        async with database.writing() as session:
            connection = await session.connection()
            values = [{"id": row[0], "to": first + group} for row, group in zip(rows, groups, strict=True)]
            await connection.execute(change, values)
        grouped += len(rows)


async def _measure(database: Database, made: VectorGroupsRow) -> None:
    """Store how many groups are read to find enough, and the share that is found: of passages, against all others."""
    row = VectorRow
    mine = (row.base_id == made.base_id, row.model == made.model, func.length(row.vector) == made.size)
    columns = select(row.passage_id, row.cluster, row.vector).where(*mine)
    async with database.reading() as session:
        asked = (await session.execute(columns.order_by(func.random()).limit(QUESTIONS))).all()
        neighbours, after = _Nearest([(passage[0], passage[2]) for passage in asked]), 0
        while True:
            page = columns.where(row.passage_id > after).order_by(row.passage_id).limit(_SCANNED)
            rows = (await session.execute(page)).all()
            if rows:
                await run_in_flow_thread(neighbours.add, rows)
                after = rows[-1][0]
            if len(rows) < _SCANNED:
                break
    probes, recall = await run_in_flow_thread(neighbours.recall, made)
    async with database.writing() as session:
        same = update(VectorGroupsRow).where(
            VectorGroupsRow.base_id == made.base_id,
            VectorGroupsRow.model == made.model,
            VectorGroupsRow.epoch == made.epoch,
        )
        await session.execute(same.values(probes=probes, recall=recall))


class _Nearest:
    """The passages nearest to each question, with their groups."""

    def __init__(self, questions: Sequence[tuple[int, bytes]]) -> None:
        self._ids = [id_ for id_, _ in questions]
        self._vectors = decode([vector for _, vector in questions])
        self._best: list[list[tuple[float, int]]] = [[] for _ in questions]

    def add(self, rows: Sequence[Any]) -> None:
        """Compare passages: id, group and vector."""
        cosines = decode([row[2] for row in rows]) @ self._vectors.T
        for number, id_ in enumerate(self._ids):
            places = np.argsort(-cosines[:, number])[: NEIGHBOURS + 1]
            near = [(float(cosines[place, number]), int(rows[place][1])) for place in places if rows[place][0] != id_]
            self._best[number] = sorted([*self._best[number], *near], reverse=True)[:NEIGHBOURS]

    def recall(self, made: VectorGroupsRow) -> tuple[int, float]:
        """Return the smallest number of groups, doubling, with enough of the nearest passages, and their share."""
        centroids = decode(list(parts(made.centroids, made.size)))
        places = np.argsort(np.argsort(-(self._vectors @ centroids.T), axis=1), axis=1)
        ranks = np.asarray(
            [places[number, group % GROUPS] for number, best in enumerate(self._best) for _, group in best]
        )
        probes = 1
        while probes < len(centroids) and (ranks < probes).mean() < TARGET:
            probes *= 2
        probes = min(probes, len(centroids))
        return probes, float((ranks < probes).mean()) if len(ranks) else 1.0


def _trained(sample: Sequence[bytes], count: int) -> list[bytes]:
    """Return the centroids of groups as stored vectors: k-means by cosine."""
    size = max(map(len, sample))
    points = decode([vector for vector in sample if len(vector) == size])
    centroids = points[np.random.default_rng(len(points)).choice(len(points), min(count, len(points)), replace=False)]
    for _ in range(_ROUNDS):
        groups = _nearest_groups(centroids, points)
        sums = np.zeros_like(centroids)
        np.add.at(sums, groups, points)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centroids = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1), centroids)
    return [encode(centroid) for centroid in centroids]


def _groups(made: VectorGroupsRow, vectors: Sequence[bytes]) -> list[int]:
    """Return the group of each vector; any for one of another size, which no search compares."""
    known = [vector if len(vector) == made.size else bytes(made.size) for vector in vectors]
    return [int(group) for group in _nearest_groups(decode(list(parts(made.centroids, made.size))), decode(known))]


def _nearest_groups(centroids: Any, points: Any) -> Any:  # noqa: ANN401 - arrays
    return np.concatenate(
        [np.argmax(points[at : at + 4096] @ centroids.T, axis=1) for at in range(0, len(points), 4096)]
    )
