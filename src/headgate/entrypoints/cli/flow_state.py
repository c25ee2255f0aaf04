"""`headgate flows state`: values that last between runs of a flow."""

import json as json_module
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError
from rich.markup import escape

from headgate.entrypoints.cli.flow_choice import FlowArgument, flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows, table, when
from headgate.entrypoints.cli.session import acting, on_installation
from headgate.entrypoints.installation import Installation
from headgate.foundation.errors import Invalid
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.flows.state import schemas, service
    from headgate.sdk import coerce
else:
    schemas = lazy_module("headgate.features.flows.state.schemas")
    service = lazy_module("headgate.features.flows.state.service")
    coerce = lazy_module("headgate.sdk.coerce")

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Values that last between runs: list, show, set, delete."
)
Name = Annotated[str, typer.Argument(help="Name of the value.")]
DraftFlag = Annotated[bool, typer.Option("--draft", help="The state of versions that were never published.")]


@app.command("list")
@on_installation
async def list_(
    installation: Installation, which: FlowArgument, draft: DraftFlag = False, json: JsonFlag = False
) -> None:
    """List the state of a flow."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.reading() as session:
        states = await service.list_state(session, acting(), flow_id, draft=draft)
    name = installation.classes.scheme.name
    print_rows(
        states,
        ("name", "type", "version", "bytes", "classification", "changed"),
        [
            (
                escape(state.name),
                state.type,
                state.version,
                state.size,
                "-" if state.classification is None else escape(name(state.classification)),
                when(state.changed_at),
            )
            for state in states
        ],
        json=json,
        none="No state." if draft else "No state. --draft lists that of versions that were never published.",
    )


@app.command()
@on_installation
async def show(
    installation: Installation,
    which: FlowArgument,
    name: Name,
    history: Annotated[int, typer.Option(help="How many of the last values to show.", min=0, max=100)] = 10,
    draft: DraftFlag = False,
    json: JsonFlag = False,
) -> None:
    """Show a value and the last ones, with the runs that wrote them."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.reading() as session:
        state = await service.get_state(
            session, acting(), flow_id, name, draft=draft, box=installation.box, history=history
        )
    if json:
        print_json(state)
        return
    console.print(escape(coerce.text_of(state.value)))
    rows = [
        (entry.version, escape(coerce.text_of(entry.value)[:80]), entry.run_id or "by hand", when(entry.written_at))
        for entry in state.history
    ]
    if rows:
        console.print(table(("version", "value", "run", "written"), rows))


@app.command("set")
@on_installation
async def set_(
    installation: Installation,
    which: FlowArgument,
    name: Name,
    value: Annotated[str, typer.Argument(help='The value as JSON, for example 5, "text" or {"page": 2}.')],
    expected_version: Annotated[
        int | None, typer.Option(help="Only if the value has this version; 0: only if there is none.", min=0)
    ] = None,
    draft: DraftFlag = False,
    json: JsonFlag = False,
) -> None:
    """Set a value by hand."""
    body = _body(value, expected_version)
    flow_id = await flow_id_of(installation, which)
    async with installation.database.writing() as session:
        state = await service.set_state(session, acting(), flow_id, name, body, draft=draft, box=installation.box)
    print_result(state, f"{escape(name)} has version {state.version}.", json=json)


def _body(value: str, expected_version: int | None) -> "schemas.StateIn":
    try:
        return schemas.StateIn(value=json_module.loads(value), expected_version=expected_version)
    except (ValueError, ValidationError, RecursionError) as error:
        raise Invalid("The value is not JSON.", remedy="Write text in quotes: '\"text\"'.") from error


@app.command()
@on_installation
async def delete(
    installation: Installation, which: FlowArgument, name: Name, draft: DraftFlag = False, json: JsonFlag = False
) -> None:
    """Delete a value and its history."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.writing() as session:
        await service.delete_state(session, acting(), flow_id, name, draft=draft)
    print_result({"deleted": name}, f"Deleted {escape(name)}.", json=json)
