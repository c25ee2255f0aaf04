"""`headgate connections files`."""

from typing import Annotated

import typer

from headgate.entrypoints.cli.output import JsonFlag, console, print_json
from headgate.entrypoints.cli.session import acting, on_parts
from headgate.entrypoints.compose import Parts
from headgate.features.connections.schemas import StoredFileOut


@on_parts
async def files(
    parts: Parts,
    name: Annotated[str, typer.Argument(help="Name of the connection.")],
    folder: Annotated[str, typer.Argument(help="Path from the folder of the connection.")] = "",
    search: Annotated[str, typer.Option("--search", help="Only names that contain it.")] = "",
    json: JsonFlag = False,
) -> None:
    """List a folder of a storage, such as S3, SFTP or a folder of the server; folders end with /."""
    entries: list[StoredFileOut] = []
    cursor: str | None = ""
    while cursor is not None:
        page = await parts.connections.browse(acting(), name, folder, search=search, cursor=cursor)
        entries += page.items
        cursor = page.next_cursor
    if json:
        print_json([entry.model_dump(mode="json") for entry in entries])
        return
    for entry in entries:
        size = "" if entry.is_folder else str(entry.size)
        console.print(f"{size:>12}  {entry.path}{'/' if entry.is_folder else ''}", markup=False)
