"""`headgate version`: its help; the answer itself comes from `cli.main`, before anything is loaded."""

import typer

from headgate import __version__
from headgate.entrypoints.cli.output import JsonFlag, print_result

app = typer.Typer(add_completion=False)


@app.command()
def version(json: JsonFlag = False) -> None:
    """Print the version."""
    print_result({"version": __version__}, f"headgate {__version__}", json=json)
