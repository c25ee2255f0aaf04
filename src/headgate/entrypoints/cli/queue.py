"""`headgate queue`: what waits, why and at which place, and what runs."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, table, when
from headgate.entrypoints.cli.session import acting, with_reading, with_writing
from headgate.features.runs.queue import service
from headgate.features.runs.queue.schemas import QueueOut
from headgate.features.runs.quotas.service import Quotas

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Runs that wait, why, and the limits in use.")


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """List what waits and what runs: counts by flow and reason, limits in use, waiting runs with their place."""
    queue = with_reading(
        lambda session, installation: service.read_queue(
            session,
            acting(),
            backend=installation.settings.engine.backend,
            quotas=Quotas(installation.database, installation.settings.quotas),
        )
    )
    if json:
        print_json(queue)
        return
    least = "at least " if queue.more else ""
    console.print(f"{least}{queue.waiting} waiting, {queue.running} running, {queue.paused} paused", markup=False)
    for columns, rows in _tables(queue).items():
        if rows:
            console.print()
            console.print(table(columns, rows))


@app.command()
def prioritize(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run, as `list` prints it.")],
    priority: Annotated[int, typer.Argument(min=-100, max=100, help="The highest goes first.")],
    json: JsonFlag = False,
) -> None:
    """Change the place of a run, and of the runs of its steps, among those that wait for a slot of a limit."""
    changed = with_writing(lambda session, _: service.set_priority(session, acting(), run, priority))
    print_result(changed, f"{changed.id} has the priority {changed.priority}.", json=json)


def _tables(queue: QueueOut) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    limits = {limit.name: f"{limit.kind} {limit.title}" for limit in queue.limits}
    return {
        ("organisation", "waiting", "running", "paused", "oldest"): [
            (escape(of.name), str(of.waiting), str(of.running), str(of.paused), when(of.oldest_at))
            for of in queue.tenants
        ],
        ("flow", "priority", "runs", "why", "oldest"): [
            (
                escape(of.flow),
                of.priority_class,
                str(of.count),
                _why(of.reason, limits.get(of.limit or "")),
                when(of.oldest_at),
            )
            for of in queue.groups
        ],
        ("limit", "in use", "waiting", "oldest"): [
            (escape(f"{of.kind} {of.title}"), f"{of.used} of {of.most}", str(of.waiting), when(of.oldest_at))
            for of in queue.limits
        ],
        ("waiting run", "flow", "place", "priority", "why", "since"): [
            (
                run.id,
                escape(run.flow),
                str(run.position or ""),
                str(run.priority),
                _why(run.reason, limits.get(run.limit or "")),
                when(run.since),
            )
            for run in queue.runs
        ],
    }


def _why(reason: str | None, limit: str | None) -> str:
    return "running" if reason is None else f"{reason}: {escape(limit)}" if limit else reason
