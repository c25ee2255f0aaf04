"""Words for amounts: numbers, times, sizes and signs; and words that show that a request is in Swedish."""

from collections.abc import Mapping
from typing import TypeVar

from headgate.features.catalog.words import word_set

Value = TypeVar("Value")


def _named(table: Mapping[Value, str]) -> dict[str, Value]:
    """Name to value, of a table of value to its names."""
    return {name: value for value, names in table.items() for name in names.split(", ")}


NUMBER_WORDS: dict[str, float] = _named(
    {
        1: "one, once, single, en, ett",
        2: "two, couple, twice, pair, två",
        3: "three, thrice, tre",
        4: "four, fyra",
        5: "five, fem",
        6: "six, sex",
        7: "seven, sju",
        8: "eight, åtta",
        9: "nine, nio",
        10: "ten, tio",
        11: "eleven",
        12: "twelve, dozen, tolv",
        13: "thirteen",
        14: "fourteen",
        15: "fifteen, femton",
        16: "sixteen",
        17: "seventeen",
        18: "eighteen",
        19: "nineteen",
        20: "twenty, tjugo",
        30: "thirty, trettio",
        40: "forty",
        50: "fifty, femtio",
        60: "sixty",
        100: "hundred, hundra",
        1000: "thousand, tusen",
        0.5: "half",
    }
)
"""Numbers in words."""

TIME_UNITS: dict[str, float] = _named(
    {
        0.001: "ms, millisecond, milliseconds",
        1: "s, sec, secs, second, seconds, sekund, sekunder",
        60: "min, mins, minute, minutes, minut, minuter",
        3600: "h, hr, hour, hours, timme, timmar",
    }
)
"""Seconds of a unit of time."""

SIZE_UNITS: dict[str, float] = _named(
    {
        1: "byte, bytes, b",
        1_000: "kb, kilobyte, kilobytes, k, thousand, tusen",
        1_000_000: "mb, megabyte, megabytes, meg, megs, million, m, miljoner",
        1_000_000_000: "gb, gigabyte, gigabytes",
        1_048_576: "mib",
        1_024: "kib",
    }
)
"""What a unit of size multiplies a number with; bytes for sizes of files."""

SEPARATORS: dict[str, str] = _named(
    {
        ",": "comma, commas, komma, kommatecken",
        ";": "semicolon, semicolons, semikolon",
        ":": "colon, colons",
        " ": "space, spaces, mellanslag, blanksteg",
        "\t": "tab, tabs, tabb",
        "|": "pipe, pipes, bar, vertical bar",
        "/": "slash, slashes, snedstreck",
        "-": "dash, dashes, hyphen, hyphens, bindestreck",
        "\n": (
            "newline, newlines, line break, line breaks, linebreak, linebreaks, radbrytning, line, new line, "
            "new lines, single newline, single line break"
        ),
        "\n\n": "blank line, empty line, blank lines, empty lines, tomrad",
        ".": "period, periods, full stop, dot, dots, punkt",
        "&": "ampersand",
        "_": "underscore, underscores",
        "*": "asterisk, star",
        "+": "plus sign",
        "=": "equals sign",
        "#": "hash",
        "": "nothing",
        " -> ": "arrow",
        "\n\n---\n\n": "horizontal rule, horizontal line, rule",
        ", ": "comma and a space, comma and space",
        "!": "exclamation marks, exclamation mark, exclamation point, exclamation points, utropstecken",
        "?": "question marks, question mark, frågetecken",
        "@": "at sign, at signs, snabel-a",
        "$": "dollar sign, dollar signs",
        "€": "euro sign, euro signs",
        "%": "percent sign, percent signs, percentage sign, procenttecken",
        '"': "quotation mark, quotation marks, double quote, double quotes, citattecken",
        "'": "apostrophe, apostrophes, single quote, single quotes",
        "(": "opening parenthesis, opening bracket, left parenthesis",
        ")": "closing parenthesis, closing bracket, right parenthesis",
    }
)
"""Signs that separate, by their names."""

SWEDISH_MARKERS = word_set(
    "alla annars antal antalet att av bort dela den det du eller en ett filen från för gör hitta hur hämta "
    "inte jag kan kör lista listan lägg läs med min mina mitt när och om ord orden på rader raderna räkna "
    "sedan skriv som sortera spara ta texten till ur vad vilka visa visar vänta är"
)
"""Words that three of make a request Swedish; each may stand in an English one too."""
SWEDISH_ONLY = word_set(
    "alla annars antal antalet att eller filen från för hitta hur hämta jag kör lägg läs med när och orden på "
    "raderna räkna sedan som sortera spara texten ur vad vilka visa vänta är"
)
"""Words that make a request Swedish by themselves."""
