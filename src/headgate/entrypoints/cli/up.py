"""`headgate up`."""

import os
import sys
from contextlib import ExitStack
from typing import Annotated

import typer

from headgate.entrypoints.cli.distributed import load_processes, ready_settings
from headgate.entrypoints.cli.open_doors import refuse_open_door
from headgate.entrypoints.cli.output import errors
from headgate.entrypoints.own_services import OwnPostgres, OwnRedis
from headgate.entrypoints.supervisor import Part, Supervisor
from headgate.foundation.settings import Settings

app = typer.Typer(add_completion=False)
DATABASE = "headgate"


@app.command()
def up(
    port: Annotated[int | None, typer.Option(help="Port of the server.", min=0, max=65535)] = None,
    concurrency: Annotated[int | None, typer.Option(help="Child processes of the worker.", min=1, max=256)] = None,
    embedded_services: Annotated[
        bool,
        typer.Option(
            "--embedded-services", help="Start a PostgreSQL and a Redis too, with their data in the data folder."
        ),
    ] = False,
) -> int:
    """Start server, worker and beat together: the engine `celery` with one command. Ctrl+C stops all of it."""
    refuse_open_door(Settings().server)
    with ExitStack() as stack:
        environment = {"HEADGATE_ENGINE__BACKEND": "celery"}
        if embedded_services:
            environment |= _start_services(stack, Settings())
            errors.print("PostgreSQL and Redis are up, with their data in the data folder.")
        os.environ.update(environment)
        ready_settings()
        load_processes()
        return Supervisor(_parts(port, concurrency)).run()


def _parts(port: int | None, concurrency: int | None) -> list[Part]:
    headgate = [sys.executable, "-m", "headgate"]
    server = [*headgate, "serve", *([] if port is None else ["--port", str(port)])]
    worker = [*headgate, "worker", *([] if concurrency is None else ["--concurrency", str(concurrency)])]
    # The server first: it brings the database's schema up to date.
    return [Part("server", server), Part("worker", worker), Part("beat", [*headgate, "beat"])]


def _start_services(stack: ExitStack, settings: Settings) -> dict[str, str]:
    """Start them; they stop with the stack. Returns the settings that lead to them."""
    folder = settings.data_dir / "services"
    postgres = OwnPostgres(folder / "postgres")
    stack.callback(postgres.stop)
    redis = OwnRedis(folder / "redis")
    redis.start()
    stack.callback(redis.stop)
    return {
        "HEADGATE_DATABASE__URL": postgres.url(DATABASE),
        "HEADGATE_CELERY__BROKER_URL": redis.url(0),
        "HEADGATE_CELERY__RESULT_URL": redis.url(1),
        "HEADGATE_CELERY__EVENTS_URL": redis.url(2),
    }
