"""Metadata of documents in the database: conditions as SQL, which are met before anything is ranked, and its fields."""

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, and_, delete, func, insert, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.knowledge.metadata.values import Condition, MetadataField, Typed, typed, value_of
from headgate.features.knowledge.rights import of_spaces, readable, reader_of, readers_of
from headgate.features.knowledge.tables import DocumentRow, KnowledgeBaseRow, MetadataRow

MOST_FIELDS = 200
SHOWN_VALUES = 20
"""Values of a field that are offered, the most frequent first."""


def matching(conditions: Sequence[Condition]) -> list[ColumnElement[bool]]:
    """Return the conditions that a row of `knowledge_documents` meets."""
    return [_matching(condition) for condition in conditions]


def _matching(condition: Condition) -> ColumnElement[bool]:
    row = MetadataRow
    value = select(row.document_id).where(row.document_id == DocumentRow.id, row.key == condition.key)
    if condition.exists is not None:
        return value.exists() if condition.exists else ~value.exists()
    if condition.equals is not None:
        return value.where(_is(typed(condition.equals))).exists()
    if condition.any_of is not None:
        return value.where(or_(*(_is(typed(choice)) for choice in condition.any_of))).exists()
    if condition.at_least is not None:
        low = typed(condition.at_least)
        value = value.where(row.kind == low.kind, row.number >= low.number)
    if condition.at_most is not None:
        high = typed(condition.at_most)
        value = value.where(row.kind == high.kind, row.number <= (high.number if high.until is None else high.until))
    return value.exists()


def _is(value: Typed) -> ColumnElement[bool]:
    row = MetadataRow
    if value.kind == "text":
        return and_(row.kind == "text", row.text == value.text)
    if value.until is not None:
        return and_(row.kind == value.kind, row.number.between(value.number, value.until))
    return and_(row.kind == value.kind, row.number == value.number)


async def metadata_of(
    session: AsyncSession, document_ids: Sequence[str], *, tenant_id: str
) -> dict[str, dict[str, bool | float | str]]:
    """Return the metadata of documents, by document and key."""
    row = MetadataRow
    query = select(row.document_id, row.key, row.kind, row.text)
    query = query.where(row.document_id.in_(document_ids), row.tenant_id == tenant_id).order_by(row.key)
    values: dict[str, dict[str, bool | float | str]] = {}
    for document_id, key, kind, text in await session.execute(query):
        values.setdefault(document_id, {})[key] = value_of(kind, text)
    return values


async def set_metadata(
    session: AsyncSession, documents: ColumnElement[bool], values: Mapping[str, bool | float | str], *, tenant_id: str
) -> None:
    """Replace the metadata of the documents that meet a condition."""
    row = MetadataRow
    chosen = select(DocumentRow.id).where(documents, DocumentRow.tenant_id == tenant_id)
    gone = delete(row).where(row.document_id.in_(chosen), row.tenant_id == tenant_id)
    await session.execute(gone.execution_options(synchronize_session=False))
    for key, value in sorted(values.items()):
        stored = typed(value)
        columns = [literal(part, column.type) for part, column in (
            (key, row.key), (tenant_id, row.tenant_id), (stored.kind, row.kind), (stored.text, row.text),
            (stored.number, row.number),
        )]  # fmt: skip
        await session.execute(
            insert(row).from_select(
                ["document_id", "key", "tenant_id", "kind", "text", "number"], chosen.add_columns(*columns)
            )
        )


async def list_fields(session: AsyncSession, principal: Principal, base: KnowledgeBaseRow) -> list[MetadataField]:
    """Return the keys of the documents of a base that the caller may read, by key."""
    row = MetadataRow
    reader = await reader_of(session, principal, base.space_id)
    counts = (
        select(row.key, row.kind, row.text, func.count().label("documents"))
        .join(DocumentRow, DocumentRow.id == row.document_id)
        .where(DocumentRow.base_id == base.id, row.tenant_id == base.tenant_id, readable(reader))
        .group_by(row.key, row.kind, row.text)
        .subquery()
    )
    place = func.row_number().over(
        partition_by=(counts.c.key, counts.c.kind), order_by=(counts.c.documents.desc(), counts.c.text)
    )
    total = func.sum(counts.c.documents).over(partition_by=(counts.c.key, counts.c.kind))
    ranked = select(counts, place.label("place"), total.label("total")).subquery()
    query = select(ranked).where(ranked.c.place <= SHOWN_VALUES).order_by(ranked.c.key, ranked.c.kind, ranked.c.place)
    fields: dict[tuple[str, str], MetadataField] = {}
    for value in await session.execute(query.limit(MOST_FIELDS * SHOWN_VALUES)):
        field = fields.setdefault(
            (value.key, value.kind),
            MetadataField(key=value.key, kind=value.kind, documents=int(value.total), values=[]),
        )
        field.values.append(value_of(value.kind, value.text))
    return list(fields.values())[:MOST_FIELDS]


async def metadata_keys(
    session: AsyncSession, principal: Principal, space_of: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the keys of documents that the caller may read, by base; `space_of` has the space of each base."""
    readers = await readers_of(session, principal, set(space_of.values()))
    query = (
        select(DocumentRow.base_id, MetadataRow.key)
        .distinct()
        .join(DocumentRow, DocumentRow.id == MetadataRow.document_id)
        .join(KnowledgeBaseRow, KnowledgeBaseRow.id == DocumentRow.base_id)
        .where(
            DocumentRow.base_id.in_(space_of),
            MetadataRow.tenant_id == principal.tenant_id,
            of_spaces({space_id: readable(reader) for space_id, reader in readers.items()}),
        )
        .order_by(MetadataRow.key)
    )
    keys: dict[str, list[str]] = {}
    for base_id, key in await session.execute(query.limit(MOST_FIELDS * max(1, len(space_of)))):
        keys.setdefault(base_id, []).append(key)
    return keys
