"""`headgate db`."""

import asyncio

import typer

from headgate.entrypoints.cli.output import JsonFlag, console, print_json
from headgate.foundation.database import Database
from headgate.foundation.database.migrate import HEAD, current, upgrade
from headgate.foundation.settings import Settings

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Database schema.")


@app.command("upgrade")
def upgrade_(json: JsonFlag = False) -> None:
    """Upgrade the database to the newest schema. The server also does this at startup."""

    async def work() -> tuple[str | None, str]:
        database = Database(Settings())
        try:
            return await upgrade(database)
        finally:
            await database.close()

    before, after = asyncio.run(work())
    if json:
        print_json({"before": before, "after": after})
    elif before == after:
        console.print(f"The schema is up to date ({after}).")
    else:
        console.print(f"Upgraded from {before or 'nothing'} to {after}.")


@app.command("status")
def status(json: JsonFlag = False) -> None:
    """Show the schema version of the database."""

    async def work() -> str | None:
        database = Database(Settings())
        try:
            return await current(database)
        finally:
            await database.close()

    found = asyncio.run(work())
    if json:
        print_json({"current": found, "newest": HEAD})
    else:
        console.print(f"{found or 'empty'} (newest: {HEAD})")
