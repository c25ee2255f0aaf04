"""`headgate runs pause` and `headgate runs continue`."""

from typing import TYPE_CHECKING, Annotated

import typer

from headgate.entrypoints.cli.exit_codes import CONFLICT, OK
from headgate.entrypoints.cli.output import JsonFlag, print_result
from headgate.entrypoints.cli.session import acting, with_parts
from headgate.entrypoints.compose import Parts
from headgate.features.runs.schemas import PauseOut
from headgate.features.runs.terms import StopRule
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.runs import breakpoints, pausing
else:
    breakpoints = lazy_module("headgate.features.runs.breakpoints")
    pausing = lazy_module("headgate.features.runs.pausing")

RunId = Annotated[str, typer.Argument(help="Id of the run.")]


def pause(run_id: RunId, json: JsonFlag = False) -> int:
    """Pause a run: running steps finish, no other step starts. Exit code 6 if it was paused before or has finished."""

    async def work(parts: Parts) -> int:
        outcome = await pausing.pause_run(parts.engine, acting(), run_id)
        return _show(outcome, f"Paused{_others(outcome)}.", "The run was already paused.", json=json)

    return with_parts(work)


def continue_(
    run_id: RunId,
    then: Annotated[
        StopRule | None,
        typer.Option(
            help="Continue from a breakpoint, and stop next at a breakpoint, before the next step, or not at all."
        ),
    ] = None,
    json: JsonFlag = False,
) -> int:
    """Continue a paused run, or one at a breakpoint, on the server or its workers. Exit code 6 if it is not stopped."""

    async def work(parts: Parts) -> int:
        if then is not None:
            stopped = await breakpoints.continue_stopped(parts.database, parts.engine, acting(), run_id, then)
            steps = ", ".join(stopped.steps)
            changed = f"Continued before {steps}. The server or a worker executes the next steps."
            unchanged = f"The run is stopped at no breakpoint: {stopped.status}."
            print_result(stopped, changed if stopped.changed else unchanged, json=json)
            return OK if stopped.changed else CONFLICT
        outcome = await pausing.continue_run(parts.engine, acting(), run_id)
        changed = f"Continued{_others(outcome)}: {outcome.status}. The server or a worker executes the next steps."
        return _show(outcome, changed, f"The run is not paused: {outcome.status}.", json=json)

    return with_parts(work)


def _others(outcome: PauseOut) -> str:
    count = outcome.runs - 1
    return f", with {count} {'run' if count == 1 else 'runs'} of its steps" if count > 0 else ""


def _show(outcome: PauseOut, changed: str, unchanged: str, *, json: bool) -> int:
    print_result(outcome, changed if outcome.changed else unchanged, json=json)
    return OK if outcome.changed else CONFLICT
