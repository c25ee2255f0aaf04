"""`headgate up`."""

import os
import signal
import sys
from contextlib import ExitStack
from typing import Annotated

import typer

from headgate.entrypoints.cli.distributed import bring_up_to_date, load_processes, ready_settings
from headgate.entrypoints.cli.exposure import refuse_exposure
from headgate.entrypoints.cli.output import errors
from headgate.entrypoints.handed_over import listen
from headgate.entrypoints.own_services import OwnPostgres, OwnRedis
from headgate.entrypoints.port_owner import refuse_taken_port
from headgate.entrypoints.process_record import ProcessRecord
from headgate.entrypoints.reaper import reaped
from headgate.entrypoints.supervisor import Part, Replacement, Service, Supervisor, record_service
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
            "--embedded-services", help="Also start PostgreSQL and Redis, with their data in the data folder."
        ),
    ] = False,
) -> int:
    """Start server, worker and scheduler together: the `celery` engine with one command. Ctrl+C stops all.

    `headgate restart`, or SIGHUP, replaces them without refusing a request or failing a run.
    """
    settings = Settings()
    refuse_exposure(settings.server)
    record = ProcessRecord(settings.data_dir / "up")
    with ExitStack() as stack:
        stack.enter_context(record.owned())
        if port is not None:
            settings = settings.model_copy(update={"server": settings.server.model_copy(update={"port": port})})
        refuse_taken_port(settings.server.host, settings.server.port)
        stack.enter_context(reaped(record))
        services: list[Service] = []
        environment = {"HEADGATE_ENGINE__BACKEND": "celery"}
        if embedded_services:
            postgres, redis = _start_services(stack, settings)
            services = [postgres, redis]
            for service in services:
                record_service(record, service)
            environment |= _environment(postgres, redis)
            errors.print("PostgreSQL and Redis are running. Their data is in the data folder.")
        os.environ.update(environment)
        bring_up_to_date(ready_settings())
        load_processes()
        return Supervisor(_parts(stack, settings, concurrency), record, services).run()


def _parts(stack: ExitStack, settings: Settings, concurrency: int | None) -> list[Part]:
    headgate = [sys.executable, "-m", "headgate"]
    server = [*headgate, "serve", "--port", str(settings.server.port)]
    worker = [*headgate, "worker", *([] if concurrency is None else ["--concurrency", str(concurrency)])]
    beat = [*headgate, "beat"]
    if sys.platform == "win32":  # it can hand over no socket
        return [Part("server", server), Part("worker", worker), Part("beat", beat)]
    listening = stack.enter_context(listen(settings.server))
    seconds = settings.server.handover_seconds
    return [
        Part("server", server, Replacement(signal.SIGUSR1, 2 * seconds), listening.fileno()),
        Part("worker", worker, Replacement(signal.SIGHUP, seconds)),
        Part("beat", beat, Replacement(signal.SIGTERM, 0, reports=False)),
    ]


def _start_services(stack: ExitStack, settings: Settings) -> tuple[OwnPostgres, OwnRedis]:
    """Start them; they stop with the stack."""
    folder = settings.data_dir / "services"
    postgres = OwnPostgres(folder / "postgres")
    stack.callback(postgres.stop)
    redis = OwnRedis(folder / "redis")
    redis.start()
    stack.callback(redis.stop)
    return postgres, redis


def _environment(postgres: OwnPostgres, redis: OwnRedis) -> dict[str, str]:
    """The settings that lead to the services."""
    return {
        "HEADGATE_DATABASE__URL": postgres.url(DATABASE),
        "HEADGATE_CELERY__BROKER_URL": redis.url(0),
        "HEADGATE_CELERY__RESULT_URL": redis.url(1),
        "HEADGATE_CELERY__EVENTS_URL": redis.url(2),
    }
