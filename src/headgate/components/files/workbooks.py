"""Writes workbooks, XLSX and ODS, of tables. Blocking; call it in a thread."""

import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from pydantic import JsonValue

from headgate.components.readers.spreadsheet import ODS_MEDIA_TYPE, XLSX_MEDIA_TYPE
from headgate.foundation.extras import require_extra
from headgate.sdk import ComponentError, Table
from headgate.sdk.coerce import text_of

MOST_CELLS = 2_000_000
MOST_ROWS, MOST_COLUMNS = 1_048_575, 16_384
LONGEST_CELL = 32_767
"""Limits of the formats: rows without the header, columns, and characters of one cell."""
MEDIA_TYPES = {".xlsx": XLSX_MEDIA_TYPE, ".ods": ODS_MEDIA_TYPE}
_EXACT = 2**53
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")
_FORBIDDEN = re.compile(r"[\[\]:*?/\\\x00-\x1f\ufffe\uffff]")
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_EPOCH = date(1900, 3, 1)
"""Earlier dates are text: Excel counts a 29 February 1900."""


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table and the name of its sheet."""

    name: str
    table: Table


def workbook(tables: Sequence[NamedTable], extension: str, *, dates: bool = True) -> bytes:
    """Return a workbook with one sheet per table: bold header, numbers, booleans and dates with their types.

    Text is never a formula or a link. Nested values are JSON text.

    Args:
        tables: At least one.
        extension: `.xlsx` or `.ods`.
        dates: Whether text in the form of an ISO date becomes a date.

    Raises:
        ComponentError: A table exceeds a limit of the format.
        ExtraNotInstalled: The extra `sheets` is not installed; only for `.xlsx`.
    """
    sheets = [NamedTable(name, named.table) for name, named in zip(sheet_names(tables), tables, strict=True)]
    _require_bounds(sheets)
    return _xlsx(sheets, dates=dates) if extension == ".xlsx" else _ods(sheets, dates=dates)


def sheet_names(tables: Sequence[NamedTable]) -> list[str]:
    """Return names that both formats accept: not empty, at most 31 characters, unique regardless of case."""
    names: list[str] = []
    used: set[str] = set()
    for position, named in enumerate(tables, start=1):
        name = _FORBIDDEN.sub(" ", named.name).strip().strip("'")[:31].strip() or f"Sheet{position}"
        number, unique = 1, name
        while unique.lower() in used:
            number += 1
            unique = f"{name[: 28 - len(str(number))]} ({number})"
        used.add(unique.lower())
        names.append(unique)
    return names


def _require_bounds(sheets: Sequence[NamedTable]) -> None:
    if sum((len(named.table.rows) + 1) * len(named.table.columns) for named in sheets) > MOST_CELLS:
        raise ComponentError(f"The workbook has more than {MOST_CELLS} cells.", remedy="Write fewer rows, or a CSV.")
    for named in sheets:
        if len(named.table.rows) > MOST_ROWS or len(named.table.columns) > MOST_COLUMNS:
            raise ComponentError(
                f"Sheet '{named.name}' has {len(named.table.rows)} rows and {len(named.table.columns)} columns; "
                f"the limits are {MOST_ROWS} and {MOST_COLUMNS}.",
                remedy="Split the table.",
            )


def _cell(value: JsonValue, *, dates: bool) -> bool | float | str | date | None:
    """Return the value as the formats store it: datetimes without an offset; everything else is text."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _EXACT else str(value)
    if isinstance(value, str) and dates and _ISO.fullmatch(value):
        return _date(value)
    text = text_of(value)
    if len(text) > LONGEST_CELL:
        raise ComponentError(
            f"A cell has {len(text)} characters; the limit is {LONGEST_CELL}.",
            remedy="Shorten the text, or save the table as CSV.",
        )
    return _NOT_XML.sub("\ufffd", text)


def _date(text: str) -> str | date:
    try:
        value = date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError:
        return text
    return value if (value.date() if isinstance(value, datetime) else value) >= _EPOCH else text


def _xlsx(sheets: Sequence[NamedTable], *, dates: bool) -> bytes:
    require_extra("sheets", "Writing .xlsx")
    import xlsxwriter  # noqa: PLC0415 - an optional library

    stream = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(stream, options) as book:
        bold = book.add_format({"bold": True})
        formats = {
            date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        }
        for named in sheets:
            sheet = book.add_worksheet(named.name)
            for column, title in enumerate(named.table.columns):
                sheet.write_string(0, column, str(_cell(title, dates=False)), bold)
            for number, row in enumerate(named.table.rows, start=1):
                for column, value in enumerate(row):
                    _write(sheet, number, column, _cell(value, dates=dates), formats)
            sheet.freeze_panes(1, 0)
            sheet.autofit()
    return stream.getvalue()


