"""Parsing and querying of external content for components: each call runs in a process that can be killed.

Cancelling a call ends its process. A call that exceeds its time or memory is a `ComponentError` of the step, which is
not retried.
"""

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, cast

from pydantic import JsonValue

from headgate.components.conditions import Operator, holds
from headgate.components.expressions import Matched, Mode
from headgate.components.isolated import (
    API_DESCRIPTION,
    ARCHIVE_ENTRIES,
    ARCHIVE_MEMBERS,
    CALENDAR_EVENTS,
    CONDITION,
    DATABASE_FILE,
    DOCUMENT,
    FEED,
    FIELD,
    IMAGE,
    MAILS,
    MARKS,
    MATCHES,
    PAGE,
    PICTURE,
    RECOGNISED,
    SCHEMA_PROBLEMS,
    SELECTION,
    SHEET,
    SITEMAP,
    TABLE_QUERY,
    XML_DATA,
)
from headgate.components.isolated.recognition import recognised_document
from headgate.components.readers.api.description import ApiDescription, description_of
from headgate.components.readers.document import Document, Unreadable, require_size
from headgate.components.readers.markup import Page
from headgate.components.readers.spreadsheet import Sheet
from headgate.foundation.errors import HeadgateError
from headgate.graph.manifest import NOTHING
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, HttpAnswer, RunContext, Table
from headgate.sdk.coerce import clean_text

DOCUMENT_SECONDS: Final = 60.0
QUERY_SECONDS: Final = 10.0
"""A query stops itself after half of it, with a better message, unless one operation takes longer."""
MEMBERS: Final = ("text", "data", "table")
"""Members of a document that can be requested."""
_READERS = frozenset(
    {DOCUMENT, PAGE, RECOGNISED, SHEET, FEED, SITEMAP, ARCHIVE_ENTRIES, ARCHIVE_MEMBERS, CALENDAR_EVENTS, IMAGE, MAILS}
    | {API_DESCRIPTION, MARKS, PICTURE}
)
_BOUNDS = frozenset({"code_timed_out", "code_failed", "code_too_big"})
"""Errors with which the sandbox stops a process."""


class Isolation(Protocol):
    """Calls functions in processes that can be killed, as `RunContext` does."""

    async def isolated(self, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float) -> JsonValue:
        """Call a function; see `RunContext.isolated`."""


class Runners(Protocol):
    """Processes in which Headgate's own functions work on content from outside."""

    def runner(self, tenant_id: str) -> Any:  # noqa: ANN401 - a context manager of the sandbox
        """Return the processes of a tenant."""


@dataclass(frozen=True, slots=True)
class TenantIsolation:
    """Calls functions for one tenant, outside runs."""

    runners: Runners
    tenant_id: str

    async def isolated(self, function: str, arguments: Mapping[str, JsonValue], *, timeout_seconds: float) -> JsonValue:
        """Call a function in a process that ends with the call."""
        with self.runners.runner(self.tenant_id) as runner:
            called = await runner.call_host("", function, arguments, manifest=NOTHING, timeout_seconds=timeout_seconds)
            return cast("JsonValue", called)


async def read_api(ctx: Isolation, content: bytes) -> ApiDescription:
    """Return the description of an API in a document. Raises `Unreadable` with the place and the reason."""
    arguments = {"content": base64.b64encode(content).decode()}
    read = await call_isolated(ctx, API_DESCRIPTION, arguments, "The description of the API")
    return description_of(cast("dict[str, Any]", read))


