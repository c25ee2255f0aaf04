"""`headgate runs list` and `headgate runs export`: the same filters as in the API and on the page."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from headgate.entrypoints.cli.flow_choice import flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, console, print_rows, when
from headgate.entrypoints.cli.session import acting, on_installation
from headgate.entrypoints.installation import Installation
from headgate.features.runs import service
from headgate.features.runs.deliveries.schemas import DeliveryState
from headgate.features.runs.run_filter import RunFilter, run_filter_of
from headgate.features.runs.schemas import RunState, RunSummary
from headgate.features.runs.waiting import waiting_words
from headgate.foundation.errors import Invalid
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.accounts.saved_views import service as views
    from headgate.features.accounts.users import service as users
    from headgate.features.flows import service as flows
    from headgate.features.runs import run_export
else:
    views = lazy_module("headgate.features.accounts.saved_views.service")
    users = lazy_module("headgate.features.accounts.users.service")
    flows = lazy_module("headgate.features.flows.service")
    run_export = lazy_module("headgate.features.runs.run_export")

_COLOURS = {
    "completed": "green",
    "failed": "red",
    "running": "yellow",
    "waiting": "cyan",
    "paused": "magenta",
    "skipped": "dim",
    "cancelled": "dim",
}
Flow = Annotated[str | None, typer.Option(help="Only runs of this flow: its id or name.")]
Status = Annotated[RunState | None, typer.Option(help="Only runs in this state.")]
Delivered = Annotated[DeliveryState | None, typer.Option(help="Only runs with a delivery in this state.")]
Parent = Annotated[str | None, typer.Option(help="Only runs that steps of this run started.")]
Conversation = Annotated[str | None, typer.Option(help="Only runs of this conversation.")]
Version = Annotated[int | None, typer.Option(help="Only runs of this version.", min=1)]
Owner = Annotated[str | None, typer.Option(help="Only flows of this owner: an e-mail address.")]
Tag = Annotated[str | None, typer.Option(help="Only flows with this tag.")]
Trigger = Annotated[str | None, typer.Option(help="Only runs that this trigger started: its id.")]
Since = Annotated[datetime | None, typer.Option(help="Created at or after this local time.")]
Until = Annotated[datetime | None, typer.Option(help="Created before this local time.")]
Search = Annotated[str | None, typer.Option(help="Words of the input, result or error.")]
View = Annotated[str | None, typer.Option(help="A saved view; other options replace its filters.")]


@on_installation
async def list_(
    installation: Installation,
    flow: Flow = None,
    status: Status = None,
    deliveries: Delivered = None,
    parent: Parent = None,
    conversation: Conversation = None,
    version: Version = None,
    owner: Owner = None,
    tag: Tag = None,
    trigger: Trigger = None,
    since: Since = None,
    until: Until = None,
    search: Search = None,
    view: View = None,
    limit: Annotated[int, typer.Option(help="Maximum number of runs.", min=1, max=200)] = 20,
    json: JsonFlag = False,
) -> None:
    """List runs, newest first, with trigger, cost, owner and tags."""
    own = {
        "flow_id": flow, "status": status, "deliveries": deliveries, "parent_run_id": parent,
        "session_id": conversation, "version": version, "owner_id": owner, "tag": tag,
        "trigger_id": trigger,
        "since": since, "until": until, "search": search,
    }  # fmt: skip
    run_filter, words, _ = await _wanted(installation, view, own)
    async with installation.database.reading() as session:
        runs, _ = await service.page_of_runs(session, acting(), run_filter, search=words, details=True, limit=limit)
    columns = ("id", "status", "flow", "version", "started", "took", "cost", "trigger", "owner", "tags", "result")
    rows = [_row(run) for run in runs]
    print_rows(runs, columns, rows, json=json, none="No runs yet. Run a flow: [bold]headgate run FLOW_ID[/]")


@on_installation
async def export(
    installation: Installation,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Output file; .jsonl for JSON Lines. Default: standard output."),
    ] = None,
    flow: Flow = None,
    status: Status = None,
    deliveries: Delivered = None,
    parent: Parent = None,
    conversation: Conversation = None,
    version: Version = None,
    owner: Owner = None,
    tag: Tag = None,
    trigger: Trigger = None,
    since: Since = None,
    until: Until = None,
    search: Search = None,
    view: View = None,
    columns: Annotated[list[str] | None, typer.Option("--column", help="A column; may be repeated.")] = None,
) -> None:
    """Export runs, newest first, as CSV or JSON Lines."""
    own = {
        "flow_id": flow, "status": status, "deliveries": deliveries, "parent_run_id": parent,
        "session_id": conversation, "version": version, "owner_id": owner, "tag": tag,
        "trigger_id": trigger,
        "since": since, "until": until, "search": search,
    }  # fmt: skip
    run_filter, words, of_view = await _wanted(installation, view, own)
    chosen: tuple[Any, ...] = tuple(columns or of_view or run_export.COLUMNS)
    if unknown := set(chosen) - set(run_export.COLUMNS):
        raise Invalid(
            f"There is no column {', '.join(sorted(unknown))}.", remedy=f"Columns: {', '.join(run_export.COLUMNS)}."
        )
    form: Any = "jsonl" if output is not None and output.suffix.lower() == ".jsonl" else "csv"

    async def again() -> Any:  # noqa: ANN401 - a principal
        return acting()

    lines = run_export.export_runs(installation.database, again, run_filter, form=form, search=words, columns=chosen)
    with nullcontext(None) if output is None else output.open("wb") as file:
        async for line in lines:
            if file is None:
                console.file.write(line.decode())
            else:
                file.write(line)


async def _wanted(
    installation: Installation, view: str | None, own: dict[str, Any]
) -> tuple[RunFilter, str | None, Sequence[str]]:
    """Return filter, search and columns of a saved view and the options, which replace its filters."""
    given = {name: value for name, value in own.items() if value is not None}
    for name in ("since", "until"):
        if name in given:
            given[name] = given[name].astimezone()
    if "flow_id" in given:
        given["flow_id"] = await flow_id_of(installation, given["flow_id"])
    filters: Mapping[str, Any] = {}
    columns: Sequence[str] = ()
    async with installation.database.reading() as session:
        if view is not None:
            settings = (await views.get_view(session, acting(), "runs", view)).settings
            filters, columns = settings.filters, settings.columns
        if "owner_id" in given:
            given["owner_id"] = (await users.get_user_named(session, acting(), given["owner_id"])).id
    parameters = {**filters, **given}
    words = parameters.pop("search", None)
    return run_filter_of(parameters), words, columns


def _row(run: RunSummary) -> tuple[str, ...]:
    details = run.details
    if details is None:
        return (run.id,)
    version = f"v{run.version}" if details.release is None else f"v{run.version} (release {details.release})"
    trigger = details.trigger.name if details.trigger else ""
    cost = f"${details.cost_usd:.4f}" if details.cost_usd else ""
    return (
        run.id,
        state(run.status),
        _line(details.flow),
        version,
        when(run.created_at),
        ms(run.ms),
        cost + ("+" if details.unpriced else ""),
        _line(trigger),
        _line(details.owner),
        _line(", ".join(details.tags)),
        _result(run) or "; ".join(f"waits for {waiting_words(reason, None)}" for reason in details.waits_for),
    )


async def flow_names(installation: Installation, runs: Sequence[RunSummary]) -> dict[str, str]:
    """Map flow ids to names, in one line and safe to print."""
    async with installation.database.reading() as session:
        names = await flows.names_of(session, acting(), {run.flow_id for run in runs})
    return {flow_id: _line(name) for flow_id, name in names.items()}


def state(status: str) -> str:
    """Return a status in its colour."""
    colour = _COLOURS.get(status)
    return f"[{colour}]{status}[/]" if colour else status


def ms(milliseconds: float | None) -> str:
    """Return a duration."""
    return "" if milliseconds is None else f"{milliseconds:.0f} ms"


def _result(run: RunSummary) -> str:
    failed = run.deliveries_failed
    mark = f"[yellow]{failed} {'delivery' if failed == 1 else 'deliveries'} failed[/] " if failed else ""
    return mark + (f"[red]{_line(run.error.message)}[/]" if run.error is not None else _line(run.text))


def _line(text: str | None) -> str:
    first = (text or "").strip().split("\n", 1)[0]
    return escape(first[:60] + ("..." if len(first) > 60 else ""))
