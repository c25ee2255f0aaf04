"""`headgate maintenance`."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, table, when
from headgate.entrypoints.cli.session import on_parts
from headgate.entrypoints.compose import Parts

_COUNTED = {
    "runs": "runs",
    "sessions": "sessions",
    "flows": "flows",
    "artifacts": "artifacts",
    "contents": "stray contents",
    "bytes": "bytes of artifacts",
    "keys": "idempotency keys",
    "events": "events",
    "occurrences": "occurrences",
    "alerts": "alerts",
    "documents": "documents",
    "vectors": "embeddings grouped, not deleted",
}

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Retention and cleanup jobs.")


@app.command()
@on_parts
async def run(
    parts: Parts,
    job: Annotated[
        str | None, typer.Argument(help="A job, such as retention or sent_events; status lists them. Default: all.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be deleted.")] = False,
    json: JsonFlag = False,
) -> None:
    """Run maintenance jobs now, regardless of schedule."""
    names = list(parts.maintenance.jobs) if job is None else [job]
    outcomes = {name: (await parts.maintenance.run_job(name, dry=dry_run)).as_json() for name in names}
    if json:
        print_json({"dry": dry_run, "jobs": outcomes})
        return
    rows = [(name, describe_outcome(outcome)) for name, outcome in outcomes.items()]
    console.print(table(("job", "would delete" if dry_run else "deleted"), rows))
    console.print("[dim]Nothing was deleted.[/]" if dry_run else "[dim]Deleted.[/]")


@app.command()
@on_parts
async def status(parts: Parts, json: JsonFlag = False) -> None:
    """Show the schedule, last run and result of each job."""
    jobs = await parts.maintenance.status()
    print_rows(
        [asdict(job) for job in jobs],
        ("job", "due", "last ran", "it deleted", ""),
        [
            (job.name, _when(job.due_at), _when(job.finished_at), describe_outcome(job.outcome), job.summary)
            for job in jobs
        ],
        json=json,
    )


def _when(moment: str | None) -> str:
    return when(datetime.fromisoformat(moment) if moment else None)


def describe_outcome(outcome: dict[str, Any] | None) -> str:
    """Return what a job deleted, in words."""
    if outcome is None:
        return ""
    if "error" in outcome:
        return f"failed: {outcome['message']}"
    counts = {name: outcome.get(member, 0) for member, name in _COUNTED.items()}
    parts = [f"{count:,} {name}" for name, count in counts.items() if count]
    return ", ".join(parts) or "nothing"
