"""Rows of a query, read with the component that flows use: the database refuses anything but one that reads."""

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pydantic import JsonValue

from headgate.components.sql.components import SqlQuery
from headgate.features.knowledge_sources.errors import SourceInvalid
from headgate.features.knowledge_sources.reading.protocol import LONGEST_KEY, Content, Entry, Listing, SourceContext
from headgate.features.knowledge_sources.repository import Known
from headgate.features.knowledge_sources.schemas import MOST_DOCUMENTS, SqlSource
from headgate.graph.connection_reference import ConnectionReference
from headgate.sdk import Table
from headgate.sdk.coerce import text_of


@asynccontextmanager
async def open_rows(ctx: SourceContext, config: SqlSource, known: Mapping[str, Known]) -> AsyncIterator[Listing]:
    """Run the query. Raises what the database refuses, and `SourceInvalid` for rows that have no key of their own."""
    del known
    reference = ConnectionReference(config.connection, ("sql",))
    query = ctx.reader(SqlQuery, database=reference, sql=config.sql, most_rows=MOST_DOCUMENTS)
    table: Table = await query.give_table()
    if table.rows and config.key_column not in table.columns:
        raise SourceInvalid(f"The query has no column '{config.key_column}'.", remedy="Correct the key column.")
    yield Rows(config.key_column, table.records())


@dataclass(slots=True)
class Rows:
    """The rows of a query."""

    key_column: str
    records: list[dict[str, JsonValue]]
    complete: bool = True
    notes: list[str] = field(default_factory=list)

    async def entries(self) -> AsyncIterator[Entry]:
        """Yield the rows."""
        seen: set[str] = set()
        for number, record in enumerate(self.records, start=1):
            key = "" if record[self.key_column] is None else text_of(record[self.key_column])
            if not key or len(key) > LONGEST_KEY or key in seen:
                self.complete = False
                self.notes.append(
                    f"Row {number} was not read: its key is missing, used by another row, or longer than "
                    f"{LONGEST_KEY} characters."
                )
                continue
            seen.add(key)
            yield _entry(key, document_of(record))


def document_of(record: Mapping[str, JsonValue]) -> bytes:
    """Return a row as text: a line for each column that has a value."""
    lines = (f"{column}: {text_of(value)}" for column, value in record.items() if value is not None)
    return "\n\n".join(lines).encode()


def _entry(key: str, content: bytes) -> Entry:
    async def fetch(known: Known | None) -> Content:
        del known
        return Content(content, "text/markdown", "row.md")

    return Entry(key, key, hashlib.sha256(content).hexdigest(), fetch)
