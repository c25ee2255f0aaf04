"""`headgate run`."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from headgate.entrypoints.cli.exit_codes import FAILED, OK
from headgate.entrypoints.cli.files import store_files
from headgate.entrypoints.cli.output import console, print_json
from headgate.entrypoints.cli.run_view import RunView, show_outcome
from headgate.entrypoints.cli.session import PRINCIPAL, with_parts
from headgate.entrypoints.compose import Parts
from headgate.features.flows import service
from headgate.features.flows.transfer import import_flow
from headgate.foundation.errors import Invalid

app = typer.Typer(add_completion=False)


@app.command()
def run(
    flow: Annotated[str, typer.Argument(help="Id of a flow, or a flow file, which is stored first.")],
    text: Annotated[str, typer.Option(help="Text input.")] = "",
    form: Annotated[list[str] | None, typer.Option(help="Form answer as field=value; may be given again.")] = None,
    file: Annotated[list[Path] | None, typer.Option(help="Input file; may be given again.")] = None,
    published: Annotated[bool, typer.Option("--published", help="Run the published version, not the draft.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Answer as JSON, for programs.")] = False,
) -> int:
    """Run a flow and watch its steps. Exit code 1 when the run fails."""
    answers = _answers(form or [])

    async def work(parts: Parts) -> int:
        flow_id = await _store(parts, Path(flow)) if Path(flow).is_file() else flow
        with RunView(None if json else console) as view:
            outcome = await parts.runs.run_draft(
                PRINCIPAL,
                flow_id,
                text=text,
                form=answers,
                file_ids=await store_files(parts, file or []),
                on_event=lambda _run, kind, data: view.show(kind, data),
                wanted="published" if published else "draft",
            )
        if json:
            print_json(outcome)
        else:
            show_outcome(outcome)
            console.print(f"[dim]evidence: headgate runs evidence {outcome.run_id}[/]")
        return OK if outcome.status == "completed" else FAILED

    return with_parts(work)


async def _store(parts: Parts, path: Path) -> str:
    definition = import_flow(path.read_text(encoding="utf-8-sig"), parts.registry)
    async with parts.database.writing() as session:
        row = await service.create_flow(session, PRINCIPAL, parts.registry, definition=definition)
    return row.id


def _answers(pairs: list[str]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise Invalid(f"'{pair}' is not a form answer.", remedy="Write field=value.")
        found[name] = value
    return found
