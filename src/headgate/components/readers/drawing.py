"""Pages of PDFs as pictures, and where texts are on them. Run it in a separate process: decoders are attacked.

Boxes are in points from the upper left corner of the page as it is shown: cropped and rotated.
"""

import ctypes
import io
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate.components.readers.document import Unreadable
from headgate.foundation.lazy import lazy_module
from headgate.graph.names import clipped

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]
else:
    pypdfium2 = lazy_module("pypdfium2")

POINTS_PER_INCH = 72
DOTS_PER_INCH = 144
MOST_PIXELS = 4_000_000
"""Of a picture: a sheet of A4 has 2 million at `DOTS_PER_INCH`."""
MOST_SIDE = 16_000
"""Pixels of a side: the format WebP has fewer than 16,384."""
QUALITY = 80
SECONDS = 30.0
"""For the boxes of a document; the passages after that have none."""
MOST_CHARACTERS = 100_000
"""Of a page; the rest has no boxes."""
MOST_BOXES = 200
"""Of a passage."""
LEAST_SHARE = 0.5
"""Passages with fewer of their letters on the page have no boxes."""
LEAST_LETTERS = 4
"""Fewer are only looked for behind the letters before them: they are everywhere."""
_HYPHENS = "-\u00ad\u2010\ufffe\ufffd"
"""At the ends of lines: readers write them in different ways."""
_TENTHS = 10


class Box(NamedTuple):
    """A rectangle on a page."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Marks:
    """Where a passage is on its page."""

    width: float
    """Of the page, in points."""
    height: float
    boxes: tuple[Box, ...]


def rendered(content: bytes, *, name: str, page: int, dots: float, most_pixels: int, **options: bool) -> Any:  # noqa: ANN401 - an image of Pillow
    """Return a page of a PDF, from 1, at most so large. `options` are pypdfium2's. Raises `Unreadable`."""
    try:
        with pypdfium2.PdfDocument(content) as document:
            sheet = document[page - 1]
            width, height = sheet.get_size()
            inches = max(width * height, 1.0) / POINTS_PER_INCH**2
            dots = min(dots, (most_pixels / inches) ** 0.5, MOST_SIDE * POINTS_PER_INCH / max(width, height, 1.0))
            return sheet.render(scale=dots / POINTS_PER_INCH, **options).to_pil()
    except Exception as error:  # the error of a damaged page depends on where it is damaged
        raise Unreadable(
            f"Page {page} of '{name}' cannot be drawn: {clipped(str(error), 200)}.", remedy="Save it again as PDF."
        ) from error


def draw_page(content: bytes, *, name: str, page: int) -> bytes:
    """Return a page of a PDF, from 1, as a WebP picture. Raises `Unreadable`."""
    picture = io.BytesIO()
    image = rendered(content, name=name, page=page, dots=DOTS_PER_INCH, most_pixels=MOST_PIXELS)
    image.convert("RGB").save(picture, "WEBP", quality=QUALITY)
    return picture.getvalue()


def find_marks(
    content: bytes, *, pages: Mapping[int, str], places: Sequence[tuple[int, int, int]]
) -> list[Marks | None]:
    """Return where parts of the text of pages are; None for one that is not on its page, such as text of a picture.

    Args:
        content: PDF.
        pages: Number from 1 to text, as any reader wrote it: its order and white space may differ from the page's.
        places: Page, start and end of each part, as offsets in the text of its page.

    Raises:
        Unreadable: It is no readable PDF.
    """
    until = time.monotonic() + SECONDS
    marks: list[Marks | None] = [None] * len(places)
    parts: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, (page, start, end) in enumerate(places):
        parts[page].append((number, start, end))
    try:
        document = pypdfium2.PdfDocument(content)
    except Exception as error:
        raise Unreadable(f"It cannot be drawn: {clipped(str(error), 200)}.") from error
    with document:
        for page, text in pages.items():
            if time.monotonic() > until:
                break
            try:
                layout = _Layout(document[page - 1])
                where = layout.places_of(text)
                for number, start, end in parts[page]:
                    marks[number] = layout.marks(text, where, start, end)
            except Exception:  # noqa: BLE001, S112 - a damaged page has no boxes, the others do
                continue
    return marks


