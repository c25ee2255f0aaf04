"""Which column a word means."""

from headgate.agents.assistant.offline.language.vocabulary import words_of
from headgate.features.catalog.words import base_forms, word_set

PACKAGES = ("name", "version", "licence", "summary", "homepage", "files", "size_bytes")
"""Columns of the table of installed packages."""

_MEANINGS = {
    "name": "name package library module distribution dependency lib pkg namn paket",
    "version": "version release versionsnummer",
    "licence": "licence license licensing licens licenser",
    "summary": "summary description about purpose beskrivning sammanfattning",
    "homepage": "homepage url website link site address page web hemsida",
    "files": "files file filer",
    "size_bytes": "size space disk footprint weight bytes byte storage big large heavy small volume storlek utrymme"
    " plats mb kb",
    "licence_text": "text",
}
_VALUES = {
    "licence": [
        "gpl",
        "lgpl",
        "agpl",
        "mit",
        "bsd",
        "apache",
        "mpl",
        "isc",
        "psf",
        "unlicense",
        "copyleft",
        "proprietary",
        "gplv2",
        "gplv3",
        "gpl-3.0",
        "apache-2.0",
        "zpl",
        "python",
        "gnu",
        "cc0",
        "public-domain",
        "eupl",
        "artistic",
        "zlib",
        "unknown",
    ],
}
"""Values that show which column is meant when none is named."""
_SIZES = word_set(
    "biggest largest heaviest smallest lightest bulkiest fattest hugest tiniest big large heavy small größte "
    "största tyngsta minsta"
)
_FIGURES = words_of("k.figure")
_KNOWN_NOUNS = words_of("n.column")


def known_column(word: str, columns: tuple[str, ...]) -> str:
    """The known column that a word or phrase means; empty when none does."""
    parts = [form for part in word.lower().replace("_", " ").split() for form in base_forms(part)]
    plain = "_".join(word.lower().split())
    for column in columns:
        if column.lower() in {plain, word.lower()}:
            return column
    for column in columns:
        meanings = set(_MEANINGS.get(column, "").split()) | set(base_forms(column.lower()))
        if meanings & set(parts):
            return column
    return next((column for column in columns if set(column.lower().split("_")) & set(parts)), "")


def column_of_value(value: object, columns: tuple[str, ...]) -> str:
    """The column in which such a value stands: `GPL` is a licence."""
    words = set(str(value).lower().split())
    return next((column for column in columns if words & set(_VALUES.get(column, ()))), "")


def size_column(word: str, columns: tuple[str, ...]) -> str:
    """The column that `biggest` and `heaviest` speak of."""
    return next((column for column in columns if "size" in column), "") if word.lower() in _SIZES else ""


def holds_figures(column: str) -> bool:
    """Whether a column is known to hold numbers, by its name."""
    return any(form in _FIGURES for part in column.lower().split("_") for form in base_forms(part))


def written_column(word: str) -> str:
    """The column of an unknown table that a word means: as written, in the singular when only that is a usual name."""
    plain = word.strip()
    lower = plain.lower()
    if lower in _KNOWN_NOUNS:
        return plain
    return next((form for form in base_forms(lower)[1:] if form in _KNOWN_NOUNS), plain)
