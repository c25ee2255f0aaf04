"""Read a document's text."""

import asyncio

from pydantic import PrivateAttr

from headgate.components.readers.document import Document, Unreadable
from headgate.components.readers.reading import read_document
from headgate.sdk import Component, Data, File, Table, Text, field, output


class ReadFile(Component):
    """Reads a file's text: plain text, PDF, Word (DOCX), CSV, JSON, HTML and Markdown."""

    label = "Read file"
    category = "data"
    icon = "file-text"
    keywords = (
        "pdf", "docx", "word", "csv", "document", "parse", "extract", "text", "open", "load", "content",
        "spreadsheet", "convert", "import", "ocr", "pages", "loader", "html", "markdown",
    )  # fmt: skip

    file: File = field(label="File", help="The file to read.", main=True)
    delimiter: str = field(
        default="",
        label="CSV delimiter",
        help="What separates columns; empty finds out.",
        port=False,
        advanced=True,
        max_length=1,
    )
    _document: Document | None = PrivateAttr(default=None)

    @output(help="The text; Markdown for Word, HTML and CSV.")
    async def text(self) -> Text:
        """The document's text."""
        return (await self._read()).text

    @output(help="The rows of a CSV, of a JSON list of objects, or of a Word document's first table.")
    async def table(self) -> Table:
        """The document's table. Raises `Unreadable` when it has none."""
        found = (await self._read()).table
        if found is None:
            raise Unreadable(f"'{self.file.name}' holds no table.", remedy="Use its text or data instead.")
        return found

    @output(help="CSV rows, the JSON value, a PDF's pages, a Word document's tables, or a page's title and links.")
    async def data(self) -> Data:
        """The document's data."""
        return (await self._read()).data

    async def _read(self) -> Document:
        if self._document is None:
            content = await self.ctx.files.read(self.file)
            self._document = await asyncio.to_thread(
                read_document,
                content,
                name=self.file.name,
                media_type=self.file.media_type,
                delimiter=self.delimiter,
            )
            for note in self._document.notes:
                self.ctx.log(note)
        return self._document
