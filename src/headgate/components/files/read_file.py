"""The component that reads a document's text."""

from collections.abc import Sequence

from pydantic import PrivateAttr

from headgate.components.isolated.calls import MEMBERS, read_document
from headgate.components.readers.document import Document, Unreadable
from headgate.sdk import Component, Data, File, Table, Text, field, output


class ReadFile(Component):
    """Reads a file's text: PDF, scans, images, Word, PowerPoint, Excel, OpenDocument, EPUB, CSV, JSON, HTML, text."""

    label = "Read file"
    category = "data"
    icon = "file-text"
    keywords = (
        "pdf", "docx", "word", "csv", "document", "parse", "extract", "text", "open", "load", "content",
        "spreadsheet", "convert", "import", "ocr", "scan", "image", "pages", "pptx", "slides",
        "epub", "odt", "loader", "html", "markdown",
    )  # fmt: skip

    file: File = field(label="File", help="The file to read.", main=True)
    delimiter: str = field(
        default="",
        label="CSV delimiter",
        help="Column separator; empty detects it.",
        port=False,
        advanced=True,
        max_length=1,
    )
    languages: str = field(
        default="",
        label="Languages of scans",
        help="For text recognition (OCR), such as swe+eng; empty is Swedish and English.",
        port=False,
        advanced=True,
        max_length=100,
    )
    _document: Document | None = PrivateAttr(default=None)
    _wanted: frozenset[str] = PrivateAttr(default=frozenset(MEMBERS))

    @output(help="The text; Markdown for Word, HTML, CSV and spreadsheets.")
    async def text(self) -> Text:
        """Return the document's text."""
        return (await self._read("text")).text

    @output(help="The rows of a CSV, of a JSON list of objects, of a spreadsheet's first sheet, or of a Word table.")
    async def table(self) -> Table:
        """Return the document's table. Raises `Unreadable` when it has none."""
        table = (await self._read("table")).table
        if table is None:
            raise Unreadable(f"'{self.file.name}' contains no table.", remedy="Use its text or data instead.")
        return table

    @output(help="CSV rows, sheets, the JSON value, pages, a Word document's tables, or a page's title and links.")
    async def data(self) -> Data:
        """Return the document's data."""
        return (await self._read("data")).data

    def expect_outputs(self, names: Sequence[str]) -> None:
        """Limit the result of the reading process to the requested outputs."""
        self._wanted = frozenset(names) & frozenset(MEMBERS)

    async def _read(self, member: str) -> Document:
        """Return the document with a member, read once for all expected outputs."""
        if self._document is None or member not in self._wanted:
            self._wanted |= {member}
            content = await self.ctx.files.read(self.file)
            self._document = await read_document(
                self.ctx,
                content,
                name=self.file.name,
                media_type=self.file.media_type,
                delimiter=self.delimiter,
                languages=self.languages,
                members=self._wanted,
            )
            for note in self._document.notes:
                self.ctx.log(note)
        return self._document
