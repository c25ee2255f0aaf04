"""`headgate attention`: what needs a human."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from rich.markup import escape

from headgate.entrypoints.cli.exit_codes import OK, PARTLY
from headgate.entrypoints.cli.flow_choice import flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, when
from headgate.entrypoints.cli.session import acting, with_installation, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.accounts.saved_views.service import get_view
from headgate.features.accounts.users.service import get_user_named
from headgate.features.attention.acting import act
from headgate.features.attention.action_schemas import AttentionAction, AttentionActionIn, AttentionResults
from headgate.features.attention.filters import filter_of
from headgate.features.attention.schemas import NOBODY, AttentionItem, Kind
from headgate.features.attention.service import list_attention
from headgate.foundation.errors import NotFound

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

KINDS = ", ".join(get_args(Kind))
app = typer.Typer(add_completion=False, no_args_is_help=True, help="What needs a human, in one list.")
Keys = Annotated[list[str], typer.Argument(help="Keys of items, as `list` prints them.")]


@app.command("list")
def list_(
    kind: Annotated[list[str] | None, typer.Option(help=f"Only items of this kind; may be repeated: {KINDS}.")] = None,
    flow: Annotated[str | None, typer.Option(help="Only items of this flow: its id or name.")] = None,
    owner: Annotated[str | None, typer.Option(help="Only flows of this owner: an e-mail address.")] = None,
    assigned: Annotated[str | None, typer.Option(help="Assigned to this e-mail address, or `nobody`.")] = None,
    within: Annotated[float | None, typer.Option(help="Last seen in these hours.", min=0, max=10_000)] = None,
    older: Annotated[float | None, typer.Option(help="First seen before these hours.", min=0, max=10_000)] = None,
    view: Annotated[str | None, typer.Option(help="A saved view; other options replace its filters.")] = None,
    dismissed: Annotated[bool, typer.Option("--dismissed", help="Also items that you have dismissed.")] = False,
    json: JsonFlag = False,
) -> None:
    """List failed and stuck runs, failed deliveries, paused triggers, connections, budgets, approvals, alerts."""

    async def work(installation: Installation) -> None:
        flow_id = None if flow is None else await flow_id_of(installation, flow)
        own: dict[str, Any] = {"kind": kind, "flow_id": flow_id, "within_hours": within, "older_hours": older}
        async with installation.database.reading() as session:
            saved = {} if view is None else (await get_view(session, acting(), "attention", view)).settings.filters
            own["owner_id"] = await _user_id(session, owner)
            own["assigned_to"] = assigned if assigned == NOBODY else await _user_id(session, assigned)
            item_filter = filter_of(saved | {name: value for name, value in own.items() if value not in (None, [])})
            attention = await list_attention(session, acting(), dismissed=dismissed, item_filter=item_filter)
        rows = [_row(item) for item in attention.items]
        columns = ("what", "name", "count", "first", "last", "since", "assigned", "message", "key")
        print_rows(attention, columns, rows, json=json, none="Nothing needs attention.")
        if attention.more and not json:
            console.print(f"[dim]Only the latest are listed of: {', '.join(attention.more)}[/]")

    with_installation(work)


async def _user_id(session: "AsyncSession", email: str | None) -> str | None:
    return None if email is None else (await get_user_named(session, acting(), email)).id


def _on_runs(action: AttentionAction, keys: list[str], *, published: bool = False, json: bool) -> int:
    body = AttentionActionIn(action=action, keys=keys, published=published)

    async def work(parts: Parts) -> int:
        return _show(await act(parts.database, parts.engine, acting(), body), json=json)

    return with_parts(work)


Published = Annotated[
    bool, typer.Option("--published", help="With the published version of the flow, not that of the run.")
]


@app.command()
def resume(keys: Keys, published: Published = False, json: JsonFlag = False) -> int:
    """Resume the failed runs, or the paused trigger, of items. Exit code 9 if some were refused."""
    return _on_runs("resume", keys, published=published, json=json)


@app.command()
def rerun(keys: Keys, published: Published = False, json: JsonFlag = False) -> int:
    """Rerun the failed runs of items. Exit code 9 if some were refused."""
    return _on_runs("rerun", keys, published=published, json=json)


@app.command()
def cancel(keys: Keys, json: JsonFlag = False) -> int:
    """Cancel the queued or stuck runs of items. Exit code 9 if some were refused."""
    return _on_runs("cancel", keys, json=json)


@app.command()
def redeliver(keys: Keys, json: JsonFlag = False) -> int:
    """Send the failed deliveries of items again. Exit code 9 if some were refused."""
    return _on_runs("redeliver", keys, json=json)


@app.command()
def assign(
    keys: Keys,
    to: Annotated[str | None, typer.Option(help="E-mail address of the user; without it: nobody.")] = None,
    json: JsonFlag = False,
) -> int:
    """Assign items to a user, for everyone who sees them. Exit code 9 if some were refused."""

    async def work(parts: Parts) -> int:
        user_id = None
        if to is not None:
            async with parts.database.reading() as session:
                user_id = (await get_user_named(session, acting(), to)).id
        body = AttentionActionIn(action="assign", keys=keys, user_id=user_id)
        return _show(await act(parts.database, parts.engine, acting(), body), json=json)

    return with_parts(work)


@app.command()
def dismiss(
    keys: Keys,
    until: Annotated[
        datetime | None, typer.Option(help="Mute until this local time; without it, until it happens again.")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Show it again.")] = False,
    json: JsonFlag = False,
) -> int:
    """Hide items for yourself until they happen again, or until a time."""
    end = None if until is None else until.astimezone()
    body = AttentionActionIn(action="restore" if undo else "dismiss", keys=keys, until=end)

    async def work(parts: Parts) -> int:
        return _show(await act(parts.database, parts.engine, acting(), body), json=json)

    return with_parts(work)


def _show(results: AttentionResults, *, json: bool) -> int:
    """Print the results. Returns the exit code; raises `NotFound` when no item is in the list any more."""
    refused = [result for result in results.items if result.problem is not None]
    codes = {result.problem.code for result in refused if result.problem is not None}
    if len(refused) == len(results.items) and codes == {"attention_item_not_found"}:
        raise NotFound("None of the items is in the list.", remedy="List them: headgate attention list")
    if json:
        print_json(results)
    else:
        rows = [
            (
                escape(result.id),
                "done" if result.done else "[red]refused[/]" if result.problem else "no effect",
                result.new_run_id or "",
                escape(result.problem.detail) if result.problem else "",
            )
            for result in results.items
        ]
        print_rows(results, ("id", "result", "new run", "reason"), rows, json=False)
        if results.left:
            console.print(f"[yellow]{results.left} more: run the command again.[/]")
    return PARTLY if refused or results.left else OK


def _row(item: AttentionItem) -> tuple[str, ...]:
    kind = item.kind.replace("_", " ") + (" (dismissed)" if item.dismissed else "")
    first, last = (when(at) if at else "" for at in (item.first_at, item.last_at))
    since = "" if item.since_release is None else f"v{item.since_release}"
    assignee, message = escape(item.assignee or ""), escape(item.message)
    count = f"{item.count}+" if item.counts_more else str(item.count)
    return kind, escape(item.name), count, first, last, since, assignee, message, escape(item.key)
