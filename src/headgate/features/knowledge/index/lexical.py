"""The lexical index: SQLite's FTS5 and PostgreSQL's full text. Rights and classification are conditions of the query.

Both rank passages by how rare the terms of the query are in them. On PostgreSQL, whose ranking does not know rarity, it
is counted among the passages that the reader may read. FTS5 counts among all passages of the database, also those of
other bases and tenants: they influence the order, and with it which passages are the first `limit`, but a passage that
the reader may not read is never among them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from typing import cast as typed

from sqlalchemy import (
    ColumnElement,
    Float,
    Table,
    bindparam,
    cast,
    column,
    func,
    insert,
    literal,
    literal_column,
    select,
    table,
)
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.knowledge.metadata.rows import matching
from headgate.features.knowledge.metadata.values import Condition
from headgate.features.knowledge.passages.terms import vector_of
from headgate.features.knowledge.rights import Reader, readable
from headgate.features.knowledge.tables import DocumentRow, DocumentVersionRow, PassageRow
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql
else:
    postgresql = lazy_module("sqlalchemy.dialects.postgresql")

MOST_COUNTED = 2_000
"""PostgreSQL: a term of more passages counts as common."""
LEAST_TOKENS = 12
"""Tokens of a passage that a question can be made from."""
_PASSAGES = typed("Table", PassageRow.__table__)
_INDEX = table("knowledge_index", column("rowid"), column("terms"), column("base_id"))


@dataclass(frozen=True, slots=True)
class Scope:
    """What is searched: documents of a base with some metadata, with the rights of a reader."""

    tenant_id: str
    base_id: str
    reader: Reader
    filters: Sequence[Condition] = ()
    """On the metadata of documents."""

    @property
    def documents(self) -> Any:  # noqa: ANN401 - a query
        """Return a query of the ids of the documents that may be read."""
        return select(DocumentRow.id).where(
            DocumentRow.base_id == self.base_id,
            DocumentRow.tenant_id == self.tenant_id,
            readable(self.reader),
            *matching(self.filters),
        )

    @property
    def passages(self) -> tuple[ColumnElement[bool], ...]:
        """Return the conditions that a passage may be read."""
        return (
            PassageRow.base_id == self.base_id,
            PassageRow.tenant_id == self.tenant_id,
            PassageRow.document_id.in_(self.documents),
        )


@dataclass(frozen=True, slots=True)
class SamplePassage:
    """A passage to make a question from."""

    document_id: str
    document: str
    context: str
    text: str


async def ranked(session: AsyncSession, scope: Scope, terms: Sequence[str], *, limit: int) -> list[int]:
    """Return the ids of passages with at least one of the terms that the reader may read, the best first."""
    if not terms:
        return []
    if session.get_bind().dialect.name == "postgresql":
        return await _ranked_by_postgresql(session, scope, terms, limit)
    match = f'base_id : "{scope.base_id}" AND terms : ({" OR ".join(_quoted(term) for term in terms)})'
    query = (
        select(_INDEX.c.rowid)
        .join(PassageRow, PassageRow.id == _INDEX.c.rowid)
        .where(literal_column("knowledge_index").op("MATCH")(match), *scope.passages)
        .order_by(func.bm25(literal_column("knowledge_index"), 1.0, 0.0), _INDEX.c.rowid)
        .limit(limit)
    )
    return [row[0] for row in await session.execute(query)]


async def _ranked_by_postgresql(session: AsyncSession, scope: Scope, terms: Sequence[str], limit: int) -> list[int]:
    counts = await _counts(session, scope, terms)
    usual = max(max(counts.values(), default=0), 1)
    anything = _query(" | ".join(_lexeme(term) for term in terms))
    # Terms are stored compressed: concatenated with nothing they are read once a passage, not once a term.
    read_terms = PassageRow.terms.op("||")(cast(literal(""), postgresql.TSVECTOR())).label("terms")
    matching = select(PassageRow.id, read_terms).where(PassageRow.terms.op("@@")(anything), *scope.passages)
    match = matching.offset(0).subquery("matching")
    score: ColumnElement[Any] = literal(0.0)
    for term in terms:
        rarity = math.log(1 + usual / counts[term]) if counts[term] else 0.0
        if rarity:
            score = score + rarity * func.ts_rank(match.c.terms, _query(_lexeme(term)), 1)
    rows = await session.execute(select(match.c.id).order_by(cast(score, Float).desc(), match.c.id).limit(limit))
    return [row[0] for row in rows]


async def _counts(session: AsyncSession, scope: Scope, terms: Sequence[str]) -> dict[str, int]:
    """Return how many passages that may be read have each term, up to `MOST_COUNTED`."""
    counts = []
    for number, term in enumerate(terms):
        some = (
            select(literal(1).label("one"))
            .select_from(PassageRow)
            .where(PassageRow.terms.op("@@")(_query(_lexeme(term))), *scope.passages)
            .limit(MOST_COUNTED)
            .subquery(f"some_{number}")
        )
        counts.append(select(func.count()).select_from(some).scalar_subquery())
    row = (await session.execute(select(*counts))).one()
    return dict(zip(terms, row, strict=True))


async def read_passages(
    session: AsyncSession, scope: Scope, ids: Sequence[int]
) -> dict[int, tuple[PassageRow, DocumentRow, DocumentVersionRow]]:
    """Return passages that the reader may read, each with its document and the version that it is of."""
    query = (
        select(PassageRow, DocumentRow, DocumentVersionRow)
        .join(DocumentRow, DocumentRow.id == PassageRow.document_id)
        .join(
            DocumentVersionRow,
            (DocumentVersionRow.document_id == DocumentRow.id) & (DocumentVersionRow.version == PassageRow.version),
        )
        .where(PassageRow.id.in_(ids), *scope.passages)
    )
    return {row[0].id: (row[0], row[1], row[2]) for row in await session.execute(query)}


async def sample_passages(session: AsyncSession, scope: Scope, *, limit: int) -> list[SamplePassage]:
    """Return passages at random that the reader may read, of those that are long enough to ask about."""
    query = (
        select(DocumentRow.id, DocumentRow.name, PassageRow.context, PassageRow.text)
        .join(DocumentRow, DocumentRow.id == PassageRow.document_id)
        .where(PassageRow.tokens >= LEAST_TOKENS, *scope.passages)
    )
    rows = await session.execute(query.order_by(func.random()).limit(limit))
    return [SamplePassage(row.id, row.name, row.context, row.text) for row in rows]


async def add_passages(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> None:
    """Insert passages; `terms` of each is a list. A passage that exists is a unique row: raises `IntegrityError`."""
    if session.get_bind().dialect.name == "postgresql":
        statement = insert(_PASSAGES).values(terms=cast(bindparam("vector"), PassageRow.terms.type))
        values = [{**row, "vector": vector_of(row["terms"])} for row in rows]
        for row in values:
            del row["terms"]
        await session.execute(statement, values)
        return
    await session.execute(insert(_PASSAGES), [{**row, "terms": " ".join(row["terms"])} for row in rows])


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def _lexeme(term: str) -> str:
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def _query(lexemes: str) -> ColumnElement[Any]:
    return cast(literal(lexemes), postgresql.TSQUERY())
