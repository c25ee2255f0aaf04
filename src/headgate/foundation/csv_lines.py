"""Lines of CSV files (RFC 4180) for spreadsheets."""

import csv
import io
from collections.abc import Iterable

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_line(cells: Iterable[object]) -> bytes:
    """Return a line in UTF-8. Text that a spreadsheet would read as a formula gets a leading apostrophe."""
    buffer = io.StringIO()
    csv.writer(buffer).writerow([_defused(cell) for cell in cells])
    return buffer.getvalue().encode()


def _defused(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
