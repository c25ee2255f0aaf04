"""`headgate run`."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from pydantic import JsonValue

from headgate.entrypoints.cli.deliveries import exit_code_of, show_undelivered, undelivered_of
from headgate.entrypoints.cli.exit_codes import FAILED, INVALID, OK, WAITING
from headgate.entrypoints.cli.files import form_answers, store_files, with_files
from headgate.entrypoints.cli.flow_choice import flow_id_of
from headgate.entrypoints.cli.output import console, errors, print_json
from headgate.entrypoints.cli.run_view import RunView, show_next, show_outcome
from headgate.entrypoints.cli.session import acting, with_parts
from headgate.entrypoints.compose import Parts
from headgate.features.flows import service
from headgate.features.runs.form import check_form
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid
from headgate.foundation.lazy import lazy_module
from headgate.graph.model import Budget, Flow

if TYPE_CHECKING:
    from headgate.entrypoints.cli import dry_run_view, transfer
    from headgate.features.catalog.own import store as own_store
    from headgate.features.flows import transfer as flow_transfer
    from headgate.features.runs.preview import schemas
else:
    dry_run_view = lazy_module("headgate.entrypoints.cli.dry_run_view")
    transfer = lazy_module("headgate.entrypoints.cli.transfer")
    own_store = lazy_module("headgate.features.catalog.own.store")
    flow_transfer = lazy_module("headgate.features.flows.transfer")
    schemas = lazy_module("headgate.features.runs.preview.schemas")

app = typer.Typer(add_completion=False)


@app.command()
def run(
    flow: Annotated[str, typer.Argument(help="Id or name of a flow, or a flow file, which is imported first.")],
    text: Annotated[str, typer.Option(help="Text input.")] = "",
    form: Annotated[
        list[str] | None,
        typer.Option(help="Form answer as field=value, or field=@path for a file. Repeatable."),
    ] = None,
    file: Annotated[list[Path] | None, typer.Option(help="Input file. Repeatable.")] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Run the published version instead of the draft.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what the run would do; nothing is stored, called or sent.")
    ] = False,
    idempotency_key: Annotated[
        str | None,
        typer.Option(help="A unique key: repeating the command with it within a day returns the first run."),
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option(help="Fail the run if it has not ended after this many seconds, even if it waits."),
    ] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(help="Budget of the run: usd=0.5, tokens=10000 or seconds=60. Repeatable."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Keep waiting while the run waits for an approval or an event.")
    ] = False,
    priority: Annotated[
        int | None, typer.Option(help="Place among runs that wait for a slot, from -100 to 100: the highest first.")
    ] = None,
    stop_before: Annotated[
        list[str] | None, typer.Option(help="Breakpoint: id of a step before which the run stops. Repeatable.")
    ] = None,
    step_through: Annotated[bool, typer.Option("--step-through", help="Stop before every step.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Run a flow and follow its steps until it ends, waits for an approval or an event, or stops at a breakpoint.

    Exit code 1 if it or a delivery fails, 8 while it waits or a delivery is retried.
    """
    answers = form_answers(form or [])
    limits = budget_of(budget or [])

    async def work(parts: Parts) -> int:
        if dry_run:
            start = _dry_start(text, answers, file, published=published)
            preview = await _look_ahead(parts, flow, start)
            print_json(preview) if json else dry_run_view.show_dry_run(preview)
            return OK if preview.ok else INVALID
        given, files = await with_files(parts, answers), await store_files(parts, file or [])
        flow_id = await _store(parts, flow, given) if _is_path(flow) else await flow_id_of(parts, flow)
        with RunView(None if json else console) as view, _report_when_stopped() as begun:

            def on_event(run_id: str, kind: str, data: Mapping[str, JsonValue]) -> None:
                begun.append(run_id)
                view.show(kind, data)

            version: Literal["published", "draft"] = "published" if published else "draft"
            outcome = await parts.runs.run_draft(
                acting(),
                flow_id,
                text=text,
                form=given,
                file_ids=files,
                on_event=on_event,
                version=version,
                idempotency_key=idempotency_key,
                deadline_seconds=deadline,
                budget=limits,
                until_waiting=not wait,
                priority=priority,
                stop_before=tuple(stop_before or ()),
                step_through=step_through,
            )
        undelivered = await undelivered_of(parts, outcome.run_id)
        if json:
            steps = [delivery.step_id for delivery in undelivered]
            print_json(asdict(outcome) | {"flow_id": flow_id, "undelivered": steps})
        else:
            show_outcome(outcome)
            show_undelivered(undelivered, outcome.run_id)
            show_next(outcome, flow_id)
        if outcome.status == "waiting":
            return WAITING
        return exit_code_of(undelivered) if outcome.status == "completed" else FAILED

    return with_parts(work)


def budget_of(pairs: list[str]) -> Budget | None:
    """Return the budget in `kind=limit`. Raises `Invalid`."""
    limits: dict[str, float] = {}
    for pair in pairs:
        kind, _, limit = pair.partition("=")
        try:
            limits[kind] = float(limit)
        except ValueError as error:
            raise Invalid(f"'{pair}' is not a budget.", remedy="Write usd=0.5, tokens=10000 or seconds=60.") from error
    return checked(Budget, **limits) if limits else None


@contextmanager
def _report_when_stopped() -> Iterator[list[str]]:
    """Reports the state of the run when the command is stopped; the run's id is appended to the list once known."""
    begun: list[str] = []
    try:
        yield begun
    except asyncio.CancelledError:
        if begun:
            again = f"Run it again, from any step: headgate runs rerun {begun[0]}"
            errors.print(f"Run {begun[0]} was cancelled. {again}")
        raise


def _dry_start(
    text: str, answers: dict[str, JsonValue], file: list[Path] | None, *, published: bool
) -> "schemas.DryRunStart":
    if file or any(isinstance(value, str) and value.startswith("@") for value in answers.values()):
        raise Invalid("A dry run cannot store files.", remedy="Omit --file for a dry run.")
    return checked(
        schemas.DryRunStart, text=text, form_data=answers or None, version="published" if published else "draft"
    )


async def _look_ahead(parts: Parts, flow: str, start: "schemas.DryRunStart") -> "schemas.DryRunOut":
    if _is_path(flow):
        return await parts.dry_runs.of(acting(), await _imported(parts, flow), start)
    return await parts.dry_runs.of_flow(acting(), await flow_id_of(parts, flow), start)


def _is_path(flow: str) -> bool:
    """Whether a flow file is meant: one that is there, or what looks like the name of one."""
    return Path(flow).is_file() or "/" in flow or flow.endswith((".flow", ".txt", ".json", ".yaml", ".yml"))


async def _imported(parts: Parts, path: str) -> Flow:
    async with parts.database.reading() as session:
        return flow_transfer.import_flow(transfer.read_text(path), await own_store.with_packs(session, parts.registry))


async def _store(parts: Parts, path: str, answers: Mapping[str, JsonValue]) -> str:
    """Store the flow of a file. One that cannot run with these answers is rejected and not stored."""
    definition = await _imported(parts, path)
    (await parts.rules.check(acting().tenant_id, acting().space_id, definition)).require()
    check_form(definition.form, answers)
    async with parts.database.writing() as session:
        row = await service.create_flow(session, acting(), parts.registry, definition=definition)
    return row.id
