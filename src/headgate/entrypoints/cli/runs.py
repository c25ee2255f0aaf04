"""`headgate runs`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli import deliveries as sent
from headgate.entrypoints.cli import pauses, reruns, run_lists
from headgate.entrypoints.cli.exit_codes import CONFLICT, OK
from headgate.entrypoints.cli.files import write_file
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows, table, when
from headgate.entrypoints.cli.reports import run_report
from headgate.entrypoints.cli.run_view import show_text
from headgate.entrypoints.cli.session import acting, on_installation, on_parts, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.runs import service
from headgate.features.runs.schemas import RunOut, StartedRunsOut, StepSummary
from headgate.features.runs.waiting import ANSWERED, waiting_words
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.files import run_files
    from headgate.features.files import service as files
    from headgate.features.flows import service as flows
    from headgate.features.runs.evidence import archive
    from headgate.features.runs.evidence import service as packages
else:
    run_files = lazy_module("headgate.features.files.run_files")
    files = lazy_module("headgate.features.files.service")
    flows = lazy_module("headgate.features.flows.service")
    archive = lazy_module("headgate.features.runs.evidence.archive")
    packages = lazy_module("headgate.features.runs.evidence.service")

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="List and inspect runs; pause, resume, rerun, cancel; export evidence.",
)
RunId = Annotated[str, typer.Argument(help="Id of the run.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Output file. Default: standard output.")]

app.command()(sent.deliveries)
app.command()(sent.redeliver)
app.command("report")(run_report)


app.command("list")(run_lists.list_)
app.command()(run_lists.export)


@app.command()
@on_parts
async def show(parts: Parts, run_id: RunId, json: JsonFlag = False) -> None:
    """Show a run: its steps, attempts, times, tokens and result."""
    run = await service.get_run(parts.engine, acting(), run_id)
    if json:
        print_json(run)
    else:
        async with parts.database.reading() as session:
            relations = await service.get_relations(session, acting(), run_id)
        started = {counts.step_id: counts for counts in relations.steps}
        _show(run, (await run_lists.flow_names(parts, [run])).get(run.flow_id, ""), started)
        sent.show_undelivered(await sent.undelivered_of(parts, run_id), run_id)


@app.command()
@on_parts
async def evidence(
    parts: Parts,
    run_id: RunId,
    output: Output = None,
    embed: Annotated[bool, typer.Option("--embed", help="Include the contents of artifacts in the JSON.")] = False,
    json: JsonFlag = False,
) -> None:
    """Export the complete evidence of a run, hash-chained and signed. The same run always produces the same bytes.

    A file that ends in .zip has the contents of the run's artifacts next to the document. Check either with
    `headgate evidence verify FILE`.
    """
    async with parts.database.reading() as session:
        package = await parts.notary.package(session, acting(), run_id)
    zipped = output is not None and output.suffix.lower() == ".zip"
    contents: dict[str, bytes] = {}
    if zipped or embed:
        contents = await packages.read_contents(package, parts.engine.services.files, acting().tenant_id)
    content = archive.as_zip(package, contents) if zipped else archive.as_json(package, contents)
    if output is None:
        console.file.write(content.decode())
        console.file.flush()
        return
    write_file(output, content)
    print_result(
        {"path": str(output), "size": len(content), "key_id": package["seal"]["key_id"]},
        f"Wrote {output} ({len(content):,} bytes), signed by key {package['seal']['key_id']}",
        json=json,
    )


@app.command()
@on_parts
async def text(parts: Parts, run_id: RunId, output: Output = None, json: JsonFlag = False) -> None:
    """Print the complete text of a run's result, or save it to a file."""
    run = await service.get_run(parts.engine, acting(), run_id)
    result = await service.complete_text(parts.engine, acting(), run)
    if output is None:
        print_json({"text": result}) if json else console.print(result, markup=False, soft_wrap=True)
        return
    content = result.encode()
    write_file(output, content)
    print_result({"path": str(output), "size": len(content)}, f"Wrote {output} ({len(content):,} bytes)", json=json)


