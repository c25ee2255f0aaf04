"""`headgate knowledge sources`, `source` and `sync`: sources of a knowledge base."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.markup import escape

from headgate.entrypoints.cli.exit_codes import FAILED, OK
from headgate.entrypoints.cli.knowledge_base import BaseArgument, LevelOption, RoleOption, find_base
from headgate.entrypoints.cli.knowledge_metadata import MetadataOption
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, when
from headgate.entrypoints.cli.session import acting, with_installation, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.knowledge.documents.schemas import Readers
from headgate.features.knowledge.metadata.written import metadata_of
from headgate.features.knowledge_sources import service
from headgate.features.knowledge_sources.schemas import MOST_DOCUMENTS, SourceChange, SourceIn, SourceItemOut, SourceOut
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid

SourceArgument = Annotated[str, typer.Argument(metavar="SOURCE", help="Id or name of the source.")]


def sources(which: BaseArgument, json: JsonFlag = False) -> None:
    """List the sources of a knowledge base with the state of their synchronisation."""

    async def work(installation: Installation) -> None:
        base = await find_base(installation, which)
        async with installation.database.reading() as session:
            rows = await service.list_sources(session, acting(), base.id)
        shown = [
            (escape(row.name), row.config.kind, row.status, row.documents, row.problems, when(row.synced_at), row.id)
            for row in rows
        ]
        columns = ("source", "kind", "state", "documents", "problems", "synchronised", "id")
        print_rows(
            rows, columns, shown, json=json, none="No source. Add one: headgate knowledge source BASE NAME SETTINGS"
        )

    with_installation(work)


def add_source(
    which: BaseArgument,
    name: Annotated[str, typer.Argument(help="Name of the source; begins the names of its documents.")],
    settings: Annotated[
        str,
        typer.Argument(
            help="Its settings as JSON, or a file with them: "
            '{"kind": "web", "url": "https://docs.example.org/sitemap.xml", "follow": "sitemap"}.'
        ),
    ],
    every: Annotated[int | None, typer.Option(help="Seconds between synchronisations; empty: by hand.")] = None,
    role: RoleOption = None,
    classification: LevelOption = None,
    metadata: MetadataOption = None,
    json: JsonFlag = False,
) -> int:
    """Add a source of documents (storage, git, web, sql, mail) to a knowledge base, and synchronise it.

    Exit code 1 when it could not be read, or not completely.
    """
    readers = Readers() if role is None else Readers(role=None if role == "nobody" else role)
    body = checked(
        SourceIn, name=name, config=_settings(settings), every_seconds=every, readers=readers.model_dump(),
        classification=classification or 0, metadata=metadata_of(metadata) or {},
    )  # fmt: skip

    async def work(parts: Parts) -> int:
        base = await find_base(parts, which)
        async with parts.database.writing() as session:
            source = await service.add_source(session, acting(), base.id, body)
        return await _synchronised(parts, base.id, source.id, json=json)

    return with_parts(work)


def _settings(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return orjson.loads(text if text.lstrip().startswith("{") else Path(text).read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise Invalid(f"{text[:100]} is neither JSON nor a file with JSON.", remedy="See --help.") from error


def change_source(
    which: BaseArgument,
    source: SourceArgument,
    settings: Annotated[str, typer.Option(help="New settings as JSON, or a file with them.")] = "",
    every: Annotated[int | None, typer.Option(help="Seconds between synchronisations; 0: by hand.", min=0)] = None,
    role: RoleOption = None,
    classification: LevelOption = None,
    metadata: MetadataOption = None,
    json: JsonFlag = False,
) -> int:
    """Change a source: its settings, schedule, and the readers, level and metadata of its documents.

    You become its owner.

    Omitted options stay unchanged. It is synchronised; exit code 1 when it could not be read, or not completely.
    """
    values: dict[str, Any] = {"config": _settings(settings)} if settings else {}
    values |= {} if every is None else {"every_seconds": every or None}
    values |= {} if metadata is None else {"metadata": metadata_of(metadata)}
    values |= {} if classification is None else {"classification": classification}

    async def work(parts: Parts) -> int:
        base = await find_base(parts, which)
        async with parts.database.writing() as session:
            source_id = await service.find_source(session, acting(), base.id, source)
            if role is not None:
                readers = (await service.describe_source(session, acting(), base.id, source_id)).readers
                values["readers"] = readers.model_dump() | {"role": None if role == "nobody" else role}
            await service.change_source(session, acting(), base.id, source_id, checked(SourceChange, **values))
            await service.sync_source(session, acting(), base.id, source_id)
        return await _synchronised(parts, base.id, source_id, json=json)

    return with_parts(work)


def sync(which: BaseArgument, source: SourceArgument, json: JsonFlag = False) -> int:
    """Synchronise a source now: read what is new or changed, and delete what is gone.

    Exit code 1 when it could not be read, or not completely.
    """

    async def work(parts: Parts) -> int:
        base = await find_base(parts, which)
        async with parts.database.writing() as session:
            source_id = await service.find_source(session, acting(), base.id, source)
            await service.sync_source(session, acting(), base.id, source_id)
        return await _synchronised(parts, base.id, source_id, json=json)

    return with_parts(work)


async def _synchronised(parts: Parts, base_id: str, source_id: str, *, json: bool) -> int:
    parts.source_sync.soon(source_id)
    await parts.source_sync.settle()
    async with parts.database.reading() as session:
        row = await service.describe_source(session, acting(), base_id, source_id)
        problems = await service.list_problems(session, acting(), base_id, source_id, limit=MOST_DOCUMENTS, after="")
    if json:
        print_json({"source": row.model_dump(mode="json"), "problems": [item.model_dump() for item in problems]})
    else:
        _show(row, problems)
    return FAILED if row.status == "failed" or problems else OK


def _show(row: SourceOut, problems: Sequence[SourceItemOut]) -> None:
    report = row.report
    console.print(
        f"{escape(row.name)}: {row.status}. {report.listed} listed, {report.added} added, {report.changed} changed,"
        f" {report.unchanged} unchanged, {report.deleted} deleted, {report.failed} not read."
    )
    for line in (row.problem, *report.notes):
        if line:
            console.print(escape(line))
    for item in problems:
        for reason in item.reasons:
            console.print(f"{escape(item.key)}: {escape(reason)}")


def delete_source(which: BaseArgument, source: SourceArgument, json: JsonFlag = False) -> None:
    """Delete a source of a knowledge base. Its documents stay."""

    async def work(installation: Installation) -> None:
        base = await find_base(installation, which)
        async with installation.database.writing() as session:
            source_id = await service.find_source(session, acting(), base.id, source)
            await service.delete_source(session, acting(), base.id, source_id)
        if json:
            print_json({"deleted": source_id})
        else:
            console.print(f"Deleted {escape(source)}.")

    with_installation(work)
