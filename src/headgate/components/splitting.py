"""Cut a text into pieces."""

import itertools
import re
from typing import Literal

from pydantic import JsonValue

from headgate.components.wording import unescaped
from headgate.sdk import Component, ComponentError, Data, field, output

MOST_CHUNKS = 100_000
By = Literal["paragraph", "line", "sentence", "separator", "length"]
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|[。！？]")
"""Begins only where a run of marks begins, so that a long run is read once."""
_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


class SplitText(Component):
    """Cuts a text into paragraphs, lines, sentences, pieces between separators, or chunks of a length."""

    label = "Split text"
    category = "text"
    icon = "scissors"
    keywords = (
        "chunk", "chunks", "cut", "divide", "separate", "pieces", "parts", "lines", "paragraphs", "sentences",
        "tokenize", "segment", "break up", "slice", "explode", "list", "per line", "overlap",
    )  # fmt: skip

    text: str = field(label="Text", help="The text to cut.", main=True, tool_mode=True)
    by: By = field(default="paragraph", label="Cut by", help="Where to cut.")
    separator: str = field(
        default="", label="Separator", help="For 'separator': the text to cut at; \\n is a line break.", port=False
    )
    size: int = field(
        default=1000, label="Length", help="For 'length': longest chunk, in characters.", ge=1, le=1_000_000
    )
    overlap: int = field(
        default=0, label="Overlap", help="For 'length': characters that two neighbours share.", ge=0, le=999_999
    )

    @output(help="The pieces, a list of texts; blank ones are left out.")
    def chunks(self) -> Data:
        """The pieces as a list."""
        return list[JsonValue](self._pieces())

    @output(help="How many pieces there are.")
    def count(self) -> Data:
        """The number of pieces."""
        return len(self._pieces())

    def _pieces(self) -> list[str]:
        if self.by == "separator" and not self.separator:
            raise ComponentError("SplitText: 'separator' is empty.", remedy="Write what to cut at.", field="separator")
        if self.by == "length" and self.overlap >= self.size:
            raise ComponentError(
                f"SplitText: an overlap of {self.overlap} in chunks of {self.size} never ends.",
                remedy="Make the overlap smaller than the length.",
                field="overlap",
            )
        pieces = split(self.text, self.by, unescaped(self.separator), self.size, self.overlap)
        if len(pieces) > MOST_CHUNKS:
            raise ComponentError(
                f"SplitText: this makes {len(pieces)} pieces; at most {MOST_CHUNKS} travel.",
                remedy="Use longer pieces.",
            )
        return pieces


def split(text: str, by: By, separator: str = "", size: int = 1000, overlap: int = 0) -> list[str]:
    """The pieces of a text, stripped, blank ones left out.

    `length` gives chunks of at most `size` characters that end at white space where the second half has any.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if by == "paragraph":
        pieces = _PARAGRAPH.split(text)
    elif by == "line":
        pieces = text.split("\n")
    elif by == "sentence":
        ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
        pieces = [text[start:end] for start, end in itertools.pairwise(ends)]
    elif by == "separator":
        pieces = text.split(separator.replace("\r\n", "\n"))
    else:
        pieces = _chunks(text, size, overlap)
    return [piece.strip() for piece in pieces if piece.strip()]


def _chunks(text: str, size: int, overlap: int) -> list[str]:
    chunks: list[str] = []
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            end = _white_space_before(text, max(start + size // 2, start + overlap + 1), end)
        chunks.append(text[start:end])
        if end == len(text):
            break
        start = end - overlap
    return chunks


def _white_space_before(text: str, earliest: int, end: int) -> int:
    """The place after the last white space of `text[earliest:end]`, or `end` when a word is cut anyway."""
    return next((at for at in range(end, earliest, -1) if text[at - 1].isspace()), end)
