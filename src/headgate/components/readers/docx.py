"""Converts Word documents to Markdown."""

import io
import re
from typing import Any

from pydantic import JsonValue

from headgate.components.readers.document import Document, Unreadable, bounded
from headgate.components.readers.package import require_package
from headgate.graph.names import clipped
from headgate.sdk import Table
from headgate.sdk.coerce import clean_text, data_of, markdown_table

_HEADING = re.compile(r"heading ([1-6])$", re.IGNORECASE)


def read_docx(content: bytes, *, name: str) -> Document:
    """Return paragraphs and tables of a Word document in order, as Markdown; the first table, and all of them in data.

    Raises `Unreadable` when it is not a DOCX, encrypted, or unpacks to too much.
    """
    require_package(content, name, kind="a Word document", remedy="Save it as .docx.")
    blocks: list[str] = []
    tables: list[Table] = []
    try:
        for block in _docx(io.BytesIO(content)).iter_inner_content():
            if hasattr(block, "rows"):
                tables.append(_table(block))
                blocks.append(markdown_table(tables[-1]))
            else:
                blocks.append(_paragraph(block))
    except Exception as error:  # the error of a damaged package depends on where it is damaged
        raise Unreadable(
            f"'{name}' is not a readable Word document: {clipped(str(error), 200)}.",
            remedy="Save it again as .docx.",
        ) from error
    text = bounded(_joined(blocks), name)
    data: JsonValue = {"tables": [data_of(table) for table in tables]}
    return Document(text, data, tables[0] if tables else None)


def _paragraph(paragraph: Any) -> str:  # noqa: ANN401 - a lazily imported type
    text = clean_text(paragraph.text).strip()
    style = str(getattr(paragraph.style, "name", "") or "")
    heading = _HEADING.match(style)
    if not text:
        return ""
    if heading:
        return f"{'#' * int(heading[1])} {text}"
    if style == "Title":
        return f"# {text}"
    return f"- {text}" if style.startswith("List") else text


def _table(table: Any) -> Table:  # noqa: ANN401 - a lazily imported type
    """Return a table: the first row names the columns; short rows are filled up."""
    rows = [[clean_text(cell.text).strip() for cell in row.cells] for row in table.rows]
    width = max((len(row) for row in rows), default=0)
    filled = [row + [""] * (width - len(row)) for row in rows]
    return Table(columns=filled[0] if filled else [], rows=[list[JsonValue](row) for row in filled[1:]])


def _joined(blocks: list[str]) -> str:
    """Join blocks with an empty line, and items of one list with a line break."""
    text = ""
    previous = ""
    for block in filter(None, blocks):
        same_list = block.startswith("- ") and previous.startswith("- ")
        text += block if not text else ("\n" if same_list else "\n\n") + block
        previous = block
    return text


def _docx(stream: io.BytesIO) -> Any:  # noqa: ANN401 - a lazily imported type
    """Return the opened document; imports python-docx when first used."""
    from docx import Document as OpenDocument  # noqa: PLC0415

    return OpenDocument(stream)
