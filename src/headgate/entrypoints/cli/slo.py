"""`headgate slo`: service level objectives of flows."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.flow_choice import flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, with_installation, with_reading, with_writing
from headgate.entrypoints.installation import Installation
from headgate.features.slos import service
from headgate.features.slos.schemas import SloIn, SloKind, SloOut, SloPatch, SloRuns
from headgate.foundation.checked import checked

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Service level objectives (SLOs) of flows.")
SloId = Annotated[str, typer.Argument(metavar="SLO", help="Id of the objective.")]
_COLUMNS = ("id", "flow", "objective", "attained", "budget left", "5 m", "30 m", "1 h", "6 h", "3 d")


@app.command("list")
def list_(
    flow: Annotated[str | None, typer.Option(help="Only objectives of this flow, by name or id.")] = None,
    json: JsonFlag = False,
) -> None:
    """List objectives with error budgets and burn rates, the least budget left first."""

    async def work(installation: Installation) -> None:
        flow_id = None if flow is None else await flow_id_of(installation, flow)
        async with installation.database.reading() as session:
            rows = await service.list_slos(session, acting(), flow_id=flow_id)
        print_rows(rows, _COLUMNS, [_cells(row) for row in rows], json=json, none="No service level objectives.")

    with_installation(work)


@app.command()
def show(slo: SloId, json: JsonFlag = False) -> None:
    """Show the error budget of an objective over its window."""
    detail = with_reading(lambda session, _: service.get_slo(session, acting(), slo))
    if json:
        print_result(detail, "", json=True)
        return
    rows = [(when(part.at), part.total, part.total - part.good, f"{part.budget_left:.1f} %") for part in detail.parts]
    print_rows([detail], _COLUMNS, [_cells(detail)], json=False)
    print_rows(rows, ("from", "runs", "bad", "budget left"), rows, json=False)


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="Name of the objective.")],
    flow: Annotated[str, typer.Option(help="The flow, by name or id.")],
    kind: Annotated[SloKind, typer.Option(help="What a good run is: it completes, or it ends in time.")] = "success",
    target: Annotated[float, typer.Option(help="Percent of runs that are to be good: 50 to 99.999.")] = 99,
    seconds: Annotated[float | None, typer.Option(help="Latency: the longest duration of a good run.")] = None,
    window: Annotated[int, typer.Option(help="Days of the rolling window: 7, 28 or 30.")] = 28,
    runs: Annotated[SloRuns, typer.Option(help="Which runs count.")] = "published",
    json: JsonFlag = False,
) -> None:
    """Add an objective to a flow. Its past runs count, too."""

    async def work(installation: Installation) -> None:
        flow_id = await flow_id_of(installation, flow)
        body = checked(SloIn, name=name, kind=kind, target=target, seconds=seconds, window_days=window, runs=runs)
        async with installation.database.writing() as session:
            made = await service.add_slo(session, acting(), flow_id, body)
        print_result(made, f"Added: {made.id}", json=json)

    with_installation(work)


@app.command()
def change(
    slo: SloId,
    name: Annotated[str | None, typer.Option(help="Its new name.")] = None,
    target: Annotated[float | None, typer.Option(help="Its new target, in percent.")] = None,
    window: Annotated[int | None, typer.Option(help="Its new window, in days.")] = None,
    json: JsonFlag = False,
) -> None:
    """Change the name, the target or the window of an objective."""
    body = checked(SloPatch, name=name, target=target, window_days=window)
    changed = with_writing(lambda session, _: service.change_slo(session, acting(), slo, body))
    print_result(changed, f"Budget left: {changed.budget_left:.1f} %", json=json)


@app.command()
def remove(slo: SloId, json: JsonFlag = False) -> None:
    """Remove an objective with its counts."""
    with_writing(lambda session, _: service.remove_slo(session, acting(), slo))
    print_result({"removed": slo}, "Removed.", json=json)


def _cells(row: SloOut) -> tuple[str, ...]:
    good = "complete" if row.kind == "success" else f"end within {row.seconds:g} s"
    attained = "no runs" if row.attained is None else f"{row.attained:.2f} %"
    burn = (row.burn.minutes_5, row.burn.minutes_30, row.burn.hour_1, row.burn.hours_6, row.burn.days_3)
    return (
        row.id,
        escape(row.flow_name),
        f"{escape(row.name)}: {row.target:g} % {good} ({row.window_days} d)",
        attained,
        f"{row.budget_left:.1f} %",
        *("-" if rate is None else f"{rate:g}" for rate in burn),
    )
