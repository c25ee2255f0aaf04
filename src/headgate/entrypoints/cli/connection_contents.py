"""What is behind a connection, on the command line: operations of its API, tables of its database."""

from typing import Annotated

import typer

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, table
from headgate.entrypoints.cli.session import acting, on_installation, on_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.connections.apis import service as apis

Name = Annotated[str, typer.Argument(help="Name of the connection.")]


@on_installation
async def operations(
    installation: Installation,
    name: Name,
    words: Annotated[list[str] | None, typer.Argument(help="Words that an operation must have.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=5000, help="How many are listed.")] = 50,
    json: JsonFlag = False,
) -> None:
    """List operations of the connection's API; changed ones are marked with *."""
    text = " ".join(words or [])
    async with installation.database.reading() as session:
        rows = await apis.search_operations(session, acting(), name, text=text, limit=limit + 1)
        listed = [apis.operation_out(row) for row in rows[:limit]]
    if json:
        print_json([row.model_dump(mode="json") for row in listed])
        return
    cells = [(f"{row.key}{'*' if row.changed else ''}", row.operation_id, row.summary) for row in listed]
    console.print(table(("operation", "id", "what it does"), cells))
    if len(rows) > limit:
        console.print(f"There are more than {limit}. Give words, or --limit.")


@on_parts
async def tables(
    parts: Parts,
    name: Name,
    words: Annotated[list[str] | None, typer.Argument(help="Text in the name of the table or of a column.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="How many are listed.")] = 50,
    json: JsonFlag = False,
) -> None:
    """List tables of the connection's database with their columns, types and keys (*)."""
    text = " ".join(words or [])
    page = await parts.connections.databases.tables(acting(), name, text=text, after="", limit=limit)
    if json:
        print_json([row.model_dump(mode="json") for row in page.items])
        return
    cells = [
        (row.name, f"{column.name}{'*' if column.key else ''}", column.type, column.references)
        for row in page.items
        for column in row.columns
    ]
    console.print(table(("table", "column", "type", "references"), cells))
    if page.next_cursor:
        console.print(f"There are more than {limit}. Give a name, or --limit.")
