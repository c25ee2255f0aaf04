"""`headgate version`: its help; the answer itself comes from `cli.main`, before anything is loaded."""

import typer

from headgate import __version__
from headgate.entrypoints.cli.output import JsonFlag, console, print_json

app = typer.Typer(add_completion=False)


@app.command()
def version(json: JsonFlag = False) -> None:
    """Print the version."""
    if json:
        print_json({"version": __version__})
    else:
        console.print(f"headgate {__version__}")
