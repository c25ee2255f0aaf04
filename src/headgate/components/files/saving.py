"""The component that writes a result to a file in the format of its extension."""

import csv
import html
import io
import json
from collections.abc import Callable, Iterable, Sequence
from mimetypes import guess_type
from pathlib import PurePosixPath

from pydantic import JsonValue

from headgate.components.data.json_text import parse_json
from headgate.components.files.file_names import safe_name
from headgate.components.files.workbooks import MEDIA_TYPES, NamedTable, workbook
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.names import listed
from headgate.sdk import Component, ComponentError, Data, File, Table, field, output
from headgate.sdk.coerce import data_of, markdown_table, table_of, text_of

Content = str | Table | Data
_PAGE = """<!doctype html>
<html lang="und">
<head><meta charset="utf-8"><title>{title}</title>
<style>body{{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;line-height:1.5}}
pre{{white-space:pre-wrap;font:inherit}}td,th{{border:1px solid #bbb;padding:.3rem .6rem;text-align:left}}
table{{border-collapse:collapse}}</style></head>
<body>
{body}
</body>
</html>
"""
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class SaveFile(Component):
    """Saves a result as a file to download: text, Markdown, CSV, Excel, JSON or HTML by the name's extension."""

    label = "Save file"
    category = "output"
    icon = "file-down"
    effect = True
    keywords = (
        "write", "export", "download", "store", "disk", "document", "report", "csv", "json", "markdown", "html",
        "txt", "spreadsheet", "excel", "artifact", "output file", "create file", "archive",
    )  # fmt: skip

    content: str | Table | Data = field(label="Content", help="Text, a table or data to save.", main=True)
    name: str = field(
        default="result.txt",
        label="File name",
        help="Name with extension: .txt, .md, .csv, .xlsx, .ods, .json or .html; text may have any extension.",
        port=False,
        max_length=1000,
    )
    trusted_html: bool = field(
        default=False,
        label="Trusted HTML",
        help="For .html: write the text as HTML without escaping. Only for sources you trust.",
        advanced=True,
    )
    spreadsheet_safe: bool = field(
        default=True,
        label="Safe for spreadsheets",
        help="For .csv: mark the encoding and put a ' before text that a spreadsheet would evaluate as a formula.",
        advanced=True,
    )

    @output(help="The saved file.")
    async def file(self) -> File:
        """Render off the event loop, then store."""
        name = safe_name(self.name)
        if name != self.name:
            self.ctx.log("The file name was changed to a safe one.", asked=self.name, saved=name)
        content = await run_in_flow_thread(self._rendered, name)
        await self.ctx.check_cancelled()
        return await self.ctx.files.save(name, content, _media_type(name))

    def _rendered(self, name: str) -> bytes:
        extension = PurePosixPath(name).suffix.lower()
        if extension == ".html" and self.trusted_html and isinstance(self.content, str):
            return self.content.encode()
        if extension == ".csv" and not isinstance(self.content, str):
            text = to_csv(_as_table(self.content), spreadsheet_safe=self.spreadsheet_safe)
            return text.encode("utf-8-sig" if self.spreadsheet_safe else "utf-8")
        if extension in MEDIA_TYPES:
            content = self.content
            if isinstance(content, str):
                content = table_of(parse_json(content, subject="SaveFile"))
            return workbook([NamedTable("", _as_table(content))], extension)
        render = _RENDERERS.get(extension)
        if render is None and not isinstance(self.content, str):
            raise ComponentError(
                f"SaveFile: data and tables cannot be written as '{extension or name}'.",
                remedy=f"Use a name with one of these extensions: {listed(_EXTENSIONS)}.",
                field="name",
            )
        return (render(self.content, name) if render else text_of(self.content)).encode()


def to_csv(table: Table, *, spreadsheet_safe: bool = True) -> str:
    """Return RFC 4180 text with a header; nested values as JSON, null as empty.

    With `spreadsheet_safe`, text that begins like a formula gets a leading apostrophe (OWASP, CSV injection).
    """
    return csv_lines((table.columns, *table.rows), spreadsheet_safe=spreadsheet_safe)


def csv_lines(rows: Iterable[Sequence[JsonValue]], *, spreadsheet_safe: bool = True) -> str:
    """Return rows as lines of `to_csv`."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    for row in rows:
        writer.writerow([_csv_cell(value, safe=spreadsheet_safe) for value in row])
    return stream.getvalue()


def _csv_cell(value: Data, *, safe: bool) -> str | float | None:
    if isinstance(value, str):
        return f"'{value}" if safe and value.startswith(_FORMULA_STARTS) else value
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False)
    return value


def _as_table(content: Content) -> Table:
    """Return rows of a value that has them: one object is one row, a list of plain values one column."""
    if isinstance(content, Table):
        return content
    data: JsonValue = [content] if isinstance(content, dict) else data_of(content)
    if isinstance(data, list) and not any(isinstance(item, dict) for item in data):
        return Table(columns=["value"], rows=[[item] for item in data])
    return table_of(data)


def _is_rows(content: Content) -> bool:
    return isinstance(content, list) and bool(content) and all(isinstance(item, dict) for item in content)


def markdown_of(content: Content) -> str:
    """Return text unchanged, rows as a table, other data as a block of JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, Table) or _is_rows(content):
        return markdown_table(_as_table(content)) + "\n"
    return f"```json\n{text_of(content)}\n```\n"


def _markdown(content: Content, _name: str) -> str:
    return markdown_of(content)


def _json(content: Content, _name: str) -> str:
    return content if isinstance(content, str) else text_of(data_of(content)) + "\n"


def _html(content: Content, name: str) -> str:
    if isinstance(content, Table) or _is_rows(content):
        body = _html_table(_as_table(content))
    else:
        body = f"<pre>{html.escape(text_of(content))}</pre>"
    return _PAGE.format(title=html.escape(name), body=body)


def _html_table(table: Table) -> str:
    def row(cells: list[Data], tag: str) -> str:
        texts = ["" if cell is None else cell if isinstance(cell, str) else text_of(cell) for cell in cells]
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in texts) + "</tr>"

    lines = [row(list(table.columns), "th"), *(row(cells, "td") for cells in table.rows)]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _text(content: Content, _name: str) -> str:
    return text_of(content)


def _media_type(name: str) -> str:
    media_types = {
        ".md": "text/markdown",
        ".csv": "text/csv",
        ".json": "application/json",
        ".txt": "text/plain",
    } | MEDIA_TYPES
    return media_types.get(PurePosixPath(name).suffix.lower()) or guess_type(name)[0] or "text/plain"


_RENDERERS: dict[str, Callable[[Content, str], str]] = {
    ".txt": _text,
    "": _text,
    ".md": _markdown,
    ".json": _json,
    ".html": _html,
}
_EXTENSIONS = sorted({*_RENDERERS, *MEDIA_TYPES, ".csv"})