async def read_document(
    ctx: Isolation,
    content: bytes,
    *,
    name: str,
    media_type: str = "",
    delimiter: str = "",
    languages: str = "",
    members: Collection[str] = MEMBERS,
) -> Document:
    """Return the requested members of a document: text, data, table. Raises `Unreadable` or `ComponentError`.

    Pages without text are read by text recognition (OCR) in these languages; see `recognised_document`.
    """
    require_size(content, name)
    arguments: dict[str, JsonValue] = {
        "content": base64.b64encode(content).decode(),
        "name": name,
        "media_type": media_type,
        "delimiter": delimiter,
        "wanted": list(members),
    }
    read = cast("dict[str, Any]", await call_isolated(ctx, DOCUMENT, arguments, f"'{clipped(name, 80)}'"))
    table = read.get("table")
    document = Document(
        read.get("text", ""),
        read.get("data"),
        None if table is None else Table(**table),
        tuple(read["notes"]),
        tuple(read.get("unread", ())),
        tuple(read.get("pages", ())),
    )
    if not document.unread or not {"text", "data"} & set(members):
        return document
    return await recognised_document(
        document,
        partial(call_isolated, ctx),
        name=name,
        content=cast("str", arguments["content"]),
        languages=languages,
    )


async def draw_page(ctx: Isolation, content: bytes, *, name: str, page: int) -> bytes:
    """Return a page of a PDF as a WebP picture. Raises `Unreadable`."""
    require_size(content, name)
    arguments: dict[str, JsonValue] = {"content": base64.b64encode(content).decode(), "name": name, "page": page}
    drawn = await call_isolated(ctx, PICTURE, arguments, f"Page {page} of '{clipped(name, 80)}'", QUERY_SECONDS)
    return base64.b64decode(cast("str", drawn))


async def find_marks(
    ctx: Isolation, content: bytes, *, pages: Sequence[tuple[int, str]], places: Sequence[tuple[int, int, int]]
) -> list[dict[str, Any] | None]:
    """Return the `Marks` of parts of the text of a PDF; see `readers.drawing`. Raises `Unreadable`."""
    given = {"content": base64.b64encode(content).decode(), "pages": pages, "places": places}
    marks = await call_isolated(ctx, MARKS, cast("dict[str, JsonValue]", given), "The search for their places")
    return cast("list[dict[str, Any] | None]", marks)


async def read_sheet(ctx: RunContext, content: bytes, *, name: str, sheet: str, header_row: int) -> Sheet:
    """Return one sheet of a spreadsheet. Raises `Unreadable`."""
    require_size(content, name)
    arguments: dict[str, JsonValue] = {
        "content": base64.b64encode(content).decode(),
        "name": name,
        "sheet": sheet,
        "header_row": header_row,
    }
    read = cast("dict[str, Any]", await call_isolated(ctx, SHEET, arguments, f"'{clipped(name, 80)}'"))
    return Sheet(read["names"], read["name"], Table(**read["table"]))


async def read_page(ctx: RunContext, http_response: HttpAnswer, *, main_only: bool) -> Page:
    """Return the readable content of an HTTP response."""
    charset = http_response.headers.get("content-type", "").partition("charset=")[2].partition(";")[0].strip(" \"'")
    arguments: dict[str, JsonValue] = {
        "content": base64.b64encode(http_response.content).decode(),
        "url": http_response.url,
        "media_type": http_response.media_type,
        "charset": charset,
        "main_only": main_only,
    }
    return Page(**cast("dict[str, Any]", await call_isolated(ctx, PAGE, arguments, "URL: the page")))


async def query_tables(ctx: RunContext, tables: Sequence[Table], sql: str, *, most_rows: int) -> Table:
    """Return the result of one SELECT over tables. Raises `ComponentError`."""
    packed: JsonValue = [{"columns": list(table.columns), "rows": cast("JsonValue", table.rows)} for table in tables]
    arguments = {"tables": packed, "sql": sql, "most_rows": most_rows}
    result = await call_isolated(ctx, TABLE_QUERY, arguments, "TableQuery: the query", QUERY_SECONDS)
    return Table(**cast("dict[str, Any]", result))


async def read_database(ctx: RunContext, content: bytes, *, name: str, **arguments: JsonValue) -> Table:
    """Return rows of a database in a file: of one SELECT, or its tables. Arguments as of `isolated.databases`."""
    require_size(content, name)
    given: dict[str, JsonValue] = {"content": base64.b64encode(content).decode(), **arguments}
    seconds = float(str(arguments["seconds"]))
    task = f"{arguments['subject']}: the statement"
    return Table(**cast("dict[str, Any]", await call_isolated(ctx, DATABASE_FILE, given, task, seconds + 5)))


