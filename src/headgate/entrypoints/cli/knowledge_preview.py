"""`headgate knowledge preview`: how a document would be divided."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.files import read_upload
from headgate.entrypoints.cli.knowledge_base import BaseArgument, find_base
from headgate.entrypoints.cli.output import JsonFlag, console, print_json
from headgate.entrypoints.cli.session import acting, with_parts
from headgate.entrypoints.compose import Parts
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.previewing import Content
from headgate.features.knowledge.documents.schemas import PreviewIn, PreviewOut
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid

SHOWN = 300
"""Characters of a passage that are shown; `--json` has all."""


def preview(
    which: BaseArgument,
    path: Annotated[Path | None, typer.Argument(metavar="FILE", help="A file. It is not stored.")] = None,
    document: Annotated[str, typer.Option(help="In place of a file: id or name of a document of the base.")] = "",
    tokens: Annotated[int | None, typer.Option(help="Size of a passage. Default: as the base says.")] = None,
    overlap: Annotated[int | None, typer.Option(help="Tokens that neighbours share; default as above.")] = None,
    json: JsonFlag = False,
) -> None:
    """Preview how a file or document would be divided into passages. Nothing is stored."""
    if (path is None) is not bool(document):
        raise Invalid("Preview needs a file or --document.", remedy="headgate knowledge preview BASE FILE")
    preview_in = checked(PreviewIn, passage_tokens=tokens, overlap_tokens=overlap)
    content = None if path is None else Content(path.name, "", read_upload(path))

    async def work(parts: Parts) -> PreviewOut:
        base = await find_base(parts, which)
        if document:
            async with parts.database.reading() as session:
                preview_in.document_id = await documents.document_id_of(session, acting(), base.id, document)
        return await parts.previews.preview(acting(), base.id, preview_in, content)

    result = with_parts(work)
    if json:
        print_json(result)
        return
    console.print(
        f"{result.passages} passages of {result.smallest} to {result.largest} tokens, {result.tokens} in all"
        f" (size {result.passage_tokens}, overlap {result.overlap_tokens})."
    )
    for note in result.notes:
        console.print(escape(note))
    for number, passage in enumerate(result.shown, start=1):
        page = f", page {passage.page}" if passage.page is not None else ""
        context = f"  {escape(passage.context)}" if passage.context else ""
        console.print(f"[bold]{number}. {passage.tokens} tokens{page}[/bold]{context}")
        text = passage.text.strip()
        console.print(escape(text if len(text) <= SHOWN else f"{text[:SHOWN]} …"), soft_wrap=True)
