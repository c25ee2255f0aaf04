"""`headgate events`: events that runs wait for."""

from pathlib import Path
from typing import Annotated, Literal

import orjson
import typer
from pydantic import JsonValue
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, with_reading, with_writing
from headgate.features.runs.sent_events import service
from headgate.features.runs.sent_events.schemas import EventIn, SentEventOut
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Events that runs wait for: send, list, waiting steps."
)


@app.command()
def send(
    name: Annotated[str, typer.Argument(help="Name that the waiting step has.")],
    correlation: Annotated[str, typer.Option(help="Value that the step waits for, e.g. an order number.")] = "",
    data: Annotated[str, typer.Option(help="JSON that the step receives, or @file.")] = "null",
    deliver: Annotated[Literal["one", "all"], typer.Option(help="One waiting step, or all.")] = "one",
    keep_hours: Annotated[float, typer.Option(help="How long it is kept for steps that wait later.")] = 24.0,
    key: Annotated[str | None, typer.Option(help="Two events with the same key are one.")] = None,
    json: JsonFlag = False,
) -> None:
    """Send an event to waiting steps. A running server or worker continues their runs."""
    event_in = checked(
        EventIn,
        name=name,
        correlation=correlation,
        data=_data(data),
        deliver=deliver,
        keep_hours=keep_hours,
        key=key,
    )

    event = with_writing(
        lambda session, installation: service.send_event(session, acting(), event_in, box=installation.box)
    )
    print_result(event, f"Event {event.id}: {_outcome(event)}", json=json)


@app.command("list")
def list_(
    name: Annotated[str | None, typer.Option(help="Only events with this name.")] = None,
    kept_only: Annotated[
        bool, typer.Option("--kept", help="Only those that are kept for steps that wait later.")
    ] = False,
    limit: Annotated[int, typer.Option(help="Maximum number of events.", min=1, max=200)] = 50,
    json: JsonFlag = False,
) -> None:
    """List sent events, newest first."""
    events = with_reading(
        lambda session, _: service.list_events(session, acting(), name=name, kept_only=kept_only, limit=limit)
    )
    print_rows(
        events,
        ("id", "event", "correlation", "status", "received"),
        [
            (item.id, escape(item.name), escape(item.correlation[:80]), _outcome(item), when(item.received_at))
            for item in events
        ],
        json=json,
        none="No events.",
    )


@app.command()
def waiting(
    name: Annotated[str | None, typer.Option(help="Only events with this name.")] = None, json: JsonFlag = False
) -> None:
    """List steps that wait for events, the latest first."""
    waits = with_reading(lambda session, _: service.list_waiting(session, acting(), name=name))
    print_rows(
        waits,
        ("event", "correlation", "flow", "run", "since"),
        [
            (
                escape(item.name),
                escape(item.correlation[:80]),
                escape(item.flow_name),
                item.run_id,
                when(item.since),
            )
            for item in waits
        ],
        json=json,
        none="No step waits for an event.",
    )


def _outcome(event: SentEventOut) -> str:
    steps = f"received by {event.deliveries} step{'' if event.deliveries == 1 else 's'}"
    if event.status == "delivered":
        return steps
    if event.status == "expired":
        return "expired"
    note = f"kept until {when(event.keep_until)}"
    return f"{steps}, {note}" if event.deliveries else note


def _data(text: str) -> JsonValue:
    try:
        content = Path(text[1:]).read_bytes() if text.startswith("@") else text.encode()
    except OSError as error:
        raise Invalid(f"{text[1:]} cannot be read: {error.strerror}.", remedy="Give the path of a file.") from error
    try:
        value: JsonValue = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Invalid(
            f"The data is not valid JSON: {error.msg}.",
            remedy="Write JSON, for example '{\"amount\": 40}' or '\"text\"'.",
        ) from error
    return value
