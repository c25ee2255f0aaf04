"""`headgate flows report` and `headgate runs report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.entrypoints.cli.files import write_file
from headgate.entrypoints.cli.flow_choice import FlowArgument, flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, print_result
from headgate.entrypoints.cli.session import acting, on_parts
from headgate.entrypoints.compose import Parts
from headgate.features.runs.report.words import Language
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.runs.report import service
else:
    service = lazy_module("headgate.features.runs.report.service")

Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Output file. Default: a name derived from the flow or the run.")
]
In = Annotated[Language, typer.Option("--language", help="Language of the report.")]


@on_parts
async def flow_report(
    parts: Parts,
    which: FlowArgument,
    version: Annotated[int | None, typer.Option(help="Version to report on, instead of the draft.", min=1)] = None,
    output: Output = None,
    language: In = "en",
    json: JsonFlag = False,
) -> None:
    """Write an audit report as PDF: the flow's diagram, form and steps."""
    flow_id = await flow_id_of(parts, which)
    made = await _reports(parts).of_flow(acting(), flow_id, version=version, language=language)
    _write(made, output or Path(f"report-{flow_id}.pdf"), json=json)


@on_parts
async def run_report(
    parts: Parts,
    run_id: Annotated[str, typer.Argument(help="Id of the run.")],
    output: Output = None,
    language: In = "en",
    json: JsonFlag = False,
) -> None:
    """Write an audit report as PDF: the executed steps and their results."""
    made = await _reports(parts).of_run(acting(), run_id, language=language)
    _write(made, output or Path(f"report-{run_id}.pdf"), json=json)


def _reports(parts: Parts) -> "service.Reports":
    return service.Reports(parts.database, parts.engine, parts.notary)


def _write(report: "service.Report", path: Path, *, json: bool) -> None:
    write_file(path, report.content)
    print_result(
        {"path": str(path), "size": len(report.content)},
        f"Wrote {path} ({len(report.content):,} bytes)",
        json=json,
        markup=False,
    )
