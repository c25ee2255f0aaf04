"""The component that makes a document of a text."""

from typing import Literal

from headgate.components.files.file_names import safe_name
from headgate.components.files.illustrations import images_for
from headgate.components.files.saving import markdown_of
from headgate.sandbox.documents.job import Job
from headgate.sandbox.documents.maker import make_document
from headgate.sdk import Component, Data, File, Message, Table, field, output


class MakeDocument(Component):
    """Makes a PDF or Word document of Markdown: headings, lists, tables, code, formulas and images of the run."""

    label = "Make document"
    category = "output"
    icon = "file-type"
    effect = True
    needs_extra = "documents"
    keywords = (
        "pdf", "docx", "word", "report", "letter", "print", "export", "generate", "markdown", "convert", "render",
        "page", "download", "publish", "brochure", "memo",
    )  # fmt: skip

    content: str | Message | Table | Data = field(label="Content", help="Markdown, or a table or data.", main=True)
    format: Literal["pdf", "docx"] = field(default="pdf", label="Format", help="pdf, or docx for Word.", port=False)
    name: str = field(
        default="document",
        label="File name",
        help="Without extension; the format adds it.",
        port=False,
        max_length=1000,
    )
    title: str = field(default="", label="Title", help="Title above the text; empty for none.", port=False)
    images: list[File] = field(
        default_factory=list,
        label="Images",
        help="PNG, JPEG or GIF files that the text refers to by name or id.",
        many=True,
        advanced=True,
    )
    page_size: Literal["a4", "us-letter"] = field(
        default="a4", label="Page size", help="a4 or us-letter.", advanced=True
    )
    language: str = field(
        default="und", label="Language", help="ISO 639 code of the text, such as sv; und is unknown.", advanced=True,
        max_length=3,
    )  # fmt: skip

    @output(help="The document.")
    async def file(self) -> File:
        """Generate the file in a separate process, then store it."""
        markdown = self.content.text if isinstance(self.content, Message) else markdown_of(self.content)
        images = await images_for(self.ctx, markdown, self.images)
        stem = safe_name(self.name).removesuffix(f".{self.format}")
        job = Job(
            markdown, self.format, title=self.title, name=stem, language=self.language, page_size=self.page_size,
            images=images,
        )  # fmt: skip
        document = await make_document(job)
        for note in document.notes:
            self.ctx.log(note)
        await self.ctx.check_cancelled()
        return await self.ctx.files.save(f"{stem}.{self.format}", document.content, document.media_type)