@app.command("files")
@on_parts
async def files_(parts: Parts, run_id: RunId, json: JsonFlag = False) -> None:
    """List the files that a run created."""
    async with parts.database.reading() as session:
        await service.get_run(parts.engine, acting(), run_id)
        rows = await files.list_files(session, acting(), flow_run_id=run_id, limit=200)
    artifacts = [run_files.as_value(row) for row in reversed(rows)]
    print_rows(
        artifacts,
        ("id", "name", "kind", "size"),
        [(file.id, escape(file.name), file.media_type, f"{file.size:,} bytes") for file in artifacts],
        json=json,
        none="The run created no files.",
    )


@app.command()
@on_installation
async def download(
    installation: Installation,
    file_id: Annotated[str, typer.Argument(help="Id of the file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Output file. Default: the name of the file.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Save a file that was created by a run or uploaded."""
    async with installation.database.reading() as session:
        row = await files.get_file_system(session, tenant_id=acting().tenant_id, file_id=file_id)
    content = await files.read_content(installation.storage, row)
    target = output or Path(row.name)
    write_file(target, content)
    print_result({"path": str(target), "size": len(content)}, f"Wrote {target} ({len(content):,} bytes)", json=json)


@app.command()
def cancel(run_id: RunId, json: JsonFlag = False) -> int:
    """Cancel a run. Exit code 6 if it has already finished."""

    async def work(parts: Parts) -> int:
        outcome = await service.cancel_run(parts.engine, acting(), run_id)
        print_result(
            outcome, "Cancelled." if outcome.changed else f"The run had already finished: {outcome.status}.", json=json
        )
        return OK if outcome.changed else CONFLICT

    return with_parts(work)


app.command()(pauses.pause)
app.command("continue")(pauses.continue_)
reruns.add_commands(app)


def waits_for_approval(step: StepSummary) -> bool:
    """Return whether a step waits for an approval that is not decided yet."""
    return step.waiting is not None and step.waiting.reason == "approval" and not step.waiting.answered


def _show(run: RunOut, flow: str, started: Mapping[str, StartedRunsOut]) -> None:
    took = f", {run_lists.ms(run.ms)}" if run.ms is not None else ""
    console.print(f"[bold]{run.id}[/] {run_lists.state(run.status)} {flow} [dim]version {run.version}{took}[/]")
    rows = [_step_row(step, started.get(step.step_id)) for step in run.steps]
    console.print(table(("step", "component", "status", "attempts", "took", "tokens", ""), rows))
    if run.error is not None:
        console.print(f"[red]{escape(run.error.message)}[/] [dim]{run.error.code}[/]")
    if any(waits_for_approval(step) for step in run.steps):
        console.print(f"[cyan]Waiting for approval:[/] headgate approvals list --run {run.id}")
    if any(step.waiting is not None and step.waiting.reason == "breakpoint" for step in run.steps):
        console.print(f"[dim]headgate runs continue {run.id} --then breakpoints, next or end[/]")
    if run.status == "failed":
        console.print(f"[dim]after fixing the cause: headgate runs resume {run.id}[/]")
    if run.status == "paused":
        console.print(f"[dim]headgate runs continue {run.id}[/]")
    if run.text:
        console.print()
        show_text(run)


def _step_row(step: StepSummary, started: StartedRunsOut | None) -> tuple[object, ...]:
    tokens = (step.tokens_input or 0) + (step.tokens_output or 0)
    note = escape(step.error.message) if step.error else ""
    if step.waiting is not None and not note:
        until = step.waiting.until
        note = f"waits for {waiting_words(step.waiting.reason, until and when(until))}"
        if step.waiting.answered:
            note = ANSWERED
    if step.status in {"waiting", "running"} and started is not None:
        note = f"{note}: {_progress(started)}".removeprefix(": ")
    return (
        escape(step.label),
        step.type,
        run_lists.state(step.status),
        step.attempts,
        run_lists.ms(step.ms),
        tokens or "",
        note,
    )


def _progress(started: StartedRunsOut) -> str:
    """Say how the runs of a step stand, as in `236 of 1,000 completed, 2 failed`."""
    of_all = f" of {started.total:,}" if started.total is not None else ""
    counts = (("active", started.active), ("failed", started.failed), ("cancelled", started.cancelled))
    return ", ".join([f"{started.completed:,}{of_all} completed", *(f"{n:,} {name}" for name, n in counts if n)])
