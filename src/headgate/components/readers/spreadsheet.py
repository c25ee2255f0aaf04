"""Reads spreadsheets: XLSX, XLSM, XLSB, XLS and ODS."""

import io
import math
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from pydantic import JsonValue

from headgate.components.readers.delimited import MOST_COLUMNS, MOST_ROWS, column_names
from headgate.components.readers.document import Document, Unreadable, bounded
from headgate.components.readers.package import require_package
from headgate.foundation.extras import require_extra
from headgate.graph.names import clipped, did_you_mean, listed
from headgate.sdk import Table
from headgate.sdk.coerce import clean_text, data_of, markdown_table

XLSX_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODS_MEDIA_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
SHEET_MEDIA_TYPES = (XLSX_MEDIA_TYPE, ODS_MEDIA_TYPE, "application/vnd.ms-excel")
MOST_SHEETS = 200
_EXACT = 2**53
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"

Cell = bool | int | float | str | date | datetime | time | timedelta


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet of a spreadsheet."""

    names: list[str]
    """Names of all sheets, in order."""
    name: str
    table: Table


def read_sheet(content: bytes, *, name: str, sheet: str = "", header_row: int = 1) -> Sheet:
    """Return one sheet of a spreadsheet as a table.

    Numbers, booleans and text keep their types; dates and times are ISO 8601 text; empty cells and errors are null.

    Args:
        content: The file.
        name: Its name, for errors.
        sheet: Name of the sheet, or its position from 1; empty is the first.
        header_row: Row with the column names, from 1; 0 when there is none.

    Raises:
        Unreadable: It is no spreadsheet, is protected, exceeds a limit, or has no such sheet.
        ExtraNotInstalled: The extra `sheets` is not installed.
    """
    with closing(_opened(content, name)) as workbook:
        names = list(workbook.sheet_names)
        title = _sheet_name(names, sheet, name)
        return Sheet(names, title, _table(workbook, title, name, header_row))


def read_workbook(content: bytes, *, name: str) -> Document:
    """Return all sheets: the first as table, all as Markdown text, and as data from sheet name to rows.

    Raises like `read_sheet`.
    """
    with closing(_opened(content, name)) as workbook:
        tables = {title: _table(workbook, title, name, 1) for title in workbook.sheet_names}
    if sum(len(table.rows) for table in tables.values()) > MOST_ROWS:
        raise Unreadable(f"The sheets of '{name}' have more than {MOST_ROWS} rows.", remedy="Use ReadSpreadsheet.")
    texts = [f"## {title}\n\n{markdown_table(table)}" for title, table in tables.items() if table.columns]
    data: JsonValue = {title: data_of(table) for title, table in tables.items()}
    return Document(bounded("\n\n".join(texts), name), data, next(iter(tables.values()), None))


def _opened(content: bytes, name: str) -> Any:  # noqa: ANN401 - a lazily imported type
    if not content.startswith(_OLD_EXCEL):
        require_package(content, name, kind="a spreadsheet", remedy="Save it as .xlsx or .ods.")
    require_extra("sheets", f"Reading '{name}'")
    import python_calamine  # noqa: PLC0415 - an optional library

    try:
        workbook = python_calamine.load_workbook(io.BytesIO(content))
    except python_calamine.PasswordError as error:
        raise Unreadable(f"'{name}' is protected with a password.", remedy="Save it without a password.") from error
    except Exception as error:  # the error of a damaged file depends on where it is damaged
        raise _damaged(name, error) from error
    if len(workbook.sheet_names) > MOST_SHEETS:
        raise Unreadable(f"'{name}' has more than {MOST_SHEETS} sheets.", remedy="Split the file.")
    return workbook


def _sheet_name(names: list[str], sheet: str, name: str) -> str:
    if not names:
        raise Unreadable(f"'{name}' has no sheets.")
    if not sheet.strip():
        return names[0]
    if sheet in names:
        return sheet
    if sheet.strip().isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise Unreadable(
        f"'{name}' has no sheet '{clipped(sheet, 60)}'{did_you_mean(sheet, names) or '.'}",
        remedy=f"Its sheets are: {listed(names, most=20)}.",
    )


def _table(workbook: Any, title: str, name: str, header_row: int) -> Table:  # noqa: ANN401
    try:
        sheet = workbook.get_sheet_by_name(title)
    except Exception as error:
        raise _damaged(name, error) from error
    height, width = sheet.total_height, sheet.total_width
    if height > MOST_ROWS + header_row or width > MOST_COLUMNS:
        raise Unreadable(
            f"Sheet '{clipped(title, 60)}' of '{name}' has {height} rows and {width} columns; the limits are "
            f"{MOST_ROWS} and {MOST_COLUMNS}.",
            remedy="Remove rows and columns outside the data.",
        )
    return table_of_rows(sheet.to_python(skip_empty_area=False), header_row=header_row)


def table_of_rows(rows: Iterable[list[Cell]], *, header_row: int) -> Table:
    """Return a table of rows of cells; rows before the header row, and empty rows after it, are skipped."""
    remaining: Iterator[list[Cell]] = iter(rows)
    for _ in range(header_row - 1):
        next(remaining, None)
    header = next(remaining, []) if header_row else []
    body = [[_value(cell) for cell in row] for row in remaining]
    body = [row for row in body if any(value is not None for value in row)]
    titles = [_title(cell) for cell in header]
    width = max([_filled(titles), *(_filled(row) for row in body)], default=0)
    columns = column_names((titles + [""] * width)[:width])
    return Table(columns=columns, rows=[(row + [None] * width)[:width] for row in body])


def _filled(row: list[Any]) -> int:
    return max((position for position, value in enumerate(row, start=1) if value not in (None, "")), default=0)


def _title(cell: Cell) -> str:
    value = _value(cell)
    return "" if value is None else str(value)


def _value(cell: Cell) -> JsonValue:
    if isinstance(cell, str):
        return clean_text(cell) if cell else None
    if isinstance(cell, float):
        if not math.isfinite(cell):
            return None
        return int(cell) if cell.is_integer() and abs(cell) < _EXACT else cell
    if isinstance(cell, bool | int):
        return cell
    return str(cell) if isinstance(cell, timedelta) else cell.isoformat()


def _damaged(name: str, error: Exception) -> Unreadable:
    return Unreadable(
        f"'{name}' is not a readable spreadsheet: {clipped(str(error), 200)}.", remedy="Save it again as .xlsx or .ods."
    )
