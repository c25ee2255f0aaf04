"""`headgate triggers`: what starts flows by itself."""

from datetime import date
from typing import Annotated

import orjson
import typer
from rich.markup import escape

from headgate.entrypoints.cli import exit_codes, trigger_backfills, trigger_figures, trigger_links, trigger_owners
from headgate.entrypoints.cli.flow_choice import flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, table, when
from headgate.entrypoints.cli.session import acting, with_installation, with_parts
from headgate.entrypoints.cli.transfer import read_text
from headgate.entrypoints.cli.trigger_backfills import print_firings
from headgate.entrypoints.cli.trigger_links import TriggerId
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.triggers import service, starts
from headgate.features.triggers.holidays import holidays_of
from headgate.features.triggers.hooks import service as hooks
from headgate.features.triggers.poll_settings import POLLING
from headgate.features.triggers.polling import dry_runs
from headgate.features.triggers.schemas import (
    OccurrenceOut,
    PollItemOut,
    TriggerIn,
    TriggerMade,
    TriggerOut,
    TriggerState,
)
from headgate.features.triggers.settings import Kind
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Triggers: flows that start by themselves, each occurrence once."
)
app.add_typer(trigger_links.app, name="links")
app.command("statistics")(trigger_figures.statistics)
app.command("set-owner")(trigger_owners.set_owner)
app.command("backfill")(trigger_backfills.backfill)
app.command("cancel-backfill")(trigger_backfills.cancel_backfill)


@app.command("list")
def list_(
    flow: Annotated[str | None, typer.Option(help="Only triggers of this flow, by name or id.")] = None,
    kind: Annotated[Kind | None, typer.Option(help="Only triggers of this kind.")] = None,
    state: Annotated[TriggerState | None, typer.Option(help="Only triggers in this state.")] = None,
    text: Annotated[str, typer.Option(help="Only triggers whose name or flow contains this.")] = "",
    json: JsonFlag = False,
) -> None:
    """List triggers, newest first."""

    async def work(installation: Installation) -> None:
        flow_id = None if flow is None else await flow_id_of(installation, flow)
        async with installation.database.reading() as session:
            rows = await service.list_triggers(
                session, acting(), flow_id=flow_id, kind=kind, state=state, text=text, limit=200
            )
        if json:
            print_json(rows)
        elif not rows:
            console.print("No triggers.")
        else:
            columns = ("id", "name", "flow", "fires", "state", "next")
            console.print(table(columns, [_row(item) for item in rows]))
            for item in rows:
                _print_problems(item)

    with_installation(work)


