"""Reads CSV and other delimited text."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence

from pydantic import JsonValue

from headgate.components.readers.document import Unreadable
from headgate.sdk import Table

MOST_ROWS = 200_000
MOST_COLUMNS = 2_000
_SAMPLE = 32_768
_DELIMITERS = (",", ";", "\t", "|")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.(\d{1,15}))?")


def read_delimited(text: str, *, name: str, delimiter: str = "") -> Table:
    """Return a table of delimited text. The first row contains the column names unless it has numbers or blanks.

    A column is numeric when every value is written as a number that writes back the same way, or all have equally many
    decimals: prices are numbers, `007` and versions such as `1.10` stay text. Raises `Unreadable`.
    """
    separator = delimiter or sniffed(text[:_SAMPLE])
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if row and any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) > MOST_ROWS + 1 or len(row) > MOST_COLUMNS:
                raise Unreadable(
                    f"'{name}' has more than {MOST_ROWS} rows or {MOST_COLUMNS} columns.", remedy="Split the file."
                )
    except csv.Error as error:
        raise Unreadable(f"'{name}' is not CSV: {error}.", remedy="Check the quotes near the end.") from error
    if not rows:
        return Table(columns=[])
    width = max(len(row) for row in rows)
    padded = [[cell.strip() for cell in row] + [""] * (width - len(row)) for row in rows]
    has_header = _is_header(padded[0])
    columns = column_names(padded[0] if has_header else [""] * width)
    body = padded[1:] if has_header else padded
    typed = [_typed([row[position] for row in body]) for position in range(width)]
    return Table(columns=columns, rows=[list(row) for row in zip(*typed, strict=True)])


def sniffed(sample: str) -> str:
    """Return the delimiter that splits the sample into the most rows of the same width; a comma when none does."""
    best, best_score = ",", 0
    for delimiter in _DELIMITERS:
        widths: Counter[int] = Counter()
        try:
            for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
                widths[len(row)] += 1
        except csv.Error:
            continue
        width, count = max(
            ((width, count) for width, count in widths.items() if width > 1), default=(0, 0), key=_second
        )
        if count * min(width, 50) > best_score:
            best, best_score = delimiter, count * min(width, 50)
    return best


def _second(pair: tuple[int, int]) -> int:
    return pair[1]


def _is_header(row: Sequence[str]) -> bool:
    filled = [cell for cell in row if cell]
    return len(filled) * 2 > len(row) and not any(_NUMBER.fullmatch(cell) for cell in filled)


def column_names(cells: Sequence[str]) -> list[str]:
    """Return unique column names of a header row; an empty cell becomes `column_` and its position."""
    names: list[str] = []
    used: Counter[str] = Counter()
    for position, cell in enumerate(cells, start=1):
        name = " ".join(cell.split()) or f"column_{position}"
        used[name] += 1
        while used[name] > 1:
            name = f"{name}_{used[name]}"
            used[name] += 1
        names.append(name)
    return names


def _typed(cells: list[str]) -> list[JsonValue]:
    """Return the cells of one column: numbers when all of them are, with null for the empty ones; else text."""
    matches = [_NUMBER.fullmatch(cell) for cell in cells if cell]
    numbers = [match for match in matches if match]
    if not numbers or len(numbers) < len(matches):
        return list(cells)
    decimals = {len(match[1] or "") for match in numbers}
    if any(len(match[0]) > 16 for match in numbers):
        return list(cells)
    same_way = all(match[1] is None or not match[1].endswith("0") for match in numbers)
    if not same_way and len(decimals) > 1:
        return list(cells)
    if decimals == {0}:
        return [int(cell) if cell else None for cell in cells]
    return [float(cell) if cell else None for cell in cells]
