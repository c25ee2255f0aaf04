"""`headgate workspace`."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.files import write_file
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, require_named, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.access.principal import Principal
from headgate.features.accounts.users.service import get_user_named
from headgate.features.workspace import service
from headgate.features.workspace.schemas import WorkspaceFileOut
from headgate.features.workspace.workspace import Area
from headgate.foundation.errors import Invalid

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Workspace files that agents store for a user.")

Where = Annotated[str, typer.Argument(metavar="PATH", help="Path in the workspace, such as notes/plan.md.")]
User = Annotated[
    str, typer.Option("--user", metavar="EMAIL", help="User of the workspace. Default with auto-login: the local user.")
]
Flows = Annotated[
    bool, typer.Option("--flows", help="Files of flows. With auto-login, they are separate from the assistant's.")
]
_PAGE = 200


@app.command("list")
def list_(
    user: User = "",
    flows: Flows = False,
    json: JsonFlag = False,
) -> None:
    """List the files by path."""

    async def work(installation: Installation, principal: Principal) -> None:
        entries = [entry async for entry in _all(installation, principal, _area(flows))]
        print_rows(
            entries,
            ("path", "bytes", "changed"),
            [(escape(entry.path), entry.size_bytes, when(entry.modified_at)) for entry in entries],
            json=json,
            none="No files yet.",
        )

    _as_user(user, work)


@app.command()
def read(
    path: Where,
    user: User = "",
    flows: Flows = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Output file. Default: standard output.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Print a text file, or save any file to this machine."""

    async def work(installation: Installation, principal: Principal) -> None:
        if output is not None:
            content = await service.read_bytes(installation.workspace, principal, path, area=_area(flows))
            write_file(output, content)
            if json:
                print_json({"path": path, "size_bytes": len(content), "written_to": str(output)})
            return
        file = await service.read_text(installation.workspace, principal, path, area=_area(flows))
        if json:
            print_json(file)
        else:
            console.file.write(file.text)

    _as_user(user, work)


@app.command()
def write(
    path: Where,
    source: Annotated[str, typer.Argument(metavar="FILE", help="A local text file, or - for standard input.")],
    user: User = "",
    flows: Flows = False,
    json: JsonFlag = False,
) -> None:
    """Write a text file and create missing folders."""

    async def work(installation: Installation, principal: Principal) -> None:
        text = _given(source)
        async with installation.database.writing() as session:
            file = await service.write_text(session, principal, installation.workspace, path, text, area=_area(flows))
        print_result(file, f"Written: {file.path}, {file.size_bytes} bytes.", json=json, markup=False)

    _as_user(user, work)


@app.command()
def remove(path: Where, user: User = "", flows: Flows = False, json: JsonFlag = False) -> None:
    """Remove a file and folders that become empty."""

    async def work(installation: Installation, principal: Principal) -> None:
        async with installation.database.writing() as session:
            await service.remove_file(session, principal, installation.workspace, path, area=_area(flows))
        print_result({"deleted": path}, f"Removed: {path}", json=json, markup=False)

    _as_user(user, work)


def _given(source: str) -> str:
    """The text of a file of this machine. Raises `Invalid`."""
    try:
        content = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        return content.decode()
    except OSError as error:
        raise Invalid(f"{source} cannot be read: {error.strerror}.", remedy="Check the path.") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{source} is not UTF-8 text.", remedy="Only text files can be stored in a workspace.") from error


async def _all(installation: Installation, principal: Principal, area: Area) -> AsyncIterator[WorkspaceFileOut]:
    cursor: str | None = ""
    while cursor is not None:
        page = await service.list_files(installation.workspace, principal, area=area, limit=_PAGE, after=cursor)
        for item in page.items:
            yield item
        cursor = page.next_cursor


def _as_user(user: str, work: Callable[[Installation, Principal], Awaitable[None]]) -> None:
    """Run the operation as the named user, or as the local user."""
    require_named(user, "--user")

    async def run(installation: Installation) -> None:
        principal = acting()
        if user:
            async with installation.database.reading() as session:
                principal = replace(principal, user_id=(await get_user_named(session, principal, user)).id)
        await work(installation, principal)

    with_installation(run)


def _area(flows: bool) -> Area:
    return "flows" if flows else "assistant"