@app.command()
def add(
    flow: Annotated[str, typer.Argument(help="The flow, by name or id.")],
    name: Annotated[str, typer.Argument(help="Name of the trigger.")],
    cron: Annotated[str | None, typer.Option(help="Cron expression: 0 7 * * MON-FRI.")] = None,
    every: Annotated[int | None, typer.Option(help="Seconds of a true interval.")] = None,
    zone: Annotated[str, typer.Option(help="IANA time zone of the cron expression.")] = "UTC",
    days: Annotated[
        str, typer.Option(help="With --cron: every, business (skip weekends and holidays), next_business (move).")
    ] = "every",
    holidays: Annotated[
        str | None,
        typer.Option(help="With --days: a calendar (.ics) or its address: its all-day events are holidays."),
    ] = None,
    webhook: Annotated[
        str | None, typer.Option(help="An address for calls, verified as: github, stripe, slack, standard, hmac, key.")
    ] = None,
    sends: Annotated[
        str | None, typer.Option(help="With --webhook: send the event with this name instead of starting a run.")
    ] = None,
    correlation: Annotated[
        str | None, typer.Option(help="With --sends: JMESPath of the correlation value, e.g. body.order.id.")
    ] = None,
    answer: Annotated[
        str | None,
        typer.Option(help="With --webhook: a call is answered at once (accepted), with the result, or with a stream."),
    ] = None,
    response: Annotated[
        str | None,
        typer.Option(help='With --answer result, as JSON: {"status": 201, "body_from": "data.id", "headers": {}}.'),
    ] = None,
    after: Annotated[str | None, typer.Option(help="Start after runs of this flow.")] = None,
    event: Annotated[str | None, typer.Option(help="Start for events with this name.")] = None,
    poll: Annotated[
        str | None,
        typer.Option(
            help='A poll as JSON: {"kind": "feed", "url": "https://..."}; or page, folder, rows, mail, api, stream, '
            "queue, topic."
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(help='A public page with the form of the flow, as JSON: {"access": "links"}; {} for anyone.'),
    ] = None,
    text: Annotated[str, typer.Option(help="Text of each run.")] = "",
    owner: Annotated[str | None, typer.Option(help="Id of the user whose rights each run uses.")] = None,
    overlap: Annotated[
        str | None,
        typer.Option(help="While a run has not ended: skip, queue_one, queue_all, replace, cancel_old, allow."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Add a trigger to a flow. Without a kind it is started by hand."""
    sent = _sent_event(webhook, sends, correlation)
    closed = {} if holidays is None else _holidays(holidays)
    answered = _answer(webhook, answer, response)

    async def work(installation: Installation) -> None:
        config: dict[str, object] = {"kind": "manual"}
        if cron is not None or every is not None:
            config = {"kind": "schedule", "cron": cron, "every_seconds": every, "time_zone": zone, "days": days}
            config |= closed
        elif webhook is not None:
            config = {"kind": "webhook", "verification": webhook, "event": sent, **answered}
        elif after is not None:
            config = {"kind": "flow", "flow_id": await flow_id_of(installation, after)}
        elif event is not None:
            config = {"kind": "event", "name": event}
        elif poll is not None:
            config = _poll_config(poll)
        elif form is not None:
            config = _object("--form", form) | {"kind": "form"}
        policies = None if overlap is None else {"overlap": overlap}
        body = checked(
            TriggerIn, name=name, config=config, input={"text": text}, owner_user_id=owner, policies=policies
        )
        flow_id = await flow_id_of(installation, flow)
        async with installation.database.writing() as session:
            made = await service.add_trigger(session, acting(), flow_id, body, box=installation.box)
        if json:
            print_json(made)
            return
        _print_made(made)

    with_installation(work)


@app.command()
def pause(trigger: TriggerId, reason: Annotated[str, typer.Option(help="Why.")] = "", json: JsonFlag = False) -> None:
    """Pause a trigger. Its runs continue."""

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            _report(await service.pause_trigger(session, acting(), trigger, reason), json=json)

    with_installation(work)


@app.command()
def resume(trigger: TriggerId, json: JsonFlag = False) -> None:
    """Resume a trigger from now on. Due times of the pause are run by a backfill only."""

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            _report(await service.resume_trigger(session, acting(), trigger), json=json)

    with_installation(work)


@app.command()
def remove(trigger: TriggerId, json: JsonFlag = False) -> None:
    """Remove a trigger with its occurrences. Its runs stay."""

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            await service.remove_trigger(session, acting(), trigger)
        if json:
            print_json({"removed": trigger})
        else:
            console.print("Removed.")

    with_installation(work)


@app.command()
def fire(trigger: TriggerId, json: JsonFlag = False) -> None:
    """Start the flow of a trigger now, with its saved input."""

    async def work(parts: Parts) -> None:
        fired = await starts.fire_now(parts.firing, acting(), trigger)
        if json:
            print_json(fired)
        else:
            console.print(_outcome(fired.occurrence))
        if fired.occurrence.status != "started":
            raise typer.Exit(exit_codes.WAITING if fired.occurrence.status == "queued" else exit_codes.FAILED)

    with_parts(work)


@app.command("test")
def catch(trigger: TriggerId, json: JsonFlag = False) -> None:
    """Catch the next call of a webhook instead of starting a run; the same command shows it afterwards."""

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            caught = await hooks.caught_call(session, acting(), trigger, box=installation.box)
            if caught.call is None and not caught.waiting:
                caught = await hooks.begin_catching(session, acting(), trigger)
        if json:
            print_json(caught)
        elif caught.call is None:
            console.print(f"Waiting for a call until {when(caught.until)}. Run this command again to see it.")
        else:
            for name, value in caught.call.items():
                console.print(f"{name}: {escape(str(value))}")

    with_installation(work)


@app.command()
def occurrences(
    trigger: TriggerId,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number.")] = 50,
    json: JsonFlag = False,
) -> None:
    """List due times and events of a trigger, newest first, with the run of each or the reason why there is none."""

    async def work(installation: Installation) -> None:
        async with installation.database.reading() as session:
            rows = await service.list_occurrences(session, acting(), trigger, limit=limit)
        cells = [(when(row.created_at), escape(row.key), _outcome(row)) for row in rows]
        print_rows(rows, ("at", "occurrence", "outcome"), cells, json=json, none="No occurrences.")

    with_installation(work)


@app.command("next")
def next_(
    trigger: TriggerId,
    count: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 10,
    json: JsonFlag = False,
) -> None:
    """List the next occurrences of a schedule, with the nights on which clocks change."""

    async def work(installation: Installation) -> None:
        async with installation.database.reading() as session:
            firings = await service.next_firings(session, acting(), trigger, count)
        print_firings(firings, json=json)

    with_installation(work)


@app.command("dry-run")
def dry_run(trigger: TriggerId, json: JsonFlag = False) -> None:
    """Show what the next poll of a trigger would start. Nothing is stored or started."""

    async def work(parts: Parts) -> None:
        outcome = await dry_runs.dry_run(parts.database, parts.poller, acting(), trigger)
        if json:
            print_json(outcome)
            return
        items = [("would start", item) for item in outcome.items]
        items += [] if outcome.example is None else [("only an example", outcome.example)]
        if not items:
            console.print("Nothing.")
        cells = [(escape(item.key), escape(item.text[:200]), _dry(item, words)) for words, item in items]
        if cells:
            console.print(table(("item", "text", "outcome"), cells))
        if outcome.waits_for:
            console.print(f"Waiting for the folder {escape(outcome.waits_for)}, which does not exist yet.")
        elif outcome.first and not outcome.items:
            console.print("The first poll notes what there is and starts no run.")

    with_parts(work)


def _dry(item: PollItemOut, words: str) -> str:
    return escape(item.refusal) or ("has an occurrence" if item.occurred else words)


def _sent_event(webhook: str | None, sends: str | None, correlation: str | None) -> dict[str, str | None] | None:
    """Return the event that calls of a webhook send. Raises `Invalid` for options without the one that they need."""
    if (sends is not None and webhook is None) or (correlation is not None and sends is None):
        raise Invalid("--sends is of a webhook, and --correlation of --sends.", remedy="Add --webhook and --sends.")
    return None if sends is None else {"name": sends, "correlation_from": correlation}


def _answer(webhook: str | None, answer: str | None, response: str | None) -> dict[str, object]:
    """Return how calls of a webhook are answered. Raises `Invalid` for options without a webhook."""
    if webhook is None and (answer is not None or response is not None):
        raise Invalid("--answer and --response are of a webhook.", remedy="Add --webhook.")
    described = {} if response is None else {"response": _object("--response", response)}
    return {"answer": answer or "accepted", **described}


def _holidays(path: str) -> dict[str, object]:
    """Return the address of a calendar, or the days of the all-day events of a file."""
    if path.startswith(("https://", "http://")):
        return {"calendar_url": path}
    calendar, days = read_text(path), list[date]()

    async def work(parts: Parts) -> None:
        days.extend(await holidays_of(parts.poller.context(acting()), calendar))

    with_parts(work)
    return {"holidays": days}


def _poll_config(text: str) -> dict[str, object]:
    config = _object("--poll", text)
    if config.get("kind") not in POLLING:
        raise Invalid("--poll has no known kind.", remedy=f"Name one of: {', '.join(sorted(POLLING))}.")
    return config


def _object(option: str, text: str) -> dict[str, object]:
    try:
        config = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"{option} is not valid JSON: {error}.", remedy="Write it as an object.") from error
    if not isinstance(config, dict):
        raise Invalid(f"{option} is not an object.", remedy='Write it as {"name": value}.')
    return config


def _print_made(made: TriggerMade) -> None:
    console.print(f"Trigger {made.id}: {escape(made.sentence)}.")
    if made.next_at is not None:
        console.print(f"Next: {when(made.next_at)}")
    if made.path is not None:
        console.print(f"Address: {made.path}")
    if made.secret is not None:
        console.print(f"Secret, shown once: {escape(made.secret)}")
    _print_problems(made)
    if not made.published:
        console.print("The flow is not published: occurrences are skipped until it is.")


def _report(trigger: TriggerOut, *, json: bool) -> None:
    if json:
        print_json(trigger)
    else:
        console.print(f"{escape(trigger.name)}: {_state(trigger)}")
        _print_problems(trigger)


def _print_problems(trigger: TriggerOut) -> None:
    for problem in trigger.problems or ():
        console.print(f"[yellow]{escape(f'{trigger.name}: {problem.message} {problem.remedy}')}[/]")


def _row(item: TriggerOut) -> tuple[str, ...]:
    sentence = escape(item.sentence)
    return item.id, escape(item.name), escape(item.flow_name), sentence, _state(item), when(item.next_at)


def _state(item: TriggerOut) -> str:
    if item.enabled and item.published:
        return f"on, only polled: {escape(item.only_polled)}" if item.only_polled else "on"
    if item.enabled:
        return "on, flow not published"
    return f"paused: {escape(item.paused_reason)}" if item.paused_reason else "paused"


def _outcome(row: OccurrenceOut) -> str:
    if row.run_id is not None:
        return f"run {row.run_id}{f' ({row.run_status})' if row.run_status else ', deleted'}"
    return escape(f"{row.status}: {row.message or row.reason}")
