"""The component that splits a text."""

import itertools
import re
from typing import Literal

from pydantic import JsonValue

from headgate.components.wording import unescaped
from headgate.sdk import Component, ComponentError, Data, field, output

MOST_CHUNKS = 100_000
By = Literal["paragraph", "line", "sentence", "separator", "length"]
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|[。！？]")
"""Matches only at the start of a run of marks, so that a long run is read once."""
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

    text: str = field(label="Text", help="The text to split.", main=True, tool_mode=True)
    by: By = field(default="paragraph", label="Cut by", help="Where to split.")
    separator: str = field(
        default="", label="Separator", help="For 'separator': the text to split at; \\n is a line break.", port=False
    )
    size: int = field(
        default=1000, label="Length", help="For 'length': maximum length of a chunk, in characters.", ge=1, le=1_000_000
    )
    overlap: int = field(
        default=0,
        label="Overlap",
        help=("For 'length': number of characters that neighbouring chunks share."),
        ge=0,
        le=999_999,
    )

    @output(help="The chunks, a list of texts; blank ones are omitted.")
    def chunks(self) -> Data:
        """Return the parts as a list."""
        return list[JsonValue](self._pieces())

    @output(help="Number of chunks.")
    def count(self) -> Data:
        """Return the number of parts."""
        return len(self._pieces())

    def _pieces(self) -> list[str]:
        if self.by == "separator" and not self.separator:
            raise ComponentError(
                "SplitText: 'separator' is empty.", remedy="Set the text to split at.", field="separator"
            )
        if self.by == "length" and self.overlap >= self.size:
            raise ComponentError(
                f"SplitText: an overlap of {self.overlap} in chunks of {self.size} would never end.",
                remedy="Make the overlap smaller than the length.",
                field="overlap",
            )
        parts = split(self.text, self.by, unescaped(self.separator), self.size, self.overlap)
        if len(parts) > MOST_CHUNKS:
            raise ComponentError(
                f"SplitText: this produces {len(parts)} chunks; the limit is {MOST_CHUNKS}.",
                remedy="Use longer chunks.",
            )
        return parts


def split(text: str, by: By, separator: str = "", size: int = 1000, overlap: int = 0) -> list[str]:
    """Return the parts of a text, stripped, without blank ones.

    `length` returns chunks of at most `size` characters that end at whitespace when the second half has any.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if by == "paragraph":
        parts = _PARAGRAPH.split(text)
    elif by == "line":
        parts = text.split("\n")
    elif by == "sentence":
        ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
        parts = [text[start:end] for start, end in itertools.pairwise(ends)]
    elif by == "separator":
        parts = text.split(separator.replace("\r\n", "\n"))
    else:
        parts = _chunks(text, size, overlap)
    return [part.strip() for part in parts if part.strip()]


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
    """Return the position after the last whitespace of `text[earliest:end]`, or `end` when a word must be split."""
    return next((index for index in range(end, earliest, -1) if text[index - 1].isspace()), end)
