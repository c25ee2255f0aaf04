"""`headgate attention`: what needs a human."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.attention.schemas import AttentionItem
from headgate.features.attention.service import list_attention, set_dismissed

app = typer.Typer(add_completion=False, no_args_is_help=True, help="What needs a human, in one list.")


@app.command("list")
def list_(
    dismissed: Annotated[bool, typer.Option("--dismissed", help="Also items that you have dismissed.")] = False,
    json: JsonFlag = False,
) -> None:
    """List failed and queued runs, failed deliveries, paused triggers, broken connections and waiting approvals."""

    async def work(installation: Installation) -> None:
        async with installation.database.reading() as session:
            attention = await list_attention(session, acting(), dismissed=dismissed)
        rows = [_row(item) for item in attention.items]
        columns = ("what", "name", "count", "last", "message", "key")
        print_rows(attention, columns, rows, json=json, none="Nothing needs you.")

    with_installation(work)


@app.command()
def dismiss(
    key: Annotated[str, typer.Argument(help="Key of the item, as `list` prints it.")],
    undo: Annotated[bool, typer.Option("--undo", help="Show it again.")] = False,
    json: JsonFlag = False,
) -> None:
    """Hide an item for yourself until it happens again."""

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            attention = await set_dismissed(session, acting(), key, dismissed=not undo)
        did = "Shown again" if undo else "Dismissed"
        print_result(attention, f"{did}: {escape(key)}. Open items: {attention.open}", json=json)

    with_installation(work)


def _row(item: AttentionItem) -> tuple[str, ...]:
    last = when(item.last_at) if item.last_at else ""
    kind = item.kind.replace("_", " ") + (" (dismissed)" if item.dismissed else "")
    return kind, escape(item.name), str(item.count), last, escape(item.message), escape(item.key)
