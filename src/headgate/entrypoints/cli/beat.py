"""`headgate beat`."""

import typer

from headgate.entrypoints.cli.distributed import load_processes, ready_settings

app = typer.Typer(add_completion=False)


@app.command()
def beat() -> None:
    """Send what is due: looking for runs that were left, scheduled jobs. One is enough; two do no harm."""
    load_processes().run_beat(ready_settings())
