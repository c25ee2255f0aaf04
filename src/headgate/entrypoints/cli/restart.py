"""`headgate restart`."""

import os
import signal
import sys
import time
from typing import Annotated

import typer

from headgate.entrypoints.cli.exit_codes import FAILED, OK, WAITING
from headgate.entrypoints.cli.json_output import JsonFlag, print_json
from headgate.entrypoints.cli.printable import printable
from headgate.entrypoints.process_record import ProcessRecord
from headgate.foundation.errors import Invalid, NotFound
from headgate.foundation.settings import Settings

app = typer.Typer(add_completion=False)
POLL_SECONDS = 0.2


@app.command()
def restart(
    wait: Annotated[float, typer.Option(help="Wait up to these seconds for its end.", min=0)] = 600,
    json: JsonFlag = False,
) -> int:
    """Replace the server, worker and scheduler of `headgate up` one after another, without downtime.

    A new process is started first; the old one finishes its requests and tasks. Exit code 1 when a new one did not
    start, and the old one continues; 8 when it still runs after --wait.
    """
    if sys.platform == "win32":
        raise Invalid("Windows cannot hand over a socket.", remedy="Stop `headgate up` and start it again.")
    record = ProcessRecord(Settings().data_dir / "up")
    owner = record.owner()
    if owner is None:
        raise NotFound("`headgate up` is not running on this data folder.", remedy="Start it: headgate up")
    record.forget_restart()
    os.kill(owner.pid, signal.SIGHUP)
    until = time.monotonic() + wait
    state, problem = record.read_restart()
    while state not in {"done", "failed"} and owner.alive and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
        state, problem = record.read_restart()
    if json:
        print_json({"state": state, "problem": problem})
    else:
        typer.echo(
            {"done": "Restarted.", "failed": f"Not restarted. {printable(problem)}"}.get(state or "", "Waiting.")
        )
    return {"done": OK, "failed": FAILED}.get(state or "", WAITING if owner.alive else FAILED)