class _Layout:
    """The letters of a page in its own order, and their boxes."""

    def __init__(self, page: Any) -> None:  # noqa: ANN401
        self._page, self._text = page, page.get_textpage()
        width, height = page.get_size()
        self._size: tuple[float, float] = width, height
        read = pypdfium2.raw.FPDFText_GetUnicode
        codes = (read(self._text, index) for index in range(min(self._text.count_chars(), MOST_CHARACTERS)))
        pairs = [(letter, index) for index, code in enumerate(codes) for letter in _letters(chr(code))]
        self._letters = "".join(letter for letter, _ in pairs)
        self._indices = [index for _, index in pairs]

    def places_of(self, text: str) -> dict[int, int]:
        """Return the offset of each letter of a text to its place among the letters of the page, where it is there.

        Each line is looked for behind the one before it, then anywhere; of a line that differs, each word.
        """
        where: dict[int, int] = {}
        cursor, line_start = 0, 0
        for line in text.splitlines(keepends=True):
            cursor = self._place(line, line_start, cursor, where) or self._place_words(line, line_start, cursor, where)
            line_start += len(line)
        return where

    def marks(self, text: str, where: Mapping[int, int], start: int, end: int) -> Marks | None:
        """Return where a part of a text is."""
        letters = sum(1 for letter in text[start:end] if _letters(letter))
        places = sorted({where[offset] for offset in range(start, end) if offset in where})
        if not places or len(places) < letters * LEAST_SHARE:
            return None
        edges = [-1, *(at for at, (place, after) in enumerate(pairwise(places)) if after != place + 1), len(places) - 1]
        runs = [(places[before + 1], places[last]) for before, last in pairwise(edges)]
        boxes = tuple(merged(box for first, last in runs for box in self._boxes(first, last)))[:MOST_BOXES]
        return Marks(*self._size, boxes) if boxes else None

    def _place(self, line: str, line_start: int, cursor: int, where: dict[int, int]) -> int:
        """Note where a line is. Returns the place behind it; 0: it is not there."""
        pairs = [(letter, offset) for offset, char in enumerate(line) for letter in _letters(char)]
        letters = "".join(letter for letter, _ in pairs)
        if not letters:
            return cursor
        at = self._letters.find(letters, cursor)
        if len(letters) < LEAST_LETTERS and at != cursor:
            return 0
        at = self._letters.find(letters) if at < 0 else at
        if at < 0:
            return 0
        where.update((line_start + offset, at + number) for number, (_, offset) in enumerate(pairs))
        return at + len(letters)

    def _place_words(self, line: str, line_start: int, cursor: int, where: dict[int, int]) -> int:
        offset = 0
        for word in line.split(" "):
            cursor = self._place(word, line_start + offset, cursor, where) or cursor
            offset += len(word) + 1
        return cursor

    def _boxes(self, first: int, last: int) -> Iterator[Box]:
        """Yield the boxes of letters that follow each other, one or more a line."""
        begin = self._indices[first]
        for number in range(self._text.count_rects(begin, self._indices[last] + 1 - begin)):
            left, bottom, right, top = self._text.get_rect(number)
            (x, y), (other_x, other_y) = self._shown(left, top), self._shown(right, bottom)
            width, height = self._size
            left, top = max(0.0, min(x, other_x)), max(0.0, min(y, other_y))
            right, bottom = min(width, max(x, other_x)), min(height, max(y, other_y))
            if right > left and bottom > top:
                yield Box(left, top, right, bottom)

    def _shown(self, x: float, y: float) -> tuple[float, float]:
        """Return a point as it is shown: from the upper left corner, cropped and rotated."""
        width, height = (round(side * _TENTHS) for side in self._size)
        shown_x, shown_y = ctypes.c_int(), ctypes.c_int()
        to_device = pypdfium2.raw.FPDF_PageToDevice
        to_device(self._page, 0, 0, width, height, 0, x, y, ctypes.byref(shown_x), ctypes.byref(shown_y))
        return shown_x.value / _TENTHS, shown_y.value / _TENTHS


def _letters(character: str) -> str:
    """Return a character as readers agree on it: ligatures as letters, without white space, hyphens and controls."""
    if character in _HYPHENS or character.isspace() or unicodedata.category(character) in {"Cc", "Cf", "Cs"}:
        return ""
    return "".join(unicodedata.normalize("NFKC", character).split())


def merged(boxes: Iterator[Box]) -> Iterator[Box]:
    """Yield boxes, those that follow each other on a line as one."""
    last: Box | None = None
    for box in boxes:
        if last is not None:
            heights = last.bottom - last.top, box.bottom - box.top
            overlap = min(last.bottom, box.bottom) - max(last.top, box.top)
            if overlap > min(heights) / 2 and abs(box.left - last.right) < max(heights):
                highest, lowest = min(last.top, box.top), max(last.bottom, box.bottom)
                last = Box(min(last.left, box.left), highest, max(last.right, box.right), lowest)
                continue
            yield last
        last = box
    if last is not None:
        yield last
