"""`headgate worker`."""

from typing import Annotated

import typer

from headgate.entrypoints.cli.distributed import check_schema, load_processes, ready_settings

app = typer.Typer(add_completion=False)


@app.command()
def worker(
    concurrency: Annotated[
        int | None, typer.Option(help="Number of child processes, each with one task at a time.", min=1, max=256)
    ] = None,
    metrics_port: Annotated[
        int | None, typer.Option(help="Port for Prometheus metrics; 0 turns them off.", min=0, max=65535)
    ] = None,
) -> int:
    """Execute runs as a worker of the `celery` engine. Start any number, on any number of machines."""
    settings = ready_settings()
    if concurrency is not None:
        celery = settings.celery.model_copy(update={"concurrency": concurrency})
        settings = settings.model_copy(update={"celery": celery})
    if metrics_port is not None:
        telemetry = settings.telemetry.model_copy(update={"worker_metrics_port": metrics_port})
        settings = settings.model_copy(update={"telemetry": telemetry})
    check_schema(settings)
    code: int = load_processes().run_worker(settings)
    return code
