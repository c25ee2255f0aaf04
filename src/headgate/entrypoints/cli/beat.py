"""`headgate beat`."""

import typer

from headgate.entrypoints.cli.distributed import check_schema, load_processes, ready_settings

app = typer.Typer(add_completion=False)


@app.command()
def beat() -> None:
    """Run the scheduler: periodic recovery, retention and deliveries. One is enough; a second does no harm."""
    settings = ready_settings()
    check_schema(settings)
    load_processes().run_beat(settings)
