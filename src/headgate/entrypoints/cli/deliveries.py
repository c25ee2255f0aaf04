"""`headgate runs deliveries` and `headgate runs redeliver`."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.entrypoints.cli import exit_codes
from headgate.entrypoints.cli.output import JsonFlag, console, print_rows, when
from headgate.entrypoints.cli.session import acting, on_parts, with_reading
from headgate.entrypoints.compose import Parts
from headgate.features.runs.deliveries.schemas import DeliveryOut
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.runs.deliveries import service
else:
    service = lazy_module("headgate.features.runs.deliveries.service")

RunId = Annotated[str, typer.Argument(help="Id of the run.")]
LONGEST_WAIT_SECONDS = 15.0
"""A round of attempts at a receiver that is down takes half of that; one that does not answer is left to the server."""
_COLOURS = {"delivered": "green", "failed": "red", "cancelled": "dim"}


def deliveries(run_id: RunId, json: JsonFlag = False) -> None:
    """List the deliveries of a run to web addresses (output_mode http_post) and their status."""
    rows = with_reading(lambda session, _: service.list_deliveries(session, acting(), run_id))
    show(rows, json=json)


@on_parts
async def redeliver(
    parts: Parts,
    run_id: RunId,
    step: Annotated[
        str | None, typer.Option(help="Only the delivery of this step, even if it was delivered before.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Send failed deliveries of a run again, with the same idempotency key. No step is executed."""
    sending = parts.engine.services.deliveries
    async with parts.database.writing() as session:
        reopened = await _reopen(session, run_id, step)
    for delivery_id in reopened:
        sending.send_soon(delivery_id)
    await sending.settle()
    async with parts.database.reading() as session:
        rows = await service.list_deliveries(session, acting(), run_id)
    again = [delivery for delivery in rows if delivery.id in reopened]
    show(again, json=json)
    if not all(delivery.webhook_delivered for delivery in again):
        raise typer.Exit(exit_codes.FAILED)


async def undelivered_of(parts: Parts, run_id: str) -> list[DeliveryOut]:
    """The deliveries of a run that have not reached their receiver. Waits for attempts of this process."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_WAIT_SECONDS):
            await parts.engine.services.deliveries.settle()
    async with parts.database.reading() as session:
        deliveries = await service.list_deliveries(session, acting(), run_id)
    return [delivery for delivery in deliveries if not delivery.webhook_delivered]


def show_undelivered(undelivered: Sequence[DeliveryOut], run_id: str) -> None:
    """Show failed deliveries, their errors, and the command that sends them again."""
    for delivery in undelivered:
        where = f"{escape(delivery.url)} ({delivery.status})"
        fault = f"The output of '{escape(delivery.step_id)}' was not delivered to {where}."
        console.print(f"\n[yellow]{fault}[/] {_why(delivery)}\n[dim]send it: headgate runs redeliver {run_id}[/]")


def exit_code_of(undelivered: Sequence[DeliveryOut]) -> int:
    """0 when everything of a run is delivered, `WAITING` while it is still tried, else `FAILED`."""
    if not undelivered:
        return exit_codes.OK
    is_tried = all(delivery.status in {"pending", "delivering"} for delivery in undelivered)
    return exit_codes.WAITING if is_tried else exit_codes.FAILED


async def _reopen(session: AsyncSession, run_id: str, step: str | None) -> Sequence[str]:
    if step is None:
        return await service.redeliver_failed(session, acting(), run_id)
    return await service.redeliver_step(session, acting(), run_id, step)


def show(deliveries: Sequence[DeliveryOut], *, json: bool, across: bool = False) -> None:
    """Deliveries as a table, or as JSON; `across` runs with their ids."""
    first = ("id", "run") if across else ()
    print_rows(
        deliveries,
        (*first, "step", "to", "status", "attempts", "answer", ""),
        [
            (
                *((delivery.id, delivery.run_id) if across else ()),
                escape(delivery.step_id),
                escape(delivery.url),
                _state(delivery),
                len(delivery.attempts),
                delivery.last_status or "",
                _why(delivery),
            )
            for delivery in deliveries
        ],
        json=json,
        none="Nothing to deliver.",
    )


def _state(delivery: DeliveryOut) -> str:
    colour = _COLOURS.get(delivery.status)
    return f"[{colour}]{delivery.status}[/]" if colour else delivery.status


def _why(delivery: DeliveryOut) -> str:
    message = escape(delivery.webhook_error.message) if delivery.webhook_error else ""
    return f"{message} Next try {when(delivery.next_attempt_at)}." if message and delivery.next_attempt_at else message
