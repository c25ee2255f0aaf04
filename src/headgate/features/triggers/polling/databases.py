"""New rows of a query: those whose cursor column is not below the last value."""

import re
from typing import cast

from pydantic import JsonValue

from headgate.components.sql.components import SqlQuery
from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.hooks.bodies import text_of
from headgate.features.triggers.poll_settings import RowsConfig
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.polling.cursor import Cursor, mark_of
from headgate.features.triggers.polling.results import Item, PollResult
from headgate.graph.connection_reference import ConnectionReference
from headgate.sdk import Table

# ruff: noqa: S608 - the query is that of the trigger; the database refuses anything but one that reads
MOST_EQUAL = 1_000
"""Rows with one value of the cursor column."""
_NAME = re.compile(r"[^\x00\"`]{1,200}")


async def read_rows(ctx: PollContext, config: RowsConfig, cursor: Cursor | None) -> PollResult:
    """Return the rows after the last value. Rows with the last value are read again: one may be new."""
    before = Cursor() if cursor is None else cursor
    if cursor is None and config.first == "now":
        return PollResult((), await _last(ctx, config))
    limit = config.most + len(before.seen)
    where = "" if before.value is None else "WHERE {column} >= :cursor "
    order = f"{where}ORDER BY {{column}} LIMIT {limit + 1}"
    parameters: dict[str, JsonValue] = {} if before.value is None else {"cursor": before.value}
    records = (await _table(ctx, config, f"SELECT * FROM ({{query}}\n) AS polled {order}", parameters)).records()
    keys = [_key(config, record) for record in records]
    handled = set(before.seen)
    new = [index for index, key in enumerate(keys[:limit]) if mark_of(key) not in handled][: config.most]
    if not new:
        if len(records) > limit:
            raise TriggerInvalid(
                f"More than {limit} rows have one value of the cursor column.", remedy="Choose another."
            )
        return PollResult((), before)
    value = records[new[-1]][config.cursor_column]
    same = [mark_of(keys[index]) for index in range(new[-1] + 1) if records[index][config.cursor_column] == value]
    same_before = before.seen if value == before.value else ()
    seen = tuple(dict.fromkeys([*same, *same_before]))
    if len(seen) > MOST_EQUAL:
        raise TriggerInvalid(
            f"More than {MOST_EQUAL:,} rows have one value of the cursor column.", remedy="Choose another."
        )
    items = tuple(Item(keys[index], cast("JsonValue", records[index])) for index in new)
    return PollResult(items, Cursor(seen, value), more=len(records) > new[-1] + 1)


async def _last(ctx: PollContext, config: RowsConfig) -> Cursor:
    """Return the cursor after all rows that there are."""
    column = "{column}"
    last = f"SELECT MAX({column}) FROM ({{query}}\n) AS highest"
    sql = f"SELECT * FROM ({{query}}\n) AS polled WHERE {column} = ({last}) LIMIT {MOST_EQUAL + 1}"
    records = (await _table(ctx, config, sql, {})).records()
    if len(records) > MOST_EQUAL:
        raise TriggerInvalid(
            f"More than {MOST_EQUAL:,} rows have one value of the cursor column.", remedy="Choose another."
        )
    value = records[0][config.cursor_column] if records else None
    return Cursor(tuple(mark_of(_key(config, record)) for record in records), value)


async def _table(ctx: PollContext, config: RowsConfig, sql: str, parameters: dict[str, JsonValue]) -> Table:
    """Run a query around that of the trigger."""
    reference = ConnectionReference(config.connection, ("sql",))
    connection = await ctx.connection(reference)
    if not _NAME.fullmatch(config.cursor_column):
        raise TriggerInvalid("The cursor column has a quotation mark.", remedy="Name the column differently.")
    quote = '"' if connection.text("dialect") == "postgresql" else "`"
    column = f"{quote}{config.cursor_column}{quote}"
    query = config.sql.strip().rstrip(";").rstrip()
    complete = sql.replace("{column}", column).replace("{query}", query)
    reader = ctx.reader(SqlQuery, database=reference, sql=complete, parameters=parameters)
    table: Table = await reader.give_table()
    if table.rows and config.cursor_column not in table.columns:
        raise TriggerInvalid(f"The query has no column '{config.cursor_column}'.", remedy="Correct the cursor column.")
    return table


def _key(config: RowsConfig, record: dict[str, JsonValue]) -> str:
    column = config.key_column or config.cursor_column
    if column not in record:
        raise TriggerInvalid(f"The query has no column '{column}'.", remedy="Correct the key column.")
    if record[config.cursor_column] is None or record[column] is None:
        raise TriggerInvalid("A row has no value in the cursor or key column.", remedy="Exclude it in the query.")
    return text_of(record[column])
