"""Reading and querying content from outside, for components: each call works in a process that can be killed.

A call that is cancelled ends its process. One that takes too much time or memory is a `ComponentError` of the step,
which is not tried again.
"""

import base64
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

from pydantic import JsonValue

from headgate.components.conditions import Operator, holds
from headgate.components.expressions import Matched, Mode
from headgate.components.isolated import (
    CONDITION,
    DOCUMENT,
    FIELD,
    MATCHES,
    PAGE,
    SCHEMA_PROBLEMS,
    SELECTION,
    TABLE_QUERY,
)
from headgate.components.readers.document import Document, Unreadable, require_size
from headgate.components.readers.markup import Page
from headgate.foundation.errors import HeadgateError
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, HttpAnswer, RunContext, Table
from headgate.sdk.coerce import clean_text

DOCUMENT_SECONDS: Final = 60.0
QUERY_SECONDS: Final = 10.0
"""A query ends itself after half of it, with a better message, unless one operation lasts longer."""
MEMBERS: Final = ("text", "data", "table")
"""What a document may be asked for."""
_BOUNDS = frozenset({"code_timed_out", "code_failed", "code_too_big"})
"""What the sandbox stops a process with."""


async def read_document(
    ctx: RunContext,
    content: bytes,
    *,
    name: str,
    media_type: str = "",
    delimiter: str = "",
    wanted: Collection[str] = MEMBERS,
) -> Document:
    """Text, data and table of a document; only those wanted are there. Raises `Unreadable` or `ComponentError`."""
    require_size(content, name)
    arguments: dict[str, JsonValue] = {
        "content": base64.b64encode(content).decode(),
        "name": name,
        "media_type": media_type,
        "delimiter": delimiter,
        "wanted": list(wanted),
    }
    read = cast("dict[str, Any]", await _call(ctx, DOCUMENT, arguments, f"'{clipped(name, 80)}'"))
    table = read.get("table")
    return Document(
        read.get("text", ""), read.get("data"), None if table is None else Table(**table), tuple(read["notes"])
    )


async def read_page(ctx: RunContext, answer: HttpAnswer, *, main_only: bool) -> Page:
    """What a web answer says to a reader."""
    charset = answer.headers.get("content-type", "").partition("charset=")[2].partition(";")[0].strip(" \"'")
    arguments: dict[str, JsonValue] = {
        "content": base64.b64encode(answer.content).decode(),
        "url": answer.url,
        "media_type": answer.media_type,
        "charset": charset,
        "main_only": main_only,
    }
    return Page(**cast("dict[str, Any]", await _call(ctx, PAGE, arguments, "URL: the page")))


async def query_tables(ctx: RunContext, tables: Sequence[Table], sql: str, *, most_rows: int) -> Table:
    """The result of one SELECT over tables. Raises `ComponentError`."""
    packed: JsonValue = [{"columns": list(table.columns), "rows": cast("JsonValue", table.rows)} for table in tables]
    arguments = {"tables": packed, "sql": sql, "most_rows": most_rows}
    return Table(
        **cast("dict[str, Any]", await _call(ctx, TABLE_QUERY, arguments, "TableQuery: the query", QUERY_SECONDS))
    )


async def select_part(
    ctx: RunContext, expression: str, value: JsonValue, *, who: str, where: str = "expression"
) -> JsonValue:
    """What a JMESPath expression picks out of a value. Raises `ComponentError`."""
    arguments = {"expression": expression, "value": value, "who": who, "where": where}
    return await _call(ctx, SELECTION, arguments, f"{who}: the expression", QUERY_SECONDS)


async def select_field(ctx: RunContext, value: JsonValue, path: str, *, who: str) -> JsonValue:
    """The part of a value, or of the JSON in a text, that a JMESPath expression names; without one all of it.

    Raises `ComponentError`.
    """
    if not path.strip():
        return value
    return await _call(ctx, FIELD, {"value": value, "path": path, "who": who}, f"{who}: the field", QUERY_SECONDS)


async def find_matches(
    ctx: RunContext, text: str, pattern: str, *, mode: Mode, replacement: str, ignore_case: bool
) -> Matched:
    """What a regular expression finds in a text. Raises `ComponentError`."""
    arguments: dict[str, JsonValue] = {
        "text": clean_text(text),
        "pattern": clean_text(pattern),
        "mode": mode,
        "replacement": clean_text(replacement),
        "ignore_case": ignore_case,
    }
    answer = await _call(ctx, MATCHES, arguments, "Regex: the expression", QUERY_SECONDS)
    return Matched(**cast("dict[str, Any]", answer))


async def condition_holds(
    ctx: RunContext, value: JsonValue, operator: Operator, compare: str, *, ignore_case: bool
) -> bool:
    """Whether a value passes. Raises `ComponentError`. Only expressions need a process; the rest is linear."""
    if operator != "matches":
        return holds(value, operator, compare, ignore_case=ignore_case)
    arguments = {"value": value, "operator": operator, "compare": clean_text(compare), "ignore_case": ignore_case}
    return bool(await _call(ctx, CONDITION, arguments, "If: the expression", QUERY_SECONDS))


async def find_schema_problems(ctx: RunContext, value: JsonValue, schema: dict[str, JsonValue]) -> list[str]:
    """How a value breaks a JSON Schema, each with its path; empty when it keeps it. Raises `ComponentError`."""
    arguments: dict[str, JsonValue] = {"value": value, "schema": schema}
    answer = await _call(ctx, SCHEMA_PROBLEMS, arguments, "The check against the schema", QUERY_SECONDS)
    return cast("list[str]", answer)


async def _call(
    ctx: RunContext, function: str, arguments: Mapping[str, JsonValue], what: str, seconds: float = DOCUMENT_SECONDS
) -> JsonValue:
    try:
        answer = cast("dict[str, Any]", await ctx.isolated(function, arguments, timeout_seconds=seconds))
    except HeadgateError as error:
        if error.code not in _BOUNDS:
            raise
        kind = Unreadable if function in {DOCUMENT, PAGE} else ComponentError
        reason = error.detail.removeprefix("the component ").removeprefix("the code ")
        raise kind(f"{what} was given up: it {reason}", remedy="Split it, or give less of it.") from error
    if "refused" in answer:
        refused = answer["refused"]
        kind = Unreadable if refused["unreadable"] else ComponentError
        raise kind(refused["detail"], remedy=refused["remedy"], **refused["extra"])
    return cast("JsonValue", answer["value"])
