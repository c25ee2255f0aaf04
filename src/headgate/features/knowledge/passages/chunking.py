"""Divides the text of a document into passages along its structure. Pure.

Every character is in the core of exactly one passage, and the cores are in order, so that a passage is a slice of the
text: `text[start:end]`. A passage never spans two pages, and a table stays whole while it is at most `WHOLE_TABLES`
times the size of a passage.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

MOST_TOKENS = 400
"""Default size of a passage."""
OVERLAP_TOKENS = 40
"""Default overlap of neighbouring passages of a page."""
WHOLE_TABLES = 4
SMALL_SECTION = 4
"""A heading begins a passage unless the passage before it has less than this part of the size."""
LONGEST_CONTEXT = 500
IDEOGRAPHS = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Scripts written without spaces between words, and Hangul: one token a character."""
_TOKEN = re.compile(rf"[{IDEOGRAPHS}]|[^\W{IDEOGRAPHS}]{{1,24}}|[^\w\s]")
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]|\n")
Kind = Literal["heading", "table", "code", "text"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a text: `text[start:end]`."""

    start: int
    core: int
    """Where the part begins that no earlier passage contains; the rest is overlap."""
    end: int
    page: int | None
    """From 1; None for a text without pages."""
    headings: tuple[str, ...]
    """Headings above its beginning, the outermost first."""
    lead: str = ""
    """The header row of a table that begins in an earlier passage."""

    @property
    def context(self) -> str:
        """Return headings and header row, for the index and for models."""
        path = " › ".join(self.headings)
        return "\n".join(part for part in (path, self.lead) if part)[:LONGEST_CONTEXT]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a text that is not divided further."""

    start: int
    end: int
    kind: Kind
    page: int | None
    tokens: int = 0
    lead: str = ""


def count_tokens(text: str, start: int = 0, end: int | None = None) -> int:
    """Return an estimate of the tokens of a model: words by length, one for each ideograph and sign."""
    return sum(_weight(match) for match in _TOKEN.finditer(text, start, len(text) if end is None else end))


def divide(
    text: str, *, pages: Sequence[int] = (), most_tokens: int = MOST_TOKENS, overlap_tokens: int = OVERLAP_TOKENS
) -> list[Chunk]:
    """Return the passages of a text; none of a blank one.

    Args:
        text: Plain text or Markdown.
        pages: Offsets at which pages begin, ascending; empty for a text without pages.
        most_tokens: Size of a passage.
        overlap_tokens: How much a passage repeats of the one before it, within a page and a section.
    """
    if not text.strip():
        return []
    pieces = [piece for block in _blocks(text, pages) for piece in _divided(text, block, most_tokens)]
    chunks: list[Chunk] = []
    for headings, group in _packed(text, pieces, most_tokens):
        first = group[0]
        chunk = Chunk(first.start, first.start, group[-1].end, first.page, headings, first.lead)
        if chunks and first.kind != "heading" and first.page == chunks[-1].page and overlap_tokens:
            chunk = replace(chunk, start=_overlap(text, chunks[-1].core, first.start, overlap_tokens))
        chunks.append(chunk)
    return chunks


def divide_code(text: str, sections: Sequence[tuple[int, str]], *, most_tokens: int = MOST_TOKENS) -> list[Chunk]:
    """Return the passages of source code: one a function or class, the heading being its qualified name.

    Small ones follow each other in one passage, which has all their names; large ones are cut after lines. Nothing
    overlaps.

    Args:
        text: Source code.
        sections: Where each function, class and what is between them begins, from 0, and its name.
        most_tokens: Size of a passage.
    """
    chunks: list[Chunk] = []
    group: list[_Piece] = []
    names: list[str] = []
    starts = [*sections, (len(text), "")]
    for (start, name), (end, _) in pairwise(starts):
        for piece in _divided(text, _Piece(start, end, "code", None), most_tokens):
            tokens = sum(before.tokens for before in group)
            if group and (tokens >= most_tokens // SMALL_SECTION or tokens + piece.tokens > most_tokens):
                chunks.append(_code_chunk(group, names))
                group, names = [], []
            group.append(piece)
            names += [name] if name and name not in names else []
    return [*chunks, _code_chunk(group, names)] if group else chunks


def _code_chunk(group: Sequence[_Piece], names: Sequence[str]) -> Chunk:
    headings = (", ".join(names),) if names else ()
    return Chunk(group[0].start, group[0].start, group[-1].end, None, headings)


def _weight(match: re.Match[str]) -> int:
    return -(-(match.end() - match.start()) // 6)


def _blocks(text: str, pages: Sequence[int]) -> Iterator[_Piece]:
    """Yield headings, tables, fenced code and paragraphs; blank lines belong to what precedes them."""
    edges = sorted({0, *(page for page in pages if 0 < page < len(text)), len(text)})
    for number, (start, end) in enumerate(pairwise(edges), start=1):
        yield from _blocks_of_page(text, start, end, number if pages else None)


def _blocks_of_page(text: str, start: int, end: int, page: int | None) -> Iterator[_Piece]:
    kind: Kind | None = None
    begin, fenced, blank = start, False, False
    for line_start, line_end in _lines(text, start, end):
        line = text[line_start:line_end].strip()
        if not line and not fenced:
            blank = True
            continue
        fence = line.startswith("```")
        line_kind: Kind = "code" if fence or fenced else _kind_of(line)
        ends = kind is not None and not fenced and (blank or fence or line_kind != kind or line_kind == "heading")
        if ends:
            yield _Piece(begin, line_start, kind or "text", page)
            begin = line_start
        fenced = fenced != fence
        kind, blank = line_kind, fence and not fenced
    yield _Piece(begin, end, kind or "text", page)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        following = text.find("\n", start, end) + 1 or end
        yield start, following
        start = following


def _kind_of(line: str) -> Kind:
    if line.startswith("|"):
        return "table"
    return "heading" if _HEADING.match(line) else "text"


def _divided(text: str, block: _Piece, most_tokens: int) -> Iterator[_Piece]:
    """Yield the block, in parts when it is too large: of whole rows, lines or sentences where possible."""
    limit = most_tokens * WHOLE_TABLES if block.kind == "table" else most_tokens
    tokens = count_tokens(text, block.start, block.end)
    if tokens <= limit:
        yield replace(block, tokens=tokens)
        return
    lead = text[block.start : block.end].partition("\n")[0].strip() if block.kind == "table" else ""
    edges = [block.start, *_cuts(text, block, most_tokens), block.end]
    for number, (start, end) in enumerate(pairwise(edges)):
        size = count_tokens(text, start, end)
        yield replace(block, start=start, end=end, tokens=size, lead=lead if number else "")


def _cuts(text: str, block: _Piece, most_tokens: int) -> Iterator[int]:
    """Yield the offsets at which a block is cut: after a line or sentence, else before a token."""
    ends = _line_ends(text, block) if block.kind != "text" else _sentence_ends(text, block)
    boundary, passed = next(ends, block.end), block.start
    begin, tokens, tokens_before = block.start, 0, 0
    for match in _TOKEN.finditer(text, block.start, block.end):
        while boundary <= match.start():
            passed, tokens_before = boundary, tokens
            boundary = next(ends, block.end + 1)
        if tokens + _weight(match) > most_tokens and tokens:
            at_boundary = passed > begin
            cut, tokens = (passed, tokens - tokens_before) if at_boundary else (match.start(), 0)
            tokens_before = 0
            yield cut
            begin = cut
        tokens += _weight(match)


def _line_ends(text: str, block: _Piece) -> Iterator[int]:
    return (end for _, end in _lines(text, block.start, block.end))


def _sentence_ends(text: str, block: _Piece) -> Iterator[int]:
    return (match.end() for match in _SENTENCE_END.finditer(text, block.start, block.end))


def _packed(
    text: str, pieces: Sequence[_Piece], most_tokens: int
) -> Iterator[tuple[tuple[str, ...], Sequence[_Piece]]]:
    """Yield the pieces of each passage, with the headings above its beginning."""
    levels: list[tuple[int, str]] = []
    group: list[_Piece] = []
    above: tuple[str, ...] = ()
    for piece in pieces:
        if group and _begins(piece, group, most_tokens):
            yield above, group
            group = []
        if piece.kind == "heading":
            levels = _levels(levels, text[piece.start : piece.end].strip())
        if not group:
            above = tuple(title for _, title in levels)
        group.append(piece)
    if group:
        yield above, group


def _begins(piece: _Piece, group: Sequence[_Piece], most_tokens: int) -> bool:
    """Return whether a piece begins another passage than that of the pieces before it."""
    tokens = sum(piece_before.tokens for piece_before in group)
    small = tokens < most_tokens // SMALL_SECTION
    if piece.page != group[-1].page:
        return True
    if tokens + piece.tokens > most_tokens:
        return not (small and all(piece_before.kind == "heading" for piece_before in group))
    return piece.kind == "heading" and group[-1].kind != "heading" and not small


def _levels(levels: list[tuple[int, str]], line: str) -> list[tuple[int, str]]:
    match = _HEADING.match(line)
    if match is None:
        return levels
    level = len(match[1])
    title = match[2].splitlines()[0].rstrip(" \t#")[:200]
    return [*(piece_before for piece_before in levels if piece_before[0] < level), (level, title)]


def _overlap(text: str, earliest: int, core: int, most_tokens: int) -> int:
    """Return where the overlap begins: after a sentence if possible, else before a word."""
    tokens, start = 0, core
    window = max(earliest, core - most_tokens * 24)
    for match in reversed(list(_TOKEN.finditer(text, window, core))):
        tokens += _weight(match)
        if tokens > most_tokens:
            break
        start = match.start()
    sentence = _SENTENCE_END.search(text, start, core) if start > earliest else None
    return sentence.end() if sentence is not None and sentence.end() < core else start


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
