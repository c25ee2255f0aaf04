"""`headgate flows move`, `tag`, `favourite`, `unpublish` and `trash`: where flows are, and flows that are deleted."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import TypeAdapter, ValidationError
from rich.markup import escape

from headgate.entrypoints.cli.flow_choice import FlowArgument, flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, table, when
from headgate.entrypoints.cli.session import acting, on_installation
from headgate.entrypoints.installation import Installation
from headgate.features.flows import service
from headgate.features.flows.organization.filters import FlowFilter
from headgate.features.flows.organization.names import Folder, Tag
from headgate.features.flows.summaries import FlowSummary
from headgate.foundation.errors import Invalid
from headgate.foundation.ids import is_id
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.flows import publications
    from headgate.features.flows.organization import service as organization
else:
    publications = lazy_module("headgate.features.flows.publications")
    organization = lazy_module("headgate.features.flows.organization.service")

trash = typer.Typer(add_completion=False, no_args_is_help=True, help="Deleted flows: list and restore.")
FolderOption = Annotated[str, typer.Option("--folder", help="Only flows in this folder and below it.")]
TagOption = Annotated[str, typer.Option("--tag", help="Only flows with this tag.")]
FavouritesFlag = Annotated[bool, typer.Option("--favourites", help="Only your favourites.")]
_FOLDER, _TAG = TypeAdapter[str](Folder), TypeAdapter[str](Tag)


def wanted_flows(folder: str, tag: str, *, favourites: bool) -> FlowFilter:
    """Return the filter of a list. Raises `Invalid`."""
    user_id = acting().user_id if favourites else None
    return FlowFilter(_folder(folder), _tags([tag])[0] if tag else "", user_id)


def register(app: typer.Typer) -> None:
    """Add the commands to `headgate flows`."""
    app.command("move")(move)
    app.command("tag")(tag)
    app.command("favourite")(favourite)
    app.command("unpublish")(unpublish)
    app.add_typer(trash, name="trash")


@on_installation
async def move(
    installation: Installation,
    which: FlowArgument,
    folder: Annotated[str, typer.Argument(help='Folder, for example Finance/Invoices. "" for none.')],
    json: JsonFlag = False,
) -> None:
    """Move a flow to a folder."""
    path = _folder(folder)
    flow_id = await flow_id_of(installation, which)
    async with installation.database.writing() as session:
        summary = FlowSummary.model_validate(await organization.move_flow(session, acting(), flow_id, path))
    print_result(summary, f"{escape(summary.name)} is in {escape(path) or 'no folder'}.", json=json)


@on_installation
async def tag(
    installation: Installation,
    which: FlowArgument,
    add: Annotated[list[str] | None, typer.Option("--add", help="Tag to add; can be repeated.")] = None,
    remove: Annotated[list[str] | None, typer.Option("--remove", help="Tag to remove; can be repeated.")] = None,
    json: JsonFlag = False,
) -> None:
    """Add and remove tags of a flow, and show its tags."""
    added, removed = _tags(add or []), _tags(remove or [])
    flow_id = await flow_id_of(installation, which)
    async with installation.database.writing() as session:
        tags = await organization.change_tags(session, acting(), flow_id, add=added, remove=removed)
    print_result({"id": flow_id, "tags": tags}, escape(", ".join(tags)) or "No tags.", json=json)


@on_installation
async def favourite(
    installation: Installation,
    which: FlowArgument,
    off: Annotated[bool, typer.Option("--off", help="Remove it from your favourites.")] = False,
    json: JsonFlag = False,
) -> None:
    """Mark a flow as your favourite."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.writing() as session:
        await organization.set_favourite(session, acting(), flow_id, favourite=not off)
    print_result(
        {"id": flow_id, "favourite": not off},
        "Removed from your favourites." if off else "Added to your favourites.",
        json=json,
    )


@on_installation
async def unpublish(installation: Installation, which: FlowArgument, json: JsonFlag = False) -> None:
    """End the publication of a flow: its published version starts no run any more. Active runs continue."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.writing() as session:
        summary = FlowSummary.model_validate(await publications.unpublish_flow(session, acting(), flow_id))
    print_result(summary, f"{escape(summary.name)} is not published.", json=json)


@trash.command("list")
@on_installation
async def list_trash(
    installation: Installation,
    limit: Annotated[int, typer.Option(help="Maximum number of flows.", min=1, max=200)] = 50,
    json: JsonFlag = False,
) -> None:
    """List deleted flows that can be restored, newest first."""
    async with installation.database.reading() as session:
        rows = await service.list_flows(session, acting(), flow_filter=FlowFilter(trashed=True), limit=limit)
    days = installation.settings.retention.trash_days
    ends = [None if days is None or row.deleted_at is None else row.deleted_at + timedelta(days=days) for row in rows]
    if json:
        shown = [FlowSummary.model_validate(row).model_dump(mode="json") for row in rows]
        print_json([
            {**summary, "deleted_at": row.deleted_at, "restorable_until": end}
            for summary, row, end in zip(shown, rows, ends, strict=True)
        ])  # fmt: skip
    elif not rows:
        console.print("The trash is empty.")
    else:
        cells = [
            (row.id, escape(row.name), when(row.deleted_at), when(end)) for row, end in zip(rows, ends, strict=True)
        ]
        console.print(table(("id", "name", "deleted", "restorable until"), cells))


@trash.command("restore")
@on_installation
async def restore_from_trash(installation: Installation, which: FlowArgument, json: JsonFlag = False) -> None:
    """Restore a deleted flow."""
    async with installation.database.writing() as session:
        flow_id = which if is_id(which) else await service.trashed_flow_named(session, acting(), which)
        summary = FlowSummary.model_validate(await service.restore_flow(session, acting(), flow_id))
    print_result(summary, f"Restored {escape(summary.name)}.", json=json)


def _folder(text: str) -> str:
    return _checked(_FOLDER, text, "folder")


def _tags(texts: list[str]) -> list[str]:
    return [_checked(_TAG, text, "tag") for text in texts]


def _checked(kind: TypeAdapter[str], text: str, what: str) -> str:
    try:
        return kind.validate_python(text)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise Invalid(f"'{text[:100]}' is not a {what}: {reason}.") from error