async def read_xml(ctx: RunContext, content: bytes) -> JsonValue:
    """Return an XML document as data. Raises `Unreadable`."""
    require_size(content, "The response")
    arguments: dict[str, JsonValue] = {"content": base64.b64encode(content).decode()}
    return await call_isolated(ctx, XML_DATA, arguments, "The reading of the response")


async def select_part(
    ctx: Isolation, expression: str, value: JsonValue, *, subject: str, location: str = "expression"
) -> JsonValue:
    """Return the part of a value that a JMESPath expression selects. Raises `ComponentError`."""
    arguments = {"expression": expression, "value": value, "subject": subject, "location": location}
    return await call_isolated(ctx, SELECTION, arguments, f"{subject}: the expression", QUERY_SECONDS)


async def select_field(ctx: RunContext, value: JsonValue, path: str, *, subject: str) -> JsonValue:
    """Return the part of a value, or of the JSON in a text, that a JMESPath expression selects; without one all of it.

    Raises `ComponentError`.
    """
    if not path.strip():
        return value
    return await call_isolated(
        ctx, FIELD, {"value": value, "path": path, "subject": subject}, f"{subject}: the field", QUERY_SECONDS
    )


async def find_matches(
    ctx: RunContext, text: str, pattern: str, *, mode: Mode, replacement: str, ignore_case: bool
) -> Matched:
    """Return the matches of a regular expression in a text. Raises `ComponentError`."""
    arguments: dict[str, JsonValue] = {
        "text": clean_text(text),
        "pattern": clean_text(pattern),
        "mode": mode,
        "replacement": clean_text(replacement),
        "ignore_case": ignore_case,
    }
    result = await call_isolated(ctx, MATCHES, arguments, "Regex: the expression", QUERY_SECONDS)
    return Matched(**cast("dict[str, Any]", result))


async def condition_holds(
    ctx: RunContext, value: JsonValue, operator: Operator, compare: str, *, ignore_case: bool
) -> bool:
    """Return whether a value satisfies a condition. Raises `ComponentError`. Only expressions need a process."""
    if operator != "matches":
        return holds(value, operator, compare, ignore_case=ignore_case)
    arguments = {"value": value, "operator": operator, "compare": clean_text(compare), "ignore_case": ignore_case}
    return bool(await call_isolated(ctx, CONDITION, arguments, "If: the expression", QUERY_SECONDS))


async def find_schema_problems(ctx: RunContext, value: JsonValue, schema: dict[str, JsonValue]) -> list[str]:
    """The violations of a JSON Schema with their paths; empty when the value is valid. Raises `ComponentError`."""
    arguments: dict[str, JsonValue] = {"value": value, "schema": schema}
    result = await call_isolated(ctx, SCHEMA_PROBLEMS, arguments, "The check against the schema", QUERY_SECONDS)
    return cast("list[str]", result)


async def call_isolated(
    ctx: Isolation, function: str, arguments: Mapping[str, JsonValue], task: str, seconds: float = DOCUMENT_SECONDS
) -> JsonValue:
    """Call one of the functions in `isolated.FUNCTIONS` and return its result.

    Args:
        ctx: The context of the step.
        function: The function.
        arguments: JSON.
        task: What is done to what, for the message when the process is stopped: `Regex: the expression`.
        seconds: Maximum time.

    Raises:
        Unreadable: A document cannot be read.
        ComponentError: The function refused its arguments, or was stopped.
    """
    try:
        result = cast("dict[str, Any]", await ctx.isolated(function, arguments, timeout_seconds=seconds))
    except HeadgateError as error:
        if error.code not in _BOUNDS:
            raise
        kind = Unreadable if function in _READERS else ComponentError
        reason = error.detail.removeprefix("the component ").removeprefix("the code ")
        raise kind(f"{task} was stopped: it {reason}", remedy="Split it, or use less input.") from error
    if "refused" in result:
        refused = result["refused"]
        kind = Unreadable if refused["unreadable"] else ComponentError
        raise kind(refused["detail"], remedy=refused["remedy"], **refused["extra"])
    return cast("JsonValue", result["value"])
