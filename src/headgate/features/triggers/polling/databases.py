"""New rows of a query: those whose cursor column is not below that of the last rows, and that were not handled."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from pydantic import JsonValue

from headgate.components.sql.components import SqlQuery
from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.hooks.bodies import text_of
from headgate.features.triggers.poll_settings import RowsConfig
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.polling.cursor import MOST_SEEN, Cursor, mark_of
from headgate.features.triggers.polling.results import Item, PollResult
from headgate.graph.connection_reference import ConnectionReference
from headgate.sdk import SQL_KINDS, Table

# ruff: noqa: S608 - the query is that of the trigger; the database refuses anything but one that reads
MOST_EQUAL = 1_000
"""Rows with one value of the cursor column."""
_NAME = re.compile(r"[^\x00\"`]{1,200}")


async def read_rows(ctx: PollContext, config: RowsConfig, cursor: Cursor | None) -> PollResult:
    """Return new rows, also those that became visible after rows with a higher value.

    The `look_back` highest rows that were handled are read again, with all that have the same value as the lowest of
    them; their marks say which are not new.
    """
    before = Cursor() if cursor is None else cursor
    if cursor is None and config.first == "now":
        return PollResult((), await _last(ctx, config))
    limit = config.most + len(before.seen)
    where = "" if before.value is None else "WHERE {column} >= :cursor "
    order = f"{where}ORDER BY {{column}} {{most {limit + 1}}}"
    parameters: dict[str, JsonValue] = {} if before.value is None else {"cursor": before.value}
    records = (await _table(ctx, config, f"SELECT * FROM ({{query}}\n) AS polled {order}", parameters)).records()
    keys = [_key(config, record) for record in records]
    handled = set(before.seen)
    unhandled = [index for index, key in enumerate(keys[:limit]) if mark_of(key) not in handled]
    new = unhandled[: config.most]
    if not new:
        if len(records) > limit:
            raise _too_many(config, limit)
        return PollResult((), before)
    items = tuple(Item(keys[index], cast("JsonValue", records[index])) for index in new)
    more = len(unhandled) > len(new) or len(records) > limit
    left = unhandled[len(new)] if len(unhandled) > len(new) else limit
    after = _after(config, before, [record[config.cursor_column] for record in records[:limit]], keys, left=left)
    return PollResult(items, after, more=more)


def _after(
    config: RowsConfig, before: Cursor, values: Sequence[JsonValue], keys: Sequence[str], *, left: int
) -> Cursor:
    """Return the cursor after a poll. `left` is the position of the first row that is still to be handled. Pure."""
    listed = [mark_of(key) for key in keys[: len(values)]]
    done = [index for index in range(len(values)) if index < left or listed[index] in before.seen]
    lowest = min(done[max(0, len(done) - 1 - config.look_back)], left)
    value = values[min(lowest, len(values) - 1)]
    first = values.index(value)
    gone = [mark for mark in before.seen if mark not in set(listed)]  # rows that are not there now may come back
    marks = [listed[index] for index in reversed(done) if index >= first]
    if len(marks) > MOST_EQUAL + config.look_back:
        raise _too_many(config, MOST_EQUAL)
    return replace(before, value=value, seen=tuple(dict.fromkeys([*marks, *gone]))[:MOST_SEEN])


async def _last(ctx: PollContext, config: RowsConfig) -> Cursor:
    """Return the cursor after all rows that there are."""
    most = MOST_EQUAL + config.look_back
    newest = f"SELECT {{column}} FROM ({{query}}\n) AS every ORDER BY {{column}} DESC {{most {config.look_back + 1}}}"
    lowest = f"SELECT MIN({{column}}) FROM ({newest}) AS newest"
    sql = (
        f"SELECT * FROM ({{query}}\n) AS polled WHERE {{column}} >= ({lowest}) ORDER BY {{column}} {{most {most + 1}}}"
    )
    records = (await _table(ctx, config, sql, {})).records()
    if len(records) > most:
        raise _too_many(config, MOST_EQUAL)
    value = records[0][config.cursor_column] if records else None
    return Cursor(tuple(mark_of(_key(config, record)) for record in records), value)


def _too_many(config: RowsConfig, most: int) -> TriggerInvalid:
    return TriggerInvalid(
        f"More than {most:,} rows have one value of the cursor column '{config.cursor_column}'.",
        remedy="Choose another column.",
    )


async def _table(ctx: PollContext, config: RowsConfig, sql: str, parameters: dict[str, JsonValue]) -> Table:
    """Run a query around that of the trigger; see `_completed`."""
    reference = ConnectionReference(config.connection, SQL_KINDS)
    connection = await ctx.connection(reference)
    if not _NAME.fullmatch(config.cursor_column):
        raise TriggerInvalid("The cursor column has a quotation mark.", remedy="Name the column differently.")
    complete = _completed(sql, config, connection.text("dialect"))
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


def _completed(sql: str, config: RowsConfig, dialect: str) -> str:
    """Return a query with {query}, {column} and {most N} as the database writes them."""
    quote = "`" if dialect in {"mysql", "mariadb"} else '"'
    most = r"OFFSET 0 ROWS FETCH NEXT \1 ROWS ONLY" if dialect == "sqlserver" else r"LIMIT \1"
    limited = re.sub(r"\{most (\d+)\}", most, sql).replace("{column}", f"{quote}{config.cursor_column}{quote}")
    return limited.replace("{query}", config.sql.strip().rstrip(";").rstrip())
