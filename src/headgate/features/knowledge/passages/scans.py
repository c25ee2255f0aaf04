"""Where passages are on pages that text recognition (OCR) read: the words of a page have boxes. Pure."""

from collections.abc import Iterator
from typing import Any

from headgate.components.readers.document import Layout
from headgate.components.readers.drawing import MOST_BOXES, Box, merged


class ScannedPage:
    """A page with its text, as offsets of its words.

    Args:
        text: Of the page.
        layout: What was recognised on it; its words are in the order of the text.
    """

    def __init__(self, text: str, layout: Layout) -> None:
        self._layout, self._words = layout, list(_placed(text, layout))

    def marks(self, start: int, end: int) -> dict[str, Any] | None:
        """Return the `Marks` of a part of the text; None without words."""
        boxes = [box for first, last, box in self._words if first < end and last > start]
        if not boxes:
            return None
        return {
            "width": self._layout.width,
            "height": self._layout.height,
            "boxes": [box._asdict() for box in list(merged(iter(boxes)))[:MOST_BOXES]],
        }


def _placed(text: str, layout: Layout) -> Iterator[tuple[int, int, Box]]:
    """Yield start, end and box of each word that is in the text behind the one before it."""
    cursor = 0
    for word, *sides in layout.words:
        at = text.find(word, cursor)
        if at >= 0:
            cursor = at + len(word)
            yield at, cursor, Box(*map(float, sides))
