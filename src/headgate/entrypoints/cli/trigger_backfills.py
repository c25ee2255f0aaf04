"""`headgate triggers backfill`: due times of the past, with their cost."""

from datetime import datetime, timedelta
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, table
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.cli.trigger_links import TriggerId
from headgate.entrypoints.installation import Installation
from headgate.features.triggers import starts
from headgate.features.triggers.schemas import BackfillEstimate, BackfillIn, FiringOut


def backfill(
    trigger: TriggerId,
    since: Annotated[datetime, typer.Argument(help="First due time, in local time.")],
    until: Annotated[datetime, typer.Argument(help="Last due time, in local time.")],
    parallel: Annotated[
        int, typer.Option(min=1, max=100, help="Most runs of the trigger at the same time; 1: in order.")
    ] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would run, with its cost.")] = False,
    json: JsonFlag = False,
) -> None:
    """Run the due times of a past range that have no occurrence, so many at the same time."""

    async def work(installation: Installation) -> None:
        body = BackfillIn(since=since.astimezone(), until=until.astimezone(), parallel=parallel, dry_run=dry_run)
        outcome = await starts.backfill(installation.database, acting(), trigger, body)
        if json:
            print_json(outcome)
            return
        print_firings(outcome.due, json=False)
        console.print(f"{outcome.count} due times{' would run' if dry_run else f', backfill {outcome.id}'}.")
        if dry_run and outcome.count:
            console.print(_estimate(outcome.estimate))

    with_installation(work)


def _estimate(estimate: BackfillEstimate | None) -> str:
    if estimate is None:
        return "No completed runs: time and cost are unknown."
    unknown = f", without {estimate.unpriced} model calls of unknown price" if estimate.unpriced else ""
    return (
        f"About {timedelta(seconds=round(estimate.seconds))} and ${estimate.cost_usd:.4f}{unknown}, by the last"
        f" {estimate.runs} completed runs of the {estimate.basis}."
    )


def cancel_backfill(
    trigger: TriggerId,
    backfill_id: Annotated[str, typer.Argument(metavar="BACKFILL", help="The id that `backfill` printed.")],
    json: JsonFlag = False,
) -> None:
    """Cancel what a backfill has not started. Its runs continue."""

    async def work(installation: Installation) -> None:
        count = await starts.cancel_backfill(installation.database, acting(), trigger, backfill_id)
        if json:
            print_json({"cancelled": count})
        else:
            console.print(f"Cancelled: {count}.")

    with_installation(work)


def print_firings(firings: list[FiringOut], *, json: bool) -> None:
    """Print due times, with what a change of the clocks does to them."""
    if json:
        print_json(firings)
    elif not firings:
        console.print("None.")
    else:
        console.print(
            table(
                ("due", "note"), [(item.local, escape("; ".join(note.text for note in item.notes))) for item in firings]
            )
        )