def _write(sheet: Any, row: int, column: int, value: bool | float | str | date | None, formats: Any) -> None:  # noqa: ANN401, FBT001 - a lazily imported type
    match value:
        case None:
            return
        case bool():
            sheet.write_boolean(row, column, value)
        case int() | float():
            sheet.write_number(row, column, value)
        case date():
            sheet.write_datetime(row, column, value, formats[type(value)])
        case _:
            sheet.write_string(row, column, value)


_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{uri}:1.0"'
    for name, uri in {
        "office": "office", "table": "table", "text": "text", "style": "style", "number": "datastyle",
        "fo": "xsl-fo-compatible",
    }.items()
)  # fmt: skip
_ODS_BEGIN = (
    f'<?xml version="1.0" encoding="UTF-8"?>\n<office:document-content {_SPACES} office:version="1.3">'
    "<office:automatic-styles>"
    '<number:date-style style:name="D1"><number:year number:style="long"/><number:text>-</number:text>'
    '<number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/>'
    "</number:date-style>"
    '<number:date-style style:name="D2"><number:year number:style="long"/><number:text>-</number:text>'
    '<number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/>'
    '<number:text> </number:text><number:hours number:style="long"/><number:text>:</number:text>'
    '<number:minutes number:style="long"/><number:text>:</number:text><number:seconds number:style="long"/>'
    "</number:date-style>"
    '<style:style style:name="date" style:family="table-cell" style:data-style-name="D1"/>'
    '<style:style style:name="time" style:family="table-cell" style:data-style-name="D2"/>'
    '<style:style style:name="head" style:family="table-cell"><style:text-properties fo:font-weight="bold"/>'
    "</style:style></office:automatic-styles><office:body><office:spreadsheet>"
)
_ODS_END = "</office:spreadsheet></office:body></office:document-content>"
_ODS_MANIFEST = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.3">'
    f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{ODS_MEDIA_TYPE}"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
)


def _ods(sheets: Sequence[NamedTable], *, dates: bool) -> bytes:
    """Return an OpenDocument spreadsheet (OASIS ODF 1.3, parts 2 and 3)."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("mimetype", ODS_MEDIA_TYPE, zipfile.ZIP_STORED)  # first and not compressed: part 2, 3.3
        package.writestr("META-INF/manifest.xml", _ODS_MANIFEST)
        with package.open("content.xml", "w") as content:
            content.write(_ODS_BEGIN.encode())
            for named in sheets:
                content.write(f"<table:table table:name={quoteattr(named.name)}>".encode())
                heads = [_ods_text(str(_cell(title, dates=False)), "head") for title in named.table.columns]
                content.write(_ods_row(heads).encode())
                for row in named.table.rows:
                    content.write(_ods_row([_ods_cell(_cell(value, dates=dates)) for value in row]).encode())
                content.write(b"</table:table>")
            content.write(_ODS_END.encode())
    return stream.getvalue()


def _ods_row(cells: Sequence[str]) -> str:
    return f"<table:table-row>{''.join(cells) or '<table:table-cell/>'}</table:table-row>"


def _ods_cell(value: bool | float | str | date | None) -> str:  # noqa: FBT001 - the value of a cell
    match value:
        case None:
            return "<table:table-cell/>"
        case bool():
            kind, attribute = "boolean", f'office:boolean-value="{str(value).lower()}"'
        case int() | float():
            kind, attribute = "float", f'office:value="{value}"'
        case date():
            style = "time" if isinstance(value, datetime) else "date"
            kind = "date"
            attribute = f'table:style-name="{style}" office:date-value="{value.isoformat()}"'
        case _:
            return _ods_text(value)
    return f'<table:table-cell office:value-type="{kind}" {attribute}/>'


def _ods_text(text: str, style: str = "") -> str:
    styled = f' table:style-name="{style}"' if style else ""
    paragraphs = "".join(f"<text:p>{_spaced(line)}</text:p>" for line in text.split("\n"))
    return f'<table:table-cell{styled} office:value-type="string">{paragraphs}</table:table-cell>'


def _spaced(line: str) -> str:
    """Return escaped text whose repeated and outer spaces survive: ODF collapses white space."""
    parts = re.split(r"( {2,}|^ | $|\t)", escape(line.replace("\r", "")))
    return "".join(
        "<text:tab/>" if part == "\t" else f'<text:s text:c="{len(part)}"/>' if index % 2 else part
        for index, part in enumerate(parts)
    )
