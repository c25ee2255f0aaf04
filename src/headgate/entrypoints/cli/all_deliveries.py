"""`headgate deliveries`: outputs sent to web addresses, of all runs."""

from typing import Annotated

import typer

from headgate.entrypoints.cli import exit_codes
from headgate.entrypoints.cli.deliveries import show
from headgate.entrypoints.cli.flow_choice import flow_id_of
from headgate.entrypoints.cli.output import JsonFlag
from headgate.entrypoints.cli.session import acting, on_parts
from headgate.entrypoints.compose import Parts
from headgate.features.runs.deliveries import service
from headgate.features.runs.deliveries.schemas import DeliveryState

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="List deliveries of all runs, and send failed ones again."
)
Flow = Annotated[str | None, typer.Option(help="Only deliveries of this flow: its id or name.")]


@app.command("list")
@on_parts
async def list_(
    parts: Parts,
    status: Annotated[DeliveryState | None, typer.Option(help="Only deliveries in this state.")] = None,
    flow: Flow = None,
    limit: Annotated[int, typer.Option(help="Maximum number of deliveries.", min=1, max=200)] = 50,
    json: JsonFlag = False,
) -> None:
    """List deliveries, newest first."""
    flow_id = await flow_id_of(parts, flow) if flow is not None else None
    async with parts.database.reading() as session:
        deliveries = await service.page_of_deliveries(session, acting(), status=status, flow_id=flow_id, limit=limit)
    show(deliveries, json=json, across=True)


@app.command()
@on_parts
async def redeliver(
    parts: Parts,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of deliveries. Default: all failed ones.")] = None,
    flow: Flow = None,
    json: JsonFlag = False,
) -> None:
    """Send failed deliveries again, at most 500 at a time. No step is executed."""
    flow_id = await flow_id_of(parts, flow) if flow is not None else None
    sending = parts.engine.services.deliveries
    async with parts.database.writing() as session:
        queued_ids = await service.redeliver_many(session, acting(), ids=ids or None, flow_id=flow_id)
    for delivery_id in queued_ids:
        sending.send_soon(delivery_id)
    await sending.settle()
    async with parts.database.reading() as session:
        deliveries = await service.deliveries_of(session, acting(), queued_ids)
    show(deliveries, json=json, across=True)
    if not all(delivery.webhook_delivered for delivery in deliveries):
        raise typer.Exit(exit_codes.FAILED)
