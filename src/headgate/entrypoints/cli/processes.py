"""`headgate processes`: servers and workers, and drain mode."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.exit_codes import OK, WAITING
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, when
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.processes import service
from headgate.features.processes.schemas import MOST_SECONDS, DrainIn, ProcessOut

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from sqlalchemy.ext.asyncio import AsyncSession

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Servers and workers of this installation.")
POLL_SECONDS = 1.0
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a server or worker, as `list` prints it.")]
_COLUMNS = ("id", "kind", "state", "works on", "started", "last seen", "hands over", "version")


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """List servers and workers, what each works on, and those that died within seven days."""

    async def work(installation: Installation) -> list[ProcessOut]:
        async with installation.database.reading() as session:
            return await service.list_processes(session, acting())

    processes = with_installation(work)
    if json:
        print_json([process.model_dump(mode="json") for process in processes])
    else:
        print_rows(processes, _COLUMNS, [_row(process) for process in processes], json=False, none="None is running.")


@app.command()
def drain(
    process: Id,
    hand_over_after: Annotated[
        float | None,
        typer.Option(
            help="Seconds after which its runs continue elsewhere at their next step; without it, it finishes them.",
            min=0,
            max=MOST_SECONDS,
        ),
    ] = None,
    wait: Annotated[float, typer.Option(help="Wait up to these seconds until no work is left.", min=0)] = 0,
    json: JsonFlag = False,
) -> int:
    """Let a server or worker take no new runs, trigger firings and jobs. Exit code 8 when work is left.

    It is drained until it ends, or until `headgate processes undrain`.
    """
    body, until = DrainIn(hand_over_seconds=hand_over_after), time.monotonic() + wait
    current = _changed(lambda session: service.drain(session, acting(), process, body))
    while current.state == "draining" and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
        current = _read(process)
    _show(current, json=json)
    return WAITING if current.state == "draining" else OK


@app.command()
def undrain(process: Id, json: JsonFlag = False) -> None:
    """Let a drained server or worker take work again."""
    _show(_changed(lambda session: service.undrain(session, acting(), process)), json=json)


def _changed(change: "Callable[[AsyncSession], Awaitable[ProcessOut]]") -> ProcessOut:
    async def work(installation: Installation) -> ProcessOut:
        async with installation.database.writing() as session:
            return await change(session)

    return with_installation(work)


def _read(process_id: str) -> ProcessOut:
    async def work(installation: Installation) -> ProcessOut:
        async with installation.database.reading() as session:
            return await service.get_process(session, acting(), process_id)

    return with_installation(work)


def _show(process: ProcessOut, *, json: bool) -> None:
    if json:
        print_json(process)
    else:
        left = f": {_work(process)}" if process.work else ""
        console.print(f"{process.id} is {process.state}{left}", markup=False)


def _row(process: ProcessOut) -> tuple[str, ...]:
    hands_over = "" if process.hand_over_at is None else when(process.hand_over_at)
    state = f"[red]{process.state}[/]" if process.state == "dead" else process.state
    times = when(process.started_at), when(process.seen_at), hands_over
    return escape(process.id), process.kind, state, _work(process), *times, escape(process.version)


def _work(process: ProcessOut) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(process.work.items()))
