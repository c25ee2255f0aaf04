"""Rows of a query as a CSV file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from headgate.components.files.saving import csv_lines
from headgate.components.sql.statements import selected_rows
from headgate.sdk import ComponentError

if TYPE_CHECKING:
    import sqlalchemy as sa

MOST_CSV_BYTES = 64_000_000


def query_csv(database: "sa.Connection", sql: str, values: Mapping[str, JsonValue]) -> bytes:
    """Return the rows of one SELECT, written as they arrive. Raises `ComponentError` for more than `MOST_CSV_BYTES`."""
    with selected_rows(database, sql, values) as (columns, batches):
        content = bytearray(csv_lines([columns]).encode())
        for batch in batches:
            content += csv_lines(batch).encode()
            if len(content) > MOST_CSV_BYTES:
                raise ComponentError(
                    f"SqlQuery: the CSV file is larger than {MOST_CSV_BYTES // 1_000_000} MB.",
                    remedy="Select fewer rows or columns.",
                    field="sql",
                )
    return bytes(content)
