"""Metadata of documents on the command line: its options, and `headgate knowledge fields`."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.knowledge_base import BaseArgument, find_base
from headgate.entrypoints.cli.output import JsonFlag, print_rows
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.knowledge.metadata.rows import list_fields
from headgate.sdk.coerce import text_of

MetadataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metadata",
        help="KEY=VALUE: a number, true, false, a date such as 2026-01-31, or a text; repeat it.",
    ),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        help="Metadata that documents must have: KEY=VALUE, KEY=A|B, KEY>=VALUE, KEY<=VALUE, KEY or !KEY; repeat it.",
    ),
]
SHOWN = 5
"""Values of a key that are shown."""


def fields(which: BaseArgument, json: JsonFlag = False) -> None:
    """List the metadata of the documents of a knowledge base, by which searches can be filtered."""

    async def work(installation: Installation) -> None:
        base = await find_base(installation, which)
        async with installation.database.reading() as session:
            listed = await list_fields(session, acting(), base)
        rows = [(escape(item.key), item.kind, item.documents, escape(_shown(item.values))) for item in listed]
        none = "No document has metadata. Add it: headgate knowledge change BASE DOCUMENT --metadata KEY=VALUE"
        print_rows(listed, ("key", "type", "documents", "values"), rows, json=json, none=none)

    with_installation(work)


def _shown(values: Sequence[bool | float | str]) -> str:
    return ", ".join(text_of(value) for value in values[:SHOWN]) + (", …" if len(values) > SHOWN else "")
