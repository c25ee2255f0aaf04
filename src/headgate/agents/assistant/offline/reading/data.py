"""The data that a request comes with: the header and rows of a file, looked at before anything is built."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from pydantic import JsonValue

from headgate.components.readers.delimited import read_delimited
from headgate.foundation.errors import HeadgateError

LONGEST_LOOK = 2_000_000
"""Bytes of a file that are looked at; a longer one is built for by what the request says alone."""
_TABLES = frozenset({".csv", ".tsv"})
_TEXTS = frozenset({".txt", ".md", ".log", ".text", ".html", ".htm", ".json", ".xml", ".yaml", ".yml"})


@dataclass(frozen=True, slots=True)
class Sample:
    """A file as the builder sees it. `columns` is None for what is no table."""

    name: str
    text: str
    columns: tuple[str, ...] | None = None
    rows: tuple[tuple[JsonValue, ...], ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other words for its columns."""

    @property
    def stem(self) -> str:
        """The name without its ending, in small letters: `orders` of `Orders.csv`."""
        return PurePath(self.name).stem.lower()

    def column(self, words: str) -> str | None:
        """The column that words mean; None when none does or several do."""
        if self.columns is None:
            return None
        name_text = self.aliases.get(plain(words), plain(words))
        exact = [name for name in self.columns if plain(name) == name_text]
        near = [name for name in self.columns if forms_of(plain(name)) & forms_of(name_text)]
        if exact or near:
            return exact[0] if exact else near[0] if len(near) == 1 else None
        shorter, _, last = name_text.rpartition(" ")
        return self.column(shorter) if shorter and last in _GENERAL else None

    def values(self, column: str) -> list[JsonValue]:
        """The values of a column."""
        at = (self.columns or ()).index(column)
        return [row[at] for row in self.rows if at < len(row)]

    def holders(self, value: str) -> list[str]:
        """The columns that hold this value."""
        lowered = value.lower()
        return [name for name in self.columns or () if any(str(cell).lower() == lowered for cell in self.values(name))]

    def is_numeric(self, column: str) -> bool:
        """Whether every value that is there is a number."""
        there = [cell for cell in self.values(column) if cell not in (None, "")]
        return all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in there)

    def is_date(self, column: str) -> bool:
        """Whether every value that is there is a date such as 2026-03-01."""
        there = [str(cell) for cell in self.values(column) if cell not in (None, "")]
        return bool(there) and all(re.fullmatch(r"\d{4}-\d{2}-\d{2}", cell) for cell in there)


def look(name: str, content: bytes) -> Sample | None:
    """What a file holds; None for one that cannot be looked at here (a PDF, a picture, a very long one)."""
    ending = PurePath(name).suffix.lower()
    if len(content) > LONGEST_LOOK or ending not in _TABLES | _TEXTS:
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if ending in _TABLES:
        try:
            table = read_delimited(text, name=name)
        except HeadgateError:
            return None
        return Sample(name, text, tuple(table.columns), tuple(tuple(row) for row in table.rows))
    return _listed(name, text) if ending == ".json" else Sample(name, text)


def _listed(name: str, text: str) -> Sample:
    """A JSON file; a list of objects in it is a table."""
    try:
        rows = json.loads(text)
    except ValueError:
        return Sample(name, text)
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        return Sample(name, text)
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    return Sample(name, text, columns, tuple(tuple(row.get(key) for key in columns) for row in rows))


def plain(words: str) -> str:
    """Words as column names are compared: small letters, one space for every other sign."""
    return " ".join("".join(c if c.isalnum() else " " for c in words.lower()).split())


def forms_of(word: str) -> set[str]:
    """A word and what it may be the plural or definite form of, in English and Swedish."""
    forms = {word}
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            forms.add(word[: len(word) - len(ending)] + instead)
    return forms


_GENERAL = frozenset(
    [
        "date",
        "dates",
        "number",
        "numbers",
        "address",
        "addresses",
        "name",
        "names",
        "value",
        "values",
        "amount",
        "datum",
        "nummer",
        "adress",
        "namn",
        "belopp",
    ]
)
"""`due date` is the column `due`, where there is none of its own."""
_ENDINGS: Iterable[tuple[str, str]] = (
    ("ies", "y"), ("es", ""), ("es", "e"), ("s", ""), ("en", ""), ("et", ""), ("n", ""), ("t", ""), ("er", ""), ("ar", ""),  # noqa: E501
    ("or", "a"), ("erna", ""), ("arna", ""), ("orna", "a"), ("na", ""), ("erna", "er"),
)  # fmt: skip

PACKAGES = Sample(
    "the list of installed packages",
    "",
    ("name", "version", "licence", "summary", "homepage", "files", "size_bytes"),
    aliases={
        "size": "size_bytes",
        "license": "licence",
        "licens": "licence",
        "storlek": "size_bytes",
        "namn": "name",
        "names": "name",
    }
    | {
        "sizes": "size_bytes",
        "licenses": "licence",
        "licenser": "licence",
        "file": "files",
        "filer": "files",
        "space": "size_bytes",
    },
)
"""What is known of the table of installed packages."""
